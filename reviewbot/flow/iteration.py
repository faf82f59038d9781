"""What an iterable is made from, and whether it may hold nothing: a literal table, `range(n)`, a filtered
comprehension, a query, a glob, a file, a dictionary's default, the common part of two sides."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.calls import callee, module_value
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, keyword_argument, last_name, literal, qualified
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.tree import walk
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

Made = Literal[
    "literal", "range", "parametrized", "parameter", "item", "call", "filtered", "loaded", "query", "lookup",
    "common", "used-up", "unknown",
]  # fmt: skip
"""`lookup` is a default that is empty, `common` what two collections share or one has beyond the other,
`used-up` an iterator that something before has run to its end."""

_DEPTH = 12
_SAME = frozenset({
    "list", "tuple", "sorted", "set", "frozenset", "reversed", "iter", "enumerate", "dict", "deepcopy",
    "copy.deepcopy", "copy.copy", "tqdm", "tqdm.tqdm", "track", "cycle", "itertools.cycle",
})  # fmt: skip
_VIEWS = frozenset({"items", "keys", "values", "copy", "tolist"})
_FILTERS = frozenset({
    "filter", "filterfalse", "takewhile", "dropwhile", "compress", "itertools.filterfalse",
    "itertools.takewhile", "itertools.dropwhile", "itertools.compress", "more_itertools.filter_except",
})  # fmt: skip
_ONE_SHOT = frozenset({
    "zip", "map", "filter", "iter", "enumerate", "reversed", "chain", "itertools.chain", "islice",
    "itertools.islice", "csv.reader", "csv.DictReader", "re.finditer", "glob.iglob", "os.walk", "os.scandir",
})  # fmt: skip
# Methods of a path that give an iterator; a file system's `glob` may give a list.
_LISTED_ONCE = frozenset({"iterdir", "rglob", "glob"})
_OF_A_PATH = pattern(r"(?i)path$|dir(ectory)?$|folder$|root$")
# By last name: what reads from outside the program.
_LOADING = frozenset({
    "glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk", "readlines", "read_text", "splitlines",
    "findall", "finditer", "open", "reader", "DictReader", "read_csv", "read_json", "read_parquet",
    "load_jsonl", "read_jsonl", "iter_lines", "safe_load_all", "load_dataset",
})  # fmt: skip
_PARSING = frozenset(
    {"json.load", "json.loads", "yaml.safe_load", "yaml.load", "tomllib.load", "orjson.loads"}
)
_QUERIES = frozenset({
    "query", "fetchall", "fetchmany", "find_all", "select", "scan", "execute", "search", "scalars", "xpath",
    "iterfind", "getElementsByTagName", "find_elements", "list_objects", "list_runs",
})  # fmt: skip
_FORMING = frozenset({"dedent", "cleandoc", "indent", "fill", "wrap", "str", "bytes", "StringIO", "BytesIO"})
_CHOOSING = frozenset({
    "combinations", "permutations", "itertools.combinations", "itertools.permutations",
})  # fmt: skip
_COMMON = frozenset({"intersection", "difference", "symmetric_difference"})
_BLOCKS = (
    *(cst.IndentedBlock, cst.SimpleStatementSuite, cst.FunctionDef, cst.Lambda, cst.IfExp),
    *(cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp),
)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


@dataclass(frozen=True, slots=True, eq=False)
class Iterable:
    """What is looped over.

    `empty`: True where it never holds anything, False where it always does, None where it may not. `node`
    is the expression that makes it so and `says` what it does, a clause with the iterable as its subject;
    it stands in `unit`. `source` is what a filter or a difference takes from, if it is one.
    """

    made: Made
    node: cst.CSTNode
    unit: Unit
    empty: bool | None = None
    says: str = ""
    source: Iterable | None = None


def iterable(unit: Unit, node: cst.BaseExpression, depth: int = _DEPTH) -> Iterable:
    """What an expression that is looped over is made from."""
    if isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict, cst.SimpleString, cst.ConcatenatedString)):
        return _written(unit, node)
    if type(node) is cst.Name:
        return _name(unit, node, depth)
    if type(node) is cst.NamedExpr:
        return iterable(unit, node.value, depth)
    if isinstance(node, _COMPREHENSIONS):
        return _comprehension(unit, node, depth)
    if type(node) is cst.IfExp:
        return _either(unit, node, node.body, node.orelse, depth)
    if type(node) is cst.BooleanOperation and type(node.operator) is cst.Or:
        return _or_empty(unit, node, depth)
    if type(node) is cst.BinaryOperation:
        return _operation(unit, node, depth)
    if type(node) is cst.Subscript:
        return Iterable("item", node, unit)
    if type(node) is cst.Call:
        return _call(unit, node, depth)
    return Iterable("unknown", node, unit)


def may_say(unit: Unit, node: ast.expr, depth: int = _DEPTH + 1) -> bool:
    """Whether `iterable` might say anything of what an `ast` node stands for; yes too often, never no
    wrongly."""
    kind = type(node)
    if kind is ast.Attribute or kind is ast.Subscript or kind is ast.Constant:
        return False
    if not depth:
        return True
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Name):
        given = _given_names(unit).get(node.id, ())
        return any(
            _is_one_shot(value) or _may_generate(unit, value) or may_say(unit, value, depth - 1)
            for value in given
        )
    if isinstance(node, ast.Call):
        return _may_say_call(unit, node, depth)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.BitAnd, ast.Sub)):
            return _may_be_set(node.left) or _may_be_set(node.right)
        sums = isinstance(node.op, (ast.Add, ast.Mult))
        return sums and (may_say(unit, node.left, depth - 1) or may_say(unit, node.right, depth - 1))
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.Or) and may_say(unit, node.values[-1], depth - 1)
    if isinstance(node, ast.IfExp):
        return may_say(unit, node.body, depth - 1)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        loops = node.generators
        return any(loop.ifs or may_say(unit, loop.iter, depth - 1) for loop in loops)
    return isinstance(node, ast.NamedExpr) and may_say(unit, node.value, depth - 1)


def _may_generate(unit: Unit, node: ast.expr) -> bool:
    """Whether an `ast` node may call a generator function of the file."""
    return isinstance(node, ast.Call) and called_last(node) in _generators(unit.file)


@once
def _generators(file: File) -> frozenset[str]:
    """The last names of the generator functions of a file."""
    return frozenset(
        one.name.rpartition(".")[2]
        for one in file.units
        if one.is_function and one.has(ast.Yield, ast.YieldFrom)
    )


def _may_say_call(unit: Unit, node: ast.Call, depth: int) -> bool:
    """The same of a call."""
    function, args, name = node.func, node.args, called_last(node)
    if isinstance(function, ast.Name):
        if name == "range":
            if len(args) == 1 and isinstance(args[0], ast.Constant) and isinstance(args[0].value, int):
                return args[0].value < 1
            return all(isinstance(arg, (ast.Constant, ast.UnaryOp)) for arg in args)
        given = args or [keyword.value for keyword in node.keywords]
        if name in _SAME and given and not isinstance(given[0], ast.Starred):
            return may_say(unit, given[0], depth - 1)
        if name in ("zip", "product"):
            return any(may_say(unit, arg, depth - 1) for arg in args)
        # What is imported may be known by another name.
        name = unit.file.imports.get(name, name).rpartition(".")[2]
    elif isinstance(function, ast.Attribute) and name in _VIEWS:
        return bool(args or node.keywords) or may_say(unit, function.value, depth - 1)
    if name in _SAYING or yields_batches(name):
        return True
    return any(may_say(other, value, depth - 1) for other, value in _handing_back(unit.file).get(name, ()))


_OF_BATCHES = pattern(r"(?i)(loader|sampler|batcher|prefetcher)$")


def yields_batches(name: str) -> bool:
    """Whether a class or function of this name gives what yields batches or samples."""
    return _OF_BATCHES.search(name) is not None


_SAYING = frozenset(
    name.rpartition(".")[2]
    for name in (
        *(_SAME | _FILTERS | _LOADING | _PARSING | _QUERIES | _CHOOSING | _COMMON),
        *("dict", "map", "product", "chain", "getattr", "get", "pop"),
    )
)


@once
def _handing_back(file: File) -> dict[str, list[tuple[Unit, ast.expr]]]:
    """By last name the functions of a file that have one `return`, with what they return."""
    found: dict[str, list[tuple[Unit, ast.expr]]] = {}
    for unit in file.units:
        returns = unit.asts(ast.Return) if unit.is_function else []
        if len(returns) == 1 and returns[0].value is not None and not unit.has(ast.Yield, ast.YieldFrom):
            found.setdefault(unit.name.rpartition(".")[2], []).append((unit, returns[0].value))
    return found


def _is_one_shot(value: ast.expr) -> bool:
    """Whether a value may have been run to its end before it is read again."""
    return isinstance(value, ast.GeneratorExp) or (
        isinstance(value, ast.Call) and called_last(value) in _ONE_SHOT_NAMES
    )


_ONE_SHOT_NAMES = frozenset(name.rpartition(".")[2] for name in _ONE_SHOT) | _LISTED_ONCE


def _may_be_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_last(node) in ("set", "frozenset", "keys")
    return isinstance(node, (ast.Set, ast.SetComp))


@once
def _given_names(unit: Unit) -> dict[str, list[ast.expr]]:
    """For each name of a unit the expressions that it is given as a whole."""
    found: dict[str, list[ast.expr]] = {}
    pairs = [(target, node.value) for node in unit.asts(ast.Assign) for target in node.targets]
    pairs += [(node.target, node.value) for node in unit.asts(ast.AnnAssign) if node.value is not None]
    pairs += [(node.target, node.value) for node in unit.asts(ast.NamedExpr)]
    pairs += [(one.optional_vars, one.context_expr) for one in unit.asts(ast.withitem) if one.optional_vars]
    for target, value in pairs:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs += zip(target.elts, value.elts, strict=False)
    return found


def _written(unit: Unit, node: cst.BaseExpression) -> Iterable:
    elements = getattr(node, "elements", None)
    if elements is None:
        value = literal(node)
        return Iterable("literal", node, unit, None if value is UNKNOWN else not value)
    if not elements:
        return Iterable("literal", node, unit, True, "holds nothing")
    stars = (cst.StarredElement, cst.StarredDictElement)
    plain = any(not isinstance(element, stars) for element in elements)
    return Iterable("literal", node, unit, False if plain else None)


def _name(unit: Unit, node: cst.Name, depth: int) -> Iterable:
    flow = values(unit)
    reaching = flow.reaching(node)
    if not reaching:
        return _global(unit, node)
    if UNBOUND in reaching or len(reaching) != 1 or not depth:
        return Iterable("unknown", node, unit)
    (binding,) = reaching
    if binding.kind == "parameter":
        return _parameter(unit, node, binding)
    if binding.kind == "with":
        read = (
            None if flow.mutations(binding.name) or _is_rewound(unit, node) else _used_up(unit, node, binding)
        )
        if read is not None:
            return Iterable("used-up", read, unit, True, "has been run to its end before")
        if binding.value is not None and type(binding.value) is cst.Call:
            return _call(unit, binding.value, depth - 1)
        return Iterable("unknown", node, unit)
    if binding.kind == "loop" or binding.role != "whole":
        return Iterable("item", node, unit)
    if binding.kind != "assign" or binding.value is None:
        return Iterable("unknown", node, unit)
    used = _used_up(unit, node, binding)
    if used is not None:
        return Iterable("used-up", used, unit, True, "has been run to its end before")
    made = iterable(unit, binding.value, depth - 1)
    if flow.mutations(binding.name):
        return _filled(unit, node, binding, made, depth)
    if made.made == "literal" and made.empty and flow.handed_on(binding.name):
        return Iterable("unknown", node, unit)
    return made


def _is_rewound(unit: Unit, node: cst.Name) -> bool:
    """Whether a file is told to go back."""
    return any(
        last_name(call) == "seek" and canonical(call.func).startswith(f"{node.value}.")
        for call in unit.find(cst.Call)
    )


def _global(unit: Unit, node: cst.Name) -> Iterable:
    value = module_value(unit.file, node.value)
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        plain = any(not isinstance(element, ast.Starred) for element in value.elts)
        return Iterable("literal", node, unit, False if plain else None)
    if isinstance(value, ast.Dict):
        return Iterable("literal", node, unit, False if any(value.keys) else None)
    return Iterable("unknown", node, unit)


def _parameter(unit: Unit, node: cst.Name, binding: Binding) -> Iterable:
    given = parametrized(unit, binding.name)
    if given is None:
        return Iterable("parameter", node, unit)
    return Iterable("parametrized", given, unit)


def parametrized(unit: Unit, name: str) -> cst.Decorator | None:
    """The `pytest.mark.parametrize` that gives a test's parameter its values, or None."""
    if type(unit.node) is not cst.FunctionDef:
        return None
    for decorator in unit.node.decorators:
        call = decorator.decorator
        if type(call) is cst.Call and last_name(call) == "parametrize" and call.args:
            names = literal(call.args[0].value)
            if isinstance(names, str):
                names = [part.strip() for part in names.split(",")]
            if isinstance(names, (list, tuple)) and name in names:
                return decorator
    return None


