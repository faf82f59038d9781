"""Both sides of a comparison come from the same call.

## Why
What is called the reference is made by the code under test itself, with the same arguments. The two agree
however wrong both are, and the other implementation is never called. Likewise where both sides are read from
one file, or the second call of a cached function is answered with the first one's result.

## Instead
Compute the reference on another way: the other engine, the uncompiled function, figures written down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, pairwise

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.checks import Check, Comparison, checks, comparisons
from reviewbot.flow.judging import BASELINE, two_sides
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.suspects import COMPARING, compares_two
from reviewbot.flow.syntax import canonical, dotted, last_name, root_name, walk
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, called_last, once, step
from reviewbot.model import Certainty, Step

# Tests that run one thing twice because the runs must agree.
_ON_PURPOSE = pattern(
    r"(?i)determin|stab(le|ility)|idempot|repro|cach|memo|seed|repeat|twice|again|consisten|singleton|reuse|"
    r"lru|pure|hash|random|rng|same_|unchanged|preserv|intern|pickl|copy|thread|concurren|race|invarian"
    r"|token|normali[sz]|digest|finger"
)
# Names that tell one of two like runs from the other.
_ORDER = pattern(
    r"(?i)(^|_)(first|second|before|after|left|right|original|orig)(_|$)|^(one|two|other|then|now)$|[12]$"
)
_DRAWS = pattern(r"(?i)seed|random|rng|determin|hash|lru|copy|pickl|thread|repeat")
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
        # By another name, of each item, and names that say what should differ.
        Example("""
            def test_courses(sail, seas, Plan):
                charts = seas
                legacy = sail(seas, folded=True)
                folded = sail(charts, folded=True)
                assert legacy == folded  # <- here

            def test_crews(sail, seas):
                one_by_one = [sail(sea) for sea in seas]
                together = [sail(sea) for sea in seas]
                assert one_by_one == together  # <- here

            def test_charts(sail, seas, Plan):
                for sea in seas:
                    folded = sail(sea, Plan(folded=True))
                    unfolded = sail(sea, Plan(folded=True))
                    assert folded == unfolded  # <- here

            def test_ports(sail, sea):
                assert sail(sea) == sail(sea)  # <- here
        """),
        # The same is added to both, and what is given is made of the same.
        Example("""
            def test_toll(sail, route, weigh, cargo, toll):
                wanted = sail(route, *weigh(cargo)) + toll
                got = sail(route, *weigh(cargo)) + toll
                assert got == wanted  # <- here
        """),
        # Both are read from one file; a function keeps what it has returned.
        Example("""
            import functools
            import json
            import torch

            def test_weights(folder, sail, resume):
                sail(folder)
                resume(folder)
                base = torch.load(folder / "last.pt")
                resumed = torch.load(folder / "last.pt")
                assert base == resumed  # <- here

            def test_figures(sail):
                sail("out")
                expected = json.load(open("out/figures.json"))
                actual = json.load(open("out/figures.json"))
                assert expected == actual  # <- here

            @functools.lru_cache
            def chart(seed):
                return draw(seed)

            def test_again(harbour):
                before = chart(3)
                harbour.restart()
                after = chart(3)
                assert before.lines == after.lines  # <- here
        """),
    )
    good = (
        # Something is done in between, the cache is cleared, other arguments; a test of the cache itself.
        Example("""
            import torch

            def test_weights(folder, sail, resume):
                sail(folder)
                base = torch.load(folder / "last.pt")
                resume(folder)
                resumed = torch.load(folder / "last.pt")
                assert base == resumed
        """),
        Example("""
            import functools

            @functools.cache
            def chart(seed):
                return draw(seed)

            def test_charts():
                assert chart(3) == chart(4)

            def test_is_cached():
                first = chart(3)
                again = chart(3)
                assert first == again
        """),
        Example("""
            import functools

            @functools.cache
            def chart(seed):
                return draw(seed)

            def test_restart(harbour):
                before = chart(3)
                chart.cache_clear()
                after = chart(3)
                assert before == after
        """),
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
        # Named as a run again, and then held against what it must be.
        Example("""
            import torch
            def test_tide(tide, config, cargo):
                compiled = tide.compile(config)
                out = compiled(cargo)
                repeated = compiled(cargo)
                assert torch.equal(out, repeated)
                assert (out - 2.0).abs().max() < 1e-5
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
            def test_alternates(run):
                first = run(1)
                second = run(1)
                assert first.rows == second.rows
                assert next(run) == next(run)
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
        if not compares_two(unit):
            return False
        if _may_answer_from_cache(unit):
            return True
        held = [pair for pair in _held_against(unit) if _NO_CALLS.isdisjoint(map(type, pair))]
        given = _given_names(unit) if held else {}
        if not any(_may_be_one_call(one, other, given) for one, other in held):
            return False
        return not _ON_PURPOSE.search(unit.name) and not _ON_PURPOSE.search(_docstring(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        seen: set[int] = set()
        if _may_answer_from_cache(unit):
            yield from self._cached(unit, repo, seen)
        if _ON_PURPOSE.search(unit.name) or _ON_PURPOSE.search(_docstring(unit)):
            return
        for comparison in comparisons(unit):
            if comparison.relation not in ("equal", "close") or id(comparison.check.node) in seen:
                continue
            pair = _same_call(unit, comparison)
            if pair is None:
                continue
            seen.add(id(comparison.check.node))
            reference, other, certainty = pair
            yield self.finding(
                unit,
                comparison.check.anchor,
                f"both sides are `{' '.join(unit.text(other).split())}`: {_SAYS[certainty]}",
                certainty=certainty,
                steps=(
                    step(unit, reference, "the one side is made here"),
                    step(unit, other, "and by the same call what is held against it"),
                ),
                still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
            )

    def _cached(self, unit: Unit, repo: Repo, seen: set[int]) -> Iterator[Finding]:
        """Two equal calls of a function that keeps what it has returned."""
        for comparison in comparisons(unit):
            if comparison.relation not in ("equal", "close"):
                continue
            one, two = _origin(unit, comparison.left), _origin(unit, comparison.right)
            if one is None or two is None or one[0] is two[0] or one[1] != two[1]:
                continue
            first, second = sorted((one[0], two[0]), key=unit.index.rank)
            if not isinstance(first, cst.Call) or last_name(first) not in _caching(unit.file):
                continue
            function = callee(unit, first)
            if function is None or _form(unit, first) != _form(unit, second):
                continue
            if not _same_names(unit, first, second):
                continue
            seen.add(id(comparison.check.node))
            yield self.finding(
                unit,
                comparison.check.anchor,
                f"`{last_name(first)}` keeps what it has returned, so that the second call gives the"
                " first one's answer",
                certainty="likely",
                steps=(
                    step(unit, first, "this call works the value out"),
                    step(unit, second, "and this one is answered with the same"),
                    Step(unit.file.path, function.line, function.line, "what it returns is kept"),
                ),
                still_catches=still_catches(unit, comparison.check.anchor, repo=repo),
            )


_KEEPS = frozenset({"cache", "lru_cache", "functools.cache", "functools.lru_cache"})
_OF_CACHES = pattern(r"(?i)cach|memo|lru|singleton|intern|reuse|same_(object|instance)")


@once
def _caching(file: File) -> frozenset[str]:
    """The functions of a file that keep what they have returned, where nothing of the file clears that."""
    if any(unit.calls("cache_clear") for unit in file.units):
        return frozenset()
    return frozenset(
        unit.name
        for unit in file.units
        if isinstance(unit.tree, ast.FunctionDef) and unit.kind == "function"
        for decorator in unit.tree.decorator_list
        if dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in _KEEPS
    )


def _may_answer_from_cache(unit: Unit) -> bool:
    """Whether a unit calls such a function twice, and is no test of that."""
    kept = _caching(unit.file)
    if kept.isdisjoint(unit.facts.calls) or len(unit.calls_of(kept)) < 2:
        return False
    return _OF_CACHES.search(unit.name) is None and _OF_CACHES.search(_docstring(unit)) is None


_SAYS: dict[Certainty, str] = {
    "likely": "the code is compared with itself",
    "question": "are the two runs to differ in anything?",
}


def _outline(call: ast.Call, aliased: bool) -> tuple[object, ...]:
    """What equal calls share, and most others do not. `aliased`: a name may be another one for a value."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    words = tuple(keyword.arg or "" for keyword in call.keywords)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    given += [function.value] if isinstance(function, ast.Attribute) else []
    return (name, len(call.args), words, *(_shape(one, aliased) for one in given))


def _shape(node: ast.expr, aliased: bool) -> object:
    if isinstance(node, ast.Name):
        return "" if aliased else node.id
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr, _shape(node.value, aliased)
    if isinstance(node, ast.Subscript):
        return _shape(node.value, aliased), _shape(node.slice, aliased)
    return _outline(node, aliased) if isinstance(node, ast.Call) else type(node)


def _held_against(unit: Unit) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Every two expressions that could be compared for being equal or close."""
    for node in unit.asts(ast.Compare):
        sides = pairwise((node.left, *node.comparators))
        yield from (pair for pair, how in zip(sides, node.ops, strict=True) if type(how) in _SAMENESS)
    for call in unit.calls_of(_comparing(unit.file)):
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        yield from combinations([*owner, *call.args[:2], *(one.value for one in call.keywords)], 2)


_SAMENESS = frozenset({ast.Eq, ast.NotEq})


@once
def _comparing(file: File) -> frozenset[str]:
    """The last names by which a file may call what compares two values."""
    renamed = (name for name, origin in file.imports.items() if origin.rpartition(".")[2] in COMPARING)
    return COMPARING.union(renamed)


_Given = dict[str, list[ast.expr]]


def _given_names(unit: Unit) -> _Given:
    """For each name of a unit the values that it is given, of a tuple one by one."""
    found: _Given = {}
    pairs = [(target, node.value) for node in unit.asts(ast.Assign) for target in node.targets]
    pairs += [(node.target, node.value) for node in unit.asts(ast.AnnAssign) if node.value is not None]
    pairs += [(node.target, node.value) for node in unit.asts(ast.NamedExpr)]
    for target, value in pairs:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            pairs += zip(target.elts, value.elts, strict=False)
    return found


def _may_be_one_call(one: ast.expr, other: ast.expr, given: _Given) -> bool:
    """Whether two values could come from two equal calls."""
    first = list(_made_by(one, given))
    second = list(_made_by(other, given)) if first else []
    if not second:
        return False
    aliased = any(isinstance(value, ast.Name) for values_given in given.values() for value in values_given)
    mine = [(call, _outline(call, aliased)) for call in first]
    return any(
        call is not before and outline == _outline(call, aliased)
        for call in second
        for before, outline in mine
    )


_NO_CALLS = frozenset({ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Compare})


def _made_by(side: ast.expr, given: _Given) -> Iterator[ast.Call]:
    """The calls that a value could come from, without those that `_plain_arguments` leaves out."""
    seen: set[str] = set()
    work = [side]
    while work:
        made = work.pop()
        while isinstance(made, (ast.Attribute, ast.Subscript)):
            made = made.value
        if isinstance(made, ast.Name):
            if made.id not in seen:
                seen.add(made.id)
                work += given.get(made.id, ())
            continue
        call = _first_call(made.elt if isinstance(made, ast.ListComp) else made)
        if call is not None and _may_be_plain(call):
            yield call


def _may_be_plain(call: ast.Call) -> bool:
    """Whether a call has a name that is none of a class, and is given something or is no method."""
    name = called_last(call)
    given = call.args or call.keywords or isinstance(call.func, ast.Name)
    return name != "" and not name[0].isupper() and bool(given)


def _first_call(node: ast.expr) -> ast.Call | None:
    """The call that a value is, or the first term of it that is one: `run(x)` of `run(x) + bias`."""
    if isinstance(node, ast.BinOp):
        return _first_call(node.left) or _first_call(node.right)
    return node if isinstance(node, ast.Call) else None


def _first_term(node: cst.BaseExpression) -> cst.Call | None:
    if isinstance(node, cst.BinaryOperation):
        return _first_term(node.left) or _first_term(node.right)
    return node if isinstance(node, cst.Call) else None


_Made = cst.Call | cst.ListComp


def _same_call(unit: Unit, comparison: Comparison) -> tuple[_Made, _Made, Certainty] | None:
    """The two equal calls behind the sides, the reference's first, if nothing may have changed in between."""
    one, two = _origin(unit, comparison.left), _origin(unit, comparison.right)
    if one is None or two is None:
        return None
    (first, path, name), (second, other_path, other) = one, two
    if first is second or path != other_path or _form(unit, first) != _form(unit, second):
        return None
    if not _plain_arguments(first) or not _same_names(unit, first, second):
        return None
    if _may_change(unit, first, second) or _is_done_to(unit, comparison, first, second):
        return None
    certainty = _certainty(unit, first, name, other)
    if certainty is None:
        return None
    label = _says_reference(name) or unit.index.rank(first) < unit.index.rank(second)
    return (first, second, certainty) if label else (second, first, certainty)


_REPEATED = pattern(r"(?i)repeat|again|rerun|twice")


def _certainty(unit: Unit, made: _Made, name: str, other: str) -> Certainty | None:
    """How sure it is that the two runs are to differ in something: their names say so."""
    if _are_opposed(name, other):
        return "likely"
    called = made.elt if isinstance(made, cst.ListComp) else made
    function = dotted(called.func) if isinstance(called, cst.Call) else ""
    if not function or _MOVES_ON.search(function.rpartition(".")[2]):
        return None
    on_purpose = (
        _ON_PURPOSE.search(function) is not None
        or _DRAWS.search(unit.text(made)) is not None
        or _REPEATED.search(f"{name} {other}") is not None
    )
    wrapped = isinstance(made, cst.Call) and _wraps_what_nothing_calls(unit, made)
    in_order = _ORDER.search(name) is not None and _ORDER.search(other) is not None
    if (
        _says_reference(name) != _says_reference(other)
        or wrapped
        or (two_sides([name, other]) and not in_order)
    ):
        return None if on_purpose else "likely"
    if (
        on_purpose
        or _ORDER.search(name)
        or _ORDER.search(other)
        or _ON_PURPOSE.search(f"{name} {other}")
        or not unit.is_test
    ):
        return None
    times = sum(_asks_for(check, function) for check in checks(unit))
    return "question" if times < 2 else None


def _asks_for(check: Check, function: str) -> bool:
    """Whether a check calls a function."""
    return any(isinstance(below, cst.Call) and dotted(below.func) == function for below in walk(check.node))


def _are_opposed(name: str, other: str) -> bool:
    """`cached` and `uncached`, `packed` and `not_packed`."""
    longer, shorter = sorted((name.lower(), other.lower()), key=len, reverse=True)
    return bool(shorter) and longer in {
        f"{no}{shorter}" for no in ("un", "no_", "not_", "non", "non_", "without_")
    }


def _form(unit: Unit, made: _Made) -> str:
    """The code of a call, with another name for a value replaced by that value's own."""
    flow = values(unit)
    alias = {}
    for read in flow.reads(made):
        meant = flow.resolve(read)
        if isinstance(meant, cst.Name) and meant.value != read.value:
            alias[read.value] = meant.value
    text = canonical(made)
    return _NAME.sub(lambda word: alias.get(word[0], word[0]), text) if alias else text


_NAME = pattern(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*=(?!=))")


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


def _origin(unit: Unit, side: cst.BaseExpression) -> tuple[_Made, str, str] | None:
    """The call that a side comes from, the path from its result (`.tokens`), and the name that holds it."""
    flow = values(unit)
    root, path = side, ""
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    if isinstance(root, cst.Name):
        path = canonical(side)[len(root.value) :]
        resolved = flow.resolve(root)
        if isinstance(resolved, cst.ListComp):
            return (resolved, path, root.value) if isinstance(resolved.elt, cst.Call) else None
        call = _first_term(resolved)
        if call is not None and call is not resolved:
            path = f"{canonical(resolved)}{path}"  # the other terms must be equal, too
        return None if call is None else (call, path, root.value)
    if isinstance(side, cst.Call):
        return side, "", ""
    return None


def _says_reference(name: str) -> bool:
    return not _REFERENCE.isdisjoint(name.lower().strip("_").split("_"))


def _plain_arguments(made: _Made) -> bool:
    """Whether the arguments are names and literals, and the call is not a mere constructor or conversion."""
    if isinstance(made, cst.ListComp):
        clause = made.for_in
        plain = clause.inner_for_in is None and isinstance(clause.iter, (cst.Name, cst.Attribute))
        return plain and isinstance(made.elt, cst.Call) and _plain_arguments(made.elt)
    name = last_name(made)
    if not made.args or name[:1].isupper() or not name:
        return bool(name) and not name[:1].isupper() and not made.args and isinstance(made.func, cst.Name)
    return all(
        isinstance(arg.value, _PLAIN) or _is_made_of_names(arg.value) or _is_path(arg.value)
        for arg in made.args
    )


def _is_path(node: cst.BaseExpression) -> bool:
    """Whether an argument is a path, or a file that is opened: `folder / "last.pt"`, `open("loss.json")`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        return all(isinstance(side, _PLAIN) or _is_path(side) for side in (node.left, node.right))
    opens = isinstance(node, cst.Call) and last_name(node) in ("open", "Path", "str", "join", "read_text")
    if not opens or not isinstance(node, cst.Call):
        return False
    owner = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    given = [*owner, *(arg.value for arg in node.args)]
    return all(isinstance(one, _PLAIN) or _is_path(one) for one in given)


def _is_made_of_names(node: cst.BaseExpression) -> bool:
    """Whether an argument is what a function makes of names, or a class of names and literals, and gives no
    other value the next time."""
    if not isinstance(node, cst.Call) or not node.args or _MOVES_ON.search(last_name(node)):
        return False
    if last_name(node)[:1].islower():
        return all(isinstance(arg.value, cst.Name) for arg in node.args)
    return all(isinstance(arg.value, _PLAIN) for arg in node.args)


_MOVES_ON = pattern(r"(?i)rand|sampl|shuffl|uuid|next|pop|read|time|draw|get|iter|fetch|recv|choice|now")


def _same_names(unit: Unit, first: _Made, second: _Made) -> bool:
    """Whether every name in both calls has the same bindings in both."""
    flow = values(unit)
    mine, others = list(flow.reads(first)), list(flow.reads(second))
    return len(mine) == len(others) and all(
        _meant(unit, a) == _meant(unit, b) and UNBOUND not in flow.reaching(a)
        for a, b in zip(mine, others, strict=True)
    )


def _meant(unit: Unit, name: cst.Name) -> frozenset[Binding]:
    """The bindings of a name, or of what it is another name for; none of a comprehension's own."""
    flow = values(unit)
    meant = flow.resolve(name)
    reaching = flow.reaching(meant if isinstance(meant, cst.Name) else name)
    return frozenset(one for one in reaching if not (one.kind == "loop" and _is_own(unit, name, one)))


def _is_own(unit: Unit, name: cst.Name, binding: Binding) -> bool:
    """Whether a binding is that of the comprehension in which a name is read."""
    return any(
        isinstance(above, cst.ListComp) and _holds(above, binding.node) for above in unit.ancestors(name)
    )


def _may_change(unit: Unit, first: _Made, second: _Made) -> bool:
    """Whether between the calls something is done for its effect, or to what the calls rest on."""
    rank = unit.index.rank
    low, high = sorted((rank(first), rank(second)))
    names = {name.value for name in values(unit).reads(first)} | {root_name(first)}
    names |= {name.value for name in values(unit).reads(second)}
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


def _is_done_to(unit: Unit, comparison: Comparison, first: _Made, second: _Made) -> bool:
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
