"""A comparison in which what is missing on both sides counts as equal.

## Why
`left.get("reward") == right.get("reward")` holds when neither run wrote a reward, or when the field was
renamed: both sides are None. A default taken from the other side, `restored.get(key, reference[key])`, makes
a lost key equal by construction. So does a check of a field that is passed over where one side lacks it.

## Instead
Index: `left["reward"] == right["reward"]`, so that a missing key fails; or compare the key sets first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeGuard

import libcst as cst

from reviewbot.flow.absent import PassedOver, may_pass_over, passed_over
from reviewbot.flow.calls import bind, callers
from reviewbot.flow.control import guards
from reviewbot.flow.guards import deciding, same_keys
from reviewbot.flow.judgements import judgements
from reviewbot.flow.judging import judges, two_sides
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.projections import named_apart
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.terms import terms
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step
from reviewbot.model import Certainty, Step


@dataclass(frozen=True, slots=True, eq=False)
class _Lookup:
    """`holder.get(key, default)` or `getattr(holder, key, default)`; `default` is None where it is None."""

    node: cst.Call
    holder: cst.BaseExpression
    key: cst.BaseExpression
    default: cst.BaseExpression | None
    indexed: str

    @property
    def entry(self) -> str:
        """The entry that is looked up, as code that can be compared; "" where it cannot be indexed."""
        if not self.indexed:
            return ""
        if last_name(self.node) == "getattr":
            return f"{canonical(self.holder)}.{literal(self.key)}"
        return f"{canonical(self.holder)}[{canonical(self.key)}]"


class MissingEqualsMissing(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def test_rewards(run):
                left, right = run(1), run(2)
                assert left.get("reward") == right.get("reward")  # <- here
        """),
        Example(
            """
            FIELDS = ("token_ids", "reward")

            def compare(reference, restored):
                for field in FIELDS:
                    if reference.get(field) != restored.get(field):  # <- here
                        raise AssertionError(f"{field} differs")
            """,
            path="tools/parity.py",
        ),
        Example("""
            def test_defaults(run, baseline):
                restored = run(1)
                for key in baseline:
                    assert restored.get(key, baseline[key]) == baseline[key]  # <- here
        """),
        Example("""
            def test_settings(run):
                old, new = run(1), run(2)
                assert getattr(old, "seed", None) == getattr(new, "seed", None)  # <- here
        """),
        Example("""
            def test_named(run):
                first, second = run(1).get("loss"), run(2).get("loss")
                assert first == second  # <- here
        """),
        # A field that is compared only where both have it.
        Example("""
            def test_winds(baseline, resumed):
                assert len(baseline) == len(resumed)
                for ship in baseline:
                    if "wind" not in baseline[ship] or "wind" not in resumed[ship]:  # <- here
                        continue
                    assert baseline[ship]["wind"] == resumed[ship]["wind"]

            def test_fogs(baseline, resumed):
                for left, right in zip(baseline.rows, resumed.rows, strict=True):
                    if "fog" in left["air"] and "fog" in right["air"]:  # <- here
                        assert abs(left["air"]["fog"] - right["air"]["fog"]) < 0.1
        """),
    )
    good = (
        # The baseline alone decides, or both must have it.
        Example("""
            def test_winds(baseline, resumed):
                for ship in baseline:
                    if "wind" in baseline[ship]:
                        assert baseline[ship]["wind"] == resumed[ship]["wind"]

            def test_fogs(baseline, resumed):
                for ship in baseline:
                    assert ("fog" in baseline[ship]) == ("fog" in resumed[ship])
                    if "fog" in baseline[ship] and "fog" in resumed[ship]:
                        assert baseline[ship]["fog"] == resumed[ship]["fog"]

            def test_rain(baseline, resumed):
                for ship in baseline:
                    assert baseline[ship].keys() == resumed[ship].keys()
                    if "rain" in baseline[ship] and "rain" in resumed[ship]:
                        assert baseline[ship]["rain"] == resumed[ship]["rain"]
        """),
        # What has no such field counts as plain: the default is written out by its name.
        Example("""
            from harbour import Paint, repaint

            def test_repaint(boats):
                assert repaint(boats) == 2
                assert all(getattr(boat, "paint", Paint.PLAIN) == Paint.PLAIN for boat in boats)
        """),
        # Both are held against what is written out.
        Example("""
            def test_knots(load):
                chart, card = load("chart"), load("card")
                assert chart.get("knots") == card.get("knots") == 8
        """),
        # Who calls has written it in.
        Example("""
            def check_manifest(manifest, case):
                assert manifest.get("mode") == case.get("mode")

            def test_manifest(load, cases):
                for case in cases:
                    case["mode"] = case.get("mode", "slow")
                    check_manifest(load(case), case)
        """),
        Example("""
            class Region:
                def __eq__(self, other):
                    for key in ("area", "label"):
                        if getattr(self, key, None) != getattr(other, key, None):
                            return False
                    return True
        """),
        Example("""
            def test_only_if_there(run):
                left, right = run(1).get("reward"), run(2).get("reward")
                if left is not None and right is not None:
                    assert left == right

            def test_unless_both_lack_it(run):
                left, right = run(1).get("reward"), run(2).get("reward")
                if left is not None or right is not None:
                    assert left == right
        """),
        Example("""
            def test_rewards(run):
                left, right = run(1), run(2)
                assert left["reward"] == right["reward"]
                assert left.get("reward") == 1
                assert left.get("unknown") is None
        """),
        Example("""
            def test_keys_first(run):
                left, right = run(1), run(2)
                assert left.keys() == right.keys()
                for key in ("reward", "tokens"):
                    assert left.get(key) == right.get(key)
        """),
        Example("""
            def test_own_keys(run):
                left, right = run(1), run(2)
                for key in left:
                    assert left.get(key) == right.get(key)
        """),
        Example("""
            def test_there(run):
                left, right = run(1), run(2)
                assert left.get("reward") is not None
                assert left.get("reward") == right.get("reward")
        """),
        Example("""
            def test_a_table(run):
                left, right = run(1).get("scores"), run(2).get("scores")
                assert isinstance(left, dict)
                assert left == right
        """),
        Example("""
            def test_the_default_itself(settings):
                assert settings.get("nonexistent", "default") == "default"
                sentinel = object()
                assert settings.get("nonexistent", sentinel) is sentinel
        """),
        Example("""
            def test_before_and_after(row, run):
                before = row.get("reward")
                run(row)
                assert row.get("reward") == before
        """),
        Example("""
            def test_different_defaults(run):
                left, right = run(1), run(2)
                assert left.get("reward", "left has none") == right.get("reward", "right has none")
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return (unit.calls("get", "getattr") or may_pass_over(unit)) and judges(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit) or unit.name.endswith(("__eq__", "__ne__")):
            return  # two objects that lack one attribute are equal in it
        for over in passed_over(unit) if may_pass_over(unit) else ():
            yield self._passed_over(unit, repo, over)
        reported: set[int] = set()
        for judgement in judgements(unit):
            if id(judgement.left) in reported or _goes_on(unit, judgement.left):
                continue
            left, right = (_lookup(unit, side) for side in (judgement.left, judgement.right))
            for one, other in ((left, judgement.right), (right, judgement.left)):
                if one is not None and _falls_back_on(unit, one, other):
                    reported.add(id(judgement.left))
                    says = f"a missing `{_key(unit, one)}` is replaced by the very value it is compared with"
                    yield self._report(unit, repo, judgement.left, (one,), says, "proved", None)
                    break
            else:
                if left is not None and right is not None and _both_may_miss(unit, left, right):
                    asked = _asked_before(unit, judgement.node, left, right)
                    if asked == "there":
                        continue
                    reported.add(id(judgement.left))
                    says = f"where both sides lack `{_key(unit, left)}`, both are the default, and equal"
                    fix = _index(unit, judgement.left, judgement.right, left, right)
                    # Elsewhere than between two runs of one kind both may rightly lack it.
                    two = _origin(unit, left.holder) == _origin(unit, right.holder)
                    two = two and not _is_written_somewhere(unit, left) and _are_runs(unit, left, right)
                    certainty: Certainty = "likely" if asked is None and two else "question"
                    says += "; must it be there?" if certainty == "question" else ""
                    yield self._report(unit, repo, judgement.left, (left, right), says, certainty, fix)

    def _passed_over(self, unit: Unit, repo: Repo, one: PassedOver) -> Finding:
        two = _origin(unit, one.left) == _origin(unit, one.right) or two_sides(
            (root_name(one.left), root_name(one.right))
        )
        return self.finding(
            unit,
            one.condition,
            f"where a side lacks `{one.key}` it is not compared: "
            + ("one that has lost it equals the other" if two else "may it be missing on one side alone?"),
            certainty="likely" if two else "question",
            steps=[step(unit, one.judgement.left, f"`{one.key}` is compared here, where both have it")],
            still_catches=still_catches(unit, one.judgement.node, fault="missing", repo=repo),
        )

    def _report(
        self,
        unit: Unit,
        repo: Repo,
        at: cst.BaseExpression,
        lookups: tuple[_Lookup, ...],
        says: str,
        certainty: Certainty,
        fix: Fix | None,
    ) -> Finding:
        node = _comparison(unit, at)
        return self.finding(
            unit,
            node,
            says,
            certainty=certainty,
            steps=_answers(unit, lookups),
            still_catches=still_catches(unit, node, fault="missing", repo=repo),
            fix=fix,
        )


def _answers(unit: Unit, lookups: tuple[_Lookup, ...]) -> list[Step]:
    """Where a missing entry is answered: two lookups on one line are one step."""
    if len({unit.span(one.node).line for one in lookups}) < len(lookups):
        return [step(unit, lookups[0].node, "both lookups here answer although nothing is there")]
    return [step(unit, one.node, "this answers although nothing is there") for one in lookups]


def _goes_on(unit: Unit, side: cst.BaseExpression) -> bool:
    """Whether the two are compared with a third that is written out: `a.get("x") == b.get("x") == 8`."""
    above = unit.parent(side)
    while isinstance(above, (cst.ComparisonTarget, cst.Comparison)):
        if isinstance(above, cst.Comparison) and len(above.comparisons) > 1:
            third = (above.left, *(target.comparator for target in above.comparisons))
            return any(literal(one) is not UNKNOWN and literal(one) is not None for one in third)
        above = unit.parent(above)
    return False


_SETTINGS = pattern(r"(?i)conf|setting|option|kwargs|meta|header|attr|param|info|manifest")


def _are_runs(unit: Unit, left: _Lookup, right: _Lookup) -> bool:
    """Whether the two are named as the two runs of one comparison, and no settings, of which each may rightly
    lack some."""
    if any(_SETTINGS.search(canonical(one.holder)) for one in (left, right)):
        return False
    return named_apart(unit, left.holder, right.holder)


def _comparison(unit: Unit, side: cst.BaseExpression) -> cst.CSTNode:
    for above in unit.ancestors(side):
        if isinstance(above, (cst.Comparison, cst.Call, cst.BaseSmallStatement)):
            return above
    return side


def _lookup(unit: Unit, node: cst.BaseExpression) -> _Lookup | None:
    node = values(unit).resolve(node)
    if not isinstance(node, cst.Call) or any(arg.star or arg.keyword for arg in node.args):
        return None
    given = [arg.value for arg in node.args]
    if dotted(node.func) == "getattr" and len(given) == 3:
        key = literal(given[1])
        indexed = f"{unit.text(given[0])}.{key}" if isinstance(key, str) and key.isidentifier() else ""
        return _Lookup(node, given[0], given[1], _or_none(given[2]), indexed)
    if last_name(node) == "get" and isinstance(node.func, cst.Attribute) and 1 <= len(given) <= 2:
        holder = node.func.value
        if dotted(holder).partition(".")[0] in unit.file.imports:
            return None  # requests.get(url), os.environ.get(name)
        default = _or_none(given[1]) if len(given) == 2 else None
        return _Lookup(node, holder, given[0], default, f"{unit.text(holder)}[{unit.text(given[0])}]")
    return None


def _or_none(node: cst.BaseExpression) -> cst.BaseExpression | None:
    return None if literal(node) is None else node


def _key(unit: Unit, one: _Lookup) -> str:
    value = literal(one.key)
    return value if isinstance(value, str) else unit.text(one.key)


def _origin(unit: Unit, holder: cst.BaseExpression) -> str:
    """What a holder comes from: the name of the function that gave it, or that it is a parameter or part of
    one; the code itself where that is unknown."""
    flow = values(unit)
    node = flow.resolve(holder)
    if isinstance(node, cst.Call):
        return last_name(node)
    root = node
    while isinstance(root, (cst.Subscript, cst.Attribute)):
        root = root.value
    if isinstance(root, cst.Name) and any(b.kind in ("parameter", "loop") for b in flow.reaching(root)):
        return "" if node is root else "[]"
    return canonical(node)


def _falls_back_on(unit: Unit, one: _Lookup, other: cst.BaseExpression) -> bool:
    """Whether a lookup's default is what it is compared with."""
    if one.default is None or literal(one.default) is not UNKNOWN:
        return False
    flow, own = values(unit), terms(unit)
    default = flow.resolve(one.default)
    entry = isinstance(default, (cst.Subscript, cst.Attribute)) or last_name(default) == "get"
    if isinstance(default, cst.Attribute) and not flow.slice(default):
        return False  # `Kind.PLAIN`, a value that is written out by its name
    if isinstance(default, cst.Name):
        entry = any(binding.kind == "loop" for binding in flow.reaching(default))
    # A sentinel that the test made itself is there to test the default.
    return entry and own.text(one.default) == own.text(other)


def _both_may_miss(unit: Unit, left: _Lookup, right: _Lookup) -> bool:
    own = terms(unit)
    if own.text(left.key) != own.text(right.key) or unit.text(left.holder) == unit.text(right.holder):
        return False
    if len({None if one.default is None else own.text(one.default) for one in (left, right)}) > 1:
        return False
    if any(_has_key(unit, one) or _is_set_by_callers(unit, one) for one in (left, right)):
        return False
    return not same_keys(unit, left.node, left.holder, right.holder)


def _is_set_by_callers(unit: Unit, one: _Lookup) -> bool:
    """Whether every caller in the file writes the entry into the mapping: `case["mode"] = "slow"`."""
    key = literal(one.key)
    if not isinstance(key, str) or not isinstance(one.holder, cst.Name) or not unit.is_function:
        return False
    given = [(site.caller, bind(site.call, unit).get(one.holder.value)) for site in callers(unit)]
    return bool(given) and all(
        isinstance(node, cst.Name) and _writes(caller, node.value, key) for caller, node in given
    )


def _is_written_somewhere(unit: Unit, one: _Lookup) -> bool:
    """Whether another function of a test file writes an entry of that key into something."""
    key = literal(one.key)
    return isinstance(key, str) and any(
        isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Constant) and node.slice.value == key
        for other in unit.file.units
        if other is not unit
        for node in other.asts(ast.Subscript)
    )


def _writes(unit: Unit, name: str, key: str) -> bool:
    return any(
        isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == key
        for node in unit.asts(ast.Subscript)
    )


def _has_key(unit: Unit, one: _Lookup) -> bool:
    """Whether the key is known to be there: it iterates over the holder, or something looks at the entry."""
    own = terms(unit)
    holder = own.text(one.holder)
    if isinstance(one.key, cst.Name):
        for binding in values(unit).reaching(one.key):
            if binding.kind == "loop" and binding.value is not None and holder in own.sizes(binding.value):
                return True
    entry, indexed = own.text(one.node), one.entry
    for expression in deciding(unit):
        for node in walk(expression):
            asks = isinstance(node, cst.Call) and last_name(node) in ("isinstance", "len") and node.args
            if asks and values(unit).resolve(asks[0].value) is one.node:
                return True
            if _is_membership(node) and own.text(node.left) == own.text(one.key):
                return True
            looks = isinstance(node, (cst.Call, cst.Subscript, cst.Attribute)) and node is not one.node
            if looks and (own.text(node) == entry or canonical(node) == indexed):
                return True
    return False


def _asked_before(
    unit: Unit, node: cst.CSTNode, left: _Lookup, right: _Lookup
) -> Literal["there", "missing"] | None:
    """What the conditions around a comparison say: that one of the two is `there`, or that at least one is
    `missing`, so that the other is demanded to be missing too."""
    flow = values(unit)
    for guard in guards(unit, node):
        asked = [_presence(part) for part in _parts(guard.condition)]
        found = {id(flow.resolve(one)) for one in asked if one is not None}
        if None in asked or not found or not found <= {id(left.node), id(right.node)}:
            continue
        if guard.outcome:
            return "there"
        if not isinstance(guard.condition, cst.BooleanOperation):
            return "missing"
        if isinstance(guard.condition.operator, cst.And):
            return "missing"
    return None


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [*_parts(node.left), *_parts(node.right)] if isinstance(node, cst.BooleanOperation) else [node]


def _presence(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What `x is not None` or a bare `x` asks to be there."""
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        is_not = isinstance(target.operator, (cst.IsNot, cst.NotEqual))
        return node.left if is_not and literal(target.comparator) is None else None
    return node if isinstance(node, (cst.Name, cst.Call, cst.Subscript)) else None


def _is_membership(node: cst.CSTNode) -> TypeGuard[cst.Comparison]:
    return isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn))


def _index(
    unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression, one: _Lookup, other: _Lookup
) -> Fix | None:
    """Indexing on both sides, where both lookups stand in the comparison itself."""
    node = unit.parent(left)
    if one.node is not left or other.node is not right or not isinstance(node, cst.Comparison):
        return None
    if not one.indexed or not other.indexed:
        return None
    text = unit.text(node).replace(unit.text(left), one.indexed).replace(unit.text(right), other.indexed)
    return Fix("index, so that what is missing fails", (rewrite(unit, node, text),), safe=True)
