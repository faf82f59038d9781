"""A file that is twice as long costs each rule twice as much: nothing grows with its square."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from tests.corpus import sample

PATH = "tests/test_long.py"
COPIES = 10
FINDINGS = 40
# It looks through all that writes a record with a key, and the repeated tests do so themselves.
MORE = {"impossible-input": 2.7}
LITTLE = 1_000  # calls
MOST = 2.3  # times as many calls for twice the code; a square that is a third of a rule's work makes more


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_rule_takes_time_in_proportion_to_a_file():
    short, long = (_file(count) for count in (COPIES, 2 * COPIES))
    ids = registry.rule_ids()
    # What is made once, at whoever's first question, is no rule's own; nor is what a name says.
    for content in (short, long):
        _calls(content, *ids)
    once = {rule: _calls(short, rule) for rule in ids}
    twice = {rule: _calls(long, rule) for rule in ids}
    # What every file costs, with the rule that does least, is taken off.
    least, most = min(once.values()), min(twice.values())
    found = {
        rule: (twice[rule] - most) / max(once[rule] - least, 1)
        for rule in twice
        if twice[rule] - most > LITTLE
    }
    for rule, ratio in sorted(found.items(), key=lambda one: -one[1]):
        print(f"{rule:28} {ratio:.2f}")
    assert {rule: ratio for rule, ratio in found.items() if ratio > MOST} == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rule", registry.rule_ids())
def test_a_rule_takes_time_in_proportion_to_what_it_finds(rule):
    found = [one for one in registry.load(rule).bad if one.path.endswith(".py") and not one.before]
    if not found:
        no_python = ("loosened-check", "never-run-script", "new-field-unchecked", "verdict-dropped-in-ci")
        assert rule in no_python, "no example can be repeated"
        return
    short, long = (_repeated(found[0].code, times * FINDINGS).encode() for times in (1, 2))
    _calls(short, rule)
    nothing = b"x = 1\n"
    least = _calls(nothing, rule)
    once, twice = _calls(short, rule) - least, _calls(long, rule) - least
    assert twice <= MORE.get(rule, MOST) * once or twice < LITTLE


IN_ONE_TEST = [
    ("huge-tolerance", "g{0} = f({0})", "assert abs(g{0} - w) / abs(w) < 1.5"),
    ("signed-difference", "g{0} = f({0})", "assert np.max(g{0} - w) < 1e-5"),
    ("signed-difference", "d{0} = f({0}) - w", "assert np.max(d{0}) < 1e-5, d{0}"),
    (
        "loop-may-be-empty",
        "r{0} = csv.reader(open(w)); rows{0} = list(r{0})",
        "for x in r{0}: assert x == 1",
    ),
    ("self-compare", "o{0} = f({0}); b{0} = o{0}.rows", "o{0}.rows.append(1); assert o{0}.rows == b{0}"),
]


@pytest.mark.parametrize(("rule", "made", "asked"), IN_ONE_TEST)
def test_a_rule_takes_time_in_proportion_to_what_one_test_asks(rule, made, asked):
    def code(count: int) -> bytes:
        lines = [one.format(number) for number in range(count) for one in (made, asked)]
        return (
            "import csv\nimport numpy as np\n\n\ndef test_all(f, w):\n    " + "\n    ".join(lines) + "\n"
        ).encode()

    short, long = code(FINDINGS), code(2 * FINDINGS)
    _calls(short, rule)
    least = _calls(b"x = 1\n", rule)
    once, twice = _calls(short, rule) - least, _calls(long, rule) - least
    assert twice <= MOST * once


@pytest.mark.parametrize("line", ["load('prefix={0}')", "load(7)", "load({1})"])
def test_tests_that_are_alike_are_compared_by_what_they_share(line):
    def code(count: int) -> bytes:
        every = (line.format(number + 2, number % 7 + 2) for number in range(count))
        body = (
            "def test_{0}(load):\n    saved = {1}\n    saved.check(5)\n    assert saved.length == {0}\n\n\n"
        )
        return "".join(body.format(number, made) for number, made in enumerate(every)).encode()

    short, long = code(3 * FINDINGS), code(6 * FINDINGS)
    _calls(short, "duplicate-test")
    least = _calls(b"x = 1\n", "duplicate-test")
    once, twice = _calls(short, "duplicate-test") - least, _calls(long, "duplicate-test") - least
    assert twice <= MOST * once


def _repeated(code: str, count: int) -> str:
    """A rule's own example so many times in one file, its functions each time by names of their own."""
    names = {node.name for node in ast.parse(code).body if isinstance(node, _DEFINITIONS)}
    words = re.compile(rf"\b({'|'.join(sorted(map(re.escape, names)))})\b") if names else None
    code = code.rstrip().replace("from __future__ import annotations\n", "") + "\n\n\n"
    return "".join(
        words.sub(rf"\g<0>_{number}", code) if words is not None else code for number in range(count)
    )


def _file(count: int) -> bytes:
    """One test of the standard library so many times, each time with names of its own."""
    code = next(filter(None, map(_fitting, sample(200))))
    names = {node.name for node in ast.walk(ast.parse(code)) if isinstance(node, _DEFINITIONS)}
    words = re.compile(rf"\b({'|'.join(sorted(map(re.escape, names)))})\b")
    return "".join(words.sub(rf"\g<0>_{number}", code) for number in range(count)).encode()


def _fitting(path: Path) -> str | None:
    code = path.read_text(encoding="utf-8", errors="replace")
    fits = 5_000 < len(code) < 9_000 and code.count("    def test") > 5 and "__future__" not in code
    return code.rstrip() + "\n\n\n" if fits else None


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _calls(content: bytes, *ids: str) -> int:
    """How many calls of functions it takes to look at a file: the same on every machine, however busy."""
    rules = [registry.load(rule) for rule in ids]
    repo = Repo(Config(rule_seconds=600), InMemory({PATH: content}))
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        result = examine(PATH, content, rules, repo)
    finally:
        sys.setprofile(None)
    assert result.read and not result.failures
    return count
