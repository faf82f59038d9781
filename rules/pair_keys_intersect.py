"""Two runs are compared only for the keys that one of them, or both, happen to have.

## Why
A row, a tensor or a field that a run lost has no key there. A loop over the common keys, over the keys of one
side, or one that passes over a key that the other side lacks, never looks at it: the fault that drops most of
the rows is the one that passes best.

## Instead
Demand `left.keys() == right.keys()` before the loop, or loop over the union and let a missing key fail.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import bind, callers
from reviewbot.flow.checks import checks
from reviewbot.flow.control import statements
from reviewbot.flow.guards import same_keys, same_length
from reviewbot.flow.judgements import judged_names, records
from reviewbot.flow.judging import side
from reviewbot.flow.keyed import Keyed, keyed, may_be_keyed
from reviewbot.flow.may_judge import compares_named
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.reached import refuses_input
from reviewbot.flow.suspects import compares_two, is_comparer, may_fail
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.two_runs import are_two_runs
from reviewbot.flow.values import values
from reviewbot.flow.verdicts import all_is_well, answers, collected, well, yields_difference
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, once, step
from reviewbot.model import Certainty

_SAME_KEYS = frozenset(
    {"state_dict", "named_parameters", "asdict", "vars", "dict", "getattr", "deepcopy", "copy"}
)
_EXPECTED = pattern(r"(?i)expect|kwarg|config|default|setting|option|attrs|param|golden|wanted|^[A-Z_]+$")

_READS = pattern(r"(?i)load|read|restore|resume|open|parse|dump|fetch|run|train|collect|record|trace")


class PairKeysIntersect(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            def compare(before, after):
                for name in before.keys() & after.keys():
                    assert before[name] == after[name]  # <- here
            """
        ),
        Example(
            """
            def compare(before, after):
                for step in sorted(before):
                    if step not in after:  # <- here
                        continue
                    loss, again = before[step], after[step]
                    if abs(loss - again) > 1e-3:
                        raise AssertionError(step)
            """
        ),
        Example(
            """
            def test_same(eager, compiled):
                assert all(eager[k].equal(compiled[k]) for k in eager if k in compiled)  # <- here
            """
        ),
        Example(
            """
            def test_restored(load, tmp_path):
                before, after = load(tmp_path / "before"), load(tmp_path / "after")
                for name, row in before.items():
                    assert row["tokens"] == after[name]["tokens"]  # <- here
            """
        ),
        # A function that tells the differences, and does not tell of a row that is gone.
        Example(
            """
            def differences(planned, sailed):
                for ferry, row in planned.items():
                    other = sailed.get(ferry)
                    if other is None:  # <- here
                        continue
                    if row["load"] != other["load"]:
                        yield ferry, "load"
            """,
            path="tools/compare_sailings.py",
        ),
        Example(
            """
            def assert_same_day(planned, sailed):
                for ferry, load in sailed.loads.items():
                    assert load == planned.loads[ferry], ferry  # <- here
            """,
            path="tests/test_day.py",
        ),
        # The keys of the inner loop are written out, those of the outer one are not.
        Example(
            """
            FIELDS = ("load", "stops")

            def by_ferry(rows):
                return {row["ferry"]: row for row in rows}

            def assert_same_day(planned, sailed):
                want, got = by_ferry(planned), by_ferry(sailed)
                for ferry, row in got.items():
                    for name in FIELDS:
                        assert row[name] == want[ferry][name], ferry  # <- here
            """,
            path="tests/test_day.py",
        ),
        # The rows are taken apart in the loop over them.
        Example(
            """
            def loads(day):
                return {"cars": day.cars, "vans": day.vans}

            def assert_same_days(planned, sailed):
                for ferry in set(planned) & set(sailed):
                    for kind, number in loads(planned[ferry]).items():
                        assert number == loads(sailed[ferry])[kind], ferry  # <- here
            """,
            path="tests/test_day.py",
        ),
    )
    good = (
        # Of a key that the other side lacks there is an empty set, and that is compared.
        Example("""
            def test_cargo(plan, sail, sea):
                planned, sailed = plan(sea), sail(sea)
                for ferry, wanted in planned.items():
                    loaded = sailed.get(ferry, frozenset())
                    if wanted is None or loaded is None:
                        continue
                    assert not wanted - loaded, ferry
        """),
        # What only one side has is a difference, which is raised or handed back.
        Example(
            """
            def compare_days(planned, sailed):
                for day in sorted(planned.keys() | sailed.keys()):
                    if day not in planned:
                        yield day, "not planned"
                        continue
                    if day not in sailed:
                        yield day, "not sailed"
                        continue
                    if planned[day] != sailed[day]:
                        yield day, "differs"

            def compare_counts(planned, sailed):
                found = []
                for harbour, times in planned.items():
                    if times != sailed.get(harbour, 0):
                        found.append(harbour)
                for harbour, times in sailed.items():
                    if harbour not in planned:
                        found.append(harbour)
                return found
            """,
            path="tools/compare_days.py",
        ),
        # A table of the types of fields, of which some may be there.
        Example("""
            FIELD_TYPES = {"course": "int32", "load": "float32"}

            def verify_types(ship):
                data = ship.load()
                for name, dtype in FIELD_TYPES.items():
                    if name in data:
                        assert data[name].dtype == dtype

            def verify_other_types(ship):
                for name, dtype in ship.harbour.FIELD_TYPES.items():
                    if name in ship.data:
                        assert ship.data[name].dtype == dtype
        """),
        Example(
            """
            def compare_days(planned, sailed, strict=True):
                found = []
                for harbour in ("north", "south"):
                    plan, day = planned.get(harbour), sailed.get(harbour)
                    if plan is None and day is None:
                        continue
                    if plan is None:
                        found.append((harbour, "not planned"))
                        continue
                    if day is None:
                        found.append((harbour, "not sailed"))
                        continue
                    if plan != day:
                        found.append((harbour, "differs"))
                if found:
                    if strict:
                        raise AssertionError(found)
                    return found
                return []
            """,
            path="tools/compare_days.py",
        ),
        # Where a key is missing the helper says that the two differ.
        Example(
            """
            def same_settings(before: dict, after: dict) -> bool:
                for key, value in before.items():
                    if value is None:
                        continue
                    if key not in after:
                        print(f"{key} is missing")
                        return False
                    if before[key] != after[key]:
                        return False
                return True
            """,
            path="tests/settings.py",
        ),
        # Whoever calls it demands the same keys.
        Example(
            """
            def differences(planned, sailed):
                for ferry, row in planned.items():
                    if ferry not in sailed:
                        continue
                    if row["load"] != sailed[ferry]["load"]:
                        yield ferry, "load"

            def main(planned, sailed):
                if planned.keys() != sailed.keys():
                    raise SystemExit("not the same ferries")
                if list(differences(planned, sailed)):
                    raise SystemExit(1)
            """,
            path="tools/compare_sailings.py",
        ),
        # What one side lacks is demanded beside, and a comparison that only picks a key.
        Example("""
            def test_tables_match(tables):
                planned, sailed = tables["planned"], tables["sailed"]
                lost = {k: v for k, v in planned.items() if k not in sailed}
                more = [k for k, v in sailed.items() if k not in planned]
                wrong = {k: v for k, v in sailed.items() if k in planned and v != planned[k]}
                assert not lost
                assert not more
                assert not wrong

            def test_the_plan_comes_first(load):
                planned, sailed = load("planned"), load("sailed")
                key = next(k for k in planned if k in sailed and planned[k] != sailed[k])
                assert load.one(key) == planned[key]
        """),
        # What one side lacks is collected beside.
        Example("""
            import os

            def assert_same_shelf(old, sold):
                new = os.listdir("shelf")
                more = {k: new[k] for k in set(new) - set(old)}
                less = {k: old[k] for k in set(old) - set(new) - sold}
                other = {k for k in set(old) & set(new) if old[k] != new[k]}
                if more or less or other:
                    raise AssertionError((more, less, other))
        """),
        Example(
            """
            def compare(before, after):
                assert before.keys() == after.keys()
                for name in before:
                    assert before[name] == after[name]

            def by_count(before, after):
                assert len(before) == len(after)
                for name, value in before.items():
                    assert value == after[name]

            def over_all(before, after):
                for name in before.keys() | after.keys():
                    assert before[name] == after[name]
            """
        ),
        # What only the other side has is looked at by itself.
        Example(
            """
            def assert_same_url(load, url, expected_url):
                found = parse(url)
                expected = parse(expected_url)
                for key, value in expected.items():
                    assert found.get(key) == value
                assert set(found) - set(expected) <= {"page"}
            """
        ),
        # A key that is missing is a failure here.
        Example(
            """
            def compare(before, after):
                missing = []
                for name in before:
                    if name not in after:
                        missing.append(name)
                        continue
                    assert before[name] == after[name]
                for name in after:
                    assert name in before
                assert not missing
            """
        ),
        # What is expected is written out: the rest is nobody's business.
        Example(
            """
            def test_settings(load):
                expected = {"lr": 0.1, "steps": 4}
                found = load()
                for name, value in expected.items():
                    assert found[name] == value
                for name, value in vars(load).items():
                    assert value == getattr(found, name)
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        loops = unit.has(ast.For) or unit.has(ast.comprehension)
        looks_up = unit.has(ast.Subscript) or unit.calls("get", "getattr")
        if not loops or not looks_up or not is_comparer(unit):
            return False
        return may_be_keyed(unit) and may_fail(unit) and compares_two(unit) and compares_named(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        reported: set[int] = set()
        weighed = [
            (one, certainty) for one in keyed(unit) if (certainty := _certainty(unit, one)) is not None
        ]
        for one, certainty in weighed:
            if id(one.key) in reported:
                continue
            # Of the loops around one check the one that leaves out most says enough.
            if certainty == "question" and any(
                other.judgement is one.judgement and sure != certainty for other, sure in weighed
            ):
                continue
            reported.add(id(one.key))
            yield self.finding(
                unit,
                one.skip or one.judgement.left,
                _message(one),
                certainty=certainty,
                steps=_steps(unit, one),
                still_catches=_catches(unit, repo, one),
            )


_BOTH = 2  # what the left side lacks, and what the right one does


def _certainty(unit: Unit, one: Keyed) -> Certainty | None:
    if one.sees in ("both", "unknown") or _written_out(unit, one.left) or _written_out(unit, one.right):
        return None
    if same_keys(unit, one.judgement.node, one.left, one.right) or _missing_fails(unit, one):
        return None
    if _picks(unit, one):
        return None
    if _demanded_by_callers(unit, one):
        return None
    if one.sees == "common":
        if _is_table(unit, one.left) or _is_table(unit, one.right):
            return None
        beside = _differences(unit, one)
        if len(beside) == _BOTH:
            return None
        meant = _is_meant(unit, one)
        meant = meant or (one.lacked is not None and side(last_name(one.lacked)) == "baseline")
        if _is_chosen(one.over) or beside or meant or refuses_input(unit) or not _are_runs(unit, one):
            return "question"  # what is expected need not be all, nor what was written down
        return "likely"
    if same_length(unit, one.judgement.node, one.left, one.right) or _looked_for_elsewhere(unit, one):
        return None
    sides = canonical(one.left), canonical(one.right)
    if (sides if one.sees == "right" else sides[::-1]) in _differences(unit, one):
        return None
    flow = values(unit)
    left, right = flow.resolve(one.left), flow.resolve(one.right)
    made = [node for node in (left, right) if isinstance(node, cst.Call)]
    names = {last_name(node) for node in made}
    if len(made) == 2 and len(names) == 1 and names.isdisjoint(_SAME_KEYS):
        # A function that computes gives the same keys each time; what is read from two places need not. What
        # the run under test has beyond the other is a question; what it lost is not.
        seen, unseen = (one.left, one.right) if one.sees == "left" else (one.right, one.left)
        lost = _is_under_test(unit, seen, unseen)
        return "likely" if lost and _READS.search(min(names)) else "question"
    given = [node for node in (left, right) if _is_given(unit, node)]
    seen = canonical(one.left if one.sees == "left" else one.right)
    # An object's attributes are never all listed, and what is expected need not be everything.
    if one.by_attribute or _EXPECTED.search(seen):
        return None
    return "question" if len(made) + len(given) == 2 else None


def _is_chosen(over: cst.BaseExpression) -> bool:
    """Whether the keys that both have are asked for as such, or are a few that are written out: whoever
    writes that may have thought of the others."""
    if isinstance(over, (cst.Tuple, cst.List, cst.Set)):
        return True
    return any(isinstance(below, cst.Call) and last_name(below) == "intersection" for below in walk(over))


def _are_runs(unit: Unit, one: Keyed) -> bool:
    """Whether the two mappings are of two runs: by their makers or names, or one is named as the other's
    reference, `grads_ref` and `grads_sharded`."""
    if are_two_runs(unit, one.left, one.right):
        return True
    names = root_name(one.left), root_name(one.right)
    shared = set(names[0].split("_")) & set(names[1].split("_"))
    return bool(shared) and "baseline" in map(side, names) and len(set(map(side, names))) > 1


def _is_under_test(unit: Unit, seen: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether the first of two mappings is the one that is put to the test: by its name, or made later."""
    named = side(root_name(seen)), side(root_name(other))
    if any(named) and named[0] != named[1]:
        return named[0] == "other" or named[1] == "baseline"
    made = [unit.span(values(unit).resolve(node)) for node in (seen, other)]
    return (made[0].line, made[0].column) > (made[1].line, made[1].column)


def _is_given(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a mapping is a parameter, or what a parameter has: `resumed.rows`."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value != "self" and _is_parameter(unit, node)


def _demanded_by_callers(unit: Unit, one: Keyed) -> bool:
    """Whether every caller in the file demands equal keys of what it gives."""
    if not (isinstance(one.left, cst.Name) and isinstance(one.right, cst.Name)):
        return False
    sites = callers(unit)
    for site in sites:
        given = bind(site.call, unit)
        left, right = given.get(one.left.value), given.get(one.right.value)
        if left is None or right is None or not same_keys(site.caller, site.call, left, right):
            return False
    return bool(sites)


def _differences(unit: Unit, one: Keyed) -> set[tuple[str, str]]:
    """Which of `set(left) - set(right)` and its opposite the function takes as well, and judges."""
    sides = {canonical(one.left), canonical(one.right)}
    found = set()
    for made in unit.find(cst.DictComp, cst.SetComp, cst.ListComp):
        pair = _lacking(made)
        if set(pair) == sides and _is_judged(unit, made):
            found.add(pair)
    for node in unit.find(cst.BinaryOperation):
        if isinstance(node.operator, cst.Subtract):
            pair = _keys_of(node.left), _keys_of(node.right)
            if set(pair) == sides and _is_judged(unit, node):
                found.add(pair)
    return found


def _lacking(made: cst.DictComp | cst.SetComp | cst.ListComp) -> tuple[str, str]:
    """The two mappings of `{k: v for k, v in left.items() if k not in right}`."""
    clause = made.for_in
    asked = clause.ifs[0].test if len(clause.ifs) == 1 else None
    if not isinstance(asked, cst.Comparison) or not isinstance(asked.comparisons[0].operator, cst.NotIn):
        return "", ""
    return _keys_of(clause.iter), canonical(asked.comparisons[0].comparator)


def _keys_of(node: cst.BaseExpression) -> str:
    """What `set(rows)`, `rows.keys()`, or that less something more is taken from."""
    while isinstance(node, (cst.Call, cst.BinaryOperation)):
        if isinstance(node, cst.BinaryOperation):
            node = node.left
        elif node.args:
            node = node.args[0].value
        elif isinstance(node.func, cst.Attribute):
            node = node.func.value
        else:
            break
    return canonical(node)


def _is_judged(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a condition under which the function fails reads what an expression is assigned to."""
    flow = values(unit)
    asked = [check.condition for check in checks(unit) if check.condition is not None]
    return any(
        any(below is node for below in walk(part))
        for condition in asked
        for part in (condition, *(b.value for b in flow.slice(condition) if b.value is not None))
    )


def _written_out(unit: Unit, node: cst.BaseExpression) -> bool:
    flow = values(unit)
    resolved = flow.resolve(node)
    if isinstance(node, cst.Name) and flow.mutations(node.value):
        return False
    made = isinstance(resolved, cst.Call) and last_name(resolved) == "dict"
    return made or isinstance(resolved, cst.Dict) or literal(resolved) is not UNKNOWN


_IN_BOTH = pattern(r"(?i)\b(intersect\w*|in common|common|shared|overlap\w*|both have|in both)\b")


_FINE = pattern(
    r"(?i)\b(fine|ok|okay|allowed|legit\w*|may (lack|miss)|need not|optional|on purpose|skip\w*)\b"
)


def _picks(unit: Unit, one: Keyed) -> bool:
    """Whether the keys are walked only to pick one: `next(k for k in left if k in right)`."""
    for above in unit.ancestors(one.over):
        if isinstance(above, cst.Call):
            return dotted(above.func) == "next"
        if isinstance(above, cst.BaseStatement):
            return False
    return False


def _is_meant(unit: Unit, one: Keyed) -> bool:
    """Whether a comment at the keys says that those of both are meant, or a check demands that there are
    some."""
    line = unit.span(one.over).line
    near = [text.partition("#")[2] for text in unit.file.lines[max(line - 3, 0) : line]]
    if any(map(_IN_BOTH.search, near)):
        return True
    if one.skip is not None:
        at = unit.span(one.skip).line
        if any(_FINE.search(text.partition("#")[2]) for text in unit.file.lines[at - 2 : at + 2]):
            return True
    if not isinstance(one.over, cst.Name):
        return False
    name = one.over.value
    asked = (check.condition for check in checks(unit) if check.condition is not None)
    return any(
        canonical(node) in (name, f"len({name})", f"not {name}")
        or (isinstance(node, cst.Comparison) and canonical(node.left) == f"len({name})")
        for node in asked
    )


def _is_table(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a mapping is a constant of a module by its name: what it says of a field holds where the field
    is there, `for name, dtype in DTYPES.items(): if name in data: assert data[name].dtype == dtype`."""
    resolved = values(unit).resolve(node)
    name = last_name(resolved)
    return isinstance(resolved, (cst.Name, cst.Attribute)) and name.isupper() and len(name) > 1


def _is_parameter(unit: Unit, node: cst.Name) -> bool:
    return any(binding.kind == "parameter" for binding in values(unit).reaching(node))


def _missing_fails(unit: Unit, one: Keyed) -> bool:
    """Whether the arm for a key that is not there fails or records the failure, or a count is demanded."""
    guard = one.guard
    if guard is None or not isinstance(guard.node, cst.If):
        return False
    judged = judged_names(unit) | collected(unit)
    arms = [statements(guard.node.body), statements(guard.node.orelse)]
    aside = arms[0] if guard.by_leaving is guard.outcome or guard.by_leaving else arms[1]
    if any(records(unit, statement) & judged for statement in aside):
        return True
    inside = {id(below) for statement in aside for below in walk(statement)}
    back = [below for statement in aside for below in walk(statement) if isinstance(below, cst.Return)]
    if back and answers(unit) and well(unit) is not UNKNOWN and not any(all_is_well(unit, b) for b in back):
        return True
    if any(id(check.node) in inside for check in checks(unit)):
        return True
    if any(id(node) in inside and yields_difference(unit, node) for node in unit.find(cst.Yield)):
        return True
    counted = {name for statement in (guard.node, *arms[0]) for name in records(unit, statement)}
    return not _demanded_counts(unit).isdisjoint(counted)


@once
def _demanded_counts(unit: Unit) -> frozenset[str]:
    """The names in conditions such as `matched == len(before)`: as many were compared as there are."""
    found: set[str] = set()
    for condition in (check.condition for check in checks(unit)):
        if not isinstance(condition, cst.Comparison):
            continue
        if isinstance(condition.comparisons[0].operator, (cst.Equal, cst.NotEqual)):
            names = {below.value for below in walk(condition) if isinstance(below, cst.Name)}
            found |= names if "len" in names else set()
    return frozenset(found)


def _looked_for_elsewhere(unit: Unit, found: Keyed) -> bool:
    """Whether a check asks whether the other side has a key, `for k in after: assert k in before`, or a loop
    over its keys does."""
    seen, unseen = canonical(found.left), canonical(found.right)
    if found.sees == "right":
        seen, unseen = unseen, seen
    if any(asked.startswith(seen) for asked in _asked_for_members(unit)):
        return True
    return any(
        one.startswith(seen)
        for loop in unit.find(cst.For)
        if canonical(loop.iter).split(".")[0] == unseen
        for one in _membership(loop.body)
    )


def _membership(node: cst.CSTNode) -> list[str]:
    """The collections of which something asks whether something is in them, as code."""
    return [
        canonical(one.comparator)
        for one in walk(node)
        if isinstance(one, cst.ComparisonTarget) and isinstance(one.operator, (cst.In, cst.NotIn))
    ]


@once
def _asked_for_members(unit: Unit) -> list[str]:
    """The collections of which checks ask whether something is in them, as code."""
    looks_at = (check.node if check.condition is None else check.condition for check in checks(unit))
    return [one for node in looks_at for one in _membership(node)]


def _message(one: Keyed) -> str:
    left, right = canonical(one.left), canonical(one.right)
    if one.lacked is not None:
        return (
            f"a key that `{canonical(one.lacked)}` lacks is passed over, and nothing demands that it has it"
        )
    if one.sees == "common":
        return (
            f"only keys that both `{left}` and `{right}` have are compared, and nothing demands the same keys"
        )
    seen, unseen = (left, right) if one.sees == "left" else (right, left)
    return f"the loop runs over the keys of `{seen}`, so what only `{unseen}` has is never looked at"


_PASSED = "a key that {} lacks is passed over here"


def _steps(unit: Unit, one: Keyed) -> list[Step]:
    found = [step(unit, one.over, "the keys come from here")]
    if one.skip is not None:
        found.append(
            step(unit, one.skip, _PASSED.format("that side" if one.lacked is not None else "the other side"))
        )
    found.append(step(unit, one.judgement.left, "the two values are compared here"))
    return found


def _catches(unit: Unit, repo: Repo, one: Keyed) -> tuple[str, ...]:
    others = still_catches(
        unit, one.left, one.right, but=[one.judgement.node, *_loops(unit, one)], fault="keys", repo=repo
    )
    if one.lacked is not None:
        kept = one.right if one.lacked is one.left else one.left
        return (f"a key that `{canonical(kept)}` lost raises", *others)
    if one.sees == "common":
        return others
    unseen = one.right if one.sees == "left" else one.left
    lost = one.left if one.sees == "left" else one.right
    return (
        f"a key that `{canonical(unseen)}` lost raises, one that `{canonical(lost)}` lost does not",
        *others,
    )


def _loops(unit: Unit, one: Keyed) -> Iterator[cst.CSTNode]:
    """The loop over the keys: what stands in it sees no other keys than the check does."""
    for above in unit.ancestors(one.judgement.node):
        if type(above) is cst.For and any(below is one.over for below in walk(above.iter)):
            yield above