def _filled(unit: Unit, node: cst.Name, binding: Binding, start: Iterable, depth: int) -> Iterable:
    """A collection that is filled after it was made: by loops, under conditions or not."""
    if start.empty is False:
        return Iterable("unknown", node, unit)
    under: cst.CSTNode | None = None
    for mutation in values(unit).mutations(binding.name):
        if not (isinstance(mutation.node, (cst.Call, cst.Assign, cst.AugAssign))):
            return Iterable("unknown", node, unit)
        if type(mutation.node) is cst.Call and last_name(mutation.node) not in ("append", "add"):
            return Iterable("unknown", node, unit)
        condition = _condition(unit, mutation.node, binding.node)
        if condition is None:
            return Iterable("unknown", node, unit)
        under = under or condition
    if under is None or not start.empty:
        return Iterable("unknown", node, unit)
    assert isinstance(under, cst.If)
    says = f"is filled only under `{_short(unit, under.test)}`"
    loop = next(above for above in unit.ancestors(under) if type(above) is cst.For)
    source = iterable(unit, loop.iter, depth - 1) if depth else None
    return Iterable("filtered", under, unit, None, says, source)


def _condition(unit: Unit, node: cst.CSTNode, since: cst.CSTNode) -> cst.If | None:
    """The `if` under which a statement of a loop runs, inside the loop; None where it runs in every turn."""
    found: cst.If | None = None
    for above in unit.ancestors(node):
        if type(above) is cst.If:
            if above.orelse is not None:
                return None
            found = above
        elif type(above) is cst.For:
            return found
        elif isinstance(above, (cst.FunctionDef, cst.While, cst.Try)):
            return None
    return None


