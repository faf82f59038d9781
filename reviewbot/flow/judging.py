"""Whether code is there to judge: a test, a test's helper, a comparison script, a parity harness."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.patterns import pattern
from reviewbot.source.test_files import in_test_file as in_test_file
from reviewbot.source.units import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reviewbot.source.units import File, Unit

BASELINE = frozenset({
    "baseline", "base", "reference", "ref", "expected", "golden", "gold", "eager", "hf", "legacy", "before",
    "original", "orig", "uninterrupted", "oracle", "truth", "gt", "want", "wanted", "desired", "left",
    "first", "old", "unsharded", "control", "source", "straight", "unbroken", "continuous",
    "uncut", "slow", "naive", "theirs",
})  # fmt: skip
OTHER = frozenset({
    "other", "actual", "fast", "new", "compiled", "chunked", "restored", "resumed", "recovered", "recovery",
    "candidate", "got", "after", "result", "output", "right", "second", "sharded", "replayed", "loaded",
    "test", "tested", "copy", "target", "observed", "computed", "pred", "predicted", "converted", "quantized",
    "interrupted", "replay", "ported", "ours", "vllm", "sglang",
})  # fmt: skip

_WEAK = frozenset({"test", "tested"})
_FAILING = frozenset({"fail", "exit", "_exit", "quit", "error", "SystemExit"})
_JUDGES = pattern(
    r"(?i)(^|[_/.])(compare|comparer|comparing|comparisons?|parity|verify|equivalence|consistency|regression"
    r"|roundtrip|golden|assert\w*)\d*([_/.]|$)"
)
_JUDGING_FILE = pattern(r"(?i)(^|[_.-])cmp\d*[_.-]")
_COMPARES = pattern(
    r"(^|_)(compare|comparison|parity|equal|equals|eq|same|identical|match|matches|agree|equivalent"
    r"|(is|are|all|assert|check|nearly)_close|close_(to|enough)"
    r"|allclose|differ|diff|mismatch|mismatches|differences?)(_|$)"
)
# `declare_same_as`, `get_matches`, `pad_with_same_size`: what is made the same, or found to match.
_MAKES = pattern(
    r"_*(get|set|declare|make|create|build|add|with|update|register|load|apply|convert|compute|use|find|replace"
    r"|select|filter|pad)_|\w*_with_(same|equal|matching|identical)"
)
_COMPARES_STILL = pattern(
    r"(^|_)(tests?|compar[a-z]*|parity|assert[a-z]*|verif[a-z]*|mismatch(es)?|diff[a-z]*|consisten[a-z]*"
    r"|equivalen[a-z]*)(_|$)"
)


@once
def judges(unit: Unit) -> bool:
    """Whether a unit is there to judge: it stands among tests, its name or its file's says that it compares,
    or it is given the two sides of a comparison by their names."""
    if unit.is_test or in_test_file(unit.file.path):
        return True
    if _JUDGES.search(unit.name) or says_that_it_judges(unit.file.path.rpartition("/")[2]):
        return True
    return compares(unit)


def says_that_it_judges(file_name: str) -> bool:
    """Whether a file is called a comparison: `compare_rows.py`, `cmp2.py`, `parity.py`."""
    return _JUDGES.search(file_name) is not None or _JUDGING_FILE.search(file_name) is not None


def compares(unit: Unit) -> bool:
    """Whether a function is given two sides to compare, as far as its name or its parameters' names say."""
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if says_comparison(unit.tree.name):
        return True
    arguments = unit.tree.args
    return two_sides(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def says_comparison(name: str) -> bool:
    """Whether a function's name says that it compares."""
    return _COMPARES.search(name) is not None and not makes_alike(name)


def makes_alike(name: str) -> bool:
    """Whether a function's name says that it makes things the same, or finds what matches."""
    return _MAKES.match(name) is not None and _COMPARES_STILL.search(name) is None


@once
def may_check(unit: Unit) -> bool:
    """Whether a unit could hold a check or return a verdict, by its `ast` facts: for a rule's `suspect`."""
    if (
        unit.is_test
        or unit.has(ast.Assert, ast.Raise, ast.Return)
        or not unit.facts.calls.isdisjoint(_FAILING)
    ):
        return True
    return not function_names(unit.file).isdisjoint(unit.facts.calls) or unit.calls_any(asserts_by_name)


@once
def function_names(file: File) -> frozenset[str]:
    """The last names of the functions and methods of a file that are units."""
    return frozenset(unit.name.rpartition(".")[2] for unit in file.units if unit.is_function)


def side(name: str) -> str:
    """`baseline` or `other` for a name that says which run it belongs to, "" for the rest."""
    words = name.lower().strip("_").split("_")
    if not BASELINE.isdisjoint(words):
        return "baseline"
    return "other" if not OTHER.isdisjoint(words) else ""


def two_sides(names: Iterable[str]) -> bool:
    """Whether among the names one says baseline and another says the other side. A word such as `test`, which
    stands in many names, is one of two sides only in a pair: `test_rows` beside `expected_rows`."""
    said: dict[str, set[tuple[str, ...]]] = {"baseline": set(), "other": set()}
    weak = set()
    for name in names:
        which = side(name)
        if which:
            words = tuple(word for word in name.lower().strip("_").split("_") if word not in BASELINE | OTHER)
            only_weak = _WEAK.issuperset(OTHER.intersection(name.lower().strip("_").split("_")))
            if which == "other" and only_weak:
                weak.add(words)
            else:
                said[which].add(words)
    return bool(said["baseline"]) and (bool(said["other"]) or not weak.isdisjoint(said["baseline"]))


def may_be_two_sides(unit: Unit) -> bool:
    """Whether `two_sides` could hold of any of the names in a unit."""
    return unit.names_any(_is_baseline) and unit.names_any(_is_other)


def _is_baseline(name: str) -> bool:
    return side(name) == "baseline"


def _is_other(name: str) -> bool:
    return side(name) == "other"
