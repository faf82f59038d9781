"""What counts as a check, and what a helper of the same file does to a verdict."""

from __future__ import annotations

import libcst as cst
import pytest

from reviewbot.flow.checks import checks, comparisons, is_assertion_call, may_assert
from reviewbot.flow.summaries import Summaries
from reviewbot.source.units import File


def unit(code: str, name: str = "test"):
    return File("tests/test_example.py", code.encode()).unit(name)


def kinds(body: str, before: str = "") -> list[str]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return [check.kind for check in checks(unit(f"{before}\ndef test():\n{lines}\n"))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert run() == 1", ["assert"]),
        ("self.assertEqual(run(), 1)", ["call"]),
        ("await assert_rows(1)", ["call"]),
        ("np.testing.assert_allclose(a, b)", ["call"]),
        ("chex.assert_trees_all_close(a, b)", ["call"]),
        ("gradcheck(f, x)", ["call"]),
        ("pytest.fail('no')", ["fail"]),
        ("sys.exit(1)", ["exit"]),
        ("sys.exit('differs')", ["exit"]),
        ("sys.exit(main())", ["exit"]),
        ("raise SystemExit(1)", ["raise"]),
        ("if a != b:\n    raise ValueError(a)", ["raise"]),
        ("with pytest.raises(ValueError):\n    run()", ["context"]),
        ("try:\n    run()\nexcept ValueError:\n    pass\nelse:\n    raise Exception('none')", ["raise"]),
        ("sys.exit(0)", []),
        ("sys.exit()", []),
        ("raise ValueError('fake')", []),
        ("if a:\n    raise NotImplementedError", []),
        ("np.allclose(a, b)", []),
        ("mock.called_once_with(1)", []),
        ("assertion_count()", []),
    ],
)
def test_what_is_a_check(body, expected):
    assert kinds(body) == expected


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        ("def check(a):\n    assert a", ["helper"]),
        ("def check(a):\n    deeper(a)\ndef deeper(a):\n    assert a", ["helper"]),
        ("def check(a):\n    if not a:\n        raise RuntimeError", ["helper"]),
        ("def check(a):\n    return a == 1", []),
        ("def check(a):\n    print(a)", []),
        ("def check(a):\n    assert a\n    yield a", []),
        ("def check(a):\n    check(a)", []),
    ],
)
def test_a_helper_of_the_file_is_judged_by_what_it_does(helper, expected):
    assert kinds("check(1)", helper) == expected


def test_a_method_is_found_through_self_and_its_base():
    code = (
        "class Base:\n    def verify(self): self.assertTrue(1)\n    def quiet(self): pass\n"
        "class Test(Base):\n    def test(self):\n        self.verify()\n        self.quiet()\n"
    )
    found = checks(unit(code, "Test.test"))
    assert [check.kind for check in found] == ["helper"]


@pytest.mark.parametrize(
    ("helper", "returns"),
    [
        ("return a == b", "verdict"),
        ("return np.allclose(a, b) and len(a) == len(b)", "verdict"),
        ("if a != b:\n        return False\n    return True", "verdict"),
        ("mismatches = []\n    mismatches.append(a)\n    return mismatches", "verdict"),
        ("ok = True\n    for x in a:\n        ok = ok and x == b\n    return ok", "verdict"),
        ("ok = run(a)\n    return ok", "value"),
        ("return a", "value"),
        ("return True", "value"),
        ("return", "nothing"),
        ("print(a)", "nothing"),
    ],
)
def test_what_a_helper_returns(helper, returns):
    here = unit(f"import numpy as np\ndef check(a, b):\n    {helper}\ndef test():\n    check(1, 2)\n")
    summary = Summaries.of(here.file).called("check", here)
    assert summary.returns == returns


def test_what_a_helper_writes():
    code = (
        "class T:\n    def note(self, out, a):\n        global seen\n        seen = a\n"
        "        self.failures.append(a)\n        out[a] = 1\n        mine = []\n        mine.append(a)\n"
        "    def test(self): self.note([], 1)\n"
    )
    here = unit(code, "T.test")
    assert Summaries.of(here.file).called("self.note", here).writes == {"seen", "self.failures", "out"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert a == b", [("a", "b", "equal")]),
        ("assert not a == b", [("a", "b", "different")]),
        ("assert a < b == c", [("a", "b", "order"), ("b", "c", "equal")]),
        ("assert x and a is b", [("a", "b", "identical")]),
        ("if a != b:\n    raise ValueError", [("a", "b", "equal")]),
        ("if a == b:\n    pass\nelse:\n    pytest.fail('x')", [("a", "b", "equal")]),
        ("self.assertEqual(a, b)", [("a", "b", "equal")]),
        ("self.assertEqual(second=b, first=a)", [("a", "b", "equal")]),
        ("self.assertFalse(a == b)", [("a", "b", "different")]),
        ("assert torch.equal(a, b)", [("a", "b", "equal")]),
        ("assert np.allclose(a, b).all()", [("a", "b", "close")]),
        ("assert (a == b).all()", [("a", "b", "equal")]),
        ("assert all(x == y for x, y in rows)", [("x", "y", "equal")]),
        ("assert a.equals(b)", [("a", "b", "equal")]),
        ("torch.testing.assert_close(a, expected=b)", [("a", "b", "close")]),
        ("assert a", []),
    ],
)
def test_what_a_check_compares(body, expected):
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    here = unit(f"import torch\nimport numpy as np\ndef test():\n{lines}\n")
    found = [(here.text(c.left), here.text(c.right), c.relation) for c in comparisons(here)]
    assert found == expected


def test_an_unknown_call_may_assert_by_its_name_or_origin():
    here = unit(
        "from tests.helpers import run_model\ndef test():\n    check_rows(1)\n    run_model()\n    go()\n"
    )
    calls = here.find(cst.Call)
    assert [may_assert(call, here) for call in calls] == [True, True, False]
    assert [is_assertion_call(call, here) for call in calls] == [False, False, False]