def _comprehension(
    unit: Unit, node: cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp, depth: int
) -> Iterable:
    loops: list[cst.CompFor] = []
    loop: cst.CompFor | None = node.for_in
    while loop is not None:
        loops.append(loop)
        loop = loop.inner_for_in
    conditions = [
        condition.test for one in loops for condition in one.ifs if not _pairs(condition.test, loops)
    ]
    source = iterable(unit, loops[0].iter, depth - 1) if depth else Iterable("unknown", node, unit)
    if conditions:
        says = f"keeps only what satisfies `{_short(unit, conditions[0])}`"
        return Iterable("filtered", node, unit, True if source.empty else None, says, source)
    if len(loops) > 1:
        inner = iterable(unit, loops[1].iter, depth - 1) if depth else source
        return source if inner.empty is False else inner
    return source


def _pairs(condition: cst.BaseExpression, loops: list[cst.CompFor]) -> bool:
    """`if i != j` of two loops over the same rows: every row with each other one, none with itself."""
    if type(condition) is not cst.Comparison or len(condition.comparisons) != 1 or len(loops) < 2:
        return False
    target = condition.comparisons[0]
    if not isinstance(target.operator, (cst.NotEqual, cst.IsNot, cst.LessThan, cst.GreaterThan)):
        return False
    sides = [{n.value for n in walk(loop.target) if type(n) is cst.Name} for loop in loops]
    names = (condition.left, target.comparator)
    if not all(type(name) is cst.Name for name in names):
        return False
    held = [next((at for at, own in enumerate(sides) if dotted(name) in own), None) for name in names]
    if None in held or held[0] == held[1]:
        return False
    one, other = (loops[at].iter for at in held if at is not None)
    return canonical(one) == canonical(other)


