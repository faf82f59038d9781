"""A tally of differences: a count or a list that is written and at most shown, and what is put into it.

`mismatches += 1`, `bad.append(row)`, `wrong = sum(w != g for …)`: nothing asserts, raises, returns or hands
on what it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks_in, predicate
from reviewbot.flow.control import enclosing, statements
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.suspects import COMPARING
from reviewbot.flow.syntax import dotted, last_name, literal, walk
from reviewbot.flow.values import values
from reviewbot.source.units import below, called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

TELLS = pattern(
    r"^(print|pprint|warnings\.warn|warn|(self\.)?(_?log|logger|logging|LOGGER|LOG|console|rprint|cprint)"
    r"(\.(debug|info|warning|warn|error|critical|exception|print|log))?|sys\.std(err|out)\.write|rank_zero_warn)$"
)
"""The dotted names of calls that tell somebody something, and do no more."""

PUTS = frozenset({"append", "add", "extend", "insert"})
# Functions whose value only says what they are given in another form.
_FORMS = frozenset({
    "len", "str", "repr", "sum", "sorted", "dumps", "round", "float", "int", "max", "min", "format", "join",
    "list", "tuple", "set", "dict", "enumerate", "zip", "items", "keys", "values", "most_common", "mean",
    "item", "tolist", "bool", "abs",
})  # fmt: skip
_DEEPEST = 4  # names that hold what is made of a tally


def tallied(statement: cst.CSTNode) -> str:
    """The name of the local tally that a statement adds to, or of the flag that it sets; "" for the rest."""
    if type(statement) is cst.Assign and isinstance(literal(statement.value), bool):
        target = statement.targets[0].target
        return target.value if type(target) is cst.Name and len(statement.targets) == 1 else ""
    if type(statement) is cst.AugAssign and type(statement.target) is cst.Name:
        return statement.target.value if isinstance(statement.operator, cst.AddAssign) else ""
    call = statement.value if type(statement) is cst.Expr else None
    if type(call) is cst.Call and type(call.func) is cst.Attribute and type(call.func.value) is cst.Name:
        return call.func.value.value if call.func.attr.value in PUTS else ""
    return ""


def may_tally(statement: ast.stmt) -> str:
    """The same of an `ast` statement."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        is_flag = isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, bool)
        return statement.targets[0].id if is_flag and len(statement.targets) == 1 else ""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id if isinstance(statement.op, ast.Add) else ""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        owner = call.func.value
        return owner.id if isinstance(owner, ast.Name) and call.func.attr in PUTS else ""
    return ""


@once
def kept_names(unit: Unit) -> frozenset[str]:
    """The names that an `assert`, `raise` or `return` of the unit reads, or that are handed to what does more
    than show them, by its `ast`: no tally of which nothing is made is among them."""
    stack: list[ast.AST] = [
        *unit.asts(ast.Assert), *unit.asts(ast.Raise), *unit.asts(ast.Return), *unit.asts(ast.Yield),
        *unit.asts(ast.Global), *unit.asts(ast.Nonlocal),
    ]  # fmt: skip
    found: set[str] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        else:
            stack += below(node)
    return frozenset(found | _handed_on(unit))


def _handed_on(unit: Unit) -> set[str]:
    """The names that a function gives as they are to what neither shows them nor only changes their form."""
    asts = unit.asts
    functions = len(asts(ast.FunctionDef)) + len(asts(ast.AsyncFunctionDef))
    if functions != 1 or unit.has(ast.ClassDef, ast.Lambda):
        return set()  # A name may be that of another function.
    found: set[str] = set()
    first = unit.tree.body[0]
    for call in asts(ast.Call):
        if (call.lineno, call.col_offset) < (first.lineno, first.col_offset):
            continue  # What decorates it or is given by default is read outside of it.
        given = [one.id for one in call.args if type(one) is ast.Name]
        given += [one.value.id for one in call.keywords if type(one.value) is ast.Name]
        name = called_last(call)
        if given and name and name not in _FORMS and not TELLS.match(dotted_name(call.func)):
            found.update(given)
    if found:
        for clause in asts(ast.comprehension):
            found -= {node.id for node in ast.walk(clause.target) if isinstance(node, ast.Name)}
    return found


def is_only_shown(unit: Unit, name: str, depth: int = _DEEPEST) -> bool:
    """Whether a name is the unit's own, and all that becomes of it is that it is shown."""
    flow = values(unit)
    bound = flow.bindings(name)
    if not bound or any(one.kind not in ("assign", "augmented", "walrus") for one in bound):
        return False
    if name in kept_names(unit):
        return False
    reads = [read for read in flow.reads(unit.node) if read.value == name]
    return all(_shows(unit, read, depth) for read in reads)


def _shows(unit: Unit, node: cst.CSTNode, depth: int) -> bool:
    """Whether what reads a tally only adds to it, or shows it."""
    at = node
    for above in unit.ancestors(node):
        if isinstance(above, (cst.AugAssign, cst.Expr)) and tallied(above):
            return True
        if isinstance(above, (cst.Assign, cst.AnnAssign)):
            return at is not above.value or _is_shown_by(unit, above, depth)
        if isinstance(above, cst.Call):
            if TELLS.match(dotted(above.func)):
                return True
            if at is not above.func and last_name(above) not in _FORMS:
                return False
            if at is above.func and last_name(above) not in _FORMS | PUTS:
                return False
        elif type(above) is cst.If and _leads_around(unit, above):
            return False
        elif isinstance(above, (cst.If, cst.For)):
            return _only_shows(unit, statements(above.body), depth) and _only_shows(
                unit, statements(above.orelse), depth
            )
        elif isinstance(
            above, (cst.CompFor, cst.CompIf, cst.IndentedBlock, cst.While, cst.With, cst.FunctionDef)
        ):
            return isinstance(above, cst.CompFor) and _shows(unit, above, depth)
        elif isinstance(above, (cst.Assert, cst.Raise, cst.Return, cst.Yield, cst.Del)):
            return False
        at = above
    return False


