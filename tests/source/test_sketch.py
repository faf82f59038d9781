"""A sketch says what LibCST's own tree says, but for white space, comments and parentheses."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter

import libcst as cst
import pytest

from reviewbot.errors import UnreadableFile
from reviewbot.flow.syntax import canonical, literal
from reviewbot.source.sketch import NotInSketch, origin
from reviewbot.source.tree import child_fields, walk
from reviewbot.source.units import File
from tests.corpus import sample

EVERYTHING = '''\
"""Doc."""
from __future__ import annotations
import os, a.b as c
from . import here
from ..a.b import (one as two, three)
from x import *
x: int = 1; y: str; del x; del (a), b; del (a, b)
async def f(a, /, b: int = 1, *rest, c=2, d, **more) -> int:
    """Doc."""
    global g, h
    async with a as b, c(): pass
    async for (i, j) in rows: await k
    else: pass
    return [x async for x in y if z if w for v in x]
@decorated(1)
class A(B, *bases, metaclass=M, **kw):
    x = y = z, = 1, *two
    def m(self): return; yield
    def n(self, *, k): return (yield)
    def o(self): nonlocal k; yield from (k)
if a: pass
elif b:
    c += 1; c @= 2
else:
    if d: pass
try: pass
except (A, B) as e: raise X from e
except: raise
else: ...
finally: pass
try: pass
except* A: pass
except* (B, C) as e: raise
else: ...
finally: pass
while not a: break
else: continue
with (a as b, c): pass
with (a, b) as c: pass
assert (a and b) and c or d and (e or f), f"x {a!r:>{w}.3} {{}}" "plain" r'raw\\d' f'{b}'
a[1], a[1, 2], a[(1, 2)], a[(1), 2], a[(1), (2)], a[1:2, ::3], a[()], a[*b], a[:], a[b,]
a["b", "c"], a[("b", ")c")], a[("b"), ("c")], a[("b)", c)], a[("b"), (c)]
lambda a, *b, c=1: {**a, 1: 2, **b}, {1, *b}, {a: b for a in b}, {a for a in b}, lambda: 0, lambda *, k: k
f(a, *b, c=1, *d, **e)
f(x for x in y)
-1 + ~2 ** +3 // 0x10 % 1_000 @ 1e999 - 2j << 1 >> 2 & 3 | 4 ^ 5, 10 ** 5000, not a
a < b <= c != d is not e not in f is g in h == i > j >= k
"a" 'b' """c
d""", b, (
    # between
    "e"
    "f"), b"x" b"y", u"z", None, True, ..., 'ä' "ö" + f"ü{a}"
(a := 1) if b else c
'''


def difference(parsed: object, sketched: object, where: str = "") -> str:
    """Where two trees differ in what carries meaning, "" where they do not."""
    if type(parsed) is not type(sketched):
        return f"{where}: {type(parsed).__name__}, {type(sketched).__name__}"
    if isinstance(parsed, tuple):
        assert isinstance(sketched, tuple)
        if len(parsed) != len(sketched):
            return f"{where}: {len(parsed)}, {len(sketched)}"
        found = (
            difference(*pair, f"{where}[{at}]") for at, pair in enumerate(zip(parsed, sketched, strict=True))
        )
        return next(filter(None, found), "")
    if not isinstance(parsed, cst.CSTNode):
        return "" if parsed == sketched else f"{where}: {parsed!r}, {sketched!r}"
    if isinstance(parsed, (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString)):
        values = [ast.literal_eval(node.value) for node in (parsed, sketched)]
        return "" if values[0] == values[1] else f"{where}: {values}"
    if isinstance(parsed, cst.FormattedStringText):
        return ""
    fields = {*child_fields(type(parsed))}
    fields |= {field.name for field in dataclasses.fields(parsed)} & {"star", "relative", "conversion"}
    if isinstance(parsed, (cst.Name, cst.NotEqual)):
        fields.add("value")
    if isinstance(parsed, cst.ImportFrom):
        fields.discard("relative")
        if len(parsed.relative) != len(sketched.relative):
            return f"{where}.relative"
    found = (difference(getattr(parsed, f), getattr(sketched, f), f"{where}.{f}") for f in sorted(fields))
    return next(filter(None, found), "")


def units_of(content: bytes):
    file = File("a.py", content)
    return zip(file.units, file.sketched.units, strict=True)


def test_every_kind_of_code_is_sketched_as_it_is_parsed():
    for parsed, sketched in units_of(EVERYTHING.encode()):
        assert difference(parsed.node, sketched.node) == ""
        assert parsed.facts is sketched.facts


def test_code_has_one_form_and_literals_one_value_in_both():
    seen = 0
    for parsed, sketched in units_of(EVERYTHING.encode()):
        for one, other in zip(walk(parsed.node), walk(sketched.node), strict=True):
            if origin(other) is not None:
                assert canonical(one) == canonical(other)
                assert repr(literal(one)) == repr(literal(other))
                seen += 1
    assert seen > 250


@pytest.mark.parametrize(
    "code",
    [
        "f'{a=}'",
        "f'x {a.b[0] = !s:>4} y{c}{d=:.3f}'",
        "f'a={a!r} {a=}'",
        "f'{a==b}{a=:=>4}'",
        "'a' f'{b=}' 'c'",
    ],
)
def test_a_field_that_shows_itself_is_sketched_as_it_is_parsed(code):
    for parsed, sketched in units_of(f"def f():\n    return {code}\n".encode()):
        assert difference(parsed.node, sketched.node) == ""
        shown = zip(*(unit.find(cst.FormattedStringExpression) for unit in (parsed, sketched)), strict=True)
        assert all(one.conversion == other.conversion for one, other in shown)
        texts = zip(*(unit.find(cst.FormattedStringText) for unit in (parsed, sketched)), strict=True)
        assert all(one.value == other.value for one, other in texts)


@pytest.mark.parametrize(
    "code", ["match a:\n    case 1: pass", "f'{a(b=1)=}'", "f'{a=}{{}}'", "f'{a:{b}}{c=}'"]
)
def test_what_is_rare_is_not_sketched(code):
    for parsed, sketched in units_of(code.encode()):
        with pytest.raises(NotInSketch):
            _ = sketched.node
        assert parsed.node is not None


def compared(parsed, sketched) -> Counter:
    """How many of a sketched unit's places and texts are told; each must be the one that LibCST tells."""
    told = Counter()
    for one, other in zip(parsed.index.order, sketched.index.order, strict=True):
        for ask in ("span", "text"):
            try:
                found = getattr(sketched, ask)(other)
            except NotInSketch:
                continue
            assert found == getattr(parsed, ask)(one)
            told[ask] += 1
    return told


