"""An expected failure that may pass, or fail for any reason, without anybody hearing of it.

## Why
Without `strict=True` a test marked `xfail` is green whether it fails or passes. When the fault is repaired
nobody is told, and when it then comes back, or the test breaks for another reason, it is green again.

## Instead
Write `strict=True` and `raises=TheError`, or set `xfail_strict = true` in pytest's settings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.collection import decorator_name, is_example
from reviewbot.flow.control import enclosing
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import UNKNOWN, argument, has_star, keyword_argument, literal, qualified
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step
from reviewbot.model import Certainty

# Reasons that say the outcome changes from run to run: strictness would not help there.
_FLAKY = pattern(
    r"(?i)flak|brittle|unreliable|intermittent|sometimes|random|non-?determin|race|timing|sporadic"
    r"|\b(may|might)\b|can fail|oom|memory|(un|not )stable|connection|network|platform|windows|macos"
    r"|occasional|time ?out|timed out|hang|\b(in|on) (the )?CI\b|\blocal(ly)?\b"
    r"|rate.?limit|quota|unavailable|outage|\brequire[sd]?\b|depend|environment|gated|\bpublic\b|credential"
    r"|\bonly (on|in|with|for)\b|\bif (no|there is no|not)\b|not (installed|available)|skips\b"
)
# Marks and names of tests whose outcome is decided by something outside.
_OUTSIDE = pattern(
    r"(?i)(^|[._])(network|internet|online|remote|live|e2e|external|flaky|requires_(network|internet))($|_)"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Mark:
    """One mark, `call` with its arguments if it has any, and what is to be said of it."""

    unit: Unit
    node: cst.CSTNode
    call: cst.Call | None
    says: str
    certainty: Certainty


_DECORATED = (cst.FunctionDef, cst.ClassDef)
_SKIPPED = frozenset({"pytest.mark.skip", "unittest.skip"})


class XfailNotStrict(Rule):
    kinds = ("module",)
    bad = (
        Example("""
            import pytest
            @pytest.mark.xfail(reason="rows are lost on restore")  # <- here
            def test_rows(run):
                assert run(1) == [2]

            @pytest.mark.xfail
            def test_more(run):
                assert run(1) == [3]
        """),
        Example("""
            import pytest
            pytestmark = pytest.mark.xfail(strict=False)  # <- here

            @pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.xfail)])
            def test_rows(run, x):
                assert run(x)
        """),
        Example("""
            from pytest import mark
            @mark.xfail(run=False, reason="hangs")  # <- here
            class TestRows:
                def test_rows(self):
                    assert run(1)
        """),
        Example("""
            import pytest, sys
            @pytest.mark.xfail(sys.platform == "win32", reason="paths differ")  # <- here
            def test_rows(run):
                assert run(1) == [2]
        """),
        Example(
            """
            import pytest
            @pytest.mark.xfail(strict=False, reason="known")  # <- here
            def test_rows(run):
                assert run(1) == [2]
            """,
            files={"pyproject.toml": "[tool.pytest.ini_options]\nxfail_strict = true\n"},
        ),
    )
    good = (
        Example("""
            import pytest
            @pytest.mark.xfail(strict=True, raises=KeyError)
            def test_rows(run):
                assert run(1) == [2]
        """),
        Example(
            """
            import pytest
            @pytest.mark.xfail(reason="rows are lost on restore")
            def test_rows(run):
                assert run(1) == [2]
            """,
            files={"pyproject.toml": "[tool.pytest.ini_options]\nxfail_strict = true\n"},
        ),
        # A test that is yet to be written can never pass.
        Example("""
            import pytest
            @pytest.mark.xfail
            def test_cosine(run):
                raise NotImplementedError
        """),
        Example("""
            import pytest
            STRICT = True
            @pytest.mark.xfail(strict=STRICT)
            def test_rows(run):
                assert run(1) == [2]
            def test_marks(item):
                assert item.get_closest_marker("xfail") is not pytest.mark.xfail
        """),
        Example(
            """
            import pytest
            def pytest_collection_modifyitems(items):
                for item in items:
                    item.add_marker(pytest.mark.skip)
            """,
            path="tests/conftest.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return any("xfail" in one.facts.names for one in unit.file.units)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if is_example(unit.file.path):
            return
        groups: dict[tuple[str, Certainty], list[_Mark]] = {}
        for one in unit.file.units:
            for mark in self._marks(one, repo) if "xfail" in one.facts.names else ():
                groups.setdefault((mark.says, mark.certainty), []).append(mark)
        for (says, certainty), marks in groups.items():
            yield self._report(says, certainty, marks)

    def _marks(self, unit: Unit, repo: Repo) -> Iterator[_Mark]:
        """The marks of a unit that leave an expected failure open."""
        for node in unit.find(cst.Attribute):
            if node.attr.value == "xfail" and qualified(node, unit.file.imports) == "pytest.mark.xfail":
                above = unit.parent(node)
                call = above if isinstance(above, cst.Call) and above.func is node else None
                applied = _is_applied(unit, call or node) and not _is_skipped(unit, node)
                if applied and not _only_raises(unit):
                    found = self._judge(unit, call or node, call, repo)
                    if found is not None:
                        yield found

    def _judge(self, unit: Unit, node: cst.CSTNode, call: cst.Call | None, repo: Repo) -> _Mark | None:
        strict = keyword_argument(call, "strict") if call is not None else None
        said = UNKNOWN if strict is None else literal(strict)
        if strict is not None and said is UNKNOWN:
            return None
        if said is True or (said is UNKNOWN and repo.pytest.xfail_strict) or (call and has_star(call)):
            return None
        runs = keyword_argument(call, "run") if call is not None else None
        if runs is not None and literal(runs) is False:
            says = f"{_NOT_RUN}, so nothing tells when it passes"
        elif call is None or keyword_argument(call, "raises") is None:
            says = "this expected failure is green whether it passes or fails, and for whatever reason"
        else:
            says = "this expected failure is green whether it passes or fails"
        if call is not None and _condition(call) is not None and says.endswith(("fails", "reason")):
            says = says.replace("this expected failure", "where the condition of its mark holds, this test")
        # Whoever writes `strict=False` beside a reason, or against the settings, has thought of it.
        reason = keyword_argument(call, "reason") if call is not None else None
        asked = said is False and (repo.pytest.xfail_strict or reason is not None)
        # What is not to be run, for a reason that is given, is a skip that its author knows of.
        asked = asked or (reason is not None and says.startswith(_NOT_RUN))
        return _Mark(unit, node, call, says, "question" if asked else self._certainty(unit, node, call))

    def _report(self, says: str, certainty: Certainty, marks: list[_Mark]) -> Finding:
        """One finding for all marks of a file of which the same is to be said."""
        first, *rest = marks
        if rest:
            says += f"; {len(rest)} more of this file {'is' if len(rest) == 1 else 'are'} so too"
        fixes = [self._strict(mark.unit, mark.node, mark.call) for mark in marks]
        edits = tuple(edit for fix in fixes if fix is not None for edit in fix.edits)
        return self.finding(
            first.unit,
            first.node,
            says,
            certainty=certainty,
            steps=[step(mark.unit, mark.node, "this one too") for mark in rest],
            still_catches=self._nearby(first),
            fix=Fix("fail when it passes", edits) if all(fixes) else None,
        )

    def _certainty(self, unit: Unit, node: cst.CSTNode, call: cst.Call | None) -> Certainty:
        """A condition, an exception by name or a reason that speaks of chance make it a question."""
        if _depends_on_outside(unit) or _FLAKY.search(_comment(unit, node)):
            return "question"
        if call is None:
            return "likely"
        conditional = _condition(call) is not None
        named = keyword_argument(call, "raises") is not None
        return "question" if conditional or named or _FLAKY.search(unit.text(call)) else "likely"

    def _nearby(self, mark: _Mark) -> tuple[str, ...]:
        unit = mark.unit
        if mark.call is not None and _condition(mark.call) is not None:
            return ("the same checks, wherever the condition of the mark does not hold",)
        if not unit.is_function:
            return ("nothing: every check under the mark is silenced by it",)
        return (f"nothing: every check of `{unit.name}` is silenced by the mark",)

    def _strict(self, unit: Unit, node: cst.CSTNode, call: cst.Call | None) -> Fix | None:
        runs = keyword_argument(call, "run") if call is not None else None
        if runs is not None and literal(runs) is False:
            return None  # what is not run is never found to pass
        if call is None:
            text = f"{unit.text(node)}(strict=True)"
        elif keyword_argument(call, "strict") is None and "\n" not in unit.text(call):
            inner = unit.text(call)[:-1].rstrip().rstrip(",")
            text = f"{inner}, strict=True)" if call.args else f"{inner}strict=True)"
        else:
            return None
        return Fix("fail when it passes", (rewrite(unit, node, text),))


_NOT_RUN = "this expected failure is not even run"


def _comment(unit: Unit, node: cst.CSTNode) -> str:
    """What a comment says at the end of a mark."""
    end = unit.span(node)
    return unit.file.lines[end.end_line - 1][end.end_column - 1 :].partition("#")[2]


def _condition(call: cst.Call) -> cst.BaseExpression | None:
    """What decides whether a mark counts at all."""
    return argument(call, 0, "condition")


def _is_skipped(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether another mark of the same test skips it always."""
    function = enclosing(unit, node, cst.FunctionDef, cst.ClassDef)
    decorated = [one.decorator for one in function.decorators] if isinstance(function, _DECORATED) else []
    made = [one.func if isinstance(one, cst.Call) else one for one in decorated]
    return any(qualified(one, unit.file.imports) in _SKIPPED for one in made)


def _depends_on_outside(unit: Unit) -> bool:
    """Whether another mark of the same test says that it asks something outside, a server or the network."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    return any(_OUTSIDE.search(decorator_name(one)) for one in tree.decorator_list)


def _only_raises(unit: Unit) -> bool:
    """Whether a test is written to come yet: all that it does is raise, so that it can never pass."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    body = [
        one for one in tree.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    return len(body) == 1 and isinstance(body[0], ast.Raise)


def _is_applied(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a mark is put on something: as a decorator, as `pytestmark`, among `marks=`."""
    for above in unit.ancestors(node):
        if isinstance(above, cst.Decorator):
            return True
        if isinstance(above, cst.Arg) and above.keyword is not None and above.keyword.value == "marks":
            return True
        if isinstance(above, cst.Assign):
            names = [target.target.value for target in above.targets if isinstance(target.target, cst.Name)]
            return "pytestmark" in names
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.Comparison)):
            return False
    return False
