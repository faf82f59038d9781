"""Two versions of one function: which demands became looser, which went, which tests are skipped now."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.contained import contained
from reviewbot.flow.demands import Demand, demands, names_in
from reviewbot.flow.implied_forms import implied_form, looked_at_elsewhere
from reviewbot.flow.patterns import pattern
from reviewbot.flow.run_lists import is_command_line
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.tolerances import KEYWORDS
from reviewbot.flow.wider import is_wider

Sort = Literal["wider", "weaker", "gone", "skipped", "fewer"]

_ALIKE = 0.75  # of two checks: one is the other, rewritten
_SKIPPING = frozenset({"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure", "skipTest"})
_COLLECTIONS = (ast.Tuple, ast.List, ast.Set)


@dataclass(frozen=True, slots=True)
class Loosened:
    """One demand that says less than before, or nothing any more. `before` is its place in the old version,
    `after` in the new one (None if it is gone, or was not there). `says` names what changed. `sure`: nothing
    in the new version makes up for it or gives a reason. `still`: what it still catches, if known.
    """

    sort: Sort
    before: ast.AST | None
    after: ast.AST | None
    says: str
    sure: bool = True
    still: str = ""


def loosened(
    old: list[ast.stmt], new: list[ast.stmt], moved: Callable[[str], bool], known: Callable[[str, str], bool]
) -> Iterator[Loosened]:
    """What the new body of a function demands less. `moved` tells whether a check stands elsewhere now,
    `known` whether the code still has an attribute, a text, or a function of that name a parameter."""
    had, has = demands(old), demands(new)
    ways, ways_now = _Ways(old), _Ways(new)
    kept = Counter(map(ways_now.key, has)) & Counter(map(ways.key, had))
    gone, come = _without(had, kept, ways), _without(has, kept, ways_now)
    # One of two versions of a check may stand under another condition now.
    turned = Counter(one.text for one in come) & Counter(one.text for one in gone)
    gone, come = _without(gone, turned), _without(come, turned)
    pure = not come and _same_steps(old, new)
    paired = {id(demand): _looser(demand, come) for demand in gone}
    forms = {
        id(demand): form
        for demand in gone
        if paired[id(demand)] is None
        and (form := implied_form(demand, come, old, new, _asks_where)) is not None
    }
    # A check that says less than the one whose place it takes does no other's work.
    taken = {id(pair[1]) for pair in paired.values() if pair is not None}
    taken |= {id(one) for one, _ in forms.values()}
    free = [one for one in come if id(one) not in taken]
    for demand in gone:
        if ways.is_alternative(demand):
            continue
        pair = paired[id(demand)]
        if pair is not None:
            sort, other, says = pair
            sure = sort == "wider" or _origins(demand.names, old) == _origins(demand.names, new)
            yield Loosened(sort, demand.node, other.node, says, sure)
            continue
        if id(demand) in forms:
            less, sure = forms[id(demand)]
            made = _made_from(demand.names, new)
            if not moved(demand.text) and not looked_at_elsewhere(demand, less, free, has, made, old, new):
                sure = sure and _origins(demand.names, old) == _origins(demand.names, new)
                says = f"`{short(demand.text)}` is now `{short(less.text)}`"
                yield Loosened("weaker", demand.node, less.node, says, sure)
            continue
        looked = _looked_at(demand, gone, old, new)
        there = [one for one in has if ways_now.reaches(one, ways.of(demand))]
        if _replaced(demand, looked.names, free, there, new, moved):
            continue
        was, now = _origins(looked.names, old), _origins(looked.names, new)
        # With fewer assignments what was looked at is gone as well.
        if len(now) >= len(was) and _still_there(looked, new, old, known):
            says = f"`{short(demand.text)}` is deleted"
            sure, still = pure and was == now, _left(ways.of(demand), there)
            loop = _counted(demand, has, new)
            if loop is not None:
                over = short(_walked(loop))
                says += f", and all that is left stands in the loop over `{over}`, which may walk nothing"
                sure, still = True, f"nothing where `{over}` is empty"
            yield Loosened("gone", demand.node, loop, says, sure, still)


def _asks_where(condition: str) -> bool:
    return ENVIRONMENT.search(condition) is not None


def _counted(demand: Demand, has: list[Demand], new: list[ast.stmt]) -> ast.For | None:
    """The loop in which all demands of a body stand, where the one that is gone said what it walks over."""
    for loop in (node for one in new for node in ast.walk(one) if isinstance(node, ast.For)):
        name = _walked(loop)
        below = {id(node) for one in loop.body for node in ast.walk(one)}
        size = re.search(rf"\b(len|set|list|sorted|tuple|frozenset)\({re.escape(name)}\b", demand.subject)
        counts = size or demand.text in (name, f"{name} != []", f"{name} != {{}}")
        if name.isidentifier() and has and counts and all(id(one.node) in below for one in has):
            return loop
    return None


def _walked(loop: ast.For) -> str:
    """What a loop walks over, without the view of a mapping."""
    name = ast.unparse(loop.iter).removesuffix("()")
    for view in (".items", ".keys", ".values"):
        name = name.removesuffix(view)
    return name


class _Ways:
    """On which ways through a body its demands stand: inside of which branches that end by leaving it, and
    whether in the handler of a check that failed."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self._inside: dict[int, tuple[str, ...]] = {}
        self._branches: dict[str, int] = {}
        self._handled: set[int] = set()
        nodes = [node for statement in body for node in ast.walk(statement)]
        for node in nodes:
            if isinstance(node, ast.If) and isinstance(node.body[-1], _LEAVING):
                text = ast.unparse(node.test)
                self._branches.setdefault(text, node.lineno)
                for below in (one for top in node.body for one in ast.walk(top)):
                    self._inside[id(below)] = (*self._inside.get(id(below), ()), text)
            elif isinstance(node, ast.ExceptHandler) and (node.type is None or _catches(node.type)):
                self._handled |= {id(below) for top in node.body for below in ast.walk(top)}

    def of(self, demand: Demand) -> tuple[str, ...]:
        """The conditions of the branches around a demand that leave, outermost first."""
        return self._inside.get(id(demand.node), ())

    def key(self, demand: Demand) -> str:
        """A demand with its way."""
        return "\n".join((demand.text, *self.of(demand)))

    def is_alternative(self, demand: Demand) -> bool:
        """Whether it is only asked for where another check failed: without it the other has to hold."""
        return id(demand.node) in self._handled

    def reaches(self, demand: Demand, way: tuple[str, ...]) -> bool:
        """Whether who goes that way meets a demand: one in no other branch, and not behind the way's end."""
        own = self.of(demand)
        if way[: len(own)] != own:
            return False
        left = [self._branches[text] for text in way[len(own) :] if text in self._branches]
        return not left or demand.node.lineno < left[0]


