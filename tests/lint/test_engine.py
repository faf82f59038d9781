"""A rule that misbehaves is named and stops nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import libcst as cst
import pytest

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import examine, lint
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import File, Finding, Rule, Unit
from reviewbot.source.files import InMemory

WEAK = b"def test_one():\n    assert (1, 2)\n\n\ndef test_two():\n    assert (3, 4)\n"


class Bad(Rule):
    """Finds every function, and does something wrong on the second one."""

    id = "bad"

    def suspect(self, unit: Unit) -> bool:
        return True

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        yield self.finding(unit, unit.node, "a function", certainty="question")
        if unit.name == "test_two":
            self.wrong()

    def wrong(self) -> None:
        raise NotImplementedError


class Raises(Bad):
    def wrong(self) -> None:
        raise KeyError("no such\nthing")


class Hangs(Bad):
    def wrong(self) -> None:
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue


class RaisesInSuspect(Bad):
    def suspect(self, unit: Unit) -> bool:
        return unit.name == "test_one" or 1 / 0 == 0


class HangsInSuspect(Bad):
    def suspect(self, unit: Unit) -> bool:
        while unit.name == "test_two":
            pass
        return True


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Raises, "KeyError ('no such\\nthing') at test_engine.py:"),
        (Hangs, "cut off after 0.3 s"),
        (RaisesInSuspect, "ZeroDivisionError (division by zero) at test_engine.py:"),
        (HangsInSuspect, "cut off after 0.3 s"),
    ],
)
def test_a_rule_that_fails_is_named_and_the_others_go_on(kind, why):
    started = time.monotonic()
    rules = [kind(), registry.load("constant-verdict")]
    repo = Repo(Config(rule_seconds=0.3))
    report = lint([("a.py", WEAK), ("b.py", b"def test_one():\n    assert (5, 6)\n")], rules, repo)
    assert [(f.path, f.line, f.rule) for f in report.failures] == [("a.py", 5, "bad")]
    assert report.failures[0].why.startswith(why)
    proved = [(f.span.path, f.span.line) for f in report.findings if f.rule == "constant-verdict"]
    assert proved == [("a.py", 2), ("a.py", 6), ("b.py", 2)]
    others = {(f.span.path, f.unit) for f in report.findings if f.rule == "bad"}
    assert others >= {("a.py", "test_one"), ("b.py", "test_one")}
    assert time.monotonic() - started < 5


def test_a_rule_that_fails_over_a_whole_file_is_named_and_the_others_go_on():
    class RaisesInConcerns(Bad):
        def concerns(self, file: File) -> bool:
            return 1 / len(file.path.removeprefix("a.py")) > 0

        def wrong(self) -> None: ...

    rules = [RaisesInConcerns(), registry.load("constant-verdict")]
    report = lint([("a.py", WEAK), ("b.py", WEAK)], rules, Repo())
    assert [(f.path, f.rule) for f in report.failures] == [("a.py", "bad")]
    assert report.failures[0].why.startswith("ZeroDivisionError")
    assert [(f.span.path, f.rule) for f in report.findings] == [
        *[("a.py", "constant-verdict")] * 2,
        *[("b.py", rule) for _ in range(2) for rule in ("bad", "constant-verdict")],
    ]


def test_a_rule_is_not_asked_about_the_units_of_a_file_that_does_not_concern_it():
    class OfMax(Bad):
        def concerns(self, file: File) -> bool:
            asked.append(file.path)
            return file.calls("max")

        def suspect(self, unit: Unit) -> bool:
            asked.append(unit.name)
            return True

        def wrong(self) -> None: ...

    asked: list[str] = []
    files = [("a.py", WEAK), ("b.py", b"def one():\n    return max(1, 2)\n\n\ndef two(): ...\n")]
    report = lint(files, [OfMax()], Repo())
    assert asked == ["a.py", "b.py", "one", "two"]
    assert [(f.span.path, f.unit) for f in report.findings] == [("b.py", "one"), ("b.py", "two")]
    everywhere = examine("a.py", WEAK, [OfMax()], Repo(), prefilter=False)
    assert len(everywhere.findings) == 2


def test_a_time_limit_is_for_a_rule_on_a_file_not_for_a_unit():
    class Slow(Bad):
        def wrong(self) -> None: ...

        def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
            end = time.process_time() + 0.06
            while time.process_time() < end:
                pass
            yield from super().confirm(unit, repo)

    code = b"".join(b"def test_%d(): pass\n" % number for number in range(20))
    report = lint([("a.py", code)], [Slow()], Repo(Config(rule_seconds=0.3)))
    assert [failure.why for failure in report.failures] == ["cut off after 0.3 s"]
    assert 2 <= len(report.findings) <= 6


def test_a_large_file_may_take_longer_in_proportion():
    class Slow(Bad):
        def wrong(self) -> None: ...

        def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
            end = time.process_time() + 0.08
            while time.process_time() < end:
                pass
            yield from super().confirm(unit, repo)

    tests = b"".join(b"def test_%d(): pass\n" % number for number in range(4))
    made = {
        size: lint([("a.py", tests + b"#" * size)], [Slow()], Repo(Config(rule_seconds=0.2)))
        for size in (0, 900_000)
    }
    assert [failure.why for failure in made[0].failures] == ["cut off after 0.2 s"]
    assert not made[900_000].failures
    assert len(made[900_000].findings) == 4


@pytest.mark.parametrize("arms", [400, 3_500])
def test_a_chain_of_elif_is_not_nested(arms):
    code = "def test_codes(code, said):\n    if code == 0:\n        assert said\n"
    code += "".join(f"    elif code == {n}:\n        assert said == {n}\n" for n in range(1, arms))
    code += "    else:\n        assert (said, 'unknown')\n"
    report = lint([("tests/test_codes.py", code.encode())], [registry.load("constant-verdict")], Repo())
    assert not report.unread
    assert [finding.span.line for finding in report.findings] == [2 * arms + 3]


def test_gathering_the_index_is_not_held_against_the_rule_that_asks_first():
    class Asks(Bad):
        def wrong(self) -> None: ...

        def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
            if repo.index.calls("helper"):
                yield from super().confirm(unit, repo)

    class Slow(InMemory):
        gathered = 0

        def every(self, wanted):
            self.gathered += 1
            end = time.process_time() + 0.3
            while time.process_time() < end:
                pass
            return super().every(wanted)

    files = Slow({"b.py": b"helper()\n"})
    repo = Repo(Config(rule_seconds=0.1), files)
    report = lint([("a.py", WEAK), ("b.py", b"def test_one(): pass\n")], [Asks()], repo)
    assert report.failures == ()
    assert len(report.findings) == 3
    assert files.gathered == 1


def test_positions_are_those_of_libcst():
    from libcst.metadata import MetadataWrapper, PositionProvider

    from reviewbot.source.position import Positions
    from reviewbot.source.tree import walk

    code = (
        "@a\n# b\nclass A(B, c=1):  # d\n    '''e\n    f'''\n    async def g(self, *, h: int = (1)) -> N:\n"
        "        with (i as j, k): pass\n        return [ (l) for l in m if (n) ] ; x = 'ü' + (\n  y)\n"
        "match z:\n    case [1, {'a': b}] if c: pass\nif a: pass\nelif b:\n  pass\nelse: pass\r\nlambda: 1"
    )
    module = cst.parse_module(code)
    theirs = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    ours = Positions(module, 10)
    # LibCST places the end of a module that has no last newline on a line that there is not.
    nodes = list(walk(module))[1:]
    assert len(nodes) > 80
    for node in nodes:
        at, place = ours.range(node), theirs[node]
        assert (at.line - 10, at.column - 1) == (place.start.line, place.start.column), node
        assert (at.end_line - 10, at.end_column - 1) == (place.end.line, place.end.column), node


class Wide(Rule):
    """Finds every function where two other files are not the same."""

    id = "wide"

    def suspect(self, unit: Unit) -> bool:
        return unit.kind == "function"

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if repo.once(_differ, "one.txt", "two.txt"):
            yield self.finding(unit, unit.node, "a function", certainty="question")


def _differ(repo: Repo, one: str, two: str) -> bool:
    return repo.read(one) != repo.read(two)


def test_what_is_worked_out_once_is_remembered_by_every_file_that_asks():
    repo = Repo(files=InMemory({"one.txt": b"1", "two.txt": b"2"}))
    results = [examine(path, WEAK, [Wide()], repo) for path in ("a.py", "b.py")]
    assert [len(one.findings) for one in results] == [2, 2]
    for one in results:
        assert {("file", "one.txt"), ("file", "two.txt")} <= set(one.asked)