def _either(
    unit: Unit, node: cst.BaseExpression, one: cst.BaseExpression, other: cst.BaseExpression, depth: int
) -> Iterable:
    left, right = iterable(unit, one, depth - 1), iterable(unit, other, depth - 1)
    if left.empty is False and right.empty is False:
        return left
    if left.empty is True and right.empty is True:
        return left
    return Iterable("unknown", node, unit)


def _or_empty(unit: Unit, node: cst.BooleanOperation, depth: int) -> Iterable:
    right = iterable(unit, node.right, depth - 1) if depth else Iterable("unknown", node, unit)
    if right.empty is False:
        return right
    if right.empty and right.made == "literal" and not _is_optional(unit, node.left):
        return Iterable("lookup", node, unit, None, "falls back to nothing")
    return Iterable("unknown", node, unit)


def _is_optional(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression is a parameter that a caller may leave out."""
    return type(node) is cst.Name and any(
        binding.kind == "parameter" and binding.value is not None and literal(binding.value) is None
        for binding in values(unit).reaching(node)
    )


def _operation(unit: Unit, node: cst.BinaryOperation, depth: int) -> Iterable:
    left = iterable(unit, node.left, depth - 1) if depth else Iterable("unknown", node, unit)
    right = iterable(unit, node.right, depth - 1) if depth else left
    if type(node.operator) is cst.Add:
        if left.empty is False or right.empty is False:
            return left if left.empty is False else right
        return replace(left, empty=True) if left.empty and right.empty else Iterable("unknown", node, unit)
    if isinstance(node.operator, (cst.BitAnd, cst.Subtract)):
        if type(node.operator) is cst.BitAnd and _is_set(node):
            return Iterable("common", node, unit, None, "holds only what both sides have")
        if type(node.operator) is cst.Subtract and _is_set(node):
            return Iterable("common", node, unit, None, "holds only what the other side lacks", left)
    if type(node.operator) is cst.Multiply:
        return left if left.empty is False else right if right.empty is False else left
    return Iterable("unknown", node, unit)


def _is_set(node: cst.BinaryOperation) -> bool:
    return any(
        isinstance(side, (cst.Set, cst.SetComp))
        or (type(side) is cst.Call and last_name(side) in ("set", "frozenset", "keys"))
        for side in (node.left, node.right)
    )


def _call(unit: Unit, node: cst.Call, depth: int) -> Iterable:
    name, last = dotted(node.func), last_name(node)
    first = node.args[0].value if node.args and not node.args[0].star else None
    unknown = Iterable("call", node, unit)
    if not depth:
        return unknown
    if name == "range":
        return _range(unit, node)
    if name in _FILTERS:
        return Iterable("filtered", node, unit, None, f"keeps only what `{_short(unit, node)}` lets through")
    if name in ("dict", "list", "set", "tuple", "frozenset") and first is None and not node.args:
        return Iterable("literal", node, unit, True, "holds nothing")
    if (name in _SAME or last == "tqdm") and first is not None:
        return iterable(unit, first, depth - 1)
    if name == "map" and len(node.args) == 2 and not node.args[1].star:
        return iterable(unit, node.args[1].value, depth - 1)
    if name == "zip":
        return _shortest(unit, node, depth)
    if name in ("product", "itertools.product"):
        return _shortest(unit, node, depth)
    if name in _CHOOSING and first is not None:
        return iterable(unit, first, depth - 1)
    if name in ("chain", "itertools.chain"):
        return _longest(unit, node, depth)
    qualified_name = qualified(node.func, unit.file.imports)
    if type(node.func) is cst.Attribute:
        return _method(unit, node, node.func, qualified_name, depth)
    if last in _LOADING or qualified_name in _PARSING or qualified_name.rpartition(".")[2] in _LOADING:
        return Iterable("loaded", node, unit, None, f"is read by `{_short(unit, node)}`")
    if name == "getattr" and len(node.args) == 3:
        default = iterable(unit, node.args[2].value, depth - 1)
        if default.empty and default.made == "literal":
            return Iterable("lookup", node, unit, None, "is nothing where the attribute is missing")
    return _returned(unit, node, depth) or unknown


def _method(unit: Unit, node: cst.Call, function: cst.Attribute, qualified_name: str, depth: int) -> Iterable:
    name = function.attr.value
    if name in _VIEWS and not node.args:
        return iterable(unit, function.value, depth - 1)
    if name in _COMMON and len(node.args) >= 1:
        shares = "what both sides have" if name == "intersection" else "what one side lacks"
        source = iterable(unit, function.value, depth - 1) if name == "difference" else None
        return Iterable("common", node, unit, None, f"holds only {shares}", source)
    if name in ("get", "pop") and len(node.args) == 2:
        default = iterable(unit, node.args[1].value, depth - 1)
        if default.empty and default.made == "literal":
            return Iterable("lookup", node, unit, None, "is nothing where the key is missing")
    if name in _LOADING or qualified_name in _PARSING:
        if name in ("glob", "rglob") and _holds_itself(unit, node, function):
            return Iterable("loaded", node, unit, False)
        if name == "walk" and qualified_name not in ("os.walk", "pkgutil.walk_packages"):
            return Iterable("call", node, unit)
        if name == "splitlines" and _is_written(unit, function.value):
            return Iterable("literal", node, unit, False)
        return Iterable("loaded", node, unit, None, f"is read by `{_short(unit, node)}`")
    if name in ("split", "rsplit") and _is_written(unit, function.value):
        return Iterable("literal", node, unit, False)
    if name in _QUERIES:
        return Iterable("query", node, unit, None, f"is what `{_short(unit, node)}` finds")
    return _returned(unit, node, depth) or Iterable("call", node, unit)


def _holds_itself(unit: Unit, node: cst.Call, function: cst.Attribute) -> bool:
    """Whether a folder above the file is listed as a whole: `Path(__file__).parent.glob("**/*")`."""
    pattern = literal(node.args[0].value) if len(node.args) == 1 else None
    if pattern not in ("*", "**/*", "*.py", "**/*.py"):
        return False
    root = values(unit).resolve(function.value)
    while isinstance(root, (cst.Attribute, cst.Subscript)) or (
        isinstance(root, cst.Call) and last_name(root) in ("resolve", "absolute")
    ):
        root = root.value if not isinstance(root, cst.Call) else root.func
    return isinstance(root, cst.Call) and unit.text(root).endswith("Path(__file__)")


def _is_written(unit: Unit, node: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether a text is written out, also by a name, with its indentation taken away, or as an item of a
    table."""
    flow = values(unit)
    node = flow.resolve(node)
    if not depth:
        return False
    if type(node) is cst.Name:
        bound = flow.reaching(node)
        loops = [one.value for one in bound if one.kind == "loop" and one.value is not None]
        return bool(loops) and len(loops) == len(bound) and all(_of_texts(unit, one, depth) for one in loops)
    if type(node) is cst.Call:
        if type(node.func) is cst.Attribute and _is_written(unit, node.func.value, depth - 1):
            return True
        # Another form of a text, and not what is made of one: `dedent(TEXT)`, not `run("a")`.
        formed = last_name(node) in _FORMING
        return formed and any(_is_written(unit, arg.value, depth - 1) for arg in node.args)
    if type(node) is cst.Attribute:
        return node.attr.value == "__doc__"  # written in the source of what has it
    return isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString))


