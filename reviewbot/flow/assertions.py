"""Which called names assert, by name alone: tables of what testing libraries offer, and what a name suggests.

Names only, no syntax tree, so that `ast` facts and LibCST nodes are judged alike. What a name of the file's
own means is for `reviewbot.flow.summaries` to say.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from reviewbot.flow.patterns import pattern

Relation = Literal[
    "equal", "different", "close", "order", "identical", "distinct",
    "member", "absent", "true", "false", "type", "match", "raises",
]  # fmt: skip
"""What a check demands of its operands. `order` is any of <, <=, >, >=; `type` is isinstance and its kind;
`match` is a regular expression or a shape; `raises` is an exception, a warning or a log line."""

# Method or function: (what it demands, how many leading operands it demands it of). By last name; a name
# that libraries use with different meanings is left out.
KNOWN: dict[str, tuple[Relation, int]] = {
    # unittest, and what torch, jax, absl and tensorflow add to it
    "assertEqual": ("equal", 2), "assertEquals": ("equal", 2), "assertNotEqual": ("different", 2),
    "assertNotEquals": ("different", 2), "assertTrue": ("true", 1), "assertFalse": ("false", 1),
    "assert_": ("true", 1), "failUnless": ("true", 1), "failIf": ("false", 1),
    "failUnlessEqual": ("equal", 2), "failIfEqual": ("different", 2),
    "assertIs": ("identical", 2), "assertIsNot": ("distinct", 2), "assertIsNone": ("true", 1),
    "assertIsNotNone": ("true", 1), "assertIn": ("member", 2), "assertNotIn": ("absent", 2),
    "assertIsInstance": ("type", 2), "assertNotIsInstance": ("type", 2), "assertIsSubclass": ("type", 2),
    "assertNotIsSubclass": ("type", 2), "assertHasAttr": ("type", 2), "assertNotHasAttr": ("type", 2),
    "assertStartsWith": ("match", 2), "assertNotStartsWith": ("match", 2), "assertEndsWith": ("match", 2),
    "assertNotEndsWith": ("match", 2),
    "assertAlmostEqual": ("close", 2), "assertAlmostEquals": ("close", 2),
    "assertNotAlmostEqual": ("different", 2), "assertNotAlmostEquals": ("different", 2),
    "assertGreater": ("order", 2), "assertGreaterEqual": ("order", 2), "assertLess": ("order", 2),
    "assertLessEqual": ("order", 2), "assertBetween": ("order", 3), "assertRegex": ("match", 2),
    "assertNotRegex": ("match", 2), "assertRegexpMatches": ("match", 2), "assertCountEqual": ("equal", 2),
    "assertItemsEqual": ("equal", 2), "assertSameElements": ("equal", 2), "assertSameStructure": ("equal", 2),
    "assertMultiLineEqual": ("equal", 2), "assertSequenceEqual": ("equal", 2),
    "assertListEqual": ("equal", 2), "assertTupleEqual": ("equal", 2), "assertSetEqual": ("equal", 2),
    "assertDictEqual": ("equal", 2), "assertDictContainsSubset": ("member", 2), "assertEmpty": ("true", 1),
    "assertNotEmpty": ("true", 1), "assertLen": ("equal", 2), "assertSequenceAlmostEqual": ("close", 2),
    "assertRaises": ("raises", 1), "assertRaisesRegex": ("raises", 2), "assertRaisesRegexp": ("raises", 2),
    "assertRaisesWithLiteralMatch": ("raises", 2), "assertWarns": ("raises", 1),
    "assertWarnsRegex": ("raises", 2), "assertLogs": ("raises", 0), "assertNoLogs": ("raises", 0),
    "assertAllClose": ("close", 2), "assertAllEqual": ("equal", 2), "assertNotAllClose": ("different", 2),
    "assertAllCloseAccordingToType": ("close", 2), "assertArraysEqual": ("equal", 2),
    "assertArraysAllClose": ("close", 2), "assertTensorClose": ("close", 2), "assertArrayEqual": ("equal", 2),
    "assertXmlEqual": ("equal", 2), "assertXMLEqual": ("equal", 2), "assertHTMLEqual": ("equal", 2),
    "assertJSONEqual": ("equal", 2), "assertQuerysetEqual": ("equal", 2), "assertQuerySetEqual": ("equal", 2),
    # numpy, torch, jax, chex, pandas, polars, xarray, networkx, nose
    "assert_equal": ("equal", 2), "assert_not_equal": ("different", 2), "assert_array_equal": ("equal", 2),
    "assert_almost_equal": ("close", 2), "assert_array_almost_equal": ("close", 2),
    "assert_array_almost_equal_nulp": ("close", 2), "assert_array_max_ulp": ("close", 2),
    "assert_allclose": ("close", 2), "assert_all_close": ("close", 2), "assert_close": ("close", 2),
    "assert_approx_equal": ("close", 2), "assert_array_less": ("order", 2),
    "assert_string_equal": ("equal", 2), "assert_true": ("true", 1), "assert_false": ("false", 1),
    "assert_raises": ("raises", 1), "assert_raises_regex": ("raises", 2), "assert_warns": ("raises", 1),
    "assert_identical": ("equal", 2), "assert_trees_all_equal": ("equal", 2),
    "assert_trees_all_close": ("close", 2), "assert_trees_all_close_ulp": ("close", 2),
    "assert_trees_all_equal_shapes": ("equal", 2), "assert_trees_all_equal_dtypes": ("equal", 2),
    "assert_trees_all_equal_structs": ("equal", 2), "assert_trees_all_equal_shapes_and_dtypes": ("equal", 2),
    "assert_trees_all_equal_sizes": ("equal", 2), "assert_tree_all_close": ("close", 2),
    "assert_equal_shape": ("equal", 1), "assert_frame_equal": ("equal", 2),
    "assert_frame_not_equal": ("different", 2), "assert_series_equal": ("equal", 2),
    "assert_series_not_equal": ("different", 2), "assert_index_equal": ("equal", 2),
    "assert_extension_array_equal": ("equal", 2), "assert_tensors_equal": ("equal", 2),
    "assert_graphs_equal": ("equal", 2), "assert_eq": ("equal", 2), "eq_": ("equal", 2),
    "ne_": ("different", 2), "ok_": ("true", 1), "assert_is": ("identical", 2),
    "assert_is_not": ("distinct", 2), "assert_in": ("member", 2), "assert_not_in": ("absent", 2),
    "assert_is_instance": ("type", 2), "assert_greater": ("order", 2), "assert_less": ("order", 2),
    # the rest of unittest.mock's
    "assert_called": ("true", 0), "assert_called_once": ("true", 0), "assert_called_with": ("equal", 0),
    "assert_called_once_with": ("equal", 0), "assert_any_call": ("member", 0),
    "assert_has_calls": ("member", 0),
    "assert_not_called": ("false", 0), "assert_awaited": ("true", 0), "assert_awaited_once": ("true", 0),
    "assert_awaited_with": ("equal", 0), "assert_awaited_once_with": ("equal", 0),
    "assert_any_await": ("member", 0), "assert_has_awaits": ("member", 0), "assert_not_awaited": ("false", 0),
}  # fmt: skip

MOCK_ASSERTIONS = frozenset(
    name for name in KNOWN if name.startswith("assert_") and ("call" in name or "await" in name)
)
"""What a `unittest.mock` object offers to assert with."""

KEYWORDS = (
    ("first", "actual", "left", "x", "a", "expr1", "tree1", "seq1", "list1", "d1", "set1", "tuple1", "expr"),
    ("second", "expected", "desired", "right", "y", "b", "expr2", "tree2", "seq2", "list2", "d2", "set2",
     "tuple2", "container", "expected_seq"),
)  # fmt: skip
"""The keywords under which libraries take the first and the second operand."""

# Qualified functions that return a verdict and never raise over a difference: what a true one means.
PREDICATES: dict[str, Relation] = {
    **{f"{library}.{name}": "close" for library in ("numpy", "torch", "jax.numpy", "cupy", "mlx.core")
       for name in ("allclose", "isclose")},
    **{f"{library}.{name}": "equal" for library in ("numpy", "jax.numpy", "cupy", "mlx.core")
       for name in ("array_equal", "array_equiv", "equal")},
    "torch.equal": "equal", "torch.eq": "equal", "torch.is_same_size": "equal", "math.isclose": "close",
    "cmath.isclose": "close", "filecmp.cmp": "equal", "operator.eq": "equal", "operator.ne": "different",
    "operator.is_": "identical", "tensorflow.equal": "equal", "numpy.all": "true", "numpy.any": "true",
    "torch.all": "true", "torch.any": "true", "jax.numpy.all": "true", "jax.numpy.any": "true",
    "numpy.not_equal": "different", "torch.ne": "different", "numpy.may_share_memory": "identical",
    "numpy.shares_memory": "identical", "all": "true", "any": "true", "isinstance": "type",
    "issubclass": "type", "hasattr": "type", "callable": "type",
}  # fmt: skip

PREDICATE_METHODS: dict[str, Relation] = {
    "equals": "equal",
    "equal": "equal",
    "allclose": "close",
    "isclose": "close",
    "array_equal": "equal",
    "identical": "equal",
    "broadcast_equals": "equal",
    "is_equal_to": "equal",
}
"""Methods of arrays, tensors and frames that return a verdict about the object and their first argument."""

LIBRARIES = frozenset(
    {
        "numpy",
        "torch",
        "jax",
        "chex",
        "pandas",
        "polars",
        "unittest",
        "tensorflow",
        "nose",
        "absl",
        "pytest",
    }
)
"""Packages whose assertion functions compare their operands and do nothing else."""

EXITING = frozenset({"sys.exit", "exit", "quit", "os._exit", "parser.error", "SystemExit"})
RAISING_CONTEXTS = frozenset({
    "raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp",
    "assertRaisesWithLiteralMatch", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs",
    "assert_raises", "assert_raises_regex", "assert_raises_message", "assert_warns", "expect_raises",
    "expect_raises_message", "expect_warnings", "expect_deprecated", "RaisesGroup", "RaisesExc",
    "assert_produces_warning", "assertRaisesMessage", "assertNumQueries",
})  # fmt: skip
"""Context managers that fail when their block does not do what they name, by last name."""

MUST_RAISE = RAISING_CONTEXTS - {
    "warns", "deprecated_call", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs",
    "assert_warns", "expect_warnings", "expect_deprecated", "assert_produces_warning", "assertNumQueries",
    "RaisesGroup",
}  # fmt: skip
"""Those whose block must end by an exception, so that nothing after the raising statement runs."""

ALSO_ASSERT = frozenset(
    {
        "gradcheck",
        "gradgradcheck",
        "check_grads",
        "opcheck",
        "check_jvp",
        "check_vjp",
        "raises_regex",
    }
)
"""Functions that raise over a difference though their names do not say so."""

FOR_TYPE_CHECKERS = frozenset({"assert_type", "assert_never", "reveal_type"})
"""Functions of `typing` that compare nothing when they run."""

_ASSERTS = pattern(r"_*(assert|expect)(?![a-z])|_*(assert|expect)(s|ed|ing)?(_|$)|.*_assert(s|ions?)?(_|$)")
_SUGGESTS = pattern(
    r"(?i)(^|_)(check|verif(y|ies)|validat(e|es)|ensure|require|must|compare|diff|match(es)?|should|fail"
    r"|test|run_test|sanity|snapshot|approve|roundtrip|round_trip|golden|conform|exercise|prove|confirm)(_|$|s_)"
    r"|(check|verify|validate|ensure|compare|assert|expect|test)[A-Z]|[a-z](Check|Verify|Validate|Compare|Assert|Test)"
)
_TESTING_MODULE = pattern(r"(^|[._])(test|tests|testing|testutils?|assertions?|asserts|conftest)([._]|$)")


_NAMES = 8_000  # answers that are kept; a name is asked about again and again


@lru_cache(_NAMES)
def fails_by_name(name: str) -> bool:
    """Whether a dotted name is one whose call fails outright: `pytest.fail`, `self.fail`, `fail`."""
    owner, _, last = name.rpartition(".")
    return last == "fail" and owner in ("", "self", "cls", "pytest", "case", "tc", "testcase", "test")


@lru_cache(_NAMES)
def asserts_by_name(name: str) -> bool:
    """Whether a callable of that last name raises when something does not hold: a library's, or any
    `assert_…`, `assertX`, `expect_…`."""
    if name in KNOWN or name in ALSO_ASSERT or name in RAISING_CONTEXTS:
        return True
    if name in FOR_TYPE_CHECKERS:
        return False
    return _ASSERTS.match(name) is not None


@lru_cache(_NAMES)
def may_assert_by_name(name: str) -> bool:
    """Whether a callable of that last name might check something itself: `check_rows`, `verify`,
    `compare_outputs`, `run_test`. True for whatever `asserts_by_name` holds for."""
    return asserts_by_name(name) or _SUGGESTS.search(name) is not None


def from_testing_module(qualified: str) -> bool:
    """Whether a qualified name comes from a module that by its name is made for tests."""
    module = qualified.rpartition(".")[0]
    return _TESTING_MODULE.search(module) is not None
