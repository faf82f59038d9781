"""An assertion about a mock that is no assertion: a name that the mock makes up, or a method not called.

## Why
A mock answers every attribute with another mock, which is true. `mock.called_once_with(2)` records one more
call and checks nothing; `mock.assert_called_once` without parentheses is a method that nobody calls. (From
Python 3.12 on the best known of these names raise, and only where the mock is one of `unittest.mock`.)

## Instead
Call `mock.assert_called_once_with(2)`, or give the mock a `spec` so that unknown names raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from reviewbot.flow.assertions import MOCK_ASSERTIONS
from reviewbot.flow.checks import operand
from reviewbot.flow.handlers import caught
from reviewbot.flow.mocks import OWN_ATTRIBUTES, is_plain, looks_like_mock, mock_call, told
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import last_name, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step
from reviewbot.model import Certainty

# What the right name looks like without its `assert_`, and what people write in other languages.
_TYPOS = {name.removeprefix("assert_"): name for name in MOCK_ASSERTIONS} | {
    "called_once": "assert_called_once", "called_with": "assert_called_with",
    "was_called_with": "assert_called_with", "was_called_once_with": "assert_called_once_with",
    "was_called_once": "assert_called_once", "called_once_wiht": "assert_called_once_with",
    "was_called": "assert_called", "has_been_called": "assert_called", "is_called": "assert_called",
    "has_been_called_with": "assert_called_with", "was_not_called": "assert_not_called",
    "called_only_once": "assert_called_once", "called_only_once_with": "assert_called_once_with",
    "calledWith": "assert_called_with", "calledOnce": "assert_called_once", "has_call": "assert_any_call",
}  # fmt: skip
del _TYPOS["called"], _TYPOS["awaited"]
# Names that other objects than mocks may well have.
_COMMON = frozenset(
    {"was_called", "is_called", "has_been_called", "was_not_called", "has_call", "was_called_with"}
)
_OF_REQUESTS = frozenset({"mocker", "requests_mock", "requests_mocker"})
_WITHOUT_ARGUMENTS = frozenset({
    "assert_called", "assert_called_once", "assert_not_called", "assert_awaited", "assert_awaited_once",
    "assert_not_awaited",
})  # fmt: skip
_NAMES = frozenset(_TYPOS) | MOCK_ASSERTIONS


class MockAssertTypo(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            from unittest import mock
            def test_send(send_all):
                sender = mock.Mock()
                send_all(sender)
                assert sender.send.called_once_with(2)  # <- here
                assert sender.send.called_once  # <- here
                sender.send.called_with(2)  # <- here
                sender.flush.not_called()  # <- here
        """),
        Example("""
            def test_send(send_all, mock_sender):
                send_all(mock_sender)
                mock_sender.send.assert_called_once  # <- here
                assert mock_sender.send.assert_called_with  # <- here
                mock_sender.send.called  # <- here
        """),
        Example("""
            class TestSend(TestCase):
                def test_send(self):
                    self.assertTrue(self.mock_send.called_once_with(2))  # <- here
                    self.assertEquals  # <- here
        """),
        Example("""
            from unittest.mock import MagicMock
            def test_send(send_all):
                sender = MagicMock()
                send_all(sender)
                assert sender.is_done()  # <- here
                other = MagicMock()
                other.send(1)
                assert other.finished  # <- here
        """),
    )
    good = (
        # Whether a method is there.
        Example("""
            class TestTea(TestCase):
                def compare(self, cups):
                    try:
                        self.assertCountEqual
                    except AttributeError:
                        self.assertItemsEqual(cups, self.cups)
                    else:
                        self.assertCountEqual(cups, self.cups)
        """),
        Example("""
            from unittest import mock
            def test_send(send_all):
                sender = mock.Mock()
                send_all(sender)
                sender.send.assert_called_once_with(2)
                assert sender.send.called
                assert sender.send.call_args_list
                assert not sender.flush.called
        """),
        Example("""
            def test_fetch_anew(fetch, mock_of):
                mocked = mock_of.register_uri("GET", "/tea", text="x")
                fetch("/tea")
                assert mocked.called_once
            def test_fetch(fetch, image_request_mock, requests_mock):
                fetch("https://example.org/a.png")
                assert image_request_mock.mocker.called_once
                assert requests_mock.called_once
        """),
        Example("""
            class Fake:
                was_called = False
            def test_send(send_all):
                fake = Fake()
                send_all(fake)
                assert fake.was_called
        """),
        Example("""
            from unittest.mock import Mock
            def test_send(send_all):
                sender = Mock(done=False)
                sender.is_done.return_value = True
                assert send_all(sender)
                assert sender.done
                assert sender.is_done()
                other = Mock()
                assert send_all(other)
                assert other.finished
        """),
        Example("""
            from unittest.mock import Mock
            def test_send(Sender):
                sender = Mock(spec=Sender)
                assert sender.ready
        """),
        # From Python 3.12 on the mock itself refuses these names.
        Example(
            """
            from unittest.mock import Mock
            def test_sends(send):
                sender = Mock()
                send(sender)
                assert sender.called_once
            """,
            files={"pyproject.toml": '[project]\nname = "mail"\nrequires-python = ">=3.12"\n'},
        ),
        Example("""
            from unittest.mock import Mock
            def test_mock_is_kept(make):
                inner = Mock()
                assert make(inner).inner is inner.value
                assert not inner.called_once
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        if not _NAMES.isdisjoint(unit.facts.names) or "called" in unit.facts.names:
            return True
        if unit.has(ast.Assert) and unit.calls("Mock", "MagicMock", "AsyncMock", "patch", "object"):
            return True
        asserting = unit.file.names_that(_asserts)
        return not (asserting & unit.facts.names <= unit.facts.calls)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for node in unit.find(cst.Assert, cst.Expr):
            found = self._judge(unit, repo, node)
            if found is not None:
                yield found

    def _judge(self, unit: Unit, repo: Repo, node: cst.BaseSmallStatement) -> Finding | None:
        value = node.test if isinstance(node, cst.Assert) else getattr(node, "value", None)
        asserted = isinstance(node, cst.Assert)
        if isinstance(value, cst.Call) and last_name(value) in ("assertTrue", "assert_", "assert_true"):
            value, asserted = operand(value, 0), True
        if isinstance(value, cst.Await):
            value = value.expression
        called = value if isinstance(value, cst.Call) else None
        attribute = called.func if called is not None else value
        if not isinstance(attribute, cst.Attribute):
            return None
        name, owner = attribute.attr.value, attribute.value
        if called is None and name.startswith("assert") and _is_method(unit, name):
            if _asks_whether_it_is_there(unit, node):
                return None
            return self._uncalled(unit, node, attribute)
        if called is None and not asserted:
            return self._bare(unit, node, attribute) if name == "called" else None
        if name in _TYPOS:
            return self._made_up(unit, repo, node, attribute, called)
        if asserted and name not in OWN_ATTRIBUTES and not name.startswith("assert"):
            return self._always_true(unit, node, attribute, owner, called)
        return None

    def _uncalled(self, unit: Unit, node: cst.CSTNode, attribute: cst.Attribute) -> Finding:
        name, text = attribute.attr.value, unit.text(attribute)
        fix = None
        if name in _WITHOUT_ARGUMENTS:
            fix = Fix("call it", (rewrite(unit, node, f"{text}()"),), safe=True)
        return self._report(unit, node, f"`{text}` is not called, so it checks nothing", "proved", fix)

    def _bare(self, unit: Unit, node: cst.CSTNode, attribute: cst.Attribute) -> Finding | None:
        text = unit.text(attribute)
        if not looks_like_mock(unit, attribute.value):
            return None
        fix = Fix("assert it", (rewrite(unit, node, f"assert {text}"),), safe=True)
        return self._report(unit, node, f"the answer of `{text}` is thrown away", "proved", fix)

    def _made_up(
        self,
        unit: Unit,
        repo: Repo,
        node: cst.CSTNode,
        attribute: cst.Attribute,
        called: cst.Call | None,
    ) -> Finding | None:
        name = attribute.attr.value
        known = looks_like_mock(unit, attribute.value)
        # A mocker of requests_mock, and what it registers, have this as a property, which tells.
        if name == "called_once" and called is None and _is_of_requests(unit, attribute.value):
            return None
        if not known and (name in _COMMON or _is_defined(unit, name)):
            return None
        refused = f"assert_{name}" in MOCK_ASSERTIONS and "await" not in name
        if known and refused and (repo.requires_python or (3, 0)) >= (3, 12):
            return None  # there the mock raises, so that the test fails
        right = _TYPOS[name]
        owner = unit.text(attribute.value)
        arguments = unit.text(called)[len(unit.text(called.func)) :] if called is not None else "()"
        fix = None
        if called is not None or right in _WITHOUT_ARGUMENTS:
            fix = Fix(f"call `{right}`", (rewrite(unit, node, f"{owner}.{right}{arguments}"),), safe=known)
        true = "true on any Python before 3.12" if refused else "always true"
        message = f"`{name}` is made up by the mock and {true}; `{right}` is meant"
        return self._report(unit, node, message, "proved" if known else "likely", fix)

    def _always_true(
        self,
        unit: Unit,
        node: cst.CSTNode,
        attribute: cst.Attribute,
        owner: cst.BaseExpression,
        called: cst.Call | None,
    ) -> Finding | None:
        """What no mock says no to. An attribute may be set by code that was given the mock."""
        call = mock_call(unit, owner)
        if call is None or not isinstance(owner, cst.Name) or not is_plain(call):
            return None
        name = attribute.attr.value
        if called is None and values(unit).escapes(owner.value):
            return None
        if told(unit, owner.value, name):
            return None
        finding = self._report(
            unit,
            node,
            f"`{unit.text(attribute)}` is true of any mock, whatever the code does",
            "likely",
            None,
        )
        return self._with_step(finding, unit, call)

    def _with_step(self, finding: Finding, unit: Unit, call: cst.Call) -> Finding:
        return replace(finding, steps=(step(unit, call, "a mock that has every attribute"),))

    def _report(
        self, unit: Unit, node: cst.CSTNode, message: str, certainty: Certainty, fix: Fix | None
    ) -> Finding:
        return self.finding(
            unit, node, message, certainty=certainty, still_catches=still_catches(unit, node), fix=fix
        )


def _is_of_requests(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether something is a mocker of requests_mock, or made by one: `requests_mock.get(...)`."""
    made = [binding.value for binding in values(unit).slice(node) if binding.value is not None]
    names = {last_name(below) for one in (node, *made) for below in walk(one)}
    return "register_uri" in names or not names.isdisjoint(_OF_REQUESTS)


def _asks_whether_it_is_there(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a handler around a name takes the error of one that is missing."""
    return any(
        isinstance(above, cst.Try)
        and unit.holds(above.body, node)
        and any("AttributeError" in caught(handler) for handler in above.handlers)
        for above in unit.ancestors(node)
    )


def _asserts(name: str) -> bool:
    return name.startswith("assert")


def _is_method(unit: Unit, name: str) -> bool:
    """Whether an `assert…` attribute is a method's name rather than a flag's."""
    return name in MOCK_ASSERTIONS or (name.startswith("assert") and name[6:7].isupper()) or "_called" in name


def _is_defined(unit: Unit, name: str) -> bool:
    """Whether a class of the file has a method or an attribute of that name."""
    return any(
        other.name.rpartition(".")[2] == name or (other.kind == "class" and name in other.facts.names)
        for other in unit.file.units
    )