def _of_texts(unit: Unit, node: cst.BaseExpression, depth: int) -> bool:
    """Whether an iterable gives texts that are written out: `[dedent(block) for block in BLOCKS]`."""
    node = values(unit).resolve(node)
    if type(node) is cst.ListComp:
        return iterable(unit, node.for_in.iter, depth - 1).empty is False
    return isinstance(node, (cst.List, cst.Tuple)) and iterable(unit, node, depth - 1).empty is False


def _range(unit: Unit, node: cst.Call) -> Iterable:
    bounds = [value for arg in node.args if isinstance(value := literal(arg.value), int)]
    if len(bounds) == len(node.args) and 1 <= len(bounds) <= 3 and 0 not in bounds[2:]:
        empty = len(range(*bounds)) == 0
        return Iterable("range", node, unit, empty, "has no number in it" if empty else "")
    return Iterable("range", node, unit)


def _shortest(unit: Unit, node: cst.Call, depth: int) -> Iterable:
    """The first part of a `zip` or product that may be empty; one that is surely empty first."""
    parts = [
        iterable(unit, arg.value, depth - 1) for arg in node.args if arg.keyword is None and not arg.star
    ]
    for part in parts:
        if part.empty is True:
            return part
    strict = keyword_argument(node, "strict")
    if strict is not None and literal(strict) is True:
        # As long as any of them: the others are refused.
        sure = next((part for part in parts if part.empty is False), None)
        if sure is not None:
            return sure
    suspects = [part for part in parts if part.says]
    if suspects:
        return suspects[0]
    if parts and all(part.empty is False for part in parts):
        return parts[0]
    return Iterable("call", node, unit)


