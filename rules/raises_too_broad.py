"""An expected failure that any failure satisfies.

## Why
`pytest.raises(Exception)` passes on a misspelt name, a wrong argument, a missing file. An `AssertionError`
that is expected from a helper with several checks may be any of theirs: a real difference counts as the
refusal that was meant.

## Instead
Name the exception, and what it must say: `pytest.raises(ValueError, match="prefix")`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.assertions import KNOWN
from reviewbot.flow.checks import checks, raising_context
from reviewbot.flow.collection import bases, owner
from reviewbot.flow.control import enclosing
from reviewbot.flow.handlers import caught, exception_name, expects_failure, fate, raised_by, takes
from reviewbot.flow.judging import in_test_file, judges
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, dotted, keyword_argument, last_name, literal, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, once, step

_BROAD = frozenset({"Exception", "BaseException"})
_PLAIN = frozenset({"raises", "assertRaises", "assert_raises"})
# What a comment says where no one error is meant.
_VAGUE = pattern(
    r"(?i)unspecified|not specified|exact|depend|differ|vari(es|ous)|either|any|whatever|some|implementation"
    r"|general|generic|broad|internal|private|platform|version|backend"
)
_OF_ERRORS = pattern(r"(?i)error|exception|rais")
# Which calls were made, and not that none was.
_CALLED = pattern(
    r"\.assert_(has_calls|any_call|called\w*|awaited\w*|has_awaits)\(|\bcall_args(_list)?\b|\bmock_calls\b"
    r"|\b(call|await)_count\b(?!\s*(==\s*0\b|,\s*0\b))"
)
# That none was made: true of a test that never came so far, too.
_NOT_CALLED = pattern(
    r"\.assert_not_(called|awaited)\w*\(|\bnot \w+(\.\w+)*\.(called|awaited)\b"
    r"|\b(call|await)_count\b\s*(==\s*0\b|,\s*0\b)"
)
_ANYTHING = ("", ".*", ".", ".+", "^.*$")
_SAME_NAME = 3  # methods of one name in which the one that is called is looked for


class RaisesTooBroad(Rule):
    kinds = ("function", "method")
    bad = (
        # One remark for a test, however many of them stand in it.
        Example("""
            import pytest

            def test_refuses(build):
                with pytest.raises(Exception):  # <- here
                    build(-1)
                with pytest.raises(Exception):
                    build("a")
        """),
        Example("""
            import pytest

            def test_refuses(run):
                with pytest.raises(Exception):  # <- here
                    run(-1)
        """),
        Example("""
            def test_refuses(self, run):
                self.assertRaises(Exception, run, -1)  # <- here
        """),
        Example("""
            import pytest

            def test_refuses(run):
                with pytest.raises(Exception, match=".*"):  # <- here
                    run(-1)
        """),
        Example("""
            import pytest

            def test_refuses(run):
                try:
                    run(-1)
                    pytest.fail("no error")
                except Exception:  # <- here
                    pass
        """),
        Example("""
            import pytest

            def compare_loss(run, baseline):
                assert len(run(1)) == len(baseline)
                assert run(1) == baseline

            def test_refuses(run, baseline):
                try:
                    compare_loss(run, baseline)
                    pytest.fail("expected an error")
                except AssertionError:  # <- here
                    pass
        """),
    )
    good = (
        Example("""
            import pytest

            def test_refuses(run):
                with pytest.raises(ValueError):
                    run(-1)
                with pytest.raises(Exception, match="negative"):
                    run(-1)
        """),
        Example("""
            import pytest

            def test_looks_at_it(run):
                with pytest.raises(Exception) as caught:
                    run(-1)
                assert "negative" in str(caught.value)
        """),
        Example("""
            def test_looks_at_it(self, run):
                with self.assertRaises(Exception) as context:
                    run(-1)
                self.assertIsInstance(context.exception, ValueError)
        """),
        Example("""
            import pytest

            def test_must_differ(run):
                with pytest.raises(AssertionError):
                    assert run(1) == run(2)
        """),
        Example("""
            def test_must_differ(run):
                try:
                    assert run(1) == run(2)
                except AssertionError:
                    return
                raise RuntimeError("equal")
        """),
        Example("""
            import pytest

            def test_fails(run):
                with pytest.raises(pytest.fail.Exception):
                    run(1)

            def test_nothing_raised(quiet):
                try:
                    with pytest.raises(Exception):
                        quiet()
                except AssertionError as error:
                    assert "did not raise" in str(error)

            def test_raises_its_own(run):
                with pytest.raises(Exception):
                    raise Exception("cut")
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if not judges(unit):
            return False
        calls = unit.calls_of(_PLAIN)
        if not calls and not unit.has(ast.Try):
            return False
        given = [value for call in calls for value in (*call.args[:1], *(k.value for k in call.keywords))]
        handlers = [handler.type for node in unit.asts(ast.Try) for handler in node.handlers]
        return any(not _TOO_MUCH.isdisjoint(_names(expected)) for expected in (*given, *handlers))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        broad = [
            (call, name)
            for call in unit.find(cst.Call)
            if last_name(call) in _PLAIN and call.args and _is_context_or_call(unit, call)
            if (name := _broad(unit, call)) and not _must_fail(unit, call)
        ]
        if broad:
            calls = [call for call, _ in broad]
            meant = _runs_elsewhere(unit, repo) or any(_is_meant(unit, one, repo) for one in calls)
            yield self._calls(unit, broad[0][1], calls, meant=meant)
        if unit.is_test or in_test_file(unit.file.path):
            for node in unit.find(cst.Try):
                yield from self._try(unit, node)

    def _calls(self, unit: Unit, name: str, calls: list[cst.Call], *, meant: bool) -> Finding:
        """One remark for all that a unit expects so broadly."""
        call, *again = calls
        rest = " and `match` refuses no message" if keyword_argument(call, "match") is not None else ""
        times = "once" if len(again) == 1 else f"{len(again)} times"
        more = f", and {times} more in `{unit.name}`" if again else ""
        return self.finding(
            unit,
            call,
            f"any `{name}` will do here{rest}{more}"
            + (
                "; could the one that is meant be named?"
                if meant
                else ": a misspelt name or a wrong argument passes as the expected failure"
            ),
            certainty="question" if meant else "likely",
            steps=(
                step(unit, call.args[0].value, f"every error of the code under test is an `{name}`"),
                *(step(unit, other, "here too") for other in again),
            ),
            still_catches=still_catches(unit, *_block(unit, call), but=_around(unit, call)),
        )

    def _try(self, unit: Unit, node: cst.Try) -> Iterator[Finding]:
        for handler in node.handlers:
            if fate(unit, handler.body) != "lost" or handler.type is None:
                continue
            handled = caught(handler)
            inside = [c for c in checks(unit) if any(below is c.node for below in walk(node.body))]
            # What fails outright is how the test says that it expects the failure.
            if not any(c.condition is None and not takes(handled, raised_by(c)) for c in inside):
                continue
            helpers = [c for c in inside if c.kind == "helper"]
            if handled & _BROAD:
                says = f"any `{min(handled & _BROAD)}` passes as the expected failure"
            elif "AssertionError" in handled and helpers and expects_failure(unit, node, helpers[0].node):
                says = "any failed check of the function called here passes as the expected failure"
            else:
                continue
            asks = _is_counted_after(unit, node) or (handled & _BROAD and _is_followed_up(unit, node))
            yield self.finding(
                unit,
                handler.type,
                f"{says}: could the one that is meant be named?" if asks else says,
                certainty="question" if asks else "likely",
                steps=(
                    step(unit, (helpers or inside)[0].node, "this may fail for more than one reason"),
                    step(unit, handler.type, "and whatever it was ends here"),
                ),
                still_catches=still_catches(unit, node.body, but=(node,)),
            )


