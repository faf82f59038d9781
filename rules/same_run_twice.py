"""Both sides of a comparison come from the same call.

## Why
What is called the reference is made by the code under test itself, with the same arguments. The two agree
however wrong both are, and the other implementation is never called.

## Instead
Compute the reference on another way: the other engine, the uncompiled function, figures written down.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.checks import Comparison, checks, comparisons
from reviewbot.flow.judging import BASELINE
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import compares_two
from reviewbot.flow.syntax import canonical, last_name, root_name, walk
from reviewbot.flow.values import UNBOUND, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

# Tests that run one thing twice because the runs must agree.
_ON_PURPOSE = pattern(
    r"(?i)determin|stab(le|ility)|idempot|repro|cach|memo|seed|repeat|twice|again|consisten|singleton|reuse|"
    r"lru|pure|hash|random|rng|same_|unchanged|preserv|intern|pickl|copy|thread|concurren|race|invarian"
)
# Words that call a side the reference; `first`, `before` and their like rather tell the order of two runs.
_REFERENCE = BASELINE - {"first", "before", "original", "orig", "old", "left", "control", "source", "base"}
# Functions that make a faster or another form of what they are given.
_WRAPS = pattern(
    r"(?i)compile|jit|script|trace|vmap|pmap|shard|optimi[sz]|convert|quanti[sz]|wrap|export|fuse|lower"
)
_PLAIN = (
    cst.Name,
    cst.Attribute,
    cst.SimpleString,
    cst.Integer,
    cst.Float,
    cst.Subscript,
    cst.List,
    cst.Tuple,
    cst.Dict,
    cst.UnaryOperation,
)


class SameRunTwice(Rule):
    bad = (
        Example("""
            def test_oracle(run):
                expected = run(1)
                assert run(1) == expected  # <- here
        """),
        Example("""
            import torch
            def test_compiled(model, x):
                compiled = torch.compile(model)
                reference = compiled(x)
                actual = compiled(x)
                torch.testing.assert_close(actual, reference)  # <- here
        """),
        Example("""
            import torch
            def test_dynamic(backend):
                def reference(x, y):
                    return x + y
                fast = torch.compile(reference, backend=backend, dynamic=True)
                for s in (2, 4):
                    x, y = torch.randn(s), torch.randn(s)
                    torch.testing.assert_close(fast(x, y), fast(x, y))  # <- here
        """),
        Example("""
            class TestParity(TestCase):
                def test_engines(self):
                    want = generate("a", engine="fast")
                    got = generate("a", engine="fast")
                    self.assertEqual(got.tokens, want.tokens)  # <- here
        """),
        # The same is added to both, and what is given is made of the same.
        Example("""
            def test_toll(sail, route, weigh, cargo, toll):
                wanted = sail(route, *weigh(cargo)) + toll
                got = sail(route, *weigh(cargo)) + toll
                assert got == wanted  # <- here
        """),
    )
    good = (
        # Another toll, and another draw.
        Example("""
            def test_toll(sail, route, toll, wind):
                wanted = sail(route) + toll
                got = sail(route) + wind
                assert got == wanted

            def test_wind(sail, draw, winds):
                wanted = sail(draw(winds)) + 1
                got = sail(draw(winds)) + 1
                assert got == wanted
        """),
        Example('''
            def test_runs(run):
                """Two calls must agree: the function is meant to be deterministic."""
                expected, again = run(1), run(1)
                assert expected == again
        '''),
        Example("""
            import torch
            def test_compiled(model, x):
                fast = torch.compile(model)
                want = model(x)
                torch.testing.assert_close(fast(x), want)
                torch.testing.assert_close(fast(x), fast(x))
        """),
        Example("""
            def test_engines(run, slow):
                expected = slow(1)
                assert run(1) == expected
                other = run(2)
                assert run(1) == other
        """),
        Example("""
            def test_rows(store):
                expected = store.rows()
                store.compact()
                assert store.rows() == expected
        """),
        Example("""
            def test_sample(frame):
                result = frame.sample(0.5, random_state=12)
                expected = frame.sample(0.5, random_state=12)
                assert result == expected
        """),
        Example("""
            def test_is_deterministic(run):
                expected = run(1)
                assert run(1) == expected
        """),
        Example("""
            def test_rows(make):
                expected = make()
                got = make()
                got.load(expected.state())
                assert got == expected
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if not unit.has(ast.Assign) or not compares_two(unit) or _ON_PURPOSE.search(unit.name):
            return False
        made = [pair for node in unit.asts(ast.Assign) for pair in _given(node)]
        if not made:
            return False
        names = {name for name, _ in made}
        values_: list[ast.expr] = [value for _, value in made]
        values_ += [side for node in unit.asts(ast.Compare) for side in (node.left, *node.comparators)]
        values_ += [argument for node in unit.asts(ast.Call) for argument in node.args[:2]]
        calls = [value for value in values_ if isinstance(value, ast.Call)]
        told = [value for name, value in made if _says_reference(name)]
        told += [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in names]
        if not told:
            return False
        alike = {_outline(call) for call in told}
        count = Counter(ast.dump(call) for call in calls if _outline(call) in alike)
        return len(count) < count.total() and any(count[ast.dump(call)] > 1 for call in told)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if _ON_PURPOSE.search(unit.name) or _ON_PURPOSE.search(_docstring(unit)):
            return
        seen: set[int] = set()
        for comparison in comparisons(unit):
            if comparison.relation not in ("equal", "close") or id(comparison.check.node) in seen:
                continue
            pair = _same_call(unit, comparison)
            if pair is None:
                continue
            seen.add(id(comparison.check.node))
            reference, other = pair
            yield self.finding(
                unit,
                comparison.check.anchor,
                f"both sides are `{' '.join(unit.text(other).split())}`: the code is compared with itself",
                certainty="likely",
                steps=(
                    step(unit, reference, "the reference is made here"),
                    step(unit, other, "and by the same call what is held against it"),
                ),
                still_catches=still_catches(unit, comparison.check.anchor),
            )


