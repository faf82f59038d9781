"""What the exit status of a script says of a comparison: nothing where the code that `main` returns is
dropped, the contrary where a bool that is true when all is well is handed to `sys.exit` (True ends with 1,
False with 0). Reads `ast` only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.judging import judges, says_comparison
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import Summaries, collecting, dotted_name, names_differences, own_nodes
from reviewbot.flow.tallies import TELLS
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import FunctionTree, Unit

EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "SystemExit"})
_WELL = pattern(
    r"(?i)(^|_)(ok|okay|same|equal|equals|match|matches|matched|passed|success|succeeded|correct|agree|agrees"
    r"|identical|valid)$"
)
# Those that give a bool and no array.
_PREDICATES = frozenset({
    "numpy.allclose", "numpy.array_equal", "numpy.array_equiv", "torch.allclose", "torch.equal",
    "filecmp.cmp", "math.isclose", "cmath.isclose", "operator.eq",
})  # fmt: skip
_PACKAGING = ("pyproject.toml", "setup.cfg", "setup.py")
_DEEPEST = 4  # names and calls that a bool is followed through


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """`call`, a statement of the module, drops the status that `function` returns: `failing` says 1 and more.
    `sure`: what decides it there is a difference, by the code and not by names."""

    call: ast.Expr
    function: str
    failing: ast.Return
    sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class Inverted:
    """`value`, handed to `call`, an exit, is true where all is well. `decides`: what shows it. `sure`: it is
    the code that shows it, not a name."""

    call: ast.Call
    value: ast.expr
    decides: ast.expr
    sure: bool


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """`call`, an exit with 0, ends the block in which `name` is given `made`, a verdict only told."""

    call: ast.Call
    name: str
    made: ast.Assign


@dataclass(frozen=True, slots=True)
class _Well:
    """Whether an expression is true where all is well (`value`), and what shows it."""

    value: bool
    shown: ast.expr
    sure: bool

    def turned(self) -> _Well:
        return _Well(not self.value, self.shown, self.sure)


@once
def dropped_status(unit: Unit) -> tuple[Dropped, ...]:
    """The calls of the module's own block that drop an exit status which says whether two things differ."""
    if unit.kind != "module":
        return ()
    found = []
    for node in sorted(unit.asts(ast.Expr), key=lambda one: (one.lineno, one.col_offset)):
        if isinstance(node.value, ast.Call):
            function = Summaries.of(unit.file).resolve(dotted_name(node.value.func), unit)
            if isinstance(function, ast.FunctionDef) and not function.decorator_list:
                found += list(_status_of(unit, node, function))
    return tuple(found)


def _status_of(unit: Unit, node: ast.Expr, function: ast.FunctionDef) -> Iterator[Dropped]:
    every = [one for one in own_nodes(function) if isinstance(one, ast.Return)]
    codes = [_codes(one.value, function) for one in every]
    if not every or any(code is None for code in codes) or not any(code and max(code) > 0 for code in codes):
        return
    if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in own_nodes(function)):
        return
    above = _branches(function)
    inside = unit.file.unit_of(function) or unit
    for one, code in zip(every, codes, strict=True):
        if not code or max(code) == 0:
            continue
        asked = list(_asked(one.value)) + [(test, arm) for test, arm in above.get(id(one), ())]
        for test, arm in asked:
            well = well_when(test, function, inside, 2)
            if well is not None and well.value is not arm:
                yield Dropped(node, function.name, one, well.sure)
                return
    if judges(inside) and not unit.is_test and any(says_comparison(name) for name in _called(function)):
        failing = next(one for one, code in zip(every, codes, strict=True) if code and max(code) > 0)
        if not _asks_for_arguments(above.get(id(failing), ())):
            yield Dropped(node, function.name, failing, False)


def is_entry_point(unit: Unit, function: str, repo: Repo) -> bool:
    """Whether a package's metadata names the function as a command: what wraps it hands on its status."""
    module = unit.file.path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    wanted = f"{module}:{function}"
    return any(wanted in (repo.read(path) or b"").decode("utf-8", "replace") for path in _PACKAGING)


def _asked(value: ast.expr | None) -> Iterator[tuple[ast.expr, bool]]:
    """What decides a status where it is returned: `1 if found else 0`, `int(a != b)`."""
    if isinstance(value, ast.IfExp) and isinstance(value.body, ast.Constant):
        yield value.test, bool(value.body.value)
    elif isinstance(value, ast.Call) and value.args:
        yield value.args[0], True


def _called(function: ast.FunctionDef) -> list[str]:
    return [
        dotted_name(one.func).rpartition(".")[2] for one in own_nodes(function) if isinstance(one, ast.Call)
    ]


