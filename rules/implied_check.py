"""A check of a value that is computed from values which are already compared exactly.

## Why
Advantages follow from rewards and masks; a digest follows from the tokens. Where those are equal, what is
computed from them is equal too, and a comparison of it within a tolerance adds lines, flags and a tolerance
to choose, but nothing that it alone could catch.

## Instead
Compare what the producer starts from, exactly, and leave out what it computes. Keep the check if the two
sides compute the value in different ways: then say so beside it.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import Check
from reviewbot.flow.fields import FieldCheck, field_checks
from reviewbot.flow.implied import implied
from reviewbot.flow.judging import judges
from reviewbot.flow.reached import swallowed
from reviewbot.flow.repeated_checks import may_repeat, repeated
from reviewbot.flow.syntax import dotted, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, step

_PRODUCER = """
from statistics import fmean

def add_scores(rows):
    mean = fmean(row["reward"] for row in rows)
    for row in rows:
        row["score"] = [(row["reward"] - mean) * keep for keep in row["mask"]]
"""
_SAMPLED = _PRODUCER.replace('row["reward"] - mean', 'row["reward"] - draw(row)')
_DEPTH = 4
_MADE = ("len", "sum", "max", "min", "sorted", "set", "list", "tuple", "keys", "values", "mean")
_ORDERS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)


@dataclass(frozen=True, slots=True)
class _Origin:
    """The one function that writes a field, and the keys that it reads to do so."""

    path: str
    unit: Unit
    reads: frozenset[str]


class ImpliedCheck(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            import math

            def compare(left, right):
                for field in ("reward", "mask"):
                    if left[field] != right[field]:
                        raise AssertionError(field)
                for a, b in zip(left["score"], right["score"], strict=True):
                    if not math.isclose(a, b, rel_tol=1e-4):
                        raise AssertionError("score")  # <- here
            """,
            path="tests/compare.py",
            files={"trainer/score.py": _PRODUCER},
        ),
        Example(
            """
            def compare(reference, restored):
                for left, right in zip(reference, restored, strict=True):
                    assert left["prices"] == right["prices"]
                    assert sum(left["prices"]) == sum(right["prices"])  # <- here
            """,
            path="tests/compare_menu.py",
        ),
        Example(
            """
            def test_menu(rows):
                assert len(rows) == 4
                assert len(rows) > 0  # <- here
            """,
            path="tests/test_menu.py",
        ),
        Example(
            """
            def test_menu(gap, rows):
                assert 0 < gap
                assert gap < 1e-6
                assert gap <= 1e-3  # <- here
                assert len(rows) >= 3 and rows[0]
                assert rows  # <- here
            """,
            path="tests/test_menu.py",
        ),
        # Twice in one test, which asks other things once.
        Example("""
            def test_crew(crew):
                assert crew == ["Ada", "Grace"]
                assert crew == ["Ada", "Grace"]  # <- here
                assert len(crew) == 2
        """),
        # The same once more, also the other way round and in unittest's words.
        Example("""
            import unittest

            def test_ship(sail, plan):
                sailed, planned = sail(), plan()
                assert sailed.course == planned.course
                assert sailed.port == "Ystad"
                assert planned.course == sailed.course  # <- here

            class TestCrew(unittest.TestCase):
                def test_crew(self, crew):
                    self.assertEqual(crew.size, 4)
                    assert crew.size == 4  # <- here
        """),
    )
    good = (
        # How often it is looked at is what is counted; a comment says that it is asked once more.
        Example("""
            from unittest import mock

            def test_pump_is_started_by_the_first(monkeypatch, Engine):
                start = mock.MagicMock()
                monkeypatch.setattr("engine.start", start)
                engine = Engine(1)
                assert engine.pump
                assert engine.pump
                start().pump.assert_called_once()

            def test_labels(sail):
                assert sail.label == "Ystad"
                # Once more, as it should be the same
                assert sail.label == "Ystad"
        """),
        # Two dicts are equal in any order.
        Example("""
            def test_menu(cook, read):
                menu, read_back = cook(3), read()
                assert menu == read_back
                assert list(menu.keys()) == list(read_back.keys())
                assert list(menu) == list(read_back)
        """),
        # What is walked once more must give the same again.
        Example("""
            def test_chained(chain):
                course = chain("north", "east")
                assert list(course) == ["north", "east"]
                assert list(course) == ["north", "east"]
        """),
        # What a second look gives is the point.
        Example("""
            def test_depth_is_sounded_once(Sounder):
                casts = 0

                def cast():
                    nonlocal casts
                    casts += 1
                    return casts

                sounder = Sounder(cast)
                assert sounder.depth == 1
                assert sounder.depth == 1

            def test_chart_is_cached(chart):
                assert chart.scale == 4
                assert chart.scale == 4
        """),
        # Equality is asked for both ways round.
        Example("""
            def test_equal(build):
                left, right = build(1), build(1)
                assert left == right
                assert right == left
        """),
        Example("""
            class TestTag:
                def test_equality(self):
                    assert self.tag == "bow"
                    assert "bow" == self.tag
        """),
        # All of a test is asked twice, or a comment above the first says that it is asked several times.
        Example("""
            def test_read_from_a_stream(Sail, stream):
                sail, other = Sail(b"bow"), Sail(stream(b"bow"))
                assert sail == other
                assert sail == other
                other = Sail(stream(b"stern"))
                assert sail != other
                assert sail != other

            def test_rewound(Sail, stream):
                sail, other = Sail(b"bow"), Sail(stream(b"bow"))
                assert sail.length == 3
                # Compared multiple times, so that the stream has to be rewound
                assert sail == other
                assert sail == other
        """),
        # Something may have changed, or another value goes by the name, or it is an iterator.
        Example("""
            def test_ship(ship, build, log):
                assert ship.port == "Ystad"
                ship.sail()
                assert ship.port == "Ystad"
                made = build(1)
                assert made.crew == 3
                made = build(2)
                assert made.crew == 3
                assert next(log) == 0
                assert next(log) == 0
                assert made.fast is False
                assert made.slow == 3
                made.sailed
                assert made.fast is False
                assert made[:] is made
                assert made[::] is made
                if made.done:
                    assert made.port == "Ystad"
                else:
                    assert made.port == "Ystad"
        """),
        # The operators are what is tested.
        Example(
            """
            def test_heat_is_ordered(Heat):
                assert Heat.low < 1
                assert Heat.low <= 1
                assert Heat.low == 0
                assert Heat.low >= 0
            """
        ),
        Example("""
            class TestGap:
                def test_operators(self, gap):
                    gap.widen(0.4)
                    assert gap == 0.4
                    assert gap < 1.0
                    assert gap > 0.0
                    assert gap - 0.4 == 0.0
        """),
        # The last link of the chain is new.
        Example(
            """
            def test_shelves(library):
                assert list(library) == library.keys()
                assert len(list(library)) == len(library.keys()) == 4
            """
        ),
        # A method of that name may change its object.
        Example(
            """
            def test_size(pool):
                assert pool.size == 4
                pool.set(3)
                assert pool.size > 2
            """
        ),
        # What a number says of the object is another method.
        Example(
            """
            def test_order(size):
                assert size < 5
                assert 5 >= size
            """,
            path="tests/test_size.py",
        ),
        Example(
            """
            import math

            def compare(left, right):
                if left["reward"] != right["reward"]:
                    raise AssertionError("reward")
                for a, b in zip(left["score"], right["score"], strict=True):
                    if not math.isclose(a, b, rel_tol=1e-4):
                        raise AssertionError("score")
            """,
            path="tests/compare.py",
            files={"trainer/score.py": _PRODUCER},
        ),
        Example(
            """
            import math

            def compare(left, right):
                for field in ("reward", "mask"):
                    assert left[field] == right[field]
                for a, b in zip(left["score"], right["score"], strict=True):
                    assert math.isclose(a, b, rel_tol=1e-4)
            """,
            path="tests/compare.py",
            files={"trainer/score.py": _SAMPLED},
        ),
        Example(
            """
            def test_menu(old, new, queue, gap):
                assert len(old.rows) == len(new.rows)
                assert old.rows == new.rows
                assert len(queue) == 2
                assert queue.pop() == 1
                assert len(queue) > 0
                assert gap > 0
                assert gap >= 1
                assert gap < 9
                assert len(old.rows) == 2
                old = reload(old)
                assert len(old.rows) > 1
            def test_hash(a, b):
                assert a == b
                assert hash(a) == hash(b)
                assert repr(a) == repr(b)
                assert a != 3
            """,
            path="tests/test_menu.py",
        ),
        # What is to raise was called in between, with another argument.
        Example(
            """
            import unittest

            class OvenTest(unittest.TestCase):
                def test_bad_heat(self):
                    oven = Oven()
                    self.assertRaises(ValueError, oven.__init__, heat=0)
                    self.assertRaises(ValueError, oven.bake)
                    self.assertRaises(ValueError, oven.__init__, heat=-16)
                    self.assertRaises(ValueError, oven.bake)
            """,
            path="tests/test_oven.py",
        ),
        # How numbers may be spelt.
        Example("""
            import unittest
            class NumbersTest(unittest.TestCase):
                def test_hexadecimal(self):
                    self.assertEqual(0x10, 0X10)
                    self.assertEqual(0x10, 16)
                    self.assertEqual(-(0x10), -16)
                    self.assertEqual(-0x10, -16)
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if judges(unit) and may_repeat(unit):
            return True
        if len(unit.asts(ast.Assert)) > 1 and (unit.calls(*_MADE) or unit.has(*_ORDERS)):
            return True
        # Two checks at least, each of one field of two records.
        if len(unit.asts(ast.Assert)) + len(unit.asts(ast.If)) + len(unit.asts(ast.IfExp)) < 2:
            return False
        keys: list[ast.expr] = [node.slice for node in unit.asts(ast.Subscript)]
        keys += [node.args[0] for node in unit.asts(ast.Call) if len(node.args) == 1 and _is_get(node.func)]
        asked = Counter(map(_field, keys))
        return sum(count for key, count in asked.items() if key and count > 1) >= 4

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in implied(unit):
            yield self.finding(
                unit,
                one.later.anchor,
                f"this cannot fail where line {unit.span(one.earlier.node).line} did not: {one.says}",
                certainty="likely" if _is_of_plain_numbers(one.later.condition) else "question",
                steps=[
                    step(unit, one.earlier.anchor, "this is required first"),
                    step(unit, one.later.anchor, "and this follows from it"),
                ],
                still_catches=(f"line {unit.span(one.earlier.node).line} catches all that this could",),
            )
        for earlier, later, beside in repeated(unit) if judges(unit) else ():
            line = unit.span(earlier.node).line
            yield self.finding(
                unit,
                later.anchor,
                f"this is what line {line} asks already: it cannot fail where that did not",
                certainty="likely" if beside and not _reads_attribute(later) else "question",
                steps=[
                    step(unit, earlier.anchor, "this is required first"),
                    step(unit, later.anchor, "and nothing that it looks at has changed"),
                ],
                still_catches=(f"line {line} catches all that this could",),
            )
        found = field_checks(unit)
        for check in found:
            if not check.exact:
                exact = [
                    other
                    for other in found
                    if other.exact
                    and set(other.records) == set(check.records)
                    and id(other.check.node) not in swallowed(unit)
                ]
                fields = {field for other in exact for field in other.fields}
                for field in check.fields:
                    if field not in fields:
                        yield from self._judge(unit, check, field, exact, fields, repo)

    def _judge(
        self,
        unit: Unit,
        check: FieldCheck,
        field: str,
        exact: list[FieldCheck],
        fields: set[str],
        repo: Repo,
    ) -> Iterator[Finding]:
        origin = _origin(field, unit, repo)
        if origin is None or not origin.reads or not origin.reads <= fields:
            return
        names = _listed(sorted(origin.reads))
        alone = check.fields == (field,)
        yield self.finding(
            unit,
            check.check.node,
            f"`{field}` is computed from {names}, which are compared exactly: "
            f"this comparison of it can fail only where they already did",
            certainty="likely",
            steps=[
                Step(
                    origin.path,
                    origin.unit.line,
                    origin.unit.end_line,
                    f"`{origin.unit.name}` computes `{field}` from {names} and nothing else",
                ),
                *(
                    step(unit, other.check.node, f"{_listed(other.fields)} compared exactly")
                    for other in exact
                ),
                step(
                    unit,
                    check.check.node,
                    f"`{field}` compared again, within a tolerance"
                    + ("" if alone else f"; of {_listed(check.fields)} only this field is implied"),
                ),
            ],
            still_catches=[
                f"line {unit.span(other.check.node).line} compares {_listed(sources)} exactly"
                for other in exact
                if (sources := [one for one in other.fields if one in origin.reads])
            ],
        )


def _is_of_plain_numbers(condition: cst.BaseExpression | None) -> bool:
    """Whether a condition asks for a length or another figure of a built-in function: a class of its own says
    itself when it is true, and how it compares."""
    if type(condition) is not cst.Comparison:
        return False
    sides = (condition.left, *(target.comparator for target in condition.comparisons))
    return any(type(side) is cst.Call and type(side.func) is cst.Name for side in sides)


def _reads_attribute(check: Check) -> bool:
    """Whether a check reads an attribute, which may be worked out anew, or kept, at the second look."""
    return any(
        type(node) is cst.Attribute and dotted(node).partition(".")[0] not in ("self", "cls", "")
        for node in walk(check.node)
    )


def _is_get(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "get"


def _field(key: ast.expr) -> str:
    """What a key that could name a field says: a string, or a name for one; "" for any other."""
    if isinstance(key, ast.Name):
        return key.id
    return repr(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _origin(field: str, unit: Unit, repo: Repo) -> _Origin | None:
    """The one function that writes a field, if all that goes into it are keys of its one argument's
    records; None where anything else could."""
    places = {
        (path, key.function)
        for path, key in repo.index.writers(field)
        if key.function
        and not _is_test(path, key.function)
        and (path, key.function) != (unit.file.path, unit.name)
    }
    if len(places) != 1:
        return None
    path, function = places.pop()
    file = repo.file(path)
    producer = file.unit(function) if file is not None else None
    if file is None or producer is None or not producer.is_function:
        return None
    reads: set[str] = set()
    if not _pure(producer, file, reads, _DEPTH):
        return None
    return _Origin(path, producer, frozenset(reads - {field}))


def _is_test(path: str, function: str) -> bool:
    return function.rpartition(".")[2].startswith("test") or path.rpartition("/")[2].startswith("test_")


_GROWING = frozenset({
    "append", "setdefault", "values", "items", "keys", "get", "extend", "add", "sum", "mean", "std", "max",
    "min", "update", "copy", "sort", "insert", "join", "index", "count",
})  # fmt: skip
_RANDOM = frozenset(
    {"random", "secrets", "time", "datetime", "os", "uuid", "socket", "subprocess", "threading"}
)


def _pure(unit: Unit, file: File, reads: set[str], depth: int) -> bool:
    """Whether a function's results follow from its arguments alone; collects the keys that it reads."""
    import builtins

    tree = unit.tree
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    local = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    local |= {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}
    if "self" in local or depth == 0:
        return False
    annotations = _annotations(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str) and isinstance(node.ctx, ast.Load):
                reads.add(node.slice.value)
        elif isinstance(node, ast.Call):
            if not _harmless(node, file, local, reads, depth):
                return False
        elif isinstance(node, ast.Name) and node.id not in local and id(node) not in annotations:
            known = hasattr(builtins, node.id) or node.id in file.imports or file.unit(node.id) is not None
            if not known and not _is_constant(node.id):
                return False
    return True


def _annotations(tree: ast.AST) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        for held in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(held, ast.AST):
                found |= {id(below) for below in ast.walk(held)}
    return found


def _is_constant(name: str) -> bool:
    return name.strip("_").isupper()


def _harmless(call: ast.Call, file: File, local: set[str], reads: set[str], depth: int) -> bool:
    """Whether a call adds nothing of its own to what it is given."""
    import builtins

    function = call.func
    if isinstance(function, ast.Attribute):
        root: ast.expr = function
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        if isinstance(root, ast.Name) and root.id in file.imports and root.id not in local:
            return _is_pure_module(file.imports[root.id])
        if function.attr == "get" and call.args and isinstance(call.args[0], ast.Constant):
            reads.add(str(call.args[0].value))
        return function.attr in _GROWING
    if not isinstance(function, ast.Name) or function.id in local:
        return False
    if function.id in file.imports:
        return _is_pure_module(file.imports[function.id])
    own = file.unit(function.id)
    if own is not None and own.kind == "function":
        return _pure(own, file, reads, depth - 1)
    return hasattr(builtins, function.id) and function.id not in (
        "open",
        "input",
        "id",
        "hash",
        "exec",
        "eval",
    )


def _is_pure_module(target: str) -> bool:
    top = target.partition(".")[0]
    if top in ("torch", "numpy", "jax"):
        return not any(word in target for word in ("random", "rand", "distributed", "empty"))
    return top in sys.stdlib_module_names and top not in _RANDOM