def _longest(unit: Unit, node: cst.Call, depth: int) -> Iterable:
    parts = [iterable(unit, arg.value, depth - 1) for arg in node.args if not arg.star]
    full = [part for part in parts if part.empty is False]
    if full:
        return full[0]
    return parts[0] if len(parts) == 1 else Iterable("call", node, unit)


def _returned(unit: Unit, node: cst.Call, depth: int) -> Iterable | None:
    """What a function of the same file returns or yields."""
    function = callee(unit, node)
    if function is None or function is unit or type(function.node) is not cst.FunctionDef:
        return None
    if len(function.asts(ast.Return)) != 1 or function.has(ast.Yield, ast.YieldFrom):
        return None
    (returned,) = function.find(cst.Return)
    if returned.value is None:
        return None
    made = iterable(function, returned.value, depth - 1)
    # What a parameter decides, the caller may have decided well.
    return made if made.says or made.empty is not None else None


def _used_up(unit: Unit, node: cst.Name, binding: Binding) -> cst.CSTNode | None:
    """The loop or call that ran an iterator to its end before `node` reads it, on every path."""
    value = binding.value
    if not _is_iterator(unit, value, binding):
        return None
    flow, block = values(unit), None
    for above in unit.ancestors(node):
        if isinstance(above, (cst.IndentedBlock, cst.Module)):
            block = above
            break
    if block is None or not (_in_block(unit, binding.node, block) or _opens(unit, block, binding)):
        return None
    for other in _read_by_name(unit).get(node.value, ()):
        if other is node:
            return None
        if flow.reaching(other) != flow.reaching(node):
            continue
        user = _runs_out(unit, other)
        if user is not None and _in_block(unit, user, block):
            return user
    return None