def _is_counted_after(unit: Unit, block: cst.Try) -> bool:
    """Whether the lines after a block take apart what was recorded since before it, `(sent,) = events`: a
    call that fails too early leaves too little there."""
    line, rank = unit.span(block).end_line, unit.index.rank
    for node in unit.find(cst.Assign):
        if unit.span(node).line <= line or not isinstance(node.targets[0].target, (cst.Tuple, cst.List)):
            continue
        for read in values(unit).reads(node.value):
            bound = values(unit).slice(read)
            if bound and any(rank(one.node) < rank(block) for one in bound):
                return True
    return False


def _is_followed_up(unit: Unit, block: cst.CSTNode) -> bool:
    """Whether a check behind the block asks for what the test made before it, or stands right after it: the
    failure is the means, and what it leaves is what is tested. That nothing was called says nothing."""
    flow, line, rank = values(unit), unit.span(block).end_line, unit.index.rank
    after = [
        check
        for check in checks(unit)
        if unit.span(check.node).line > line
        and check.kind != "context"
        and not _is_expected_to_raise(unit, check.node)
        and _NOT_CALLED.search(unit.text(check.node)) is None
    ]
    next_to_it = _next(unit, block)
    return any(
        check.node is next_to_it
        or unit.parent(check.node) is next_to_it
        or any(
            name.value not in ("self", "cls") and any(0 <= rank(one.node) < rank(block) for one in bound)
            for name in flow.reads(check.node)
            if (bound := [one for one in flow.reaching(name) if one.kind not in ("import", "unbound")])
        )
        for check in after
    )


