"""The same few lines stand in several tests of one file, where one function could hold them.

## Why
Each copy is read as if it could differ, and sometimes does: one of them is repaired, the others are not. A
test that is mostly the same lines hides the one line that is its own.

## Instead
Give the lines a name beside the tests, as a function or a fixture, and call it. Where a helper with these
lines is there already, call that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise

from reviewbot.flow.idioms import Stretch, repeated, shorter
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, line_span

_STATEMENTS = 3
_NODES = 40
_TIMES = 3
_TAKES = 2
_SAVED = 20
_SAVED_IN_SCRIPT = 12
_SHOWN = 12
_SCRIPT_LINES = 4
_COMMENT = pattern(r"(^|\s)#.*$")
_IDIOM = """
    lines = path.read_text().splitlines()
    rows = {json.loads(line)["id"]: json.loads(line) for line in lines if line.strip()}
    order = sorted(rows, key=lambda name: (rows[name]["step"], rows[name]["sample"]))
"""


def _tests(count: int) -> str:
    tests = (f"def test_{n}(path):{_IDIOM}    assert order[{n}] == 'row{n}'\n" for n in range(count))
    return "import json\n\n" + "\n".join(tests)


class RepeatedIdiom(Rule):
    kinds = ("module", "script")
    bad = (
        Example(_tests(8).replace("splitlines()", "splitlines()  # <- here", 1)),
        Example(
            """
            set -e
            mkdir -p "$OUT/reference"  # <- here
            python -m trainer.run --out "$OUT/reference" --steps 4
            python -m trainer.dump "$OUT/reference" > "$OUT/reference.jsonl"
            grep -c loss "$OUT/reference.jsonl"
            echo "first"
            mkdir -p "$OUT/reference"
            python -m trainer.run --out "$OUT/reference" --steps 4
            python -m trainer.dump "$OUT/reference" > "$OUT/reference.jsonl"
            grep -c loss "$OUT/reference.jsonl"
            echo "second"
            mkdir -p "$OUT/reference"
            python -m trainer.run --out "$OUT/reference" --steps 4
            python -m trainer.dump "$OUT/reference" > "$OUT/reference.jsonl"
            grep -c loss "$OUT/reference.jsonl"
            echo "third"
            mkdir -p "$OUT/reference"
            python -m trainer.run --out "$OUT/reference" --steps 4
            python -m trainer.dump "$OUT/reference" > "$OUT/reference.jsonl"
            grep -c loss "$OUT/reference.jsonl"
            """,
            path="tests/resume.sh",
        ),
    )
    good = (
        Example(_tests(2)),
        # A call would save little, or have to hand over much.
        Example(_tests(3)),
        Example(_tests(8).replace("assert order", "assert rows and lines and order")),
        Example("""
            def test_one(run):
                rows = run(1)
                assert len(rows) == 4
                assert rows[0].done

            def test_two(run):
                rows = run(2)
                assert len(rows) == 4
                assert rows[0].done

            def test_three(run):
                rows = run(3)
                assert len(rows) == 4
                assert rows[0].done
        """),
        Example(_tests(8), path="trainer/rows.py"),
    )

    def suspect(self, unit: Unit) -> bool:
        if unit.kind == "script":
            return True
        return in_test_file(unit.file.path) and sum(one.is_function for one in unit.file.units) >= _TIMES

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if unit.kind == "script":
            yield from self._script(unit)
        elif self.suspect(unit):
            told: list[set[str]] = []
            for group in sorted(repeated(unit.file, _STATEMENTS, _NODES, _TIMES), key=_saved, reverse=True):
                functions = {one.unit.name for one in group}
                # Another stretch of the same functions goes with the first into one function.
                if not any(functions <= others for others in told) and _is_worth_saying(group):
                    told.append(functions)
                    yield self._say(unit, group)

    def _say(self, unit: Unit, group: list[Stretch]) -> Finding:
        helper = next((one for one in group if _is_helper(one)), None)
        rest = [one for one in group if one is not helper]
        first = rest[0]
        lines = first.end_line - first.line + 1
        where = len({one.unit.name for one in rest})
        there = f"`{helper.unit.name}` holds them already" if helper is not None else _form(first)
        steps = [] if helper is None else [_step(helper, f"`{helper.unit.name}` consists of them")]
        steps += [_step(one, f"again in `{one.unit.name}`") for one in rest[1:_SHOWN]]
        return self.finding_at(
            unit,
            line_span(unit, first.line, first.end_line),
            f"the same {len(first.statements)} statements ({lines} lines) stand in {where} functions;"
            f" {there}",
            certainty="question" if helper is None else "likely",
            steps=steps,
            still_catches=("every check that follows them: they only get a name",),
        )

    def _script(self, unit: Unit) -> Iterator[Finding]:
        bare = ((n, _COMMENT.sub("", line).strip()) for n, line in enumerate(unit.file.lines, 1))
        code = [(n, line) for n, line in bare if line]
        places: dict[bytes, list[int]] = {}
        for at in range(len(code) - _SCRIPT_LINES + 1):
            part = [line for _, line in code[at : at + _SCRIPT_LINES]]
            if sum(map(len, part)) >= 80 and len(set(part)) == len(part):
                digest = hashlib.blake2b("\n".join(part).encode("utf-8", "replace"), digest_size=8).digest()
                places.setdefault(digest, []).append(at)
        taken: set[int] = set()
        found: list[tuple[int, list[int]]] = []
        for starts in sorted(places.values()):
            apart: list[int] = []
            for at in starts:
                if at not in taken and (not apart or at - apart[-1] >= _SCRIPT_LINES):
                    apart.append(at)
            if len(apart) >= _TIMES:
                size = _longest(code, apart)
                taken.update(n for at in apart for n in range(at - _SCRIPT_LINES + 1, at + size))
                found.append((size, apart))
        size, apart = max(found, key=lambda one: one[0] * (len(one[1]) - 1), default=(0, [0]))
        if size * (len(apart) - 1) < _SAVED_IN_SCRIPT:
            return
        spans = [(code[at][0], code[at + size - 1][0]) for at in apart]
        more = f", and {len(found) - 1} other stretches several times too" if len(found) > 2 else ""
        yield self.finding_at(
            unit,
            line_span(unit, *spans[0]),
            f"the same {size} lines stand here {len(apart)} times{more}",
            certainty="question",
            steps=[Step(unit.file.path, first, last, "again here") for first, last in spans[1:_SHOWN]],
            still_catches=("every check that follows them: they only get a name",),
        )


def _longest(code: list[tuple[int, str]], starts: list[int]) -> int:
    """How many lines are the same from all of these lines on, without one running into the next."""
    room = min([*(b - a for a, b in pairwise(starts)), len(code) - starts[-1]])
    size = _SCRIPT_LINES
    while size < room and len({code[at + size][1] for at in starts}) == 1:
        size += 1
    return size


def _saved(group: list[Stretch]) -> int:
    """How many lines one function in the place of all these stretches would save."""
    return (len(group) - 1) * (group[0].end_line - group[0].line + 1)


def _is_worth_saying(group: list[Stretch]) -> bool:
    """Whether a helper is there, or a call of one would be short and save much."""
    if any(_is_helper(one) for one in group):
        return True
    forms = [shorter(one) for one in group]
    return _saved(group) >= _SAVED and all(
        form is not None and len(form.takes) <= _TAKES and len(form.gives) <= 1 for form in forms
    )


def _form(first: Stretch) -> str:
    """The call that could stand for a stretch, in words."""
    form = shorter(first)
    assert form is not None, "only what has a shorter form is said"
    takes = " and ".join(f"`{name}`" for name in form.takes)
    gives = "".join(f" that gives `{name}`" for name in form.gives)
    return f"one function{f' of {takes}' if takes else ''}{gives} could hold them"


def _is_helper(stretch: Stretch) -> bool:
    """Whether a stretch is all of a function that the tests could call."""
    if not stretch.whole or stretch.unit.kind != "function" or stretch.unit.is_test:
        return False
    # What a decorator makes of it, a fixture or a compiled kernel, may be no function to call there.
    return not getattr(stretch.unit.tree, "decorator_list", ())


def _step(stretch: Stretch, says: str) -> Step:
    return Step(stretch.unit.file.path, stretch.line, stretch.end_line, says)