def _leads_around(unit: Unit, branch: cst.If) -> bool:
    """Whether a branch goes on with the next row, past what its loop checks of this one."""
    loop = enclosing(unit, branch, cst.For, cst.While)
    arms = (*statements(branch.body), *statements(branch.orelse))
    return loop is not None and any(type(one) is cst.Continue for one in arms) and bool(checks_in(unit, loop))


def _is_shown_by(unit: Unit, node: cst.Assign | cst.AnnAssign, depth: int) -> bool:
    """Whether the names that an assignment gives a value to are only shown."""
    targets = [one.target for one in node.targets] if isinstance(node, cst.Assign) else [node.target]
    return depth > 0 and all(
        isinstance(one, cst.Name) and is_only_shown(unit, one.value, depth - 1) for one in targets
    )


def _only_shows(unit: Unit, block: list[cst.CSTNode], depth: int) -> bool:
    for statement in block:
        call = statement.value if type(statement) is cst.Expr else None
        if type(call) is cst.Call and TELLS.match(dotted(call.func)):
            continue
        if isinstance(statement, (cst.Pass, cst.Continue)) or tallied(statement):
            continue
        if isinstance(statement, cst.Assign) and _is_shown_by(unit, statement, depth):
            continue
        if isinstance(statement, (cst.If, cst.For)) and all(
            _only_shows(unit, statements(arm), depth) for arm in (statement.body, statement.orelse)
        ):
            continue
        return False
    return True


def counting(unit: Unit) -> Iterator[tuple[cst.Assign, str, list[cst.BaseExpression]]]:
    """The assignments of a count, or of a list, of what a comparison holds for: the statement, the name, and
    the comparisons."""
    for statement in unit.find(cst.Assign):
        target = statement.targets[0].target
        if type(target) is not cst.Name or len(statement.targets) > 1:
            continue
        asked = _asked(statement.value)
        if asked:
            yield statement, target.value, asked


def _asked(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if type(node) is cst.Call and last_name(node) in _COUNTS:
        inside = [arg.value for arg in node.args[:1]]
        if type(node.func) is cst.Attribute and not inside:
            inside = [node.func.value]
        found: list[cst.BaseExpression] = []
        for one in inside:
            if isinstance(one, (cst.GeneratorExp, cst.ListComp)):
                found += _asked(one) or [one.elt]
            else:
                found += [one] if isinstance(one, cst.Comparison) else _asked(one)
        return found
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        return [part.test for part in walk(node.for_in) if isinstance(part, cst.CompIf)]
    return []


def verdicts(unit: Unit) -> Iterator[tuple[cst.Assign, str]]:
    """The assignments of whether something agrees: the statement, and the name."""
    for statement in unit.find(cst.Assign):
        target, value = statement.targets[0].target, statement.value
        if type(target) is not cst.Name or len(statement.targets) > 1:
            continue
        if isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Not):
            value = value.expression
        if isinstance(value, cst.Comparison) or (isinstance(value, cst.Call) and _judges(unit, value)):
            yield statement, target.value


def _judges(unit: Unit, call: cst.Call) -> bool:
    """Whether a call says whether two values agree."""
    return dotted(call.func) in ("all", "any") or predicate(call, unit) in ("equal", "close", "identical")


@once
def may_give_verdict(unit: Unit) -> bool:
    """Whether there could be one that nothing but what shows it reads, by `ast`."""
    return any(
        type(node.value) in _VERDICTS
        and len(node.targets) == 1
        and isinstance(target := node.targets[0], ast.Name)
        and (not isinstance(node.value, ast.Call) or called_last(node.value) in _SAYING)
        and target.id not in kept_names(unit)
        for node in unit.asts(ast.Assign)
    )


_VERDICTS = frozenset({ast.Compare, ast.Call, ast.UnaryOp})
_SAYING = COMPARING | {"all", "any"}


_COUNTS = frozenset({"sum", "len", "int", "list", "sorted", "set", "item", "count_nonzero", "float"})


@once
def may_count(unit: Unit) -> bool:
    """Whether `counting` may yield something that no check reads, by `ast`."""
    return any(
        type(node.value) in _COUNTING
        and len(node.targets) == 1
        and isinstance(target := node.targets[0], ast.Name)
        and _compares_within(node.value)
        and target.id not in kept_names(unit)
        for node in unit.asts(ast.Assign)
    )


_COUNTING = frozenset({ast.Call, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp})


def _compares_within(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in _COUNTS:
            return False
        inside = node.args[:1] or ([function.value] if isinstance(function, ast.Attribute) else [])
        return any(_compares_within(one) or isinstance(one, ast.Compare) for one in inside)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        elements = [node.elt] if isinstance(node, (ast.GeneratorExp, ast.ListComp)) else []
        tests = [test for one in node.generators for test in one.ifs]
        return any(
            not isinstance(one, (ast.Name, ast.Attribute, ast.Constant)) for one in (*elements, *tests)
        )
    return False
