"""An expected failure that may pass, or fail for any reason, without anybody hearing of it.

## Why
Without `strict=True` a test marked `xfail` is green whether it fails or passes. When the fault is repaired
nobody is told, and when it then comes back, or the test breaks for another reason, it is green again.

## Instead
Write `strict=True` and `raises=TheError`, or set `xfail_strict = true` in pytest's settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.collection import is_example
from reviewbot.flow.syntax import UNKNOWN, has_star, keyword_argument, literal, qualified
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite
from reviewbot.model import Certainty

# Reasons that say the outcome changes from run to run: strictness would not help there.
_FLAKY = re.compile(
    r"(?i)flak|intermittent|sometimes|random|non-?determin|race|timing|sporadic|\b(may|might)\b|can fail|"
    r"oom|memory|(un|not )stable|connection|network|platform|windows|macos"
)


class XfailNotStrict(Rule):
    kinds = ("function", "method", "class", "module")
    bad = (
        Example("""
            import pytest
            @pytest.mark.xfail(reason="rows are lost on restore")  # <- here
            def test_rows(run):
                assert run(1) == [2]

            @pytest.mark.xfail  # <- here
            def test_more(run):
                assert run(1) == [3]
        """),
        Example("""
            import pytest
            pytestmark = pytest.mark.xfail(strict=False)  # <- here

            @pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.xfail)])  # <- here
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
        return "xfail" in unit.facts.names

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if is_example(unit.file.path):
            return
        for node in unit.find(cst.Attribute):
            if node.attr.value == "xfail" and qualified(node, unit.file.imports) == "pytest.mark.xfail":
                above = unit.parent(node)
                call = above if isinstance(above, cst.Call) and above.func is node else None
                if _is_applied(unit, call or node):
                    found = self._judge(unit, call or node, call, repo)
                    if found is not None:
                        yield found

    def _judge(self, unit: Unit, node: cst.CSTNode, call: cst.Call | None, repo: Repo) -> Finding | None:
        strict = keyword_argument(call, "strict") if call is not None else None
        said = UNKNOWN if strict is None else literal(strict)
        if strict is not None and said is UNKNOWN:
            return None
        if said is True or (said is UNKNOWN and repo.pytest.xfail_strict) or (call and has_star(call)):
            return None
        runs = keyword_argument(call, "run") if call is not None else None
        if runs is not None and literal(runs) is False:
            message = "this expected failure is not even run, so nothing tells when it passes"
        elif call is None or keyword_argument(call, "raises") is None:
            message = "this expected failure is green whether it passes or fails, and for whatever reason"
        else:
            message = "this expected failure is green whether it passes or fails"
        return self.finding(
            unit,
            node,
            message,
            certainty="question"
            if said is False and repo.pytest.xfail_strict
            else self._certainty(unit, call),
            still_catches=self._nearby(unit),
            fix=self._strict(unit, node, call),
        )

    def _certainty(self, unit: Unit, call: cst.Call | None) -> Certainty:
        """A condition, an exception by name or a reason that speaks of chance make it a question."""
        if call is None:
            return "likely"
        conditional = any(arg.keyword is None for arg in call.args) or keyword_argument(call, "condition")
        named = keyword_argument(call, "raises") is not None
        return "question" if conditional or named or _FLAKY.search(unit.text(call)) else "likely"

    def _nearby(self, unit: Unit) -> tuple[str, ...]:
        if not unit.is_function:
            return ("nothing: every check under the mark is silenced by it",)
        return (f"nothing: every check of `{unit.name}` is silenced by the mark",)

    def _strict(self, unit: Unit, node: cst.CSTNode, call: cst.Call | None) -> Fix | None:
        if call is None:
            text = f"{unit.text(node)}(strict=True)"
        elif keyword_argument(call, "strict") is None and "\n" not in unit.text(call):
            inner = unit.text(call)[:-1].rstrip().rstrip(",")
            text = f"{inner}, strict=True)" if call.args else f"{inner}strict=True)"
        else:
            return None
        return Fix("fail when it passes", (rewrite(unit, node, text),))


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