def _outline(call: ast.Call) -> tuple[object, ...]:
    """What equal calls share, and most others do not."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return (name, len(call.args), len(call.keywords))


def _given(node: ast.Assign) -> Iterator[tuple[str, ast.Call]]:
    """The names that an assignment gives, each with the call that it gets, of a tuple one by one."""
    for target in node.targets:
        split = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        targets = target.elts if isinstance(target, ast.Tuple) and split else [target]
        parts = node.value.elts if isinstance(node.value, ast.Tuple) and split else [node.value]
        for name, value in zip(targets, parts, strict=False):
            call = _first_call(value)
            if isinstance(name, ast.Name) and call is not None:
                yield name.id, call


def _first_call(node: ast.expr) -> ast.Call | None:
    """The call that a value is, or the first term of it that is one: `run(x)` of `run(x) + bias`."""
    if isinstance(node, ast.BinOp):
        return _first_call(node.left) or _first_call(node.right)
    return node if isinstance(node, ast.Call) else None


def _first_term(node: cst.BaseExpression) -> cst.Call | None:
    if isinstance(node, cst.BinaryOperation):
        return _first_term(node.left) or _first_term(node.right)
    return node if isinstance(node, cst.Call) else None


def _same_call(unit: Unit, comparison: Comparison) -> tuple[cst.Call, cst.Call] | None:
    """The two equal calls behind the sides, the reference's first, if nothing may have changed in between."""
    one, two = _origin(unit, comparison.left), _origin(unit, comparison.right)
    if one is None or two is None:
        return None
    (first, path, label), (second, other_path, other_label) = one, two
    if first is second or path != other_path or canonical(first) != canonical(second):
        return None
    if label == other_label and not _wraps_what_nothing_calls(unit, first):
        return None
    if (
        _ON_PURPOSE.search(unit.text(first))
        or not _plain_arguments(first)
        or not _same_names(unit, first, second)
    ):
        return None
    if _may_change(unit, first, second) or _is_done_to(unit, comparison, first, second):
        return None
    return (first, second) if label else (second, first)


def _wraps_what_nothing_calls(unit: Unit, call: cst.Call) -> bool:
    """Whether what is called was made from a function or model (`torch.compile(model)`) that the unit then
    never calls itself, as a reference would be."""
    flow = values(unit)
    made = flow.resolve(call.func)
    if (
        not isinstance(call.func, cst.Name)
        or not isinstance(made, cst.Call)
        or not _WRAPS.search(last_name(made))
    ):
        return False
    given = [arg.value.value for arg in made.args if isinstance(arg.value, cst.Name)]
    called = {root_name(other.func) for other in unit.find(cst.Call)}
    return bool(given) and not called.intersection(given)


