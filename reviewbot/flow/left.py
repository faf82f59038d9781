"""What else in a function shows that a filter leaves something, that a folder or a query holds something.

`shown` is an argument from the code: a check around the loop fails, or an index raises, when nothing is
left. `hinted` is less: the code is written as one writes where the rest is known to be there.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.calls import bind, callers, module_value
from reviewbot.flow.checks import checks
from reviewbot.flow.guards import pairs, reached_with
from reviewbot.flow.iteration import Iterable
from reviewbot.flow.own_input import draws
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.syntax import (
    canonical,
    dotted,
    last_name,
    literal,
    operands,
    qualified,
    root_name,
    subscript,
    walk,
)
from reviewbot.flow.terms import counted_by
from reviewbot.flow.values import Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Left = Literal["shown", "hinted"]

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_OWN_NAMES = frozenset({"dir", "vars", "globals", "getmembers"})
_SPLITTING = frozenset({"split", "splitlines", "rsplit"})
_HERE = frozenset({"os.listdir", "os.scandir", "os.walk", "listdir", "scandir", "walk"})
_WRITES = frozenset({"touch", "write_text", "write_bytes"})
_ADDS = frozenset({
    "write", "writelines", "writestr", "writerow", "writerows", "write_table", "add", "addfile", "append",
})  # fmt: skip
_EXIST = frozenset({"exists", "is_file"})
_DATA = pattern(r"(?i)(^|/)(tests?|testing|test_?data|data|fixtures?|resources?|assets|examples?)/")
_OPENS = frozenset({"open", "read_text", "read_bytes"})
_PARSES = frozenset({"load", "loads", "safe_load", "reader", "DictReader"})
_KEPT = pattern(r"^_?([A-Z]+_)*(DATA|FIXTURES?|RESOURCES?|ASSETS|EXAMPLES?|GOLDEN)(_[A-Z]+)*$")
_PATHS = frozenset({
    "Path", "join", "joinpath", "dirname", "abspath", "realpath", "expanduser", "resolve", "absolute",
    "as_file",
})  # fmt: skip
_PATH_MODULES = frozenset({"os.path", "osp", "path", "pathlib", "importlib.resources", "resources"})
_LOADS = pattern(r"(?i)(^|_)(load|restore|read|open)")


def left(unit: Unit, node: cst.CSTNode, found: Iterable) -> Left | None:
    """Whether what `found` says may be empty holds something where `node` (a loop, or the comprehension that
    a check decides on) runs."""
    made = found.node
    if found.made == "used-up":
        return None
    if isinstance(made, _COMPREHENSIONS) and _drops_blanks(found.unit, made):
        return "shown"
    if found.unit is not unit:
        filtered = made.for_in.iter if isinstance(made, _COMPREHENSIONS) else None
        tabled = filtered is not None and _is_table(found.unit, filtered)
        return "hinted" if tabled or _is_counted_later(unit, node, made) else None
    if isinstance(made, _COMPREHENSIONS):
        if _holds_item(unit, node, made):
            return "shown"
        if _is_pinned(unit, node, made) or _has_key(unit, node, made) or _is_named(unit, node, made):
            return "shown"
        if _pairs_off(unit, node, made) or _is_kept_alike(unit, node, made):
            return "shown"
    if _is_compared(unit, node, made) or _asked_before(unit, node, made):
        return "shown"
    if found.made == "loaded" and (_is_written(unit, node, made) or _is_there(unit, node, made)):
        return "shown"
    if _divides(unit, node) or _is_looked_for(unit, node, made):
        return "shown"
    return "hinted" if _is_hinted(unit, node, found) else None


def _asked_before(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether a node runs only under the condition under which the collection was filled."""
    if type(made) is not cst.If:
        return False
    asked, flow = canonical(made.test), values(unit)

    def bound(test: cst.BaseExpression) -> list[frozenset[Binding]]:
        return [flow.reaching(name) for name in flow.reads(test)]

    below = node
    for above in unit.ancestors(node):
        if type(above) is cst.If and below is above.body and canonical(above.test) == asked:
            return bound(above.test) == bound(made.test)
        below = above
    return False


def _source(unit: Unit, made: cst.CSTNode) -> cst.BaseExpression:
    """What a comprehension takes its items from, without the method that gives a view of it."""
    assert isinstance(made, _COMPREHENSIONS)
    return _viewed(made.for_in.iter)


