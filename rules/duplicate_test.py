"""Two tests do the same thing under two names.

## Why
The second test takes the same path to the same check: it can only fail where the first one fails. It costs
time on every run and attention on every change, and makes the suite look as if it checked more than it does.

## Instead
Keep one of them. Where the inputs are meant to differ, make one parametrized test of them, and choose the
values so that each takes another path.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reviewbot.flow.patterns import pattern
from reviewbot.flow.shapes import body_words, own_body
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Fix, Rule, Unit, delete, once, step

_LEAST_NODES = 14
_MOST_LITERALS = 1
_NUMBER = pattern(r"\d+")
# What only Python 2 told apart: `items` and `iteritems`, `str` and `unicode`.
_OF_PYTHON_2 = pattern(r"(?i)unicode|iter_?(items|keys|values)|basestring|xrange")
_CHECKING = ("assert", "raises", "fail", "expect", "check")


@dataclass(frozen=True, slots=True)
class _Test:
    unit: Unit
    words: tuple[str, ...]


class DuplicateTest(Rule):
    kinds = ("module",)
    bad = (
        Example("""
            import pytest

            def test_rejects_a_short_prefix(load):
                saved = load("prefix=6")
                with pytest.raises(ValueError, match="wrong prefix"):
                    saved.check(5)

            def test_rejects_a_long_prefix(load):  # <- here
                record = load("prefix=7")
                with pytest.raises(ValueError, match="wrong prefix"):
                    record.check(5)
        """),
        Example("""
            class TestRows:
                def test_order(self, run):
                    rows = run(4)
                    assert [row.step for row in rows] == [0, 1, 2, 3]

                def test_sorted(self, run):  # <- here
                    out = run(4)
                    assert [item.step for item in out] == [0, 1, 2, 3]
        """),
    )
    good = (
        # Classes that differ in what their fields are annotated with.
        Example("""
            def test_plain(make):
                class Row:
                    tokens: list[int] = field()
                    reward: float = field()
                made = make(Row)
                assert made.columns == ["tokens", "reward"]
                assert made.kinds == ["array", "number"]

            def test_named(make):
                class Row:
                    tokens: "list[int]" = field()
                    reward: Named[float] = field()
                made = make(Row)
                assert made.columns == ["tokens", "reward"]
                assert made.kinds == ["array", "number"]
        """),
        Example("""
            def test_list(router, refused):
                with refused("must be one of the known types"):
                    @router.get("/rows/{key}")
                    def read(key: list):
                        pass

            def test_dict(router, refused):
                with refused("must be one of the known types"):
                    @router.get("/rows/{key}")
                    def read(key: dict):
                        pass
        """),
        # Members of a class go by name; one has a timeout of its own.
        Example("""
            class TestShown:
                def test_broken_name(self, show):
                    class Broken(Base):
                        breaks_name = True
                    shown = show(Broken())
                    assert shown.startswith("<broken")

                def test_broken_text(self, show):
                    class Broken(Base):
                        breaks_text = True
                    shown = show(Broken())
                    assert shown.startswith("<broken")

                def test_soon(self, show):
                    shown = show(later(0.1))
                    assert shown.startswith("<later")
                test_soon.timeout = 2

                def test_in_time(self, show):
                    shown = show(later(0.1))
                    assert shown.startswith("<later")
        """),
        Example("""
            import pytest

            def test_accepts(load):
                saved = load("prefix=5")
                saved.check(5)
                assert saved.length == 5

            def test_accepts_more(load):
                saved = load("prefix=7")
                saved.check(7)
                assert saved.length == 7

            def test_other_source(load_remote):
                saved = load_remote("prefix=5")
                saved.check(5)
                assert saved.length == 5

            @pytest.mark.parametrize("kind", ["a"])
            def test_in_another_setting(load):
                saved = load("prefix=5")
                saved.check(5)
                assert saved.length == 5

            def test_empty_is_special(load):
                saved = load("prefix=0")
                with pytest.raises(ValueError, match="wrong prefix"):
                    saved.check("five")

            def test_a_word_is_too(load):
                saved = load("prefix=none")
                with pytest.raises(ValueError, match="wrong prefix"):
                    saved.check("five")
        """),
        Example("""
            class TestOne:
                def test_order(self):
                    rows = self.run(4)
                    assert [row.step for row in rows] == [0, 1, 2, 3]

            class TestTwo:
                def test_order(self):
                    rows = self.run(4)
                    assert [row.step for row in rows] == [0, 1, 2, 3]
        """),
        # Answers that were recorded are filed under the name of each test, and so are results that were kept.
        Example("""
            import pytest

            @pytest.mark.vcr(record_mode="none")
            def test_tides_in_one_part(harbour):
                tides = harbour.ask("tides", days=2)
                assert "".join(tides) == "high at noon"

            @pytest.mark.vcr(record_mode="none")
            def test_tides_in_two_parts(harbour):
                tides = harbour.ask("tides", days=2)
                assert "".join(tides) == "high at noon"

            def test_chart(harbour, image_regression):
                chart = harbour.draw("chart", days=2)
                image_regression.check(chart, scale=2)
                assert chart.size == (3, 4)

            def test_chart_of_the_night(harbour, image_regression):
                chart = harbour.draw("chart", days=2)
                image_regression.check(chart, scale=2)
                assert chart.size == (3, 4)
        """),
        # The client, of the same name with an underscore, differs.
        Example("""
            class TestHarbour(PairedTestCase):
                def test_calls(self):
                    ship = self.harbour.accept()
                    self.assertEqual(ship.receive(3), b"ahoy")

                def _test_calls(self):
                    self.ship.send(b"ahoy")

                def test_calls_slowly(self):
                    ship = self.harbour.accept()
                    self.assertEqual(ship.receive(3), b"ahoy")

                def _test_calls_slowly(self):
                    for letter in b"ahoy":
                        self.ship.send(bytes([letter]))
        """),
        # The base of the class replays answers that were recorded for each test.
        Example(
            """
            from . import harbours

            class TestHarbour(harbours.Replayed):
                def test_open(self):
                    harbour = self.world.harbour("north").gates("sea")
                    self.assertTrue(harbour.open(wait=3))

                def test_open_twice(self):
                    harbour = self.world.harbour("north").gates("sea")
                    self.assertTrue(harbour.open(wait=3))
            """,
            files={
                "tests/harbours.py": (
                    "import unittest\n\nclass Replayed(unittest.TestCase):\n    def setUp(self):\n"
                    "        self.world = World(f'recorded/{self._testMethodName}.txt')\n"
                )
            },
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        tests = [other for other in unit.file.units if other.is_test]
        return len(tests) > 1

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        settings = repo.pytest
        tests = [
            other
            for other in unit.file.units
            if other.is_test
            and other.facts.size >= _LEAST_NODES
            and settings.collects_function(other.name.rpartition(".")[2])
        ]
        # What is told cheaply first: the like of most tests stands nowhere else.
        for told in (_statements, _outline):
            tests = _several(tests, told)
        groups: dict[tuple[object, ...], list[_Test]] = {}
        for other in tests:
            made = _test(other)
            if made is not None:
                groups.setdefault(_setting(other, made), []).append(made)
        for group in groups.values():
            if len(group) > 1 and not _is_run_by_name(group[0].unit, repo):
                yield from self._twins(group)

    def _twins(self, group: list[_Test]) -> Iterator[Finding]:
        """One finding for each test that repeats an earlier one, at most one for each."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for number, later in enumerate(group):
            keys = list(_keys(later))
            if not _asks_for_its_name(later.unit):
                places = {place for key in keys for place in alike.get(key, ())}
                for earlier in (group[place] for place in sorted(places)):
                    differing = _differing(earlier, later)
                    if differing is not None and later.unit.name != earlier.unit.name:
                        if _have_other_halves(earlier.unit, later.unit):
                            continue
                        yield self._finding(earlier, later, differing)
                        break
            for key in keys:
                # The first of those that share a key is told, or, of the same name, the next one.
                known = alike.setdefault(key, [])
                if len(known) < 2 and all(group[one].unit.name != later.unit.name for one in known):
                    known.append(number)

    def _finding(self, earlier: _Test, later: _Test, differing: list[tuple[str, str]]) -> Finding:
        first, second = (test.unit.name.rpartition(".")[2] for test in (earlier, later))
        if differing:
            how = ", ".join(f"{one} became {other}" for one, other in differing)
            message = f"`{second}` repeats `{first}`: beside names only a literal differs ({how})"
        else:
            message = f"`{second}` repeats `{first}` word for word, but for the names of its variables"
        leftover = (_OF_PYTHON_2.search(first) is None) != (_OF_PYTHON_2.search(second) is None)
        if leftover and not differing:
            message += "; is it left over from Python 2?"
        span_of = later.unit.node
        return self.finding(
            later.unit,
            span_of,
            message,
            certainty="question" if differing or leftover or _parenthesized(earlier, later) else "likely",
            steps=[
                step(earlier.unit, earlier.unit.node, f"`{first}` does it first"),
                step(later.unit, later.unit.node, f"`{second}` does it again"),
            ],
            still_catches=(f"`{first}`, by the same check after the same calls",),
            fix=None if differing else Fix(f"delete `{second}`", (delete(later.unit, later.unit.node),)),
        )