def _origin(unit: Unit, side: cst.BaseExpression) -> tuple[cst.Call, str, bool] | None:
    """The call that a side comes from, the path from its result (`.tokens`), and whether the name that
    holds it says that it is the reference."""
    flow = values(unit)
    root, path = side, ""
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    if isinstance(root, cst.Name):
        path = canonical(side)[len(root.value) :]
        resolved = flow.resolve(root)
        call = _first_term(resolved)
        if call is not None and call is not resolved:
            path = f"{canonical(resolved)}{path}"  # the other terms must be equal, too
        return None if call is None else (call, path, _says_reference(root.value))
    if isinstance(side, cst.Call):
        return side, "", False
    return None


def _says_reference(name: str) -> bool:
    return not _REFERENCE.isdisjoint(name.lower().strip("_").split("_"))


def _plain_arguments(call: cst.Call) -> bool:
    """Whether the arguments are names and literals, and the call is not a mere constructor or conversion."""
    name = last_name(call)
    if not call.args or name[:1].isupper() or not name:
        return bool(name) and not name[:1].isupper() and not call.args and isinstance(call.func, cst.Name)
    return all(isinstance(arg.value, _PLAIN) or _is_made_of_names(arg.value) for arg in call.args)


def _is_made_of_names(node: cst.BaseExpression) -> bool:
    """Whether an argument is what a function makes of names, and gives no other value the next time."""
    if not isinstance(node, cst.Call) or not node.args or _MOVES_ON.search(last_name(node)):
        return False
    return last_name(node)[:1].islower() and all(isinstance(arg.value, cst.Name) for arg in node.args)


_MOVES_ON = pattern(r"(?i)rand|sampl|shuffl|uuid|next|pop|read|time|draw|get|iter|fetch|recv|choice|now")


def _same_names(unit: Unit, first: cst.Call, second: cst.Call) -> bool:
    """Whether every name in both calls has the same bindings in both."""
    flow = values(unit)
    mine, others = list(flow.reads(first)), list(flow.reads(second))
    return len(mine) == len(others) and all(
        flow.reaching(a) == flow.reaching(b) and UNBOUND not in flow.reaching(a)
        for a, b in zip(mine, others, strict=True)
    )


def _may_change(unit: Unit, first: cst.Call, second: cst.Call) -> bool:
    """Whether between the calls something is done for its effect, or to what the calls rest on."""
    rank = unit.index.rank
    low, high = sorted((rank(first), rank(second)))
    names = {name.value for name in values(unit).reads(first)} | {root_name(first)}
    for node in unit.find(cst.Expr, cst.AugAssign, cst.With, cst.For, cst.While, cst.If, cst.Try, cst.Del):
        if low < rank(node) < high and not _holds(node, second):
            if isinstance(node, cst.Expr) and not isinstance(node.value, (cst.Call, cst.Await)):
                continue
            return True
        if (
            rank(node) < high
            and _holds(node, second)
            and not _holds(node, first)
            and not isinstance(node, cst.Expr)
        ):
            return True  # the second run stands under a condition, a setting or a patch of its own
    for target in unit.find(cst.AssignTarget):
        if low < rank(target) < high and not isinstance(target.target, (cst.Name, cst.Tuple)):
            return True
    for call in unit.find(cst.Call):
        if low < rank(call) < high and call not in (first, second):
            given = {root_name(arg.value) for arg in call.args} | {root_name(call)}
            if names & given and not _holds(first, call) and not _holds(second, call):
                return True
    return False


def _is_done_to(unit: Unit, comparison: Comparison, first: cst.Call, second: cst.Call) -> bool:
    """Whether after both runs something is called for its effect before the comparison."""
    rank = unit.index.rank
    start, end = max(rank(first), rank(second)), rank(comparison.node)
    inner = {id(check.node) for check in checks(unit)}
    return any(
        start < rank(node) < end
        and id(node) not in inner
        and isinstance(node.value, (cst.Call, cst.Await))
        and last_name(node.value) not in ("print", "info", "debug")
        for node in unit.find(cst.Expr)
    )


def _holds(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    return any(below is inner for below in walk(node))


def _docstring(unit: Unit) -> str:
    tree = unit.tree
    return ast.get_docstring(tree) or "" if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