def _viewed(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value if node.func.attr.value in ("items", "keys", "values") else node
    if isinstance(node, cst.Call) and dotted(node.func) in ("sorted", "list", "set", "tuple") and node.args:
        return _viewed(node.args[0].value)
    return node


def _apart(unit: Unit, guard: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a guard stands outside of a node, and runs whenever it does."""
    inside = unit.holds(node, guard)
    return not inside and reached_with(unit, guard, node)


def _is_pinned(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """`[event[0] for event in events[1:]] == ["scale", "step"]` tells what is in `events`."""
    source = canonical(_source(unit, made))
    flow = values(unit)
    for pair in pairs(unit):
        if pair.ordered or not _apart(unit, pair.node, node):
            continue
        for one, other in ((pair.left, pair.right), (pair.right, pair.left)):
            if not _holds_some(flow.resolve(other)):
                continue
            of = flow.resolve(one)
            if isinstance(of, _COMPREHENSIONS) and not of.for_in.ifs:
                of = _viewed(of.for_in.iter)
            while isinstance(of, cst.Subscript) and isinstance(of.slice[0].slice, cst.Slice):
                of = of.value
            if canonical(_viewed(of)) == source:
                return True
    return False


def _is_kept_alike(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether what the same filter keeps of the same is compared as a whole with what did not come from it:
    `kept = {row.name for row in rows if row.done}` and `assert kept == {"a", "b"}`."""
    assert isinstance(made, _COMPREHENSIONS)
    flow = values(unit)
    asked = canonical(made.for_in)
    alike = {
        binding
        for binding in flow.all
        if isinstance(binding.value, _COMPREHENSIONS)
        and binding.value is not made
        and canonical(binding.value.for_in) == asked
    }
    for pair in pairs(unit) if alike else ():
        if pair.ordered or not _apart(unit, pair.node, node):
            continue
        kept = [isinstance(one, cst.Name) and flow.reaching(one) <= alike for one in (pair.left, pair.right)]
        if kept[0] != kept[1]:
            return True
    return False


def _holds_some(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict)) and bool(node.elements)


def _has_key(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """`"grad" in key` keeps something of a mapping in which `"grad/all"` is looked up, or asserted to be."""
    assert isinstance(made, _COMPREHENSIONS)
    part = _part_of_key(made)
    if part is None:
        return False
    source = canonical(_source(unit, made))
    for taken in unit.find(cst.Subscript):
        found = subscript(taken)
        if found is None or not isinstance(found[1], str) or part not in found[1]:
            continue
        if canonical(found[0]) == source and _apart(unit, taken, node) and _reads(unit, taken):
            return True
    for check in checks(unit):
        condition = check.condition
        if (
            check.kind != "assert"
            or not isinstance(condition, cst.Comparison)
            or not _apart(unit, check.node, node)
        ):
            continue
        target = condition.comparisons[0]
        key = literal(condition.left)
        held = isinstance(target.operator, cst.In) and isinstance(key, str) and part in key
        if held and canonical(_viewed(target.comparator)) == source:
            return True
    return False


def _holds_item(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """`kind == "bell"` keeps something of what `"bell"` is asserted to be in, also beside its number."""
    assert isinstance(made, _COMPREHENSIONS)
    loop = made.for_in
    test = loop.ifs[0].test if len(loop.ifs) == 1 else None
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    target: cst.BaseExpression | cst.BaseAssignTargetExpression = loop.target
    over = loop.iter
    if isinstance(over, cst.Call) and dotted(over.func) == "enumerate" and isinstance(target, cst.Tuple):
        target, over = target.elements[-1].value, over.args[0].value
    asked = test.comparisons[0]
    if not isinstance(asked.operator, cst.Equal) or canonical(test.left) != canonical(target):
        return False
    wanted, source = canonical(asked.comparator), canonical(over)
    for check in checks(unit):
        held = check.condition
        if not isinstance(held, cst.Comparison) or not _apart(unit, check.node, node):
            continue
        one = held.comparisons[0]
        asserted = isinstance(one.operator, cst.In) and canonical(held.left) == wanted
        if asserted and canonical(one.comparator) == source:
            return True
    return False


def _reads(unit: Unit, taken: cst.CSTNode) -> bool:
    return not isinstance(unit.parent(taken), (cst.AssignTarget, cst.Del))


def _part_of_key(made: cst.CSTNode) -> str | None:
    """The text that the one condition of a comprehension wants in each key: `"x" in key`,
    `key.startswith("x")`, `key == "x"`."""
    assert isinstance(made, _COMPREHENSIONS)
    if len(made.for_in.ifs) != 1 or made.for_in.inner_for_in is not None:
        return None
    target: cst.BaseExpression = made.for_in.target
    if isinstance(target, cst.Tuple):
        target = target.elements[0].value
    test = made.for_in.ifs[0].test
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        one, other = test.left, test.comparisons[0].comparator
        if isinstance(test.comparisons[0].operator, cst.In) and canonical(other) == canonical(target):
            found = literal(one)
            return found if isinstance(found, str) else None
    return None


def _is_named(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """`{"sum"} <= {kind(k) for k in keys}` shows that `kind(k) == "sum"` keeps some of the keys."""
    assert isinstance(made, _COMPREHENSIONS)
    tests = [one.test for one in made.for_in.ifs]
    if len(tests) != 1 or not isinstance(tests[0], cst.Comparison) or len(tests[0].comparisons) != 1:
        return False
    target = tests[0].comparisons[0]
    wanted = literal(target.comparator)
    if not isinstance(target.operator, cst.Equal) or not isinstance(wanted, (str, int)):
        return False
    source = canonical(_source(unit, made))
    for check in checks(unit):
        if check.condition is None or not _apart(unit, check.node, node):
            continue
        below = list(walk(check.condition))
        over = any(
            isinstance(one, _COMPREHENSIONS)
            and not one.for_in.ifs
            and canonical(_viewed(one.for_in.iter)) == source
            for one in below
        )
        asks = isinstance(check.condition, cst.Call) and last_name(check.condition) in (
            "issubset",
            "issuperset",
        )
        asks = asks or isinstance(check.condition, cst.Comparison)
        if (
            over
            and asks
            and any(isinstance(one, cst.SimpleString) and literal(one) == wanted for one in below)
        ):
            return True
    return False


def _pairs_off(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """`u != v` of two items of one collection keeps something of one that is required to hold two or more."""
    assert isinstance(made, _COMPREHENSIONS)
    inner = made.for_in.inner_for_in
    tests = [*made.for_in.ifs, *(inner.ifs if inner is not None else ())]
    if inner is None or len(tests) != 1 or canonical(inner.iter) != canonical(made.for_in.iter):
        return False
    test = tests[0].test
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, cst.NotEqual):
        return False
    source = canonical(made.for_in.iter)
    for pair in pairs(unit):
        for one, other in ((pair.left, pair.right), (pair.right, pair.left)):
            counted, size = counted_by(one), literal(other)
            known = counted is not None and canonical(counted) == source and not pair.ordered
            if known and isinstance(size, int) and size > 1 and _apart(unit, pair.node, node):
                return True
    return False


def _drops_blanks(unit: Unit, made: cst.CSTNode) -> bool:
    """`[int(part) for part in text.split(",") if part.strip()]`: what somebody wrote in a list, and nothing
    of it is left out."""
    assert isinstance(made, _COMPREHENSIONS)
    source = values(unit).resolve(made.for_in.iter)
    if not isinstance(source, cst.Call) or last_name(source) not in _SPLITTING:
        return False
    tests = [canonical(one.test) for one in made.for_in.ifs]
    item = canonical(made.for_in.target)
    return bool(tests) and all(test in (item, f"{item}.strip()") for test in tests)


def _is_compared(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether what was made of the same collection is compared as a whole with what did not come from it."""
    flow = values(unit)
    own = {binding for binding in flow.all if binding.value is made and binding.role == "whole"}
    if not own:
        return False
    for pair in pairs(unit):
        if pair.ordered or not _apart(unit, pair.node, node) or _in_all(unit, pair.node):
            continue
        if counted_by(pair.left) is not None or counted_by(pair.right) is not None:
            continue
        from_it = [not own.isdisjoint(flow.slice(side)) for side in (pair.left, pair.right)]
        if from_it[0] != from_it[1] and _is_whole(unit, (pair.left, pair.right)[from_it[1]], made):
            return True
    return False


_EXPECTED = pattern(r"(?i)_?(expect|wanted|golden)")  # who expects nothing writes no test


def _is_counted_later(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether what a loop's collection was made into is compared by its length, under its name or another."""
    flow = values(unit)
    over = [b for b in flow.all if b.value is made]
    if not over and isinstance(node, cst.For):
        over = [b for name in flow.reads(node.iter) for b in flow.reaching(name)]
    for pair in pairs(unit):
        sides = (pair.left, pair.right)
        counted = [one for one in map(counted_by, sides) if one is not None]
        if pair.ordered or not counted or not _apart(unit, pair.node, node) or 0 in map(literal, sides):
            continue  # of nothing there are none
        if any(not set(over).isdisjoint(flow.slice(one)) for one in counted):
            return True
    return False


def _is_whole(unit: Unit, side: cst.BaseExpression, made: cst.CSTNode) -> bool:
    """Whether a value was put together from all of a collection, as by `join`, and not taken from an item
    of it."""
    flow = values(unit)
    own = [binding for binding in flow.all if binding.value is made]
    listed = flow.resolve(side)
    plain = isinstance(listed, cst.ListComp) and not listed.for_in.ifs and not listed.for_in.inner_for_in
    # `[[boat.length for boat in boats] for boats in harbours]`, each of which was put in there.
    if plain and isinstance(listed, cst.ListComp) and not set(own).isdisjoint(flow.slice(listed.for_in.iter)):
        return True
    joined = [
        call
        for one in (side, *(b.value for b in flow.slice(side) if b.value is not None))
        for call in walk(one)
        if isinstance(call, cst.Call)
        and last_name(call) in ("join", "concat", "concatenate", "sorted", "list")
    ]
    return any(not flow.reaching(name).isdisjoint(own) for call in joined for name in flow.reads(call))


def _in_all(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a comparison stands in a loop or comprehension of its own, where it need not run."""
    for above in unit.ancestors(node):
        if isinstance(above, (*_COMPREHENSIONS, cst.Lambda)):
            return True
        if isinstance(above, (cst.BaseCompoundStatement, cst.BaseSmallStatement)):
            return False
    return False


def _is_hinted(unit: Unit, node: cst.CSTNode, found: Iterable) -> bool:
    made = found.node
    if _is_counted_later(unit, node, made):
        return True
    if isinstance(made, _COMPREHENSIONS) and _EXPECTED.match(root_name(_source(unit, made))):
        return True
    filtered = made.for_in.iter if isinstance(made, _COMPREHENSIONS) else None
    if isinstance(made, cst.Call) and dotted(made.func) == "filter" and len(made.args) == 2:
        filtered = made.args[1].value
    if isinstance(made, cst.If):
        around = next((above for above in unit.ancestors(made) if isinstance(above, cst.For)), None)
        filtered = around.iter if around is not None else None
    if filtered is not None and any(_gives_own_names(one) for one in _walked(unit, filtered)):
        return True
    if filtered is not None and (_is_table(unit, filtered) or _is_rendered(unit, node, filtered)):
        return True
    if found.made == "loaded" and (
        _lists_here(made)
        or lists_own(unit, made)
        or _is_read_back(unit, node, made)
        or _is_own(unit, made)
        or _is_restored(unit, node, made)
    ):
        return True
    return draws(unit) or _is_at_hand(unit, made)


def _is_looked_for(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether a loop looks for something in what was made of the same collection, and its `else` fails where
    that is not found."""
    flow = values(unit)
    own = {binding for binding in flow.all if binding.value is made and binding.role == "whole"}
    for loop in unit.find(cst.For) if own else ():
        if loop.orelse is None or unit.holds(node, loop) or unit.holds(loop, node):
            continue
        fails = any(isinstance(below, cst.Raise) for below in walk(loop.orelse.body))
        if fails and not own.isdisjoint(flow.slice(loop.iter)):
            return True
    return False


def _is_rendered(unit: Unit, node: cst.CSTNode, filtered: cst.BaseExpression) -> bool:
    """Whether a check compares what all that is filtered is made into, `render(spans)`, with what is written
    out: that there are some is seen there."""
    source = canonical(_viewed(filtered))
    for pair in pairs(unit):
        if pair.ordered or not _apart(unit, pair.node, node):
            continue
        for one, other in ((pair.left, pair.right), (pair.right, pair.left)):
            given = [canonical(arg.value) for arg in one.args] if isinstance(one, cst.Call) else []
            if source in given and counted_by(one) is None and _is_something(literal(other)):
                return True
    return False


def _is_something(value: object) -> bool:
    return isinstance(value, (str, bytes, list, tuple, set, dict)) and bool(value)


def _walked(unit: Unit, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What is walked, or each of the written things that an outer loop hands over to be walked."""
    flow = values(unit)
    node = flow.resolve(_viewed(node))
    bound = flow.reaching(node) if isinstance(node, cst.Name) else frozenset()
    outer = [flow.resolve(one.value) for one in bound if one.kind == "loop" and one.value is not None]
    if len(outer) == len(bound) == 1 and isinstance(outer[0], (cst.List, cst.Tuple)):
        return [element.value for element in outer[0].elements]
    return [_viewed(node)]


def _is_table(unit: Unit, node: cst.BaseExpression, depth: int = 6) -> bool:
    """Whether a filter is over a name of the module or an import, or a part of it, or over what each caller
    in the file takes from there: a table or a registry, which is as long as somebody has written it."""
    if not depth:
        return False
    node = values(unit).resolve(_viewed(node))
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return all(_is_table(unit, side, depth - 1) for side in (node.left, node.right))
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    if not isinstance(node, cst.Name):
        return False
    bound = values(unit).reaching(node)
    if bound and not unit.is_test and all(one.kind == "parameter" for one in bound):
        sites = [(site.caller, bind(site.call, unit).get(node.value)) for site in callers(unit)]
        return bool(sites) and all(n is not None and _is_table(at, n, depth - 1) for at, n in sites)
    return not bound and node.value not in ("self", "cls")


def _gives_own_names(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and last_name(node) in _OWN_NAMES


def _lists_here(made: cst.CSTNode) -> bool:
    """Whether it is the working folder that is listed, which is the repository as a rule."""
    if not isinstance(made, cst.Call):
        return False
    if not made.args and dotted(made.func) in _HERE:
        return True
    function = made.func
    if not isinstance(function, cst.Attribute) or function.attr.value not in ("iterdir", "listdir"):
        return False
    owner = function.value
    return isinstance(owner, cst.Call) and not owner.args


def lists_own(unit: Unit, made: cst.CSTNode) -> bool:
    """Whether all of a folder is listed that stands beside the test or in its package, or all that is written
    in Python below it: what is kept in a repository is no empty folder, and where it has moved most listings
    raise, which a `glob` and a walk do not."""
    if not isinstance(made, cst.Call):
        return False
    globs = last_name(made) in ("glob", "iglob", "rglob")
    if not globs and last_name(made) not in ("listdir", "iterdir", "scandir", "walk"):
        return False
    folder = made.args[0].value if made.args else made.func
    if globs and isinstance(made.func, cst.Attribute) and dotted(made.func.value) != "glob":
        folder = made.func
    if isinstance(folder, cst.Attribute) and folder is made.func:
        folder = folder.value
    texts = [literal(below) for below in walk(made) if isinstance(below, cst.SimpleString)]
    if _is_written_path(unit, folder):
        return not globs or texts[-1] in ("*", "**/*", "*.py", "**/*.py")
    deep = last_name(made) == "rglob" or any(isinstance(t, str) and "**" in t for t in texts)
    if globs and not (deep and any(isinstance(t, str) and t.endswith("*.py") for t in texts)):
        return False
    return _places(unit, folder) == {True}


def _is_written_path(unit: Unit, node: cst.BaseExpression) -> bool:
    """`"docs/rules"`, `Path("docs/rules")`: from where the tests are run, which is the repository."""
    node = values(unit).resolve(node)
    if isinstance(node, cst.Call) and last_name(node) == "Path" and len(node.args) == 1:
        node = values(unit).resolve(node.args[0].value)
    path = literal(node) if isinstance(node, cst.SimpleString) else None
    return isinstance(path, str) and not path.startswith(("/", "~")) and "*" not in path


def _is_read_back(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether a check looks at what something else read from the same folder: there was something in it."""
    flow = values(unit)
    paths = {canonical(arg.value) for arg in made.args} if isinstance(made, cst.Call) else set()
    if not paths:
        return False
    for check in checks(unit):
        if not _apart(unit, check.node, node) or check.condition is None:
            continue
        for binding in flow.slice(check.condition):
            for call in walk(binding.value) if binding.value is not None else ():
                if not isinstance(call, cst.Call) or call is made or "read" not in last_name(call):
                    continue
                if paths & {canonical(arg.value) for arg in call.args}:
                    return True
    return False


def _divides(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a division after a loop is by counters that only the loop raises from nought: without a turn of
    it that division raises."""
    if not isinstance(node, cst.For):
        return False
    flow, rank = values(unit), unit.index.rank
    raised = {
        one.target.value
        for one in walk(node.body)
        if isinstance(one, cst.AugAssign) and isinstance(one.operator, cst.AddAssign)
        if isinstance(one.target, cst.Name)
    }
    for one in unit.find(cst.BinaryOperation) if raised else ():
        if not isinstance(one.operator, (cst.Divide, cst.FloorDivide, cst.Modulo)):
            continue
        if rank(one) < rank(node) or not _apart(unit, one, node) or not isinstance(one.right, cst.Name):
            continue
        parts = list(operands(flow.resolve(one.right), cst.Add))
        if parts and all(isinstance(n, cst.Name) and _starts_at_nought(unit, n, raised) for n in parts):
            return True
    return False


def _starts_at_nought(unit: Unit, name: cst.Name, raised: set[str]) -> bool:
    if name.value not in raised:
        return False
    given = [b.value for b in values(unit).bindings(name.value) if b.kind == "assign"]
    starts = [literal(value) for value in given if value is not None and not _adds_to(value, name.value)]
    return bool(starts) and all(start == 0 for start in starts)


def _adds_to(value: cst.BaseExpression, name: str) -> bool:
    return any(isinstance(below, cst.Name) and below.value == name for below in walk(value))


def _is_restored(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether the folder that is listed lies in one from which the function loads what a check looks at."""
    flow = values(unit)
    listed = made.func.value if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) else None
    if isinstance(made, cst.Call) and (listed is None or dotted(listed) in ("os", "fileio", "gfile")):
        listed = made.args[0].value if made.args else None
    while isinstance(listed, cst.Name) and flow.resolve(listed) is not listed:
        listed = flow.resolve(listed)
    folder = _leftmost(listed) if listed is not None else None
    if not isinstance(folder, (cst.Name, cst.Attribute)):
        return False
    wanted = canonical(folder)
    for check in checks(unit):
        if not _apart(unit, check.node, node):
            continue
        looked_at = check.node if check.condition is None else check.condition
        for binding in flow.slice(looked_at):
            for call in walk(binding.value) if binding.value is not None else ():
                if not isinstance(call, cst.Call) or not _LOADS.search(last_name(call)):
                    continue
                if any(canonical(arg.value) == wanted for arg in call.args):
                    return True
    return False


def _is_at_hand(unit: Unit, made: cst.CSTNode) -> bool:
    """Whether a file is read that stands beside the tests: `open("tests/data/rows.jsonl")`, `json.load` of
    `Path(__file__).parent / "rows.json"`. One that is gone cannot be opened, and one that is kept is not
    empty; a folder of them that has moved is another matter."""
    path = _opened(unit, made)
    if path is None:
        return False
    flow = values(unit)
    paths = [literal(flow.resolve(path))]
    for binding in flow.reaching(path) if isinstance(path, cst.Name) else ():
        if binding.kind == "loop" and binding.value is not None:
            listed = literal(flow.resolve(binding.value))
            paths = list(listed) if isinstance(listed, (list, tuple)) else paths
    if all(isinstance(one, str) and _DATA.search(one) is not None for one in paths):
        return True
    return _places(unit, path) == {True}


def _opened(unit: Unit, made: cst.CSTNode, depth: int = 6) -> cst.BaseExpression | None:
    """The path of the file that a call opens, or reads by the handle that it is given."""
    while isinstance(made, cst.Call) and depth:
        depth -= 1
        function = made.func
        if dotted(function) in ("open", "io.open"):
            return made.args[0].value if made.args else None
        owner = function.value if isinstance(function, cst.Attribute) else None
        handle = owner if owner is not None and not made.args else None
        if owner is not None and last_name(made) in _OPENS:
            return owner
        if handle is None and len(made.args) == 1 and last_name(made) in _PARSES:
            handle = made.args[0].value
        if handle is None:
            return None
        bound = values(unit).reaching(handle) if isinstance(handle, cst.Name) else ()
        held = [one.value for one in bound if one.kind in ("with", "assign") and one.role == "whole"]
        made = held[0] if len(held) == len(bound) == 1 and held[0] is not None else handle
    return None


def _places(unit: Unit, node: cst.BaseExpression, depth: int = 12) -> set[bool]:
    """For each part of a path whether it tells where the test file itself or its package stands: False of a
    part that says neither that nor a name, so that a path of the repository has `{True}` alone."""
    flow = values(unit)
    node = flow.resolve(node)
    entered = flow.reaching(node) if isinstance(node, cst.Name) else frozenset()
    if len(entered) == 1 and (only := next(iter(entered))).kind == "with" and only.value is not None:
        node = only.value
    if not depth:
        return {False}
    if isinstance(node, cst.Call) and qualified(node.func, unit.file.imports) == "importlib.resources.files":
        return {True}
    if isinstance(node, cst.SimpleString):
        return set()
    if isinstance(node, cst.Name):
        if node.value == "__file__":
            return {True}
        bound = flow.reaching(node)
        if bound and all(one.kind in ("parameter", "loop") for one in bound):
            return set()  # some file of a folder that is known
        if not bound and node.value.isupper() and node.value in unit.file.imports:
            return {True}  # a constant of the tests' own: `EXAMPLES_DIR`
        constant = module_value(unit.file, node.value) if not bound else None
        if isinstance(constant, ast.Call | ast.BinOp) and _KEPT.search(node.value):
            return {True}
        return _places_of(unit, constant, depth) if constant is not None else {False}
    if (
        isinstance(node, cst.Attribute)
        and node.attr.value.isupper()
        and dotted(node.value) in ("self", "cls")
    ):
        return {True}
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        return _places(unit, node.left, depth - 1) | _places(unit, node.right, depth - 1)
    if isinstance(node, cst.Subscript):
        return _places(unit, node.value, depth - 1) if last_name(node.value) == "parents" else {False}
    if isinstance(node, cst.Attribute) and node.attr.value in ("parent", "parents"):
        return _places(unit, node.value, depth - 1)
    if isinstance(node, cst.Call) and last_name(node) in _PATHS:
        given = [arg.value for arg in node.args if not arg.star]
        inner = isinstance(node.func, cst.Attribute) and dotted(node.func.value) not in _PATH_MODULES
        if inner and isinstance(node.func, cst.Attribute):
            given.append(node.func.value)
        return set[bool]().union(*(_places(unit, one, depth - 1) for one in given))
    return {False}


def _places_of(unit: Unit, node: ast.expr, depth: int) -> set[bool]:
    """The same of a constant of the module."""
    if not depth:
        return {False}
    inner: list[ast.expr] = []
    if isinstance(node, ast.Constant):
        return set() if isinstance(node.value, str) else {False}
    if isinstance(node, ast.Name):
        constant = module_value(unit.file, node.id)
        if node.id == "__file__" or (node.id.isupper() and node.id in unit.file.imports):
            return {True}
        return _places_of(unit, constant, depth - 1) if constant is not None else {False}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        inner = [node.left, node.right]
    elif isinstance(node, ast.Attribute) and node.attr in ("parent", "parents"):
        inner = [node.value]
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        inner = [node.value] if node.value.attr == "parents" else []
    elif isinstance(node, ast.Call):
        function = node.func
        method = isinstance(function, ast.Attribute) and dotted_name(function.value) not in _PATH_MODULES
        name = function.attr if isinstance(function, ast.Attribute) else dotted_name(function)
        inner = list(node.args) if name in _PATHS else []
        if name in _PATHS and method and isinstance(function, ast.Attribute):
            inner.append(function.value)
    if not inner:
        return {False}
    return set[bool]().union(*(_places_of(unit, one, depth - 1) for one in inner))


def _is_written(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether the function itself has put a file into the folder that is searched, of a name that the pattern
    fits: `(folder / "a.json").touch()` before `folder.glob("*.json")`."""
    pattern = _searched(made)
    rank = unit.index.rank
    if pattern is None:
        return False
    for call in unit.find(cst.Call):
        if last_name(call) not in _WRITES or rank(call) > rank(made) or not _apart(unit, call, node):
            continue
        place = values(unit).resolve(call.func.value) if isinstance(call.func, cst.Attribute) else call
        if not isinstance(place, cst.BinaryOperation) or root_name(_leftmost(place)) != root_name(made):
            continue
        if _fits(literal(place.right), pattern):
            return True
    return False


def _is_there(unit: Unit, node: cst.CSTNode, made: cst.CSTNode) -> bool:
    """Whether a check demands a file of the folder that is searched, of a name that the pattern fits:
    `assert (folder / "index.html").exists()` before `folder.rglob("*.html")`."""
    pattern = _searched(made)
    if pattern is None:
        return False
    assert isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute)
    folder = canonical(made.func.value)
    for check in checks(unit):
        asked = check.condition
        if check.kind != "assert" or not isinstance(asked, cst.Call) or last_name(asked) not in _EXIST:
            continue
        place = values(unit).resolve(asked.func.value) if isinstance(asked.func, cst.Attribute) else asked
        if isinstance(place, cst.BinaryOperation):
            owner, name = place.left, place.right
        elif last_name(place) == "joinpath" and isinstance(place, cst.Call) and len(place.args) == 1:
            assert isinstance(place.func, cst.Attribute)
            owner, name = place.func.value, place.args[0].value
        else:
            continue
        if canonical(owner) == folder and _fits(literal(name), pattern) and _apart(unit, check.node, node):
            return True
    return False


def _searched(made: cst.CSTNode) -> str | None:
    """The pattern of `folder.glob("*.json")`."""
    if not isinstance(made, cst.Call) or last_name(made) not in ("glob", "rglob") or not made.args:
        return None
    pattern = literal(made.args[0].value)
    return pattern if isinstance(pattern, str) and isinstance(made.func, cst.Attribute) else None


def _fits(name: object, pattern: str) -> bool:
    return isinstance(name, str) and fnmatchcase(name.rpartition("/")[2], pattern.rpartition("/")[2])


def _is_own(unit: Unit, made: cst.CSTNode) -> bool:
    """Whether the function reads what it has itself written into: `tarfile.open(fileobj=buffer)` after
    `with tarfile.open(fileobj=buffer, mode="w") as archive: archive.add("a.txt")`."""
    if not isinstance(made, cst.Call):
        return False
    rank, flow = unit.index.rank, values(unit)
    read = {canonical(arg.value) for arg in made.args if isinstance(arg.value, (cst.Name, cst.Attribute))}
    for call in unit.find(cst.Call):
        if (
            last_name(call) not in _ADDS
            or rank(call) > rank(made)
            or not isinstance(call.func, cst.Attribute)
        ):
            continue
        opened = flow.resolve(call.func.value)
        if isinstance(opened, cst.Name):
            bound = [one.value for one in flow.reaching(opened) if one.kind == "with"]
            opened = bound[0] if len(bound) == 1 and bound[0] is not None else opened
        if not isinstance(opened, cst.Call) or canonical(opened.func) != canonical(made.func):
            continue
        if read & {canonical(arg.value) for arg in opened.args}:
            return True
    return False


def _leftmost(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.BinaryOperation):
        node = node.left
    return node


@once
def counted_statements(unit: Unit) -> frozenset[int]:
    """The identities of what stands in the functions of a unit that an assertion calls and counts by:
    `self.assert_sql_count(engine, go, 31)`."""
    found: set[int] = set()
    nested = {node.name.value: node for node in unit.find(cst.FunctionDef) if node is not unit.node}
    for call in unit.find(cst.Call) if nested else ():
        if not last_name(call).startswith("assert"):
            continue
        given = [arg.value for arg in call.args]
        numbers = [literal(value) for value in given]
        if not any(isinstance(number, int) and number > 0 for number in numbers):
            continue
        for value in given:
            if isinstance(value, cst.Name) and value.value in nested:
                found |= {id(below) for below in walk(nested[value.value])}
    return frozenset(found)