_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _catches(kind: ast.expr) -> bool:
    names = {dotted_name(one) for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}
    return not names.isdisjoint(("AssertionError", "Exception", "BaseException"))


def _left(way: tuple[str, ...], there: list[Demand]) -> str:
    """What is left of a function's checks on a way through it, "" where all ways meet them."""
    if not way:
        return ""
    count = f"{len(there)} {'is' if len(there) == 1 else 'are'}" if there else "none is"
    return f"of the checks in the function itself {count} reached where `{short(way[-1])}` holds"


def _same_steps(old: list[ast.stmt], new: list[ast.stmt]) -> bool:
    """Whether nothing came in but other arguments of what was called before."""
    was, now = _code(old), _code(new)
    return not now - was or (_code(old, blind=True) >= _code(new, blind=True) and _calls(new) <= _calls(old))


def _calls(body: list[ast.stmt]) -> Counter[str]:
    return Counter(_last(node) for one in body for node in ast.walk(one) if isinstance(node, ast.Call))


def _code(body: list[ast.stmt], *, blind: bool = False) -> Counter[str]:
    """The lines of a body, as code in one form; `blind` to literals."""
    lines = (line.strip() for statement in body for line in ast.unparse(statement).splitlines())
    return Counter(_LITERAL.sub("_", line) if blind else line for line in lines)