ALONE = """\
def f(a, ä):
    "Text."
    g((a), (a,), h(a), h((a)), h((a),), k(*(a)), k(b=(a)), (a)(a), "ä" + ä, (a))
    assert (a), (
        a
    )
    g(
        a, # why
      b)(a
    )
    x = 1; y = (2); return \\
        a
"""


def test_a_sketch_knows_places_and_texts_or_says_that_it_does_not():
    told = Counter()
    for code in (EVERYTHING, ALONE, ALONE.replace("\n", "\r\n")):
        for parsed, sketched in units_of(code.encode()):
            if parsed.kind != "class":
                told += compared(parsed, sketched)
    assert told["span"] > 300
    assert told["text"] > 200


def test_a_sketch_knows_no_text_that_may_have_parentheses_around_it():
    unit = File("a.py", "def f():\n    return g((a +  'ä'), h(b), f'{d}')\n".encode()).sketched.units[1]
    first, *rest = [arg.value for arg in unit.find(cst.Call)[0].args]
    assert [unit.text(value) for value in (*rest, rest[0].args[0].value)] == ["h(b)", "f'{d}'", "b"]
    with pytest.raises(NotInSketch):
        unit.text(first)


def test_a_place_that_does_not_hold_gives_no_text():
    file = File("a.py", "def f():\n    return a('é' f'{b}')\n".encode())
    unit = file.sketched.units[1]
    (inside,) = unit.find(cst.FormattedStringExpression)
    with pytest.raises(NotInSketch):
        unit.text(inside.expression)


def test_a_sketch_knows_no_text_of_compound_statements_and_no_white_space():
    unit = File("a.py", b"def f(): return 1\n").sketched.units[1]
    with pytest.raises(NotInSketch):
        unit.text(unit.node)
    with pytest.raises(AttributeError):
        _ = unit.node.leading_lines


@pytest.mark.slow
def test_the_standard_librarys_own_tests_are_sketched_as_they_are_parsed():
    same = left = 0
    told = Counter()
    for path in sample(120):
        try:
            pairs = list(units_of(path.read_bytes()))
        except UnreadableFile:
            continue
        for parsed, sketched in pairs:
            if parsed.kind == "class":
                continue  # Its header stands in the module, its methods are units.
            try:
                made = sketched.node
            except NotInSketch:
                left += 1
                continue
            assert difference(parsed.node, made) == "", f"{path} {parsed}"
            told += compared(parsed, sketched)
            same += 1
    print(f"{same} units are the same, {left} are not sketched; {told}")
    assert told["text"] > 10_000
    assert same > max(50 * left, 1_000)