def _asks_for_arguments(above: tuple[tuple[ast.expr, bool], ...]) -> bool:
    return any("argv" in ast.dump(test) or "args" in ast.dump(test) for test, _ in above)


def _codes(value: ast.expr | None, function: ast.FunctionDef) -> tuple[int, ...] | None:
    """The statuses that a returned value can be; None where it is anything else."""
    if value is None:
        return (0,)
    if isinstance(value, ast.Constant):
        if value.value is None:
            return (0,)
        kind = type(value.value)
        return (value.value,) if kind is int and isinstance(value.value, int) else None
    if isinstance(value, ast.IfExp):
        both = _codes(value.body, function), _codes(value.orelse, function)
        return None if both[0] is None or both[1] is None else both[0] + both[1]
    if isinstance(value, ast.Call) and dotted_name(value.func) == "int" and len(value.args) == 1:
        inner = value.args[0]
        says = isinstance(inner, (ast.Compare, ast.BoolOp, ast.UnaryOp)) or (
            isinstance(inner, ast.Call) and dotted_name(inner.func) in ("bool", "any", "all")
        )
        return (0, 1) if says else None
    return None


def _branches(function: ast.AST) -> dict[int, tuple[tuple[ast.expr, bool], ...]]:
    """For each statement of a function, by `id`: the tests of the `if`s around it and whether they hold,
    the nearest first."""
    found: dict[int, tuple[tuple[ast.expr, bool], ...]] = {}
    stack: list[tuple[ast.AST, tuple[tuple[ast.expr, bool], ...]]] = [(function, ())]
    while stack:
        node, above = stack.pop()
        found[id(node)] = above
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for child in getattr(node, field, ()) if isinstance(getattr(node, field, ()), list) else ():
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    continue
                inside = isinstance(node, ast.If) and field in ("body", "orelse")
                asked = (
                    ((node.test, field == "body"), *above) if inside and isinstance(node, ast.If) else above
                )
                stack.append((child, asked))
    return found


@once
def inverted_status(unit: Unit) -> tuple[Inverted, ...]:
    """The exits of a unit that are handed a bool which is true where all is well."""
    found = []
    for call in unit.asts(ast.Call):
        if dotted_name(call.func) not in EXITS or len(call.args) != 1 or call.keywords:
            continue
        value = call.args[0]
        if not isinstance(value, (ast.Name, ast.Call, ast.Compare, ast.UnaryOp, ast.BoolOp)):
            continue
        well = well_when(value, unit.tree, unit, _DEEPEST)
        if well is not None and well.value and _is_bool(value, unit.tree, unit, _DEEPEST):
            found.append(Inverted(call, value, well.shown, well.sure))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """`call` ends a script with the number that `count` gives."""

    call: ast.Call
    count: ast.Call


@once
def counted_status(unit: Unit) -> tuple[Counted, ...]:
    """The exits of a unit that are handed a length, of which the system keeps the last eight bits."""
    calls = (call for call in unit.asts(ast.Call) if dotted_name(call.func) in EXITS and len(call.args) == 1)
    found = ((call, _length_in(call.args[0], unit.tree, unit, _DEEPEST)) for call in calls)
    return tuple(Counted(call, count) for call, count in found if count is not None)


def _length_in(node: ast.expr, scope: ast.AST, unit: Unit, depth: int) -> ast.Call | None:
    """The `len(...)` that an expression gives: by itself, by a name, or as what a function of the file
    returns."""
    if isinstance(node, ast.Name):
        given = given_to(node.id, scope)
        return _length_in(given[0][0], scope, unit, depth - 1) if len(given) == 1 and depth else None
    if not isinstance(node, ast.Call):
        return None
    if dotted_name(node.func) == "len" and len(node.args) == 1:
        return node
    function = Summaries.of(unit.file).resolve(dotted_name(node.func), unit) if depth else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    inside = unit.file.unit_of(function) or unit
    returned = (one.value for one in own_nodes(function) if isinstance(one, ast.Return))
    lengths = (_length_in(one, function, inside, depth - 1) for one in returned if one is not None)
    return next((one for one in lengths if one is not None), None)