def _next(unit: Unit, block: cst.CSTNode) -> cst.CSTNode | None:
    """The statement behind a block, or behind the line that it is; None where it is the last."""
    for above in unit.ancestors(block):
        if isinstance(above, cst.IndentedBlock):
            beside = list(above.body)
            place = next((at for at, one in enumerate(beside) if one is block), len(beside))
            return beside[place + 1] if place + 1 < len(beside) else None
        block = above
    return None


def _must_fail(unit: Unit, call: cst.Call) -> bool:
    """Whether that nothing raises is what is tested: the block's own failure is caught around it."""
    tried = enclosing(unit, call, cst.Try)
    return isinstance(tried, cst.Try) and any(
        not caught(handler).isdisjoint({"Failed", "AssertionError"}) for handler in tried.handlers
    )


def _broad(unit: Unit, call: cst.Call) -> str:
    """The exception that is expected although any error is one; "" where what is expected is plain."""
    expected = call.args[0].value
    named = [exception_name(e.value) for e in expected.elements] if isinstance(expected, cst.Tuple) else []
    broad = _BROAD.intersection(named or [exception_name(expected)])
    match = keyword_argument(call, "match")
    if match is not None and literal(match) not in _ANYTHING:
        return ""
    return "" if not broad or _is_looked_at(unit, call) or _raises_itself(unit, call) else min(broad)


_TOO_MUCH = _BROAD | {"AssertionError"}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _names(expected: ast.expr | None) -> set[str]:
    """The last names of the exceptions that are named."""
    parts = expected.elts if isinstance(expected, ast.Tuple) else [expected]
    every = (part.func if isinstance(part, ast.Call) else part for part in parts)
    return {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in every}


def _is_context_or_call(unit: Unit, call: cst.Call) -> bool:
    above = unit.parent(call)
    if isinstance(above, cst.WithItem):
        return raising_context(above) is call
    return isinstance(above, cst.Expr) and len(call.args) > 1 and last_name(call) in KNOWN


def _block(unit: Unit, call: cst.Call) -> tuple[cst.CSTNode, ...]:
    around = _around(unit, call)
    return (around[0].body,) if around and isinstance(around[0], cst.With) else (call,)


def _around(unit: Unit, call: cst.Call) -> tuple[cst.CSTNode, ...]:
    return tuple(above for above in unit.ancestors(call) if isinstance(above, cst.With))[:1]


def _is_looked_at(unit: Unit, call: cst.Call) -> bool:
    """Whether the exception is kept under a name that is read afterwards."""
    item = unit.parent(call)
    if not isinstance(item, cst.WithItem) or item.asname is None:
        return False
    name = item.asname.name
    return isinstance(name, cst.Name) and any(
        read.value == name.value and any(b.node is name for b in values(unit).reaching(read))
        for read in values(unit).reads(unit.node)
    )


def _raises_itself(unit: Unit, call: cst.Call) -> bool:
    """Whether the block raises the exception itself: what is tested is what happens to it on the way."""
    return any(isinstance(node, cst.Raise) for block in _block(unit, call) for node in walk(block))


def _is_meant(unit: Unit, call: cst.Call, repo: Repo) -> bool:
    """Whether the code says on the spot that any error will do, to readers or to another linter; or the test
    raises such an error itself, in a function that the code under test calls, or that code does."""
    line = unit.span(call).line
    if re.search(r"#\s*noqa:.*\b(B017|PT011)\b", unit.file.lines[line - 1]) is not None:
        return True
    if _is_told_apart(unit, call) or _calls_are_asked(unit, call) or _passes_too(unit, call):
        return True
    if _is_followed_up(unit, (*_around(unit, call), call)[0]):
        return True
    beside = unit.file.lines[max(0, line - 3) : line + 2]
    said = [text.partition("#")[2] for text in beside]
    if any(_VAGUE.search(text) and _OF_ERRORS.search(text) for text in said):
        return True
    raised = [
        node.exc for node in unit.find(cst.Raise) if isinstance(node, cst.Raise) and node.exc is not None
    ]
    # Also what a mock is told to raise.
    made = [node for node in unit.find(cst.Call) if dotted(node.func) in _BROAD]
    if made or any(exception_name(one) in _BROAD for one in raised):
        return True
    # A handler of the test's own file, that the code under test calls, raises just that.
    return any(_raises_bare(other) for other in unit.file.units) or _code_raises_bare(unit, call, repo)


def _code_raises_bare(unit: Unit, call: cst.Call, repo: Repo) -> bool:
    """Whether a function of the repository that is called there raises such an error itself: no other can be
    named."""
    for block in _block(unit, call):
        for name in _run_in(block):
            if not name or name.rpartition(".")[2] in _PLAIN:
                continue
            known = repo.index.definition(name, unit.file.path, unit.file.imports)
            found = [known] if known else repo.index.definitions(name.rpartition(".")[2])
            for path, defined in found if len(found) <= _SAME_NAME else ():
                file = repo.file(path)
                if file is not None and any(
                    one.line >= defined.line and one.end_line <= defined.end_line and _raises_bare(one)
                    for one in file.units
                    if one.is_function
                ):
                    return True
    return False


