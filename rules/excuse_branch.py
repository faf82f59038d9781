"""A branch that the compared values open themselves leads around the check that should compare them.

## Why
A parity test demands that two runs agree. When a difference is what makes a row skip the check (at once,
through a flag, or through a set that was computed from the same rows), a real fault that looks like the
excused noise passes, and nothing says so.

## Instead
Compare every row, and let the failure say where the first difference is. If some noise is real, excuse
exactly the range that it can reach, demand evidence of it from both runs, count what was set aside, and fail
above a stated number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import callee, module_value
from reviewbot.flow.control import enclosing, guards
from reviewbot.flow.detours import Detour, detours
from reviewbot.flow.intervals import Interval, intervals
from reviewbot.flow.judgements import Judgement, judged_names, judgements, records
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.provenance import Trace
from reviewbot.flow.sides import Sides, condition_trace, says, sides
from reviewbot.flow.suspects import compares_two, is_comparer, may_fail
from reviewbot.flow.syntax import canonical, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Step, Unit, delete, step
from reviewbot.model import Certainty

_SHOWN = 6


class ExcuseBranch(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            def compare(before, after):
                for name in before:
                    left, right = before[name], after[name]
                    if left.shape != right.shape:  # <- here
                        continue
                    assert (left == right).all()
            """
        ),
        Example(
            """
            FIELDS = ("tokens", "mask", "reward")

            def first_difference(left, right):
                return next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), None)

            def noisy(reference, restored, prefix):
                at = first_difference(reference["tokens"], restored["tokens"])
                begin = restored["mask"].index(1)
                end = restored["start"] + prefix
                return at is not None and begin <= at < end

            def compare(reference, restored, excused):
                for index, (left, right) in enumerate(zip(reference, restored, strict=True)):
                    if index in excused:  # <- here
                        if left["reward"] != right["reward"]:
                            raise AssertionError(index)
                        continue
                    for field in FIELDS:
                        if left[field] != right[field]:
                            raise AssertionError(index, field)

            def main(reference, restored, prefixes):
                pairs = enumerate(zip(reference, restored))
                excused = {i for i, (a, b) in pairs if noisy(a, b, prefixes[i])}
                compare(reference, restored, excused)
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            import torch

            def check(eager, compiled):
                failures = []
                for key in eager:
                    drifted = not torch.allclose(eager[key], compiled[key], rtol=1e-1)
                    if drifted:  # <- here
                        print("drifted", key)
                    else:
                        if not torch.equal(eager[key].sign(), compiled[key].sign()):
                            failures.append(key)
                assert not failures
            """
        ),
        Example(
            """
            def test_same(slow, fast):
                changed = set()
                for key in slow:
                    if slow[key].kind != fast[key].kind:
                        changed.add(key)
                assert all(slow[k].value == fast[k].value for k in slow if k not in changed)  # <- here
            """
        ),
    )
    good = (
        # Equality leads on, every difference reaches the failure.
        Example(
            """
            def compare(left_rows, right_rows):
                for left, right in zip(left_rows, right_rows, strict=True):
                    for field in ("tokens", "mask"):
                        if left[field] == right[field]:
                            continue
                        raise AssertionError(field)
                    if left.x == right.x:
                        continue
                    assert left.y == right.y
            """
        ),
        # The failure is recorded before the branch leaves.
        Example(
            """
            def compare(left, right):
                failures = []
                for key in left:
                    if left[key].shape != right[key].shape:
                        failures.append(key)
                        continue
                    if left[key].sum() != right[key].sum():
                        failures.append(key)
                if failures:
                    raise AssertionError(failures)
            """
        ),
        # Keys, settings, ranks and the reference itself are not the compared values.
        Example(
            """
            import math

            def compare(runs, reference, rank, dtype):
                if rank != 0:
                    return
                for name, run in runs.items():
                    if name == reference:
                        continue
                    if dtype == "float16":
                        continue
                    assert run.loss == runs[reference].loss

            def close(left, right):
                for a, b in zip(left, right, strict=True):
                    if math.isnan(a) and math.isnan(b):
                        continue
                    assert a == b
            """
        ),
        # Saying no is a verdict, not an excuse.
        Example(
            """
            def same(left, right):
                if left.shape != right.shape:
                    return False
                assert left.sum() == right.sum()
                return True
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        branches = unit.has(ast.If) or any(node.ifs for node in unit.asts(ast.comprehension))
        return branches and is_comparer(unit) and may_fail(unit) and compares_two(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not is_comparer(unit):
            return
        judged = judged_names(unit)
        reported: set[int] = set()
        for detour in detours(unit):
            if id(detour.node) in reported or any(records(unit, s) & judged for s in detour.body):
                continue
            found = self._excuse(unit, detour)
            if found is not None:
                reported.add(id(detour.node))
                yield found

    def _excuse(self, unit: Unit, detour: Detour) -> Finding | None:
        between = sides(unit, detour.missed)
        if between is None:
            return None
        opened = condition_trace(unit, detour.condition, between)
        if not between.both(opened.bindings):
            return None
        meaning = says(unit, detour.condition, detour.outcome, between) or _of_set(
            unit, detour, opened, between
        )
        if meaning == "equal":
            return None
        ranges = intervals(opened) if opened.comparisons() else []
        certainty: Certainty = "proved" if meaning == "different" or ranges else "likely"
        return self.finding(
            unit,
            detour.condition,
            _message(unit, detour, ranges),
            certainty=certainty,
            steps=_steps(unit, detour, opened, ranges),
            still_catches=_catches(unit, detour),
            fix=_fix(unit, detour),
        )


def _of_set(unit: Unit, detour: Detour, opened: Trace, between: Sides) -> str | None:
    """What membership in a set says, from the condition under which a key is put into it."""
    node = detour.condition
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    operator = node.comparisons[0].operator
    if not isinstance(operator, (cst.In, cst.NotIn)):
        return None
    inside = isinstance(operator, cst.In) is detour.outcome
    for where, read in opened.read:
        for below in walk(read):
            if isinstance(below, cst.CompIf) and where is unit:
                found = says(where, below.test, inside, between)
                if found is not None:
                    return found
    flow = values(unit)
    for name in flow.reads(node.comparisons[0].comparator):
        for mutation in flow.mutations(name.value):
            for guard in guards(unit, mutation.node):
                found = says(unit, guard.condition, guard.outcome is inside, between)
                if found is not None:
                    return found
    return None


def _message(unit: Unit, detour: Detour, ranges: list[Interval]) -> str:
    condition = _short(canonical(detour.condition))
    negated = "" if detour.outcome else "not "
    missed = ", ".join(_missed(unit, detour)[:4])
    message = (
        f"where {negated}`{condition}` holds, {missed} {'is' if missed.count(',') == 0 else 'are'} never"
    )
    message += " compared, and the compared values decide whether it holds"
    for found in ranges[:1]:
        message += f"; the excused range begins at `{_short(canonical(found.low))}` and ends at"
        message += f" `{_short(canonical(found.high))}`, which come from different things"
    return message


def _missed(unit: Unit, detour: Detour) -> list[str]:
    """What the excused rows are not compared in: fields where they are named, else the code."""
    still = {field for one in _kept(unit, detour) for field in _fields(unit, one)}
    found: dict[str, None] = {}
    for one in detour.missed:
        fields = _fields(unit, one)
        for field in fields or [f"`{_short(canonical(one.left))}`"]:
            if field not in still:
                found[field] = None
    return list(found) or [f"`{_short(canonical(one.left))}`" for one in detour.missed[:1]]


def _kept(unit: Unit, detour: Detour) -> list[Judgement]:
    """The judgements that the arm itself holds."""
    inside = {id(below) for statement in detour.body for below in walk(statement)}
    return [one for one in judgements(unit) if id(one.node) in inside]


def _fields(unit: Unit, one: Judgement) -> list[str]:
    """The names of the fields that a judgement compares: its literal key, or those that its loop lists."""
    if not isinstance(one.left, cst.Subscript) or len(one.left.slice) != 1:
        return []
    index = one.left.slice[0].slice
    if not isinstance(index, cst.Index):
        return []
    if isinstance(index.value, cst.SimpleString):
        return [f"`{index.value.evaluated_value}`"]
    loop = enclosing(unit, one.node, cst.For)
    while isinstance(loop, cst.For) and canonical(loop.target) != canonical(index.value):
        loop = enclosing(unit, loop, cst.For)
    if not isinstance(loop, cst.For):
        return []
    listed: ast.expr | None = None
    if isinstance(loop.iter, cst.Name):
        listed = module_value(unit.file, loop.iter.value)
    elif isinstance(loop.iter, (cst.Tuple, cst.List)):
        listed = ast.parse(canonical(loop.iter), mode="eval").body
    if not isinstance(listed, (ast.Tuple, ast.List, ast.Set)):
        return []
    return [f"`{e.value}`" for e in listed.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]


def _steps(unit: Unit, detour: Detour, opened: Trace, ranges: list[Interval]) -> list[Step]:
    """What opens the branch, the deepest first, then the branch, then what it leads around."""
    found: list[Step] = []
    for where, read in reversed(opened.read):
        if read is not detour.condition and isinstance(read, cst.BaseExpression) and _decides(where, read):
            found.append(step(where, read, f"this decides what is excused: `{_short(canonical(read))}`"))
    for interval in ranges[:1]:
        for node, word in ((interval.low_from, "begins with"), (interval.high_from, "ends with")):
            found.append(step(interval.unit, node, f"the excused range {word} `{_short(canonical(node))}`"))
    if len(found) > _SHOWN:
        found = found[: _SHOWN // 2] + found[-_SHOWN // 2 :]
    found.append(step(unit, detour.condition, "this branch leads around the check"))
    for one in detour.missed[:3]:
        code = f"`{_short(canonical(one.left))}` against `{_short(canonical(one.right))}`"
        found.append(step(unit, one.left, f"not reached then: {code}"))
    return list({(s.line, s.end_line): s for s in reversed(found)}.values())[::-1]


def _decides(where: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression looks at values rather than only handing them on."""
    if any(isinstance(below, (cst.CompIf, cst.Comparison)) for below in walk(node)):
        return True
    return any(isinstance(below, cst.Call) and callee(where, below) is not None for below in walk(node))


def _catches(unit: Unit, detour: Detour) -> tuple[str, ...]:
    kept = _kept(unit, detour)
    clauses = []
    for one in kept[:3]:
        names = ", ".join(_fields(unit, one)) or f"`{_short(canonical(one.left))}`"
        clauses.append(f"line {unit.span(one.left).line} still compares {names} of an excused row")
    missed = [one.node for one in detour.missed]
    reads = [one.left for one in detour.missed] + [one.right for one in detour.missed]
    others = still_catches(unit, *reads, but=[*missed, *detour.body, detour.node])
    if clauses and others and others[0].startswith("nothing"):
        return (*clauses, "nothing looks at the rest")
    return (*clauses, *others)


def _fix(unit: Unit, detour: Detour) -> Fix | None:
    """Without the branch every row is compared."""
    node = detour.node
    if not isinstance(node, cst.If) or node.orelse is not None or detour.way is None or not detour.outcome:
        return None
    above = unit.parent(node)
    if isinstance(above, cst.If):
        return None
    return Fix("compare every row: drop the branch", (delete(unit, node),))


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 60 else line[:57] + "..."
