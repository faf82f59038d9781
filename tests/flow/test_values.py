"""What reaches a name, what a value was computed from, which conditions stand before a node."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from reviewbot.flow.calls import bind, call_sites, callers, module_value
from reviewbot.flow.control import guards
from reviewbot.flow.values import UNBOUND, values
from reviewbot.source.units import File


def function(code, name="f"):
    file = File("code.py", textwrap.dedent(code).encode())
    unit = file.unit(name)
    assert unit is not None
    return unit


def reaching(code, name):
    """The code of every value that reaches the last read of `name`; `?` stands for unbound."""
    unit = function(code)
    flow = values(unit)
    last = [node for node in flow.reads(unit.node) if node.value == name][-1]
    return {
        "?" if binding is UNBOUND else unit.text(binding.value) if binding.value else binding.kind
        for binding in flow.reaching(last)
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1; x = 2; use(x)", {"2"}),
        ("x = 1\nif a: x = 2\nuse(x)", {"1", "2"}),
        ("if a: x = 2\nuse(x)", {"2", "?"}),
        ("x = 1\nif a:\n  x = 2\n  return\nuse(x)", {"1"}),
        ("x = 1\nfor i in a:\n  use(x)\n  x = 2\n", {"1", "2"}),
        ("x = 1\nfor i in a:\n  x = 2\n  break\nuse(x)", {"1", "2"}),
        ("while True:\n  x = 1\n  if a: break\nuse(x)", {"1"}),
        ("try: x = g()\nexcept E: x = 2\nuse(x)", {"g()", "2"}),
        ("try: g()\nexcept E: x = 2\nuse(x)", {"2", "?"}),
        ("x = 0\nwith pytest.raises(E):\n  g()\n  x = 1\nuse(x)", {"0", "1"}),
        ("x = 0\nwith lock():\n  x = 1\nuse(x)", {"1"}),
        ("x = 0\ndef cb():\n  nonlocal x\n  x = 1\nx = 2\ng(cb)\nuse(x)", {"1", "2"}),
        ("x, y = g(), h()\nuse(x)", {"g()"}),
        ("x = 1\nx += a\nuse(x)", {"1", "a"}),
        ("x = 1\n[x for x in a]\nuse(x)", {"1"}),
        ("use(a)", {"parameter"}),
        ("for x in a: pass\nuse(x)", {"a", "?"}),
        ("for i, (x, y) in enumerate(zip(a, b)):\n  use(x)", {"a"}),
        ("for k, x in a.items():\n  use(x)", {"a"}),
    ],
)
def test_what_reaches_a_name(body, expected):
    code = "def f(a, b):\n" + textwrap.indent(body, "    ")
    assert reaching(code, "a" if expected == {"parameter"} else "x") == expected


def test_a_slice_follows_names_and_what_is_put_into_them():
    unit = function("def f(a, b):\n    s = set()\n    y = a[0]\n    s.add(y)\n    use(s)\n")
    flow = values(unit)
    use = unit.find(cst.Call)[-1]
    assert {binding.name for binding in flow.slice(use)} == {"s", "y", "a"}
    assert flow.roots(use) == {"a", "set", "use"}


def test_guards_are_conditions_around_and_exits_before():
    unit = function(
        """
        def f(a):
            for x in a:
                if x.skip:
                    continue
                if x.late:
                    assert x
        """
    )
    found = [(unit.text(guard.condition), guard.outcome) for guard in guards(unit, unit.find(cst.Assert)[0])]
    assert found == [("x.skip", False), ("x.late", True)]


def test_calls_inside_a_file_bind_their_arguments():
    code = """
        class T:
            def helper(self, rows, *, key="k"): ...
            def test(self):
                self.helper([1], key="j")
        def g(a, b=2): ...
        def f(x):
            g(x)
            print(x)
            g(*x)
        """
    unit = function(code)
    first, starred = call_sites(unit)
    assert [site.callee.name for site in (first, starred)] == ["g", "g"]
    assert {k: unit.text(v) for k, v in bind(first.call, first.callee).items()} == {"a": "x"}
    assert bind(starred.call, starred.callee) == {}
    helper = unit.file.unit("T.helper")
    (site,) = callers(helper)
    assert {k: site.caller.text(v) for k, v in bind(site.call, helper).items()} == {
        "rows": "[1]",
        "key": '"j"',
    }


def test_a_module_constant_is_one_that_is_assigned_once():
    file = File("m.py", b"A = (1, 2)\nB = 1\nB = 2\nfor C in A: pass\nC = 3\n")
    assert module_value(file, "A") is not None
    assert module_value(file, "B") is None
    assert module_value(file, "C") is None
