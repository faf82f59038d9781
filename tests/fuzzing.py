"""Random and mutated Python files, and what must hold of each: no rule fails, nothing hangs, nothing is lost.

As a script: `python -m tests.fuzzing --count 10000`; what fails is named by its number, and `--only NUMBER`
runs that one again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.lint.results import Result
from reviewbot.source.files import InMemory
from tests.corpus import sample

LONGEST = 12_000  # bytes of a file that is mutated: many small ones meet more than a few large ones

NAMES = ("a", "b", "rows", "restored", "expected", "got", "self", "np", "torch", "pytest", "test_a", "é", "_")
ATOMS = (
    *(
        "1",
        "0",
        "-1",
        "1e999",
        "2j",
        "'x'",
        "b'y'",
        "f'{a}'",
        'f"{a!r:>{b}}"',
        "None",
        "True",
        "...",
        "[]",
        "{}",
    ),
    *("()", "'a' 'b'", "0x1F", "10**9", "''", "'\\ud800'", "float('nan')"),
)
EXPRESSIONS = (
    *(
        "{} == {}",
        "{} is not {}",
        "{} < {} <= {}",
        "{} in {}",
        "not {}",
        "{} and {}",
        "{} or {}",
        "-{}",
        "~{}",
    ),
    *(
        "{} + {}",
        "{} - {}",
        "{} @ {}",
        "{} if {} else {}",
        "({}, {})",
        "[{}, *{}]",
        "{{{}: {}}}",
        "{{{}, {}}}",
    ),
    *("{}[{}]", "{}[{}:{}, ::{}]", "{}.x", "{}.get({})", "{}({})", "{}({}, *{}, k={}, **{})", "len({})"),
    *(
        "[{} for x in {}]",
        "[x for x in {} if {}]",
        "all({} == {} for x in zip({}, {}))",
        "{{{}: x for x in {}}}",
    ),
    *(
        "(lambda x, *y, z={}: {})",
        "(w := {})",
        "abs({} - {})",
        "torch.equal({}, {})",
        "np.allclose({}, {}, rtol={})",
    ),
    *(
        "getattr({}, 'x', {})",
        "(yield {})",
        "(await {})",
        "({})",
        "f'{{a}}{{{{}}}}'",
        "set({}) & set({})",
        "max({})",
    ),
)
SIMPLE = (
    *(
        "{}",
        "x = {}",
        "x, *y = {}",
        "x: int = {}",
        "x += {}",
        "rows[{}] = {}",
        "rows.append({})",
        "assert {}, {}",
    ),
    *(
        "assert {}",
        "return {}",
        "raise ValueError({}) from {}",
        "del x",
        "global q",
        "pass",
        "break",
        "continue",
    ),
    *(
        "import os.path as p",
        "from . import y",
        "from math import *",
        "self.assertEqual({}, {})",
        "pytest.skip({})",
    ),
    *("self.assertTrue({}, {})", "{}; {}", "mock.assert_called_once", "sys.exit({})", "expected.update({})"),
)
COMPOUND = (
    *("if {}:", "elif {}:", "else:", "for x in {}:", "for i, (x, y) in enumerate(zip({}, {})):", "while {}:"),
    *("with {} as x:", "with pytest.raises({}):", "try:", "except ({}, {}) as e:", "except:", "finally:"),
    *(
        "def test_a(self, x={}):",
        "async def f(a, /, b, *, c={}) -> {}:",
        "class TestB({}):",
        "match {}:",
        "case [{}, *_]:",
    ),
    *("async with {}:", "@pytest.mark.xfail({})", "async for x in {}:", "except* A:"),
)


def expression(dice: random.Random, depth: int) -> str:
    """Random code of an expression."""
    if depth <= 0 or dice.random() < 0.3:
        return dice.choice(ATOMS if dice.random() < 0.4 else NAMES)
    form = dice.choice(EXPRESSIONS)
    holes = form.replace("{{", "").replace("}}", "").count("{}")
    made = form.format(*(expression(dice, depth - 1) for _ in range(holes)))
    return made if dice.random() < 0.1 else f"({made})"


def filled(dice: random.Random, form: str) -> str:
    """A form with random expressions in it."""
    return form.format(*(expression(dice, 3) for _ in range(form.count("{}"))))


def written(dice: random.Random) -> bytes:
    """A file of random statements, most often a valid one."""
    lines: list[str] = []
    levels = [False]  # for each open block whether something stands in it
    for _ in range(dice.randrange(1, 60)):
        if len(levels) > 1 and levels[-1] and dice.random() < 0.3:
            levels.pop()
        indent = "    " * (len(levels) - 1)
        levels[-1] = True
        if dice.random() < 0.35 and len(levels) < 7:
            head = dice.choice(
                COMPOUND if dice.random() < 0.1 else COMPOUND[:1] + COMPOUND[3:8] + COMPOUND[12:15]
            )
            if head.startswith(("async def", "def")) or dice.random() < 0.9:
                lines.append(indent + filled(dice, head))
                if not head.startswith("@"):
                    levels.append(False)
                continue
        lines.append(indent + filled(dice, dice.choice(SIMPLE)))
    lines += ["    " * (len(levels) - 1) + "pass"]
    ends = dice.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\x0c"))
    return ends.join(lines).encode("utf-8", "surrogatepass") + dice.choice((b"", b"\n"))


def truncated(dice: random.Random, content: bytes, other: bytes) -> bytes:
    """Cut off anywhere."""
    return content[: dice.randrange(len(content) + 1)]


def spliced(dice: random.Random, content: bytes, other: bytes) -> bytes:
    """The lines of one file up to somewhere, then those of another."""
    one, two = content.splitlines(True), other.splitlines(True)
    return b"".join(one[: dice.randrange(len(one) + 1)] + two[dice.randrange(len(two) + 1) :])


def flipped(dice: random.Random, content: bytes, other: bytes) -> bytes:
    """Some bytes are others."""
    out = bytearray(content or b"x")
    for _ in range(dice.choice((1, 1, 2, 5, 40))):
        out[dice.randrange(len(out))] = (
            dice.randrange(256) if dice.random() < 0.3 else dice.choice(b"()[]{}:,.=\"' \n\t\\#0a")
        )
    return bytes(out)


def shuffled(dice: random.Random, content: bytes, other: bytes) -> bytes:
    """Lines are lost, doubled, moved, and indented otherwise."""
    lines = content.splitlines(True)
    for _ in range(dice.choice((1, 2, 3, 8))):
        at = dice.randrange(len(lines) + 1)
        what = dice.randrange(4)
        if what == 0:
            del lines[at : at + dice.randrange(4)]
        elif what == 1:
            lines[at:at] = lines[at : at + dice.randrange(20)]
        elif what == 2:
            lines[at:at] = other.splitlines(True)[: dice.randrange(6)]
        elif at < len(lines):
            lines[at] = dice.choice((b"", b" ", b"    ", b"\t")) + lines[at].lstrip()
    return b"".join(lines)


def renamed(dice: random.Random, content: bytes, other: bytes) -> bytes:
    """Words are exchanged for others of the same file: often it stays valid and means something else."""
    words = content.split(b" ")
    for _ in range(dice.choice((1, 3, 10))):
        words[dice.randrange(len(words))] = words[dice.randrange(len(words))]
    return b" ".join(words)


MUTATIONS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    *(truncated, spliced, flipped, shuffled, renamed),
)


class Fuzz:
    """Numbered files: the same number gives the same file."""

    def __init__(self) -> None:
        self.seeds = [content for path in sample(10_000) if 0 < len(content := path.read_bytes()) <= LONGEST]
        self.rules = [registry.load(rule_id) for rule_id in registry.rule_ids()]
        self.repo = Repo(Config(), InMemory({}))
        self.kinds: Counter[str] = Counter()
        self.slowest = (0.0, -1)

    def content(self, number: int) -> bytes:
        """The file of that number."""
        dice = random.Random(number)
        if number % 3 == 0:
            return written(dice)
        content, other = dice.choice(self.seeds), dice.choice(self.seeds)
        for _ in range(dice.choice((1, 1, 2))):
            content = dice.choice(MUTATIONS)(dice, content, other)
        return content

    def run(self, number: int) -> Result:
        """Looks at that file; raises `AssertionError` where something goes wrong."""
        content = self.content(number)
        started = time.process_time()
        result = examine(f"tests/test_{number}.py", content, self.rules, self.repo)
        taken = time.process_time() - started
        self.slowest = max(self.slowest, (taken, number))
        self.kinds["findings" if result.findings else "none" if result.read else "unreadable"] += 1
        assert not result.failures, f"{number}: {result.failures}"
        assert result.read or result.unread, f"{number}: lost"
        assert taken < 1 + len(content) / 2_000, f"{number}: {taken:.1f} s for {len(content)} bytes"
        return result


def main() -> int:
    """Runs many and says what they were."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--count", type=int, default=10_000, help="how many files (default: 10000)")
    options.add_argument("--only", type=int, help="the file of this number, printed and run")
    given = options.parse_args()
    fuzz = Fuzz()
    if given.only is not None:
        sys.stdout.buffer.write(fuzz.content(given.only))
        fuzz.run(given.only)
        return 0
    failed = 0
    for number in range(given.count):
        try:
            fuzz.run(number)
        except Exception as error:
            failed += 1
            print(f"{number}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    kinds = ", ".join(f"{count} {kind}" for kind, count in fuzz.kinds.most_common())
    seconds, slowest = fuzz.slowest
    print(f"{given.count} files: {kinds}; {failed} failed; the slowest, {slowest}, took {seconds:.1f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
