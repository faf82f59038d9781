"""A test reads back the fields that it has just given a dataclass.

## Why
The constructor of a dataclass is made by Python, and keeps what it is given. No code of the repository stands
between the value and the check, so that the check can only fail where a field is renamed; what the class is
for, its defaults and what it refuses, is not tested.

## Instead
Check what the code makes of the fields: a default that is left out, a value that is refused, what is built
from the whole.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, called_last, once, tree_span, tree_step

_DATACLASS = frozenset({"dataclass", "dataclasses.dataclass"})
# With these a class decides itself what becomes of a value.
_TAKES = frozenset({"__post_init__", "__init__", "__new__", "__setattr__", "__getattribute__", "__getattr__"})
_EQUAL = frozenset({"assertEqual", "assertIs", "assertListEqual", "assertDictEqual"})
_RIG = {
    "ships/rig.py": """
from dataclasses import dataclass

@dataclass
class Rig:
    masts: int = 1
    sails: tuple = ()
    reefed: bool = False

@dataclass
class Hull:
    length: float

    def __post_init__(self):
        self.length = round(self.length, 1)
"""
}


class FieldEcho(Rule):
    folds = True
    told_by = (("constant-verdict", "unit"), ("self-compare", "unit"))
    bad = (
        Example(
            '''
            from ships.rig import Rig

            def test_custom_values():
                """The rig takes other values."""
                sails = ("jib", "main")
                rig = Rig(masts=2, sails=sails, reefed=True)
                assert rig.masts == 2  # <- here
                assert rig.sails == sails
                assert rig.reefed is True

            class TestRig:
                def test_reefed(self):
                    rig = Rig(reefed=True)
                    self.assertTrue(rig.reefed)  # <- here
            ''',
            files=_RIG,
        ),
    )
    good = (
        # A default, what comes of a field, a value that is computed, or a class that decides itself.
        Example(
            """
            from ships.rig import Hull, Rig

            def test_default():
                rig = Rig(masts=2)
                assert rig.masts == 2
                assert rig.reefed is False

            def test_sailed(sail):
                rig = Rig(masts=2)
                sail(rig)
                assert rig.masts == 2

            def test_read(read):
                rig = Rig(masts=read("masts"))
                assert rig.masts == read("masts")

            def test_rounded():
                hull = Hull(length=4.5)
                assert hull.length == 4.5

            def test_refused():
                rig = Rig(masts=2)
                with pytest.raises(TypeError):
                    rig.masts = "two"
                assert rig.masts == 2
            """,
            files=_RIG,
        ),
        # A class of the test, or of a library.
        Example("""
            from dataclasses import dataclass
            from elsewhere import Boat

            @dataclass
            class Rig:
                masts: int

            def test_own():
                rig = Rig(masts=2)
                assert rig.masts == 2

            def test_other():
                boat = Boat(masts=2)
                assert boat.masts == 2
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return unit.is_test and _may_echo(unit) and _echo(unit) is not None

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        echo = _echo(unit) if unit.is_test else None
        if echo is None:
            return
        kept = [_kept(call, repo) for call in echo.made]
        if not all(kept):
            return
        name, (path, line) = called_last(echo.made[0]), kept[0] or ("", 0)
        call = echo.made[0]
        yield self.finding_at(
            unit,
            tree_span(unit, echo.checks[0]),
            f"the test only reads back the fields that it has just given `{name}`, and a dataclass keeps what"
            " it is given",
            certainty="question",
            steps=(
                tree_step(unit, call, "given here"),
                Step(path, line, line, "the class does nothing with them"),
            ),
            still_catches=("a field that is renamed; no change of what the code does",),
        )


@dataclass(frozen=True, slots=True)
class _Echo:
    """The calls that make what a test checks, and its checks: each reads back what a call was given."""

    made: tuple[ast.Call, ...]
    checks: tuple[ast.stmt, ...]


_PLAIN = frozenset({ast.Assign, ast.Expr, ast.Assert, ast.Import, ast.ImportFrom})


def _may_echo(unit: Unit) -> bool:
    """Whether a test holds no other statements, and its last one asks for a field of what has a name."""
    asked = _asked(unit.tree.body[-1]) or ()
    if not any(isinstance(side, ast.Attribute) and isinstance(side.value, ast.Name) for side in asked):
        return False
    return all(type(statement) in _PLAIN for statement in unit.tree.body)


@once
def _echo(unit: Unit) -> _Echo | None:
    """What a test does if it does no more than to make objects and to read back what it gave them."""
    made: dict[str, ast.Call] = {}
    checks: list[ast.stmt] = []
    for statement in unit.tree.body:
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if isinstance(call, ast.Constant) or isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and not checks and not _names(call) & made.keys():
            if (
                isinstance(call, ast.Call)
                and call.keywords
                and not call.args
                and called_last(call)[:1].isupper()
            ):
                made[target.id] = call
            continue
        if not _reads_back(statement, made):
            return None
        checks.append(statement)
    seen = {name for check in checks for name in _names(check)}
    return _Echo(tuple(one for name, one in made.items() if name in seen), tuple(checks)) if checks else None


def _names(node: ast.AST | None) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node is not None else set()


def _reads_back(statement: ast.stmt, made: dict[str, ast.Call]) -> bool:
    pair = _asked(statement)
    if pair is None:
        return False
    for read, value in (pair, pair[::-1]):
        if isinstance(read, ast.Attribute) and isinstance(read.value, ast.Name) and read.value.id in made:
            given = {one.arg: one.value for one in made[read.value.id].keywords}.get(read.attr)
            return given is not None and ast.dump(given) == ast.dump(value) and not _calls(given)
    return False


def _calls(value: ast.expr) -> bool:
    return any(isinstance(node, (ast.Call, ast.Lambda, ast.Await)) for node in ast.walk(value))


def _asked(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """The two sides that a check wants to be equal; a truth is compared with `True`."""
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            return test.left, test.comparators[0]
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return test.operand, ast.Constant(False)
        return test, ast.Constant(True)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not call.args:
        return None
    name = called_last(call)
    if name in _EQUAL and len(call.args) > 1:
        return call.args[0], call.args[1]
    if name in ("assertTrue", "assertFalse"):
        return call.args[0], ast.Constant(name == "assertTrue")
    return None


def _kept(call: ast.Call, repo: Repo) -> tuple[str, int] | None:
    """Where the one dataclass of the repository stands that a call makes, if it keeps what it is given."""
    name = dotted_name(call.func).rpartition(".")[2]
    found = [(path, one) for path, one in repo.index.definitions(name) if one.kind == "class"]
    classes = repo.index.classes(name)
    if len(found) != 1 or len(classes) != 1 or in_test_file(found[0][0]):
        return None
    path, one = found[0]
    fact = classes[0][1]
    plain = fact.kind == "dataclass" and not fact.bases and set(one.decorators) <= _DATACLASS
    taken = {field.name for field in fact.fields if field.taken}
    given = {keyword.arg for keyword in call.keywords}
    if not plain or not given <= taken:
        return None
    own = _TAKES | {str(field) for field in given}
    methods = (other for method in own for where, other in repo.index.definitions(method) if where == path)
    if any(other.kind == "method" and other.name.rpartition(".")[0].endswith(name) for other in methods):
        return None
    return path, one.line