def _parenthesized(earlier: _Test, later: _Test) -> bool:
    """Whether one spells out parentheses that the other leaves to Python, as tests of operators may."""
    return _parentheses(earlier) != _parentheses(later)


def _parentheses(test: _Test) -> int:
    unit = test.unit
    return "".join(unit.file.lines[unit.line - 1 : unit.end_line]).count("(")


def _test(unit: Unit) -> _Test | None:
    tree = unit.tree
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    words, nodes = body_words(tree)
    # What classes and functions in a test are annotated with is what such a test is about.
    if nodes < _LEAST_NODES:
        return None
    if unit.has(ast.AnnAssign):
        words += (ast.dump(node.annotation) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign))
    if _functions(unit) > 1:
        words += _annotations(tree)
    if unit.has(ast.ClassDef):
        words += _members(tree)
    return _Test(unit, (*words, *_set_on(unit)))


def _functions(unit: Unit) -> int:
    return len(unit.asts(ast.FunctionDef)) + len(unit.asts(ast.AsyncFunctionDef))


def _annotations(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """What the parameters of functions in a test, and what these return, are annotated with."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is not tree:
            given = [one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg)]
            yield from (ast.dump(one) for one in (*given, node.returns) if one is not None)


def _members(tree: ast.AST) -> Iterator[str]:
    """The names that classes in a test give to their members, by which others ask for these."""
    for node in ast.walk(tree):
        for statement in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield statement.name
            elif isinstance(statement, ast.Assign):
                yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _set_on(unit: Unit) -> Iterator[str]:
    """What is set on a test below its definition, as in `test_slow.timeout = 2`."""
    name = unit.name.rpartition(".")[2]
    for statement in _setting_on(unit.file).get((id(unit.owner or unit.file.tree), name), ()):
        yield ast.dump(statement)


@once
def _setting_on(file: File) -> dict[tuple[int, str], list[ast.Assign]]:
    """The statements of a module or class, by its identity, that set something on what a name stands for."""
    found: dict[tuple[int, str], list[ast.Assign]] = {}
    for body in (file.tree, *file.asts(ast.ClassDef)):
        for statement in body.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else ()
            named = [dotted_name(one).partition(".") for one in targets]
            for name in dict.fromkeys(first for first, dot, _ in named if dot):
                found.setdefault((id(body), name), []).append(statement)
    return found


def _asks_for_its_name(unit: Unit) -> bool:
    """Whether what a test does depends on how it is called: `copy_example()` of pytest takes the folder of
    that name, and answers that were recorded, or results that were kept, are filed under it."""
    tree = unit.tree
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    marks = [dotted_name(one.func if isinstance(one, ast.Call) else one) for one in tree.decorator_list]
    given = [one.arg for one in (*tree.args.args, *tree.args.kwonlyargs)]
    filed = any(_FILED.search(name) for name in (*marks, *given)) or _marks_all(unit.file)
    return filed or unit.calls("copy_example") or "_testMethodName" in unit.facts.names


def _have_other_halves(earlier: Unit, later: Unit) -> bool:
    """Whether two tests are halves, of which the others have the same names with an underscore before them,
    and differ: what a client does, each time to the same server."""
    halves = [_other_half(one) for one in (earlier, later)]
    return any(half is not None for half in halves) and halves[0] != halves[1]


def _other_half(unit: Unit) -> str | None:
    owner, dot, name = unit.name.rpartition(".")
    named = f"{owner}{dot}_{name}"
    return next((_dumped(one) for one in unit.file.units if one.name == named and one.is_function), None)


def _dumped(unit: Unit) -> str:
    return " ".join(ast.dump(statement) for statement in getattr(unit.tree, "body", ()))


def _is_run_by_name(unit: Unit, repo: Repo) -> bool:
    """Whether a base of the test's class that another file of the repository holds looks at how the test is
    called, as one does that replays answers which were recorded for each."""
    for base in unit.owner.bases if unit.owner is not None else ():
        target = unit.file.imports.get(dotted_name(base).partition(".")[0], "")
        path = repo.index.module(target, unit.file.path) if target else None
        if path is None and target:
            path = repo.index.module(target.rpartition(".")[0], unit.file.path)
        if path is not None and _LOOKS_AT_NAME.search((repo.read(path) or b"").decode(errors="replace")):
            return True
    return False


_LOOKS_AT_NAME = pattern(r"_testMethodName|extract_stack|self\.id\(\)|\bvcr\b|(?i:replay|cassette|betamax)")
_FILED = pattern(r"(?i)(^|[._])(vcr|cassette|betamax|snapshot|regtest)$|_regression$")


@once
def _marks_all(file: File) -> bool:
    """Whether `pytestmark` says of all tests of a file that their answers are recorded."""
    return any(
        isinstance(node, ast.Attribute) and _FILED.search(node.attr) is not None
        for statement in file.tree.body
        if isinstance(statement, ast.Assign) and dotted_name(statement.targets[0]) == "pytestmark"
        for node in ast.walk(statement.value)
    )


def _several(tests: list[Unit], told: Callable[[Unit], object]) -> list[Unit]:
    """The tests of which the same is told as of another one."""
    said = [told(test) for test in tests]
    count = Counter(said)
    return [test for test, one in zip(tests, said, strict=True) if count[one] > 1]


def _statements(unit: Unit) -> tuple[object, ...]:
    """The class of a test and the kinds of its statements, which twins share."""
    tree = unit.tree
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    return unit.name.rpartition(".")[0], *map(type, own_body(tree))


def _outline(unit: Unit) -> tuple[object, ...]:
    """What twins share and few other tests do: how many nodes of each kind they have, and what they ask
    things for."""
    tree, nodes = unit.tree, unit.facts.nodes
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    # A docstring is an expression too.
    counts = {kind: len(found) for kind, found in nodes.items() if kind is not ast.Expr}
    attributes: frozenset[str] = frozenset()
    if _functions(unit) > 1 or ast.AnnAssign in counts:
        # Annotations may differ.
        counts = {kind: count for kind, count in counts.items() if issubclass(kind, ast.stmt)}
    else:
        given: list[ast.AST] = [*ast.iter_child_nodes(tree.args), *filter(None, (tree.returns,))]
        plain = all(isinstance(one, ast.arg) and one.annotation is None for one in given)
        if not plain:
            given = [below for one in given for below in ast.walk(one)]
        for one in (tree.args, *given):
            counts[type(one)] = counts.get(type(one), 0) - 1
        inside = unit.asts(ast.Attribute)
        if not plain:
            parts = (*tree.decorator_list, *tree.body)
            inside = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Attribute)]
        attributes = frozenset(node.attr for node in inside)
    alike = frozenset((kind, count) for kind, count in counts.items() if count > 0)
    return unit.name.rpartition(".")[0], alike, attributes


def _setting(unit: Unit, test: _Test) -> tuple[object, ...]:
    """What two tests must share to be twins at all: class, fixtures, decorators, and number of words."""
    tree = unit.tree
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    parameters = tuple(argument.arg for argument in (*tree.args.args, *tree.args.kwonlyargs))
    decorators = tuple(ast.dump(decorator) for decorator in tree.decorator_list)
    return unit.name.rpartition(".")[0], parameters, decorators, len(test.words)


def _keys(test: _Test) -> Iterator[tuple[object, ...]]:
    """What a test shares with those that it may be a twin of: all of its words, or all but a number in one of
    its literals that neither is treated apart nor named by a check."""
    yield (test.words,)
    for place in range(1, len(test.words)):
        word = test.words[place]
        if test.words[place - 1] != "Constant" or word in _checked(test.unit):
            continue
        plain = _NUMBER.sub("#", word)
        if plain != word and _alike(word, word):
            yield place, plain, hash(test.words[:place]), hash(test.words[place + 1 :])


def _differing(earlier: _Test, later: _Test) -> list[tuple[str, str]] | None:
    """The literals in which two tests differ, if they differ in nothing else, in at most
    `_MOST_LITERALS`, and in none that a check names; else None."""
    found = []
    words = zip(earlier.words, later.words, strict=True)
    for place, (one, other) in enumerate(words):
        if one != other:
            if earlier.words[place - 1] != "Constant" or len(found) == _MOST_LITERALS:
                return None
            if one in _checked(earlier.unit) or other in _checked(later.unit) or not _alike(one, other):
                return None
            found.append((one, other))
    return found


def _alike(one: str, other: str) -> bool:
    """Whether two literals differ in a number alone, and neither is one that code treats apart."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return not {*_NUMBER.findall(one), *_NUMBER.findall(other)} & {"0", "1"}


@once
def _checked(unit: Unit) -> frozenset[str]:
    """The literals that stand in a test's checks, as they are written in `body_words`."""
    inside: list[ast.AST] = [node.test for node in unit.asts(ast.Assert)]
    for node in unit.asts(ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name.lower().lstrip("_").startswith(_CHECKING):
            inside += [*node.args, *(keyword.value for keyword in node.keywords)]
    every = (below for root in inside for below in ast.walk(root))
    return frozenset(repr(below.value) for below in every if isinstance(below, ast.Constant))