@once
def _read_by_name(unit: Unit) -> dict[str, list[cst.Name]]:
    """Where each name is read in a unit, in order."""
    found: dict[str, list[cst.Name]] = {}
    for name in values(unit).reads(unit.node):
        found.setdefault(name.value, []).append(name)
    return found


def _opens(unit: Unit, block: cst.CSTNode, binding: Binding) -> bool:
    """Whether a block is that of the `with` that binds a name."""
    around = unit.parent(block)
    return (
        binding.kind == "with"
        and type(around) is cst.With
        and any(item.asname is not None and item.asname.name is binding.node for item in around.items)
    )


def _is_iterator(unit: Unit, value: cst.BaseExpression | None, binding: Binding) -> bool:
    """Whether a value gives its items once: a generator, `zip`, a file that is read line by line."""
    if type(value) is cst.GeneratorExp:
        return True
    if type(value) is not cst.Call:
        return False
    if binding.kind == "with":
        return dotted(value.func) == "open"
    if dotted(value.func) in _ONE_SHOT or qualified(value.func, unit.file.imports) in _ONE_SHOT:
        return True
    if type(value.func) is cst.Attribute and value.func.attr.value in _LISTED_ONCE:
        return _is_a_path(unit, value.func.value)
    function = callee(unit, value)
    if function is None or function is unit or not function.has(ast.Yield, ast.YieldFrom):
        return False
    # A decorator may make something else of it: a context, a list.
    return not getattr(function.tree, "decorator_list", None) and not isinstance(
        function.tree, ast.AsyncFunctionDef
    )