_LITERAL = pattern(r"""'[^']*'|"[^"]*"|\b\d[\w.]*""")


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a check looked at: its own code and that of the values that were made for it alone."""

    nodes: tuple[ast.AST, ...]
    names: frozenset[str]


def _looked_at(demand: Demand, gone: list[Demand], old: list[ast.stmt], new: list[ast.stmt]) -> _Looked:
    """A value that went with the checks that alone read it stands for what it was made from."""
    kept = frozenset().union(*(names_in(statement) for statement in new))
    read_by_checks = Counter(name for one in gone for name in _loads(one.node))
    nodes: list[ast.AST] = [demand.node]
    names = set(demand.names)
    for _ in range(3):
        for name in sorted(names - kept):
            made = [
                node.value
                for statement in old
                for node in ast.walk(statement)
                if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]
            ]
            reads = sum(_loads(statement).count(name) for statement in old)
            if len(made) == 1 and reads == read_by_checks[name] and _is_view(made[0]):
                nodes.append(made[0])
                read_by_checks.update(_loads(made[0]))
                names = (names - {name}) | names_in(made[0])
    return _Looked(tuple(nodes), frozenset(names))


# Methods that say what there is in another form.
_VIEWS = frozenset({
    "strip", "lstrip", "rstrip", "lower", "upper", "split", "splitlines", "decode", "json", "get", "keys",
    "values", "items", "copy", "item", "tolist", "numpy", "cpu", "detach", "float", "double", "to", "flatten",
    "reshape", "view", "squeeze", "sum", "mean", "max", "min", "abs", "norm", "numel", "size", "dim",
})  # fmt: skip


def _is_view(node: ast.expr) -> bool:
    """Whether a value is a form or a part of others, and nothing was run for it."""
    return all(
        call.func.attr in _VIEWS if isinstance(call.func, ast.Attribute) else not names_in(call.func)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    ) and not any(isinstance(below, (ast.Await, ast.Yield, ast.YieldFrom)) for below in ast.walk(node))


def _loads(node: ast.AST) -> list[str]:
    return [
        name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    ]


def _origins(names: frozenset[str], body: list[ast.stmt]) -> set[str]:
    """The assignments that give these names their values."""
    return {
        ast.unparse(node)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        and any(isinstance(name, ast.Name) and name.id in names for name in _stored(node))
    }


def _stored(node: ast.AST) -> list[ast.AST]:
    return [name for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]


def _made_from(names: frozenset[str], body: list[ast.stmt]) -> frozenset[str]:
    """These names, and those that are made from them, straight or through others."""
    found = set(names)
    for _ in range(3):
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.withitem)):
                    reads = node.value if not isinstance(node, (ast.For, ast.withitem)) else None
                    reads = node.iter if isinstance(node, ast.For) else reads
                    reads = node.context_expr if isinstance(node, ast.withitem) else reads
                    if reads is not None and names_in(reads) & found:
                        target = node.target if isinstance(node, ast.For) else node
                        found |= {name.id for name in _stored(target) if isinstance(name, ast.Name)}
    return frozenset(found)


def _without(found: list[Demand], kept: Counter[str], ways: _Ways | None = None) -> list[Demand]:
    left = Counter(kept)
    out = []
    for demand in found:
        key = demand.text if ways is None else ways.key(demand)
        if left[key]:
            left[key] -= 1
        else:
            out.append(demand)
    return out


def _looser(demand: Demand, come: list[Demand]) -> tuple[Sort, Demand, str] | None:
    """The new demand that takes the place of one and says less."""
    same = [other for other in come if other.subject == demand.subject]
    for other in same:
        if (other.relation, other.other) == (demand.relation, demand.other) or _only_broader(demand, other):
            wider = _wider(demand, other) or _multiplied(demand, other)
            if wider:
                return "wider", other, wider
        elif other.relation == demand.relation == "order" and _is_multiple(demand.other, _bound(other)):
            return "wider", other, f"the bound goes from `{short(demand.other)}` to `{short(_bound(other))}`"
    for other in come:
        if other.relation == demand.relation == "order" and _is_average(demand, other):
            return "weaker", other, f"`{short(demand.text)}` is now `{short(other.text)}`"
        if other.relation == demand.relation and _is_part(demand, other):
            return "weaker", other, f"`{short(demand.text)}` is now `{short(other.text)}`"
    within = contained(demand, come)
    if within is not None:
        return "weaker", within, f"`{short(demand.text)}` is now `{short(within.text)}`"
    parts = [other for other in come if other.rank >= demand.rank and demand.subject in other.subject]
    if demand.rank and not parts:
        weaker = [other for other in same if other.rank and _comparable(demand, other)]
        if weaker:
            other = max(weaker, key=lambda one: one.rank)
            return "weaker", other, f"`{short(demand.text)}` is now `{short(other.text)}`"
    return None


def _is_part(demand: Demand, other: Demand) -> bool:
    """Whether of both sides no more than the same part is compared now: `a[:5] == b[:5]`, their lengths."""
    if not demand.other or not demand.subject or demand.subject not in other.subject:
        return False
    how = _around(other.subject, demand.subject)
    return how == _around(other.other, demand.other) and _PART.fullmatch(how) is not None


def _around(text: str, part: str) -> str:
    """The code around a part of it, for which `_` stands."""
    start = r"(?<![\w.])" if part[:1].isidentifier() else ""
    end = r"(?!\w)" if part[-1:].isalnum() or part.endswith("_") else ""
    return re.sub(start + re.escape(part) + end, "_", text, count=1)


def _is_average(demand: Demand, other: Demand) -> bool:
    """Whether the greatest of them was bound, and now their mean is, by no less."""
    if demand.other != other.other or demand.subject == other.subject:
        return False
    bound = dict(demand.limits).get("at most"), dict(other.limits).get("at most")
    if bound[0] is not None and (bound[1] is None or bound[1] < bound[0]):
        return False
    return _GREATEST.sub("mean(", demand.subject) == _AVERAGE.sub("mean(", other.subject)


_GREATEST = pattern(r"\b(nan|a)?max\(")
_AVERAGE = pattern(r"\b(nan)?(mean|median|average)\(")


def _bound(demand: Demand) -> str:
    """What something is to be at most, as code: `10 * tol`."""
    scale, _, unit = demand.other.partition("at most _ * ")
    return demand.other if scale or not unit else f"{dict(demand.limits).get('at most', 1):g} * {unit}"


def _multiplied(demand: Demand, other: Demand) -> str:
    """Which tolerance of a call is now a multiple of what it was: `atol=tol` became `atol=tol * 10`."""
    before, after = _tolerances(demand.node), _tolerances(other.node)
    if before.keys() != after.keys():
        return ""
    moved = [name for name in before if before[name] != after[name]]
    if not moved or not all(_is_multiple(before[name], after[name]) for name in moved):
        return ""
    return " and ".join(f"`{name}` goes from `{before[name]}` to `{short(after[name])}`" for name in moved)


def _tolerances(node: ast.AST) -> dict[str, str]:
    return {
        word.arg: ast.unparse(word.value)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg is not None and _TOLERANCE.search(word.arg)
    }


_TOLERANCE = pattern(r"(?i)tol|^(abs|rel|delta|eps|epsilon|threshold)$")


def _is_multiple(before: str, after: str) -> bool:
    """Whether one expression, that is no number, is the other times a number above 1."""
    try:
        made, had = ast.parse(after, mode="eval").body, ast.parse(before, mode="eval").body
    except SyntaxError:
        return False
    if isinstance(had, ast.Constant) or not isinstance(made, ast.BinOp) or not isinstance(made.op, ast.Mult):
        return False
    for part, factor in ((made.left, made.right), (made.right, made.left)):
        if ast.dump(part) == ast.dump(had) and isinstance(factor, ast.Constant):
            return isinstance(factor.value, (int, float)) and factor.value > 1
    return False


_PART = pattern(
    r"_\[[^\]]*:[^\]]*\]|(len|set|sum|sorted|max|min|bool|any|all|frozenset|Counter|np\.shape)\(_\)"
    r"|_\.(shape|size|dtype|ndim|(keys|sum|mean|numel|size|max|min|any|all)\(\))"
    r"|[\[{(](?P<one>\w+)(\.\w+|\[['\"]\w+['\"]\])+ for (?P=one) in _[\]})]"
)


def _only_broader(demand: Demand, other: Demand) -> bool:
    return demand.relation == other.relation == "raises"


def _comparable(demand: Demand, other: Demand) -> bool:
    """An equality that became one within a tolerance is one of the same two things; anything else that is
    said of the subject says less, whatever it is compared with. What is True, and what holds, are one."""
    if demand.other == "True" and other.relation == "true":
        return False
    return other.relation != "close" or other.other == demand.other


def _wider(demand: Demand, other: Demand) -> str:
    before, after = dict(demand.limits), dict(other.limits)
    if demand.relation == "raises":
        if after.get("the exception", 0) > before.get("the exception", 0):
            return f"`{short(demand.text)}` now takes any exception"
        if after.get("no match", 0) > before.get("no match", 0) and demand.other == other.other:
            return f"`{short(demand.text)}` no longer looks at the message"
        return ""
    if demand.other != other.other:
        return ""
    said = []
    for name, number in after.items():
        was = before.get(name)
        if was is None and name not in before and number > _default(demand, name):
            said.append(f"`{name}` is given as {_written(name, number)}")
        elif was is not None and number > was and name in ("at most", "at least"):
            what = f"what `{short(demand.subject)}` may be {name}"
            said.append(f"{what} goes from {_written(name, was)} to {_written(name, number)}")
        elif was is not None and number > was:
            said.append(f"`{name}` goes from {_written(name, was)} to {_written(name, number)}")
    left_out = {name: _default(other, name) for name in before if name in KEYWORDS and name not in after}
    for name, number in left_out.items():
        if before[name] < number < math.inf and _is_default(other, name, before):
            told = f"{_written(name, before[name])} to {_written(name, number)}, which is its default"
            said.append(f"`{name}` goes from {told}")
    now = {**left_out, **after}
    if any(number < before.get(name, number) for name, number in now.items()):
        return ""  # one tolerance for another
    return " and ".join(said)


def _is_default(other: Demand, name: str, before: dict[str, float]) -> bool:
    """Whether a tolerance that is given no more is the documented one now: none is left for another, and
    where the type decides what that is, what was asked for was that both are the same."""
    if name in ("rel", "abs", "delta", "places") and _tolerances(other.node):
        return False
    return "assert_close" not in other.text or (before[name] == 0 and _WHOLE.search(other.text) is None)


# Between whole numbers the default of `torch.testing.assert_close` is none.
_WHOLE = pattern(
    r"(?i)\b(int\d*|long|bool)\b|_ids?\b|\bids\b|tokens?\b|mask|index|indices|labels?\b|count|len\("
)


def _default(demand: Demand, name: str) -> float:
    """The tolerance without one: of well-known functions what they document, of others too much to say."""
    for call in ast.walk(demand.node):
        if isinstance(call, ast.Call) and name in _DEFAULTS.get(_last(call), {}):
            return _DEFAULTS[_last(call)][name]
    return math.inf


# For float32, where the type decides.
_DEFAULTS: dict[str, dict[str, float]] = {
    "assert_close": {"rtol": 1.3e-6, "atol": 1e-5},
    "assert_allclose": {"rtol": 1e-7, "atol": 0.0},
    "allclose": {"rtol": 1e-5, "atol": 1e-8},
    "isclose": {"rtol": 1e-5, "atol": 1e-8, "rel_tol": 1e-9, "abs_tol": 0.0},
    "approx": {"rel": 1e-6, "abs": 1e-12},
    "assertAlmostEqual": {"places": 1e-7, "delta": 0.0},
    "assert_almost_equal": {"decimal": 1e-7},
    "assert_array_almost_equal": {"decimal": 1e-6},
    "assert_trees_all_close": {"rtol": 1e-6, "atol": 0.0},
}


def _written(name: str, number: float) -> str:
    if name in ("places", "decimal"):
        return f"{-math.log10(number):.0f}"
    return f"{-number:g}" if name == "at least" else f"{number:g}"


def _replaced(
    demand: Demand,
    names: frozenset[str],
    come: list[Demand],
    has: list[Demand],
    new: list[ast.stmt],
    moved: Callable[[str], bool],
) -> bool:
    """Whether another check does the work of one that is gone and looked at `names`: rewritten, implied, or
    moved."""
    if not names or moved(demand.text):
        return True
    if any(other.subject == demand.subject and _implies(other, demand) for other in has):
        return True
    # Imported where there is a change to look at.
    from difflib import SequenceMatcher

    wanted = _made_from(names, new)
    return any(
        other.names & wanted or SequenceMatcher(None, demand.text, other.text).ratio() >= _ALIKE
        for other in come
    )


def _implies(other: Demand, demand: Demand) -> bool:
    """Whether of one subject the other demand says as much: all that could be said, or more than its kind."""
    return other.relation in ("equal", "identical") or (
        demand.relation in ("true", "type") and other.rank > 2
    )


def _still_there(
    looked: _Looked, new: list[ast.stmt], old: list[ast.stmt], known: Callable[[str, str], bool]
) -> bool:
    """Whether what a check looked at is still made by the new version. A call that is new and takes it may
    be the check in another form."""
    names = frozenset().union(*(names_in(statement) for statement in new))
    if not looked.names <= names or not _passes(new):
        return False
    for node in (below for top in looked.nodes for below in ast.walk(top)):
        if isinstance(node, ast.Attribute) and not known(node.attr, "attribute"):
            return False
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not known(node.value, "text"):
            return False
        if isinstance(node, ast.Call) and not all(known(k.arg or "", _last(node)) for k in node.keywords):
            return False
    calls = {
        ast.unparse(call) for statement in old for call in ast.walk(statement) if isinstance(call, ast.Call)
    }
    for statement in new:
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and ast.unparse(call) not in calls:
                given = frozenset().union(*(names_in(arg) for arg in call.args), frozenset())
                if given & looked.names and (asserts_by_name(_last(call)) or _stands_alone(call, statement)):
                    return False
    return True


def _passes(body: list[ast.stmt]) -> bool:
    """Whether a body does anything at all."""
    return any(not isinstance(one, (ast.Pass, ast.Raise)) for one in body)


def _stands_alone(call: ast.Call, statement: ast.stmt) -> bool:
    return any(isinstance(one, ast.Expr) and one.value is call for one in ast.walk(statement))


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted_name(call.func)


def short(text: str) -> str:
    """Code on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:79] + "…"