def _run_in(block: cst.CSTNode) -> Iterator[str]:
    """The names of what is called in a block, or handed to `assertRaises` to be called by it."""
    for below in walk(block):
        if isinstance(below, cst.Call):
            yield dotted(below.func)
            if last_name(below) in KNOWN and len(below.args) > 1:
                yield dotted(below.args[1].value)


def _passes_too(unit: Unit, call: cst.Call) -> bool:
    """Whether what is to fail is called in the test a second time, given as much, where it is to pass: a
    misspelt name would show there."""
    statements = [
        node
        for block in _block(unit, call)
        for node in walk(block)
        if isinstance(node, (cst.Expr, cst.Assign, cst.Return)) and isinstance(node.value, cst.Call)
    ]
    inside = {_form(node.value) for node in statements if isinstance(node.value, cst.Call)}
    passing = {_form(one) for one in unit.find(cst.Call) if not _is_expected_to_raise(unit, one)}
    return bool(inside) and all(any(_shows_slips_of(one, other) for other in passing) for one in inside)


def _shows_slips_of(failing: _Form, passing: _Form) -> bool:
    """Whether a call that passes calls the same, and gives as many values, those by name among them."""
    named, given = failing[2:]
    more = named < passing[2] and (bool(named) or given == passing[3])
    return failing[:2] == passing[:2] and (named == passing[2] or more)


_Form = tuple[str, int, frozenset[str], tuple[str, ...]]
"""What a call calls, how many values it gives by place, which by name, and those by place as code."""


def _form(call: cst.Call) -> _Form:
    named = frozenset(arg.keyword.value for arg in call.args if arg.keyword is not None)
    given = tuple(canonical(arg.value) for arg in call.args if arg.keyword is None)
    return canonical(call.func), len(given), named, given


def _is_expected_to_raise(unit: Unit, node: cst.CSTNode) -> bool:
    contexts = (above for above in unit.ancestors(node) if isinstance(above, cst.With))
    return any(raising_context(item) is not None for context in contexts for item in context.items)


@once
def _raises_bare(unit: Unit) -> bool:
    """Whether a function raises such an error itself, and does not only pass on that something has failed."""
    passed_on = {id(below) for handler in unit.asts(ast.ExceptHandler) for below in ast.walk(handler)}
    return any(
        not _BROAD.isdisjoint(_names(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))
        for node in unit.asts(ast.Raise)
        if node.exc is not None and id(node) not in passed_on
    )


def _runs_elsewhere(unit: Unit, repo: Repo) -> bool:
    """Whether a test is run by the subclasses of its class alone, one for each implementation: each may have
    errors of its own."""
    if unit.owner is None or not unit.name.rpartition(".")[2].startswith("test"):
        return False
    if not repo.pytest.collects_file(unit.file.path):
        return not any(base.endswith("TestCase") for base in bases(unit.owner, unit.file))
    return owner(unit.owner, unit.file, repo.pytest) == "none"


def _is_told_apart(unit: Unit, call: cst.Call) -> bool:
    """Whether the other branch of the `if` around an expected failure names one for the same code: the author
    knows that here it may be another."""
    chosen = enclosing(unit, call, cst.If)
    if not isinstance(chosen, cst.If) or not isinstance(chosen.orelse, cst.Else):
        return False
    both = [_expected(part) for part in (chosen.body, chosen.orelse.body)]
    done = [{code for code, _ in part} for part in both]
    narrow = any(not broad for part in both for _, broad in part)
    return narrow and not done[0].isdisjoint(done[1])


def _calls_are_asked(unit: Unit, call: cst.Call) -> bool:
    """Whether a check after the block asks which calls were made: one that fails before them, by a misspelt
    name say, does not pass."""
    line = max(unit.span(block).end_line for block in (call, *_around(unit, call)))
    return any(
        unit.span(check.node).line > line and _CALLED.search(unit.text(check.node)) is not None
        for check in checks(unit)
    )


def _expected(branch: cst.BaseSuite) -> list[tuple[str, bool]]:
    """The blocks of a branch that are expected to fail, as code, and whether any failure will do."""
    found = []
    for block in walk(branch):
        for item in block.items if isinstance(block, cst.With) else ():
            call = raising_context(item)
            if call is not None and call.args and isinstance(block, cst.With):
                code = canonical(block.body) if isinstance(block.body, cst.IndentedBlock) else ""
                found.append((code, exception_name(call.args[0].value) in _BROAD))
    return found