def _is_bool(node: ast.expr, scope: ast.AST, unit: Unit, depth: int) -> bool:
    """Whether an expression is True or False whatever happens."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(one, scope, unit, depth) for one in node.values)
    if isinstance(node, ast.Name):
        given = given_to(node.id, scope)
        return bool(given) and depth > 0 and all(_is_bool(one, scope, unit, depth - 1) for one, _ in given)
    if not isinstance(node, ast.Call):
        return False
    if _is_predicate(node, unit) or dotted_name(node.func) in ("all", "any", "bool"):
        return True
    function = _own(node, unit)
    if function is None or depth == 0:
        return False
    every = [one.value for one in own_nodes(function) if isinstance(one, ast.Return)]
    inside = unit.file.unit_of(function) or unit
    return bool(every) and all(
        value is not None and _is_bool(value, function, inside, depth - 1) for value in every
    )


def _own(call: ast.Call, unit: Unit) -> FunctionTree | None:
    function = Summaries.of(unit.file).resolve(dotted_name(call.func), unit)
    plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
    return function if plain else None


def _is_predicate(call: ast.Call, unit: Unit) -> bool:
    """`np.allclose`, `torch.equal`, `filecmp.cmp`."""
    name = dotted_name(call.func)
    first = name.partition(".")[0]
    return unit.file.imports.get(first, first) + name[len(first) :] in _PREDICATES


def well_when(node: ast.expr, scope: ast.AST, unit: Unit, depth: int) -> _Well | None:
    """Whether an expression is true where all is well, false where it is not; None where nothing says so."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = well_when(node.operand, scope, unit, depth)
        return None if inner is None else inner.turned()
    if isinstance(node, ast.Compare):
        return _of_comparison(node)
    if isinstance(node, ast.BoolOp):
        parts = [well_when(one, scope, unit, depth) for one in node.values]
        known = [one for one in parts if one is not None]
        if len(known) < len(parts) or len({one.value for one in known}) != 1:
            return None
        return _Well(known[0].value, known[0].shown, all(one.sure for one in known))
    if isinstance(node, ast.Name):
        return _of_name(node, scope, unit, depth)
    return _of_call(node, unit, depth) if isinstance(node, ast.Call) else None


def _of_comparison(node: ast.Compare) -> _Well | None:
    if len(node.ops) != 1:
        return None
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(right, ast.Constant) or isinstance(node.left, ast.Constant):
        # Of a count of differences: `bad == 0`, `len(problems) > 0`.
        counted = node.left.args[0] if isinstance(node.left, ast.Call) and node.left.args else node.left
        name = dotted_name(counted).rpartition(".")[2]
        if not isinstance(right, ast.Constant) or right.value != 0 or not names_differences(name):
            return None
        if isinstance(operator, (ast.Eq, ast.NotEq, ast.Gt)):
            return _Well(isinstance(operator, ast.Eq), node, False)
        return None
    if isinstance(operator, (ast.Eq, ast.NotEq)) and not _asks_for_kind(node):
        return _Well(isinstance(operator, ast.Eq), node, True)
    return None


def _asks_for_kind(node: ast.Compare) -> bool:
    """`mode == Mode.CHECK`, `name == other.name[0].upper()`: a side that is a constant of a class."""
    last = dotted_name(node.comparators[0]).rpartition(".")[2]
    return last.isupper() and last != ""


def _of_name(node: ast.Name, scope: ast.AST, unit: Unit, depth: int) -> _Well | None:
    named = None
    if _WELL.search(node.id):
        named = _Well(True, node, False)
    elif names_differences(node.id):
        named = _Well(False, node, False)
    given = given_to(node.id, scope)
    if not given or depth == 0:
        return named
    above = _branches(scope)
    return _agreed([(value, above.get(id(at), ())) for value, at in given], scope, unit, depth - 1) or named


def given_to(name: str, scope: ast.AST) -> list[tuple[ast.expr, ast.stmt]]:
    """What is assigned to a name in a scope, with the statements; nothing where it gets a value otherwise."""
    found: list[tuple[ast.expr, ast.stmt]] = []
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == name:
                found.append((node.value, node))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            if not isinstance(node.op, (ast.BitAnd, ast.BitOr)):
                return []
            found.append((node.value, node))
    stores = [one for one in own_nodes(scope) if isinstance(one, ast.Name) and one.id == name]
    return found if sum(isinstance(one.ctx, ast.Store) for one in stores) == len(found) else []


def _agreed(
    values: list[tuple[ast.expr, tuple[tuple[ast.expr, bool], ...]]], scope: ast.AST, unit: Unit, depth: int
) -> _Well | None:
    """What several values of one verdict say together: none may say the contrary."""
    said: list[_Well] = []
    for value, above in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            for test, arm in above[:1]:
                asked = well_when(test, scope, unit, depth)
                if asked is not None:
                    # `return False` where two differ: true where all is well.
                    fine = asked.value is arm
                    said.append(_Well(value.value is fine, asked.shown, asked.sure))
            continue
        if (one := well_when(value, scope, unit, depth)) is not None:
            said.append(one)
    if not said or len({one.value for one in said}) != 1:
        return None
    return next((one for one in said if one.sure), said[0])