# Skips.


def skipped(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> Iterator[Loosened]:
    """The skips and expected failures that decorators, marks or statements of the new version add.

    A skip that stood there is one of the same text, else one of its kind in other words; one that asked for a
    device, a platform or a version is known as well where it asks for something else now. One that differs in
    its condition alone is held against that: where it holds more often now, fewer tests count.
    """
    left, fresh = list(_skips(old)), []
    for one in _skips(new):
        alike = [other for other in left if other.text == one.text]
        same = next((other for other in alike if _under(other) == _under(one)), alike[0] if alike else None)
        if same is None:
            fresh.append(one)
        else:
            left.remove(same)
            yield from _reached_more(same, one)
    for one in list(fresh):
        asked = next((other for other in left if other.rest and other.rest == one.rest), None)
        if asked is not None:
            fresh.remove(one)
            left.remove(asked)
            yield from _widened(asked, one)
    for one in list(fresh):
        # What was asked may be true everywhere by now: then the tests are not wanted any more.
        asked = next((other for other in left if one.firm and _unasked(other.rest) == one.text), None)
        if asked is not None and asked.condition is not None:
            fresh.remove(one)
            left.remove(asked)
            where = short(ast.unparse(asked.condition))
            says = f"the mark now skips on every run, and no longer only where `{where}` holds"
            still = "nothing: no test under the mark runs any more"
            yield Loosened("skipped", asked.node, one.node, says, sure=False, still=still)
    went = tuple(left)
    for one in sorted(fresh, key=lambda one: not one.environment):
        if any(_covers(other, one) and _says_the_same(other, one) for other in went):
            continue
        kin = [other for other in left if _covers(other, one) and (not other.environment or not one.firm)]
        if any(other.firm for other in kin) and not one.firm:
            continue  # What never counted counts but for this now.
        if kin:
            left.remove(min(kin, key=lambda other: other.environment is not one.environment))
        elif not one.environment:
            yield Loosened("skipped", None, one.node, f"`{short(one.text)}` is added", one.firm)


def _under(one: _Skip) -> str:
    return ast.unparse(one.under) if one.under is not None else ""


def _reached_more(old: _Skip, new: _Skip) -> Iterator[Loosened]:
    """A statement that skips, of one text in both versions, under a condition that holds more often now."""
    if old.under is None or new.under is None or _under(old) == _under(new):
        return
    if is_wider(old.under, new.under):
        says = f"the test is now left where `{short(_under(new))}` holds, and no longer only where"
        says += f" `{short(_under(old))}` does"
        still = "the test, in the cases that are left"
        yield Loosened("wider", old.node, new.node, says, sure=not new.environment, still=still)


def _covers(old: _Skip, new: _Skip) -> bool:
    """Whether one keeps no more from counting than the other did: a test that is expected to fail runs."""
    return old.kind == new.kind or (new.kind == "xfail" and old.kind in ("skip", "skipTest"))


def _says_the_same(old: _Skip, new: _Skip) -> bool:
    """Whether of two skips the reason is one, or the new one asks what the old one did and more."""
    return bool(old.reason and old.reason == new.reason) or bool(old.inner and old.inner <= new.inner)


def _unasked(rest: str) -> str:
    """The mark that skips always, of the text of one that asks, without what it asks."""
    return rest.replace("skipif(", "skip(").replace("skipIf(", "skip(")


def _widened(old: _Skip, new: _Skip) -> Iterator[Loosened]:
    was, now = (new, old) if old.kind == "skipUnless" else (old, new)
    if was.condition is not None and now.condition is not None and is_wider(was.condition, now.condition):
        had, has = (short(ast.unparse(one.condition)) for one in (old, new) if one.condition is not None)
        what = "expects a failure" if old.kind == "xfail" else "skips"
        unless = "unless" if old.kind == "skipUnless" else "where"
        says = f"the mark now {what} {unless} `{has}` holds, and no longer only {unless} `{had}` does"
        still = "the tests under the mark, where its condition does not hold"
        yield Loosened("wider", old.node, new.node, says, sure=False, still=still)


@dataclass(frozen=True, slots=True, eq=False)
class _Skip:
    """A skip or expected failure; `firm` if without condition, `environment` if it asks for a device, a
    platform or a version. `condition` is that of a mark, `rest` the mark's text without it; `under` is what
    each `if` around a statement asks, all together; `inner` are the terms of the innermost."""

    kind: str
    node: ast.AST
    text: str
    firm: bool
    environment: bool
    condition: ast.expr | None
    rest: str
    under: ast.expr | None = None
    reason: str = ""
    inner: frozenset[str] = frozenset()


def _skips(nodes: Iterable[ast.AST]) -> Iterator[_Skip]:
    """All of them, as far as names tell."""
    for top in nodes:
        above: dict[int, list[ast.If | ast.ExceptHandler]] = {}
        for node in ast.walk(top):
            if isinstance(node, (ast.If, ast.ExceptHandler)):
                for below in ast.walk(node):
                    above.setdefault(id(below), []).append(node)
        for node in ast.walk(top):
            call = node if isinstance(node, ast.Call) else None
            name = dotted_name(call.func if call is not None else node)
            last = name.rpartition(".")[2]
            if last not in _SKIPPING or not _is_skip(name, call) or (call is None and _is_called(node, top)):
                continue
            given = {k.arg: k.value for k in call.keywords} if call is not None else {}
            strict = isinstance(given.get("strict"), ast.Constant) and given["strict"].value  # type: ignore[attr-defined]
            conditional = last in ("skipif", "skipIf", "skipUnless") or (
                last == "xfail" and call is not None and (bool(call.args) or "condition" in given)
            )
            tests = [
                ast.unparse(one.test) if isinstance(one, ast.If) else "" for one in above.get(id(node), [])
            ]
            text = ast.unparse(node)
            asks = bool(conditional or tests) and ENVIRONMENT.search(" ".join([text, *tests])) is not None
            condition = _condition(call) if call is not None and conditional else None
            rest = _without_condition(call) if call is not None and condition is not None else ""
            firm = not (strict or conditional or tests)
            around, inner = _asked_around(node, above), _terms_around(node, above)
            yield _Skip(last, node, text, firm, asks, condition, rest, around, _reason(call), inner)


def _asked_around(node: ast.AST, above: dict[int, list[ast.If | ast.ExceptHandler]]) -> ast.expr | None:
    """What has to hold for a statement to be reached, where each `if` around it holds."""
    around = above.get(id(node), [])
    tests = [
        one.test
        for one in around
        if isinstance(one, ast.If) and any(node is below for top in one.body for below in ast.walk(top))
    ]
    if not tests or len(tests) < len(around):
        return None
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)