def _is_a_path(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value is a `pathlib.Path`, by what makes it or by its name."""
    made = values(unit).resolve(node)
    if type(made) is cst.BinaryOperation:
        return type(made.operator) is cst.Divide
    if type(made) is cst.Call:
        return dotted(made.func) in ("Path", "pathlib.Path")
    return _OF_A_PATH.search(last_name(made)) is not None


_TAKING_ALL = frozenset({"list", "tuple", "set", "sorted", "sum", "max", "min", "dict", "Counter"})


def _runs_out(unit: Unit, node: cst.Name) -> cst.CSTNode | None:
    above = unit.parent(node)
    if type(above) is cst.Attribute and above.attr.value in ("read", "readlines"):
        call = unit.parent(above)
        return call if type(call) is cst.Call and call.func is above and not call.args else None
    if type(above) is cst.CompFor and above.iter is node:
        made = unit.parent(above)
        if isinstance(made, (cst.ListComp, cst.SetComp, cst.DictComp)):
            return made
        outer = unit.parent(made) if type(made) is cst.GeneratorExp else None
        above = outer
    if type(above) is cst.Arg:
        above = unit.parent(above)
    if type(above) is cst.Call and dotted(above.func) in _TAKING_ALL:
        return above
    if type(above) is cst.For and above.iter is node:
        jumps = any(isinstance(below, (cst.Break, cst.Return)) for below in walk(above.body))
        return None if jumps else above
    return None


def _in_block(unit: Unit, node: cst.CSTNode, block: cst.CSTNode) -> bool:
    """Whether a node's statement stands directly in a block, so that it runs whenever the block does."""
    for above in unit.ancestors(node):
        if above is block:
            return True
        if isinstance(above, _BLOCKS):
            return False
    return False


def _short(unit: Unit, node: cst.CSTNode) -> str:
    text = " ".join(unit.text(node).split())
    return text if len(text) <= 60 else text[:59] + "…"