def _of_call(call: ast.Call, unit: Unit, depth: int) -> _Well | None:
    name = dotted_name(call.func)
    if name in ("all", "any", "bool") and len(call.args) == 1:
        inner = call.args[0]
        element = inner.elt if isinstance(inner, (ast.GeneratorExp, ast.ListComp)) else inner
        found = well_when(element, ast.Module([], []), unit, 1)
        # `any(a == b)` and `all(a != b)` ask something else.
        fits = found is not None and (name == "bool" or found.value is (name == "all"))
        return found if fits else None
    if _is_predicate(call, unit):
        return _Well(True, call, True)
    function = _own(call, unit)
    if function is None or depth == 0:
        return None
    every = [one for one in own_nodes(function) if isinstance(one, ast.Return) and one.value is not None]
    grown = collecting(list(own_nodes(function)))
    if every and all(isinstance(one.value, ast.Name) and one.value.id in grown for one in every):
        return _Well(False, call, True)  # a list or a count of differences
    above = _branches(function)
    inside = unit.file.unit_of(function) or unit
    values = [(one.value, above.get(id(one), ())) for one in every if one.value is not None]
    return _agreed(values, function, inside, depth - 1)


@once
def unread_verdicts(unit: Unit) -> tuple[Unread, ...]:
    """The blocks that end in an exit with 0 after the verdict of a function of the file was at most shown."""
    found = []
    for node in (unit.tree, *own_nodes(unit.tree)):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or isinstance(node, ast.ClassDef) or len(body) < 2:
            continue
        if node is not unit.tree and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        call = exit_with_0(body[-1])
        if call is None:
            continue
        for statement in body[:-1]:
            name = _verdict_of_call(statement, unit)
            if name and len(given_to(name, unit.tree)) == 1 and is_only_told(name, unit):
                assert isinstance(statement, ast.Assign)
                found.append(Unread(call, name, statement))
                break
    return tuple(found)


def exit_with_0(statement: ast.stmt) -> ast.Call | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    call = statement.exc if isinstance(statement, ast.Raise) else call
    if not isinstance(call, ast.Call) or dotted_name(call.func) not in EXITS or call.keywords:
        return None
    code = call.args[0] if call.args else ast.Constant(0)
    return call if isinstance(code, ast.Constant) and code.value in (0, None) else None


def _verdict_of_call(statement: ast.stmt, unit: Unit) -> str:
    """The name that a statement gives to the verdict of a function of the file."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return ""
    target = statement.targets[0]
    function = _own(statement.value, unit)
    if function is None or len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return ""
    inside = unit.file.unit_of(function) or unit
    summary = Summaries.of(unit.file).summary(function, inside)
    if summary is None or summary.returns != "verdict" or summary.asserts or summary.raises:
        return ""
    return target.id if judges(inside) or judges(unit) or names_differences(target.id) else ""


def is_only_told(name: str, unit: Unit) -> bool:
    """Whether a name is read, and all that reads it only tells."""
    if unit.kind == "module":
        for other in unit.file.naming(name):
            if other is not unit and not _is_local(name, other):
                return False
    elif any(isinstance(node, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef))
             for node in own_nodes(unit.tree)):  # fmt: skip
        return False
    return not any(_acts_on(statement, name) for statement in getattr(unit.tree, "body", ()))


def _is_local(name: str, unit: Unit) -> bool:
    """Whether a function gives the name a value of its own."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in ast.walk(tree)):
        return False
    given = [arg.arg for arg in ast.walk(tree.args) if isinstance(arg, ast.arg)]
    return name in given or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in own_nodes(tree)
    )


def _acts_on(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does more with a name than to tell it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or tells(statement):
        return False
    if isinstance(statement, (ast.If, ast.For)):
        arms = (*statement.body, *statement.orelse)
        head = statement.test if isinstance(statement, ast.If) else statement.iter
        if _reads(head, name):
            return not all(_tells_only(one) for one in arms)
        return any(_acts_on(one, name) for one in arms)
    return _reads(statement, name)


def _tells_only(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.If, ast.For)):
        return all(_tells_only(one) for one in (*statement.body, *statement.orelse))
    return tells(statement) or isinstance(statement, (ast.Pass, ast.Continue))


def tells(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and TELLS.match(dotted_name(call.func)) is not None


def _reads(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
        for one in ast.walk(node)
    )