def _terms_around(node: ast.AST, above: dict[int, list[ast.If | ast.ExceptHandler]]) -> frozenset[str]:
    """What has to hold together in the innermost `if` around a statement that skips."""
    around = above.get(id(node), [])
    if not around or not isinstance(around[-1], ast.If):
        return frozenset()
    test = around[-1].test
    terms = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return frozenset(map(ast.unparse, terms))


def _reason(call: ast.Call | None) -> str:
    """Why something is skipped, where it is written out."""
    given = [] if call is None else [k.value for k in call.keywords if k.arg == "reason"] + call.args
    words = (one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return next(words, "")


def _condition(call: ast.Call) -> ast.expr | None:
    """The condition of a mark, also where it is written as text."""
    given = next((k.value for k in call.keywords if k.arg == "condition"), None)
    node = call.args[0] if call.args else given
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    return node


def _without_condition(call: ast.Call) -> str:
    """The text of a mark without what it asks, so that one with another condition is known again."""
    given = [ast.unparse(one) for one in call.args[1:]]
    given += sorted(f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords if k.arg != "condition")
    return f"{ast.unparse(call.func)}({', '.join(given)})"


ENVIRONMENT = pattern(
    r"(?i)[chxnmt]pus?\b|cuda|mps\b|rocm|devices?|platform|version|available|install|\bsm_?\d|arch|backend|win32|"
    r"windows|linux|darwin|macos|_[gl][te]e?_?\d|_HAS_|\bhas_|environ|getenv|support|import|capab|memory|network|token\b|slow"
)


def _is_skip(name: str, call: ast.Call | None) -> bool:
    first = name.partition(".")[0]
    return (
        first in ("pytest", "unittest", "mark", "self", "skip", "skipif")
        or ".mark." in name
        or (call is not None and name in ("skipTest", "skipIf", "skipUnless", "xfail"))
        or name == "expectedFailure"
    )


def _is_called(node: ast.AST, top: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and one.func is node for one in ast.walk(top))


# What is listed.


def fewer(
    before: dict[str, ast.expr],
    after: dict[str, ast.expr],
    dropped: Callable[[str], bool] = lambda text: False,
) -> Iterator[Loosened]:
    """The lists of words of two versions, by what they are called, of which the new one holds less. `dropped`
    tells whether the change takes a text out of the code under test: then it is tested no more for that."""
    listed = {word for node in after.values() for word in words(node)}
    for slot, node in after.items():
        was = words(before[slot]) if slot in before else []
        lost = [word for word in was if word not in listed and not dropped(word)]
        if lost and not is_command_line(was) and set(was) & set(words(node)):
            names = ", ".join(f"`{word}`" for word in lost)
            yield Loosened("fewer", before[slot], node, f"`{slot}` no longer holds {names}")


def fewer_cases(
    old: Iterable[ast.expr],
    new: Iterable[ast.expr],
    dropped: Callable[[str], bool] = lambda text: False,
) -> Iterator[Loosened]:
    """The `parametrize` marks of two versions of a test that hold some of their cases still, no others."""
    before = {name: given for name, given in map(_cases, old) if name}
    for name, given in map(_cases, new):
        had = before.get(name)
        if not name or had is None or given is None:
            continue
        was, now = ([ast.unparse(one) for one in node.elts] for node in (had, given))
        lost = [case for case in was if case not in now and not any(map(dropped, _texts(case)))]
        if now and lost and set(now) <= set(was):
            shown = ", ".join(f"`{short(case)}`" for case in lost[:3])
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            says = f"the test is no longer run with `{name}` = {shown}{more}"
            yield Loosened("fewer", had, given, says, still="the same test, in the cases that are left")


def _texts(code: str) -> list[str]:
    tree = ast.parse(code, mode="eval")
    nodes = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [text for text in nodes if isinstance(text, str)]


def _cases(mark: ast.expr) -> tuple[str, ast.List | ast.Tuple | None]:
    """What a `parametrize` mark names, and the cases that it writes out."""
    if not isinstance(mark, ast.Call) or _last(mark) != "parametrize" or len(mark.args) < 2:
        return "", None
    names, given = mark.args[:2]
    if not isinstance(names, ast.Constant) or not isinstance(given, (ast.List, ast.Tuple)):
        return "", None
    return str(names.value), given


def more(before: dict[str, ast.expr], after: dict[str, ast.expr]) -> Iterator[Loosened]:
    """The lists of exceptions of two versions of which the new one holds more."""
    for slot, node in after.items():
        come = [word for word in words(node) if slot in before and word not in words(before[slot])]
        if come:
            names = ", ".join(f"`{word}`" for word in come)
            yield Loosened("wider", before[slot], node, f"`{slot}` now also holds {names}")


def words(node: ast.expr) -> list[str]:
    """The strings of a literal collection, also inside `frozenset({...})`."""
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and dotted_name(node.func) in ("frozenset", "set", "tuple")
    ):
        node = node.args[0]
    if not isinstance(node, _COLLECTIONS):
        return []
    return [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
