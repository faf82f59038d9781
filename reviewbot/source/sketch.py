"""A unit's LibCST nodes made from its `ast`, without white space, comments, punctuation and parentheses.

They are of LibCST's own classes and stand to one another as those that LibCST parses, at a tenth of the cost.
What a rule can find in code it finds in its sketch, and says the same of it.
Fields that hold nothing but white space or punctuation are not set: who reads one gets an `AttributeError`.
Whoever asks a sketched unit for a place or a text that the `ast` does not tell surely gets `NotInSketch`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeVar

import libcst as cst

from reviewbot.model import Span
from reviewbot.source.units import DEEPEST, Facts, File, FunctionTree, Told, Unit

_Node = TypeVar("_Node", bound=cst.CSTNode)


class NotInSketch(Exception):
    """A sketch cannot say it: the code itself must be parsed."""


def origin(node: cst.CSTNode) -> ast.expr | None:
    """The `ast` node that an expression was sketched from; None for one that LibCST has parsed."""
    made = getattr(node, "lpar", None)
    return made if isinstance(made, ast.expr) else None


class SketchedUnit(Unit):
    """A unit whose nodes are sketched. It says the same as the parsed one, but for text and places."""

    @cached_property
    def facts(self) -> Facts:
        """Those of the unit that it sketches."""
        assert isinstance(self.file, SketchedFile)
        return self.file.facts_of(self)

    @cached_property
    def module(self) -> cst.Module:
        """Raises `NotInSketch`: only code has one."""
        raise NotInSketch

    @cached_property
    def node(self) -> cst.FunctionDef | cst.ClassDef | cst.Module:
        """The unit's own node. Raises `NotInSketch` where it is nested deeper than `DEEPEST`, or new."""
        assert isinstance(self.file, SketchedFile)
        units = [self] if self.is_function else self.file.units
        if any(unit.facts.depth > DEEPEST for unit in units):
            raise NotInSketch
        return self.file.sketch(self.tree)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of this unit stands in the file. Raises `NotInSketch` where the `ast` does not say."""
        above = self.parent(node)
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)) and above.name is node:
            return self._name_span(self._made_from(above))
        made = self._made_from(node)
        lines, end_line = self.file.lines, made.end_lineno or made.lineno
        return Span(
            self.file.path,
            made.lineno,
            _characters(lines[made.lineno - 1], made.col_offset) + 1,
            end_line,
            _characters(lines[end_line - 1], made.end_col_offset or 0) + 1,
        )

    def _name_span(self, made: ast.expr | ast.stmt) -> Span:
        """Where the name of a function or class stands."""
        line = self.file.lines[made.lineno - 1]
        found = _NAMED.match(line, _characters(line, made.col_offset))
        if found is None:
            raise NotInSketch
        return Span(self.file.path, made.lineno, found.start(1) + 1, made.lineno, found.end(1) + 1)

    def text(self, node: cst.CSTNode) -> str:
        """The node's own source text. Raises `NotInSketch` where the `ast` does not say, as of an expression
        that may have parentheses around it."""
        made = self._made_from(node)
        lines, last = self.file.lines, made.end_lineno or made.lineno
        before = lines[made.lineno - 1].encode()[: made.col_offset].decode().rstrip()
        after = lines[last - 1].encode()[made.end_col_offset :].decode().strip()
        if isinstance(made, ast.stmt):
            if type(made) not in _SMALL or before or after.startswith(";"):
                raise NotInSketch
        elif before[-1:] in ("", "(") and after[:1] in ("", ")", "#", "\\"):
            # In `f(x)` they are the call's own.
            called = before[:-1].rstrip()[-1:]
            if type(self.parent(node)) is not cst.Arg or not (called.isalnum() or called in ("_", ")", "]")):
                raise NotInSketch
        assert isinstance(self.file, SketchedFile)
        text = self.file.written(made)
        if made.lineno == last:
            return text
        return self._outdented(node, made, text)

    def _outdented(self, node: cst.CSTNode, made: ast.expr | ast.stmt, text: str) -> str:
        """The text of a node that stands on several lines, without what indents the block around it."""
        parts = (one for one in ast.walk(made) if isinstance(one, (ast.Constant, ast.JoinedStr)))
        lines = self.file.lines[made.lineno - 1 : made.end_lineno]
        if any(line.endswith(("\r", "\r\n", "\\\n")) for line in lines) or any(
            one.lineno != one.end_lineno for one in parts
        ):
            raise NotInSketch
        statement = made
        for above in self.ancestors(node):
            if isinstance(statement, ast.stmt):
                break
            statement = self._file_of_sketches.tree_of(above) or statement
        line = self.file.lines[statement.lineno - 1]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if not isinstance(statement, ast.stmt) or len(indent) != statement.col_offset:
            raise NotInSketch
        first, *rest = text.split("\n")
        return "\n".join([first, *(one.removeprefix(indent) for one in rest)])

    def _made_from(self, node: cst.CSTNode) -> ast.expr | ast.stmt:
        """The `ast` node that stands where a node of this unit does."""
        made = self._file_of_sketches.tree_of(node)
        # LibCST counts no parentheses to what stands in them.
        if made is None or isinstance(made, (ast.Tuple, ast.GeneratorExp)) or not hasattr(made, "lineno"):
            raise NotInSketch
        top = node
        for above in self.ancestors(node):
            # Inside a formatted string Python gives no places that hold, nor of strings one after the other.
            if type(above) is cst.FormattedString or type(above) is cst.ConcatenatedString:
                raise NotInSketch
            top = above
        if top is not self.node:
            raise NotInSketch
        return made

    @property
    def _file_of_sketches(self) -> SketchedFile:
        assert isinstance(self.file, SketchedFile)
        return self.file


_NAMED = re.compile(r"(?:(?:async\s+)?def|class)\s+(\w+)")


def _characters(line: str, offset: int) -> int:
    """How many characters stand before an offset that counts bytes of UTF-8."""
    return offset if line.isascii() else len(line.encode()[:offset].decode())


class SketchedFile(File):
    """A file whose units are sketched. Everything else it shares with the one that it is made from."""

    def __init__(self, file: File) -> None:
        self.path, self.content, self.tree = file.path, file.content, file.tree
        # What is asked of a file is answered from its `ast`.
        self.answers = file.answers
        self.whole_if_parsed = None
        self.parses, self.parse_seconds = 0, 0.0
        self._file = file
        self._pen = _Pen(file.lines)
        self._not_drawn: set[int] = set()

    @property
    def text(self) -> str:
        """The file as text."""
        return self._file.text

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return self._file.lines

    @property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for."""
        return self._file.imports

    @cached_property
    def told_calls(self) -> Told:
        """What is called in it, by questions."""
        return self._file.told_calls

    @cached_property
    def told_names(self) -> Told:
        """The names in it, by questions."""
        return self._file.told_names

    @property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes of the file by name."""
        return self._file.classes

    @cached_property
    def units(self) -> list[Unit]:
        """The units of the file, sketched, in the same order."""
        self._of = {}
        found: list[Unit] = []
        for unit in self._file.units:
            made = SketchedUnit(self, unit.kind, unit.name, unit.tree, unit.line, unit.end_line, unit.owner)
            self._of[id(made)] = unit
            found.append(made)
        return found

    def facts_of(self, unit: Unit) -> Facts:
        """The facts of one of its units."""
        return self._of[id(unit)].facts

    def sketch(
        self, tree: FunctionTree | ast.ClassDef | ast.Module
    ) -> cst.FunctionDef | cst.ClassDef | cst.Module:
        """The node of a unit. A definition is sketched once, asked for alone or in its class."""
        if id(tree) in self._not_drawn:
            raise NotInSketch
        try:
            if isinstance(tree, ast.Module):
                return _module(self._pen, tree)
            found = self._pen.definition(tree)
        except NotInSketch:
            # Each rule asks for it: it is tried once.
            self._not_drawn.add(id(tree))
            raise
        assert isinstance(found, (cst.FunctionDef, cst.ClassDef))
        return found

    def written(self, node: ast.expr | ast.stmt) -> str:
        """An expression or statement as it is written."""
        return self._pen.written(node)

    def tree_of(self, node: cst.CSTNode) -> ast.expr | ast.stmt | None:
        """The `ast` node that an expression or statement was sketched from; None for other nodes."""
        made = origin(node)
        if made is None and id(node) in self._pen.drawn:
            return self._pen.drawn[id(node)][1]
        return made

    @cached_property
    def whole(self) -> cst.Module:
        """Raises `NotInSketch`."""
        raise NotInSketch


def _maker(kind: type[_Node], *fields: str) -> Callable[..., _Node]:
    """Makes nodes of a class from the values of some fields. A node's own `__init__` checks and fills in what
    is not needed here, and takes ten times as long."""
    setters: list[Callable[[Any, Any], None]] = [getattr(kind, field).__set__ for field in fields]
    new: Callable[[type[_Node]], _Node] = object.__new__
    if len(setters) == 1:
        (only,) = setters

        def make_one(value: object) -> _Node:
            node = new(kind)
            only(node, value)
            return node

        return make_one
    if len(setters) == 2:
        first, second = setters

        def make_two(one: object, other: object) -> _Node:
            node = new(kind)
            first(node, one)
            second(node, other)
            return node

        return make_two
    if len(setters) == 3:
        first, second, third = setters

        def make_three(one: object, other: object, another: object) -> _Node:
            node = new(kind)
            first(node, one)
            second(node, other)
            third(node, another)
            return node

        return make_three

    def make(*values: object) -> _Node:
        node = new(kind)
        for set_field, value in zip(setters, values, strict=True):
            set_field(node, value)
        return node

    return make


# Expressions hold in `lpar`, where parentheses would be, the `ast` node that they are made from.
_name = _maker(cst.Name, "value", "lpar")
_attribute = _maker(cst.Attribute, "value", "attr", "lpar")
_call = _maker(cst.Call, "func", "args", "lpar")
_arg = _maker(cst.Arg, "value", "keyword", "star")
_subscript = _maker(cst.Subscript, "value", "slice", "lpar")
_subscript_element = _maker(cst.SubscriptElement, "slice")
_index = _maker(cst.Index, "value", "star")
_slice = _maker(cst.Slice, "lower", "upper", "step")
_binary = _maker(cst.BinaryOperation, "left", "operator", "right", "lpar")
_boolean = _maker(cst.BooleanOperation, "left", "operator", "right", "lpar")
_unary = _maker(cst.UnaryOperation, "operator", "expression", "lpar")
_comparison = _maker(cst.Comparison, "left", "comparisons", "lpar")
_target = _maker(cst.ComparisonTarget, "operator", "comparator")
_if_exp = _maker(cst.IfExp, "test", "body", "orelse", "lpar")
_lambda = _maker(cst.Lambda, "params", "body", "lpar")
_named = _maker(cst.NamedExpr, "target", "value", "lpar")
_await = _maker(cst.Await, "expression", "lpar")
_yield = _maker(cst.Yield, "value", "lpar")
_from = _maker(cst.From, "item")
_element = _maker(cst.Element, "value")
_starred = _maker(cst.StarredElement, "value")
_tuple = _maker(cst.Tuple, "elements", "lpar")
_list = _maker(cst.List, "elements", "lpar")
_set = _maker(cst.Set, "elements", "lpar")
_dict = _maker(cst.Dict, "elements", "lpar")
_dict_element = _maker(cst.DictElement, "key", "value")
_starred_dict = _maker(cst.StarredDictElement, "value")
_comp_for = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_comp_if = _maker(cst.CompIf, "test")
_list_comp = _maker(cst.ListComp, "elt", "for_in", "lpar")
_set_comp = _maker(cst.SetComp, "elt", "for_in", "lpar")
_generator = _maker(cst.GeneratorExp, "elt", "for_in", "lpar")
_dict_comp = _maker(cst.DictComp, "key", "value", "for_in", "lpar")
_string = _maker(cst.SimpleString, "value", "lpar")
_concatenated = _maker(cst.ConcatenatedString, "left", "right", "lpar")
_formatted = _maker(cst.FormattedString, "parts", "start", "lpar")
_formatted_text = _maker(cst.FormattedStringText, "value")
_formatted_expression = _maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
_integer = _maker(cst.Integer, "value", "lpar")
_float = _maker(cst.Float, "value", "lpar")
_imaginary = _maker(cst.Imaginary, "value", "lpar")
_ellipsis = _maker(cst.Ellipsis, "lpar")

_line = _maker(cst.SimpleStatementLine, "body")
_suite = _maker(cst.SimpleStatementSuite, "body")
_block = _maker(cst.IndentedBlock, "body")
_expr = _maker(cst.Expr, "value")
_assign = _maker(cst.Assign, "targets", "value")
_assign_target = _maker(cst.AssignTarget, "target")
_aug_assign = _maker(cst.AugAssign, "target", "operator", "value")
_ann_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
_annotation = _maker(cst.Annotation, "annotation")
_return = _maker(cst.Return, "value")
_raise = _maker(cst.Raise, "exc", "cause")
_del = _maker(cst.Del, "target")
_assert = _maker(cst.Assert, "test", "msg")
_global = _maker(cst.Global, "names")
_nonlocal = _maker(cst.Nonlocal, "names")
_name_item = _maker(cst.NameItem, "name")
_import = _maker(cst.Import, "names")
_import_from = _maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = _maker(cst.ImportAlias, "name", "asname")
_as_name = _maker(cst.AsName, "name")
_if = _maker(cst.If, "test", "body", "orelse")
_else = _maker(cst.Else, "body")
_for = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_while = _maker(cst.While, "test", "body", "orelse")
_with = _maker(cst.With, "items", "body", "asynchronous")
_with_item = _maker(cst.WithItem, "item", "asname")
_try = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_handler = _maker(cst.ExceptHandler, "body", "type", "name")
_try_star = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_star_handler = _maker(cst.ExceptStarHandler, "body", "type", "name")
_finally = _maker(cst.Finally, "body")
_function = _maker(
    *(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous", "type_parameters"),
)
_class = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators", "type_parameters")
_decorator = _maker(cst.Decorator, "decorator")
_parameters = _maker(
    *(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params", "posonly_ind"),
)
_param = _maker(cst.Param, "name", "annotation", "default", "star")
_whole = _maker(cst.Module, "body")

_BINARY: dict[type[ast.AST], type[cst.BaseBinaryOp]] = {
    ast.Add: cst.Add,
    ast.Sub: cst.Subtract,
    ast.Mult: cst.Multiply,
    ast.MatMult: cst.MatrixMultiply,
    ast.Div: cst.Divide,
    ast.Mod: cst.Modulo,
    ast.Pow: cst.Power,
    ast.LShift: cst.LeftShift,
    ast.RShift: cst.RightShift,
    ast.BitOr: cst.BitOr,
    ast.BitXor: cst.BitXor,
    ast.BitAnd: cst.BitAnd,
    ast.FloorDiv: cst.FloorDivide,
}
_AUGMENTED: dict[type[ast.AST], type[cst.BaseAugOp]] = {
    ast.Add: cst.AddAssign,
    ast.Sub: cst.SubtractAssign,
    ast.Mult: cst.MultiplyAssign,
    ast.MatMult: cst.MatrixMultiplyAssign,
    ast.Div: cst.DivideAssign,
    ast.Mod: cst.ModuloAssign,
    ast.Pow: cst.PowerAssign,
    ast.LShift: cst.LeftShiftAssign,
    ast.RShift: cst.RightShiftAssign,
    ast.BitOr: cst.BitOrAssign,
    ast.BitXor: cst.BitXorAssign,
    ast.BitAnd: cst.BitAndAssign,
    ast.FloorDiv: cst.FloorDivideAssign,
}
_COMPARED: dict[type[ast.AST], type[cst.BaseCompOp]] = {
    ast.Eq: cst.Equal,
    ast.Lt: cst.LessThan,
    ast.LtE: cst.LessThanEqual,
    ast.Gt: cst.GreaterThan,
    ast.GtE: cst.GreaterThanEqual,
    ast.Is: cst.Is,
    ast.IsNot: cst.IsNot,
    ast.In: cst.In,
    ast.NotIn: cst.NotIn,
}
_UNARY: dict[type[ast.AST], type[cst.BaseUnaryOp]] = {
    ast.Not: cst.Not,
    ast.USub: cst.Minus,
    ast.UAdd: cst.Plus,
    ast.Invert: cst.BitInvert,
}
_not_equal = _maker(cst.NotEqual, "value")

_STRING = re.compile(
    r"""([A-Za-z]{0,2})('''(?:[^\\]|\\.)*?'''|\"""(?:[^\\]|\\.)*?\"""|'(?:[^\\'\n]|\\.)*'|"(?:[^\\"\n]|\\.)*")""",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*\n)*")
_SHOWS_ITSELF = re.compile(r"=\s*(?:![rsa])?\s*(?::[^}]*)?\}")
_FIELD = re.compile(r"\{[^{}]*\}")
# Of what has no text, comparison or keyword in it, where `=`, `!` and `:` mean something else.
_SHOWN = re.compile(r"\{([^'\"=!:<>]+=\s*)(?:!([rsa]))?(?::.*)?\}", re.DOTALL)


class _Pen:
    """Draws the nodes of one file."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._definitions: dict[int, cst.CSTNode] = {}
        # By the identity of what was drawn, which is kept so that nothing else has it.
        self.drawn: dict[int, tuple[cst.CSTNode, ast.stmt]] = {}
        # Inside a formatted string Python gives no places that hold.
        self._formatted = 0

    # Statements.

    def definition(self, tree: ast.stmt) -> cst.CSTNode:
        """A function or class, drawn once."""
        found = self._definitions.get(id(tree))
        if found is None:
            found = self._definitions[id(tree)] = self._compound(tree)
        return found

    def statements(self, body: Iterable[ast.stmt]) -> tuple[cst.CSTNode, ...]:
        """Statements as lines: small ones that stand on one line are in one."""
        found: list[cst.CSTNode] = []
        small: list[cst.CSTNode] = []
        last = -1
        for statement in body:
            if type(statement) not in _SMALL:
                small = []
                is_definition = type(statement) in _DEFINED
                found.append(self.definition(statement) if is_definition else self._compound(statement))
                continue
            if small and statement.lineno == last:
                small.append(self._small(statement))
                found[-1] = _line(tuple(small))
            else:
                small = [self._small(statement)]
                found.append(_line((small[0],)))
            last = statement.end_lineno or 0
        return tuple(found)

    def _small(self, statement: ast.stmt) -> cst.CSTNode:
        made = _SMALL[type(statement)](self, statement)
        self.drawn[id(made)] = made, statement
        return made

    def _compound(self, statement: ast.stmt) -> cst.CSTNode:
        draw = _STATEMENTS.get(type(statement))
        if draw is None:
            raise NotInSketch
        made = draw(self, statement)
        self.drawn[id(made)] = made, statement
        return made

    def block(self, body: list[ast.stmt]) -> cst.CSTNode:
        """What stands under a colon."""
        first = body[0]
        if type(first) in _SMALL and not self._lines[first.lineno - 1][: first.col_offset].isspace():
            return _suite(tuple([self._small(statement) for statement in body]))
        return _block(self.statements(body))

    # Expressions.

    def __call__(self, node: ast.expr) -> Any:
        draw = _EXPRESSIONS.get(type(node))
        if draw is None:
            raise NotInSketch
        return draw(self, node)

    def maybe(self, node: ast.expr | None) -> cst.CSTNode | None:
        """An expression that may be absent."""
        return None if node is None else self(node)

    def element(self, node: ast.expr) -> cst.CSTNode:
        """A member of a tuple, list or set."""
        return _starred(self(node.value)) if type(node) is ast.Starred else _element(self(node))

    def arguments(self, args: list[ast.expr], keywords: list[ast.keyword]) -> tuple[cst.Arg, ...]:
        """What a call gives, in the order in which it is written."""
        found = [
            _arg(self(arg.value), None, "*") if type(arg) is ast.Starred else _arg(self(arg), None, "")
            for arg in args
        ]
        if not keywords:
            return tuple(found)
        found += [
            _arg(self(one.value), None if one.arg is None else _name(one.arg, ()), "" if one.arg else "**")
            for one in keywords
        ]
        if args and type(args[-1]) is ast.Starred:
            # `*rest` may stand behind a keyword.
            written: list[ast.expr | ast.keyword] = [*args, *keywords]
            order = sorted(range(len(written)), key=lambda at: (written[at].lineno, written[at].col_offset))
            found = [found[at] for at in order]
        return tuple(found)

    def parameters(self, given: ast.arguments) -> cst.Parameters:
        """What a function takes."""
        plain = [*given.posonlyargs, *given.args]
        defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
        params = [self._param(one, default) for one, default in zip(plain, defaults, strict=True)]
        count = len(given.posonlyargs)
        star: object = cst.MaybeSentinel.DEFAULT
        if given.vararg:
            star = self._param(given.vararg, None, "*")
        elif given.kwonlyargs:
            star = object.__new__(cst.ParamStar)
        return _parameters(
            tuple(params[count:]),
            star,
            tuple([self._param(*one) for one in zip(given.kwonlyargs, given.kw_defaults, strict=True)]),
            self._param(given.kwarg, None, "**") if given.kwarg else None,
            tuple(params[:count]),
            object.__new__(cst.ParamSlash) if count else cst.MaybeSentinel.DEFAULT,
        )

    def _param(self, one: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
        return _param(_name(one.arg, ()), self.annotation(one.annotation), self.maybe(default), star)

    def annotation(self, node: ast.expr | None) -> cst.Annotation | None:
        """An annotation that may be absent."""
        return None if node is None else _annotation(self(node))

    # Strings.

    def written(self, node: ast.expr | ast.stmt) -> str:
        """An expression or statement as it is written, without parentheses around it."""
        line, end_line = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        start, end = node.col_offset, node.end_col_offset or 0
        lines = self._lines
        if line == end_line:
            text = lines[line]
            if text.isascii():
                return text[start:end]
            return text.encode()[start:end].decode()
        first = lines[line].encode()[start:].decode()
        last = lines[end_line].encode()[:end].decode()
        return "".join([first, *lines[line + 1 : end_line], last]).replace("\r\n", "\n").replace("\r", "\n")

    def tokens(self, node: ast.expr) -> list[str]:
        """The strings that are written one after the other where Python sees one."""
        text = self.written(node)
        found: list[str] = []
        at = 0
        while at < len(text):
            match = _STRING.match(text, at)
            if match is None:
                raise NotInSketch
            found.append(match[0])
            at = _BETWEEN.match(text, match.end()).end()  # type: ignore[union-attr]
        return found

    def concatenated(self, node: ast.expr, tokens: list[str]) -> cst.CSTNode:
        """Several strings one after the other."""
        parts = [self._token(token) for token in tokens]
        made = parts.pop()
        while len(parts) > 1:
            made = _concatenated(parts.pop(), made, ())
        return _concatenated(parts.pop(), made, node)

    def _token(self, token: str) -> cst.CSTNode:
        if "f" not in token[:2].lower().partition(token[-1])[0]:
            return _string(token, ())
        made = ast.parse(f"({token})", mode="eval").body
        if isinstance(made, ast.JoinedStr):
            return _formatted_string(self, made, token)
        assert isinstance(made, ast.Constant)
        return _formatted((_formatted_text(made.value),) if made.value else (), token[:2], made)


_DEFINED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


# Small statements.


def _dotted_name(name: str) -> cst.CSTNode:
    first, *rest = name.split(".")
    made: cst.CSTNode = _name(first, ())
    for part in rest:
        made = _attribute(made, _name(part, ()), ())
    return made


def _aliases(names: list[ast.alias]) -> object:
    if names[0].name == "*":
        return object.__new__(cst.ImportStar)
    return tuple([
        _import_alias(_dotted_name(one.name), _as_name(_name(one.asname, ())) if one.asname else None)
        for one in names
    ])  # fmt: skip


def _draw_assign(pen: _Pen, node: ast.Assign) -> cst.CSTNode:
    return _assign(tuple([_assign_target(pen(one)) for one in node.targets]), pen(node.value))


def _draw_delete(pen: _Pen, node: ast.Delete) -> cst.CSTNode:
    if len(node.targets) == 1:
        return _del(pen(node.targets[0]))
    return _del(_tuple(tuple([_element(pen(one)) for one in node.targets]), ()))


def _draw_import_from(pen: _Pen, node: ast.ImportFrom) -> cst.CSTNode:
    module = _dotted_name(node.module) if node.module else None
    dots = tuple([object.__new__(cst.Dot) for _ in range(node.level)])
    return _import_from(module, _aliases(node.names), dots)


def _items(names: list[str]) -> tuple[cst.NameItem, ...]:
    return tuple([_name_item(_name(name, ())) for name in names])


def _draw_raise(pen: _Pen, node: ast.Raise) -> cst.CSTNode:
    return _raise(pen.maybe(node.exc), None if node.cause is None else _from(pen(node.cause)))


_Draw = Callable[[_Pen, Any], cst.CSTNode]
_SMALL: dict[type[ast.AST], _Draw] = {
    ast.Expr: lambda pen, node: _expr(pen(node.value)),
    ast.Assign: _draw_assign,
    ast.AugAssign: lambda pen, node: _aug_assign(
        pen(node.target), object.__new__(_AUGMENTED[type(node.op)]), pen(node.value)
    ),
    ast.AnnAssign: lambda pen, node: _ann_assign(
        pen(node.target), pen.annotation(node.annotation), pen.maybe(node.value)
    ),
    ast.Return: lambda pen, node: _return(pen.maybe(node.value)),
    ast.Raise: _draw_raise,
    ast.Delete: _draw_delete,
    ast.Assert: lambda pen, node: _assert(pen(node.test), pen.maybe(node.msg)),
    ast.Pass: lambda pen, node: object.__new__(cst.Pass),
    ast.Break: lambda pen, node: object.__new__(cst.Break),
    ast.Continue: lambda pen, node: object.__new__(cst.Continue),
    ast.Global: lambda pen, node: _global(_items(node.names)),
    ast.Nonlocal: lambda pen, node: _nonlocal(_items(node.names)),
    ast.Import: lambda pen, node: _import(_aliases(node.names)),
    ast.ImportFrom: _draw_import_from,
}


# Statements with blocks.


def _module(pen: _Pen, tree: ast.Module) -> cst.Module:
    return _whole(pen.statements(tree.body))


def _otherwise(pen: _Pen, body: list[ast.stmt]) -> cst.Else | None:
    return _else(pen.block(body)) if body else None


def _draw_if(pen: _Pen, node: ast.If) -> cst.CSTNode:
    orelse: cst.CSTNode | None
    after = node.orelse
    if len(after) == 1 and type(after[0]) is ast.If and after[0].col_offset == node.col_offset:
        orelse = pen._compound(after[0])
    else:
        orelse = _otherwise(pen, after)
    return _if(pen(node.test), pen.block(node.body), orelse)


def _asynchronous(node: ast.AST, kind: type[ast.AST]) -> cst.Asynchronous | None:
    return object.__new__(cst.Asynchronous) if type(node) is kind else None


def _draw_for(pen: _Pen, node: ast.For | ast.AsyncFor) -> cst.CSTNode:
    return _for(
        pen(node.target),
        pen(node.iter),
        pen.block(node.body),
        _otherwise(pen, node.orelse),
        _asynchronous(node, ast.AsyncFor),
    )


def _draw_with(pen: _Pen, node: ast.With | ast.AsyncWith) -> cst.CSTNode:
    items = [
        _with_item(pen(one.context_expr), _as_name(pen(one.optional_vars)) if one.optional_vars else None)
        for one in node.items
    ]
    return _with(tuple(items), pen.block(node.body), _asynchronous(node, ast.AsyncWith))


def _draw_try(pen: _Pen, node: ast.Try | ast.TryStar) -> cst.CSTNode:
    whole, handler = (_try, _handler) if type(node) is ast.Try else (_try_star, _star_handler)
    handlers = [
        handler(
            pen.block(one.body),
            pen.maybe(one.type),
            _as_name(_name(one.name, ())) if one.name else None,
        )
        for one in node.handlers
    ]
    final = _finally(pen.block(node.finalbody)) if node.finalbody else None
    return whole(pen.block(node.body), tuple(handlers), _otherwise(pen, node.orelse), final)


def _decorators(pen: _Pen, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> object:
    if getattr(node, "type_params", None):
        raise NotInSketch
    return tuple([_decorator(pen(one)) for one in node.decorator_list])


def _draw_function(pen: _Pen, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.CSTNode:
    return _function(
        _name(node.name, ()),
        pen.parameters(node.args),
        pen.block(node.body),
        _decorators(pen, node),
        pen.annotation(node.returns),
        _asynchronous(node, ast.AsyncFunctionDef),
        None,
    )


def _draw_class(pen: _Pen, node: ast.ClassDef) -> cst.CSTNode:
    given = pen.arguments(node.bases, node.keywords)
    return _class(
        _name(node.name, ()),
        pen.block(node.body),
        tuple([one for one in given if one.keyword is None and one.star != "**"]),
        tuple([one for one in given if one.keyword is not None or one.star == "**"]),
        _decorators(pen, node),
        None,
    )


_STATEMENTS: dict[type[ast.AST], _Draw] = {
    ast.If: _draw_if,
    ast.For: _draw_for,
    ast.AsyncFor: _draw_for,
    ast.While: lambda pen, node: _while(pen(node.test), pen.block(node.body), _otherwise(pen, node.orelse)),
    ast.With: _draw_with,
    ast.AsyncWith: _draw_with,
    ast.Try: _draw_try,
    ast.TryStar: _draw_try,
    ast.FunctionDef: _draw_function,
    ast.AsyncFunctionDef: _draw_function,
    ast.ClassDef: _draw_class,
}  # `match` and what newer Pythons have are rare: such code is parsed.


# Expressions.


def _draw_constant(pen: _Pen, node: ast.Constant) -> cst.CSTNode:
    value = node.value
    kind = type(value)
    if kind is str or kind is bytes:
        if pen._formatted:
            return _string(repr(value), node)
        tokens = pen.tokens(node)
        return _string(tokens[0], node) if len(tokens) == 1 else pen.concatenated(node, tokens)
    if value is None or kind is bool:
        return _name(repr(value), node)
    if value is Ellipsis:
        return _ellipsis(node)
    if isinstance(value, int):
        # Python refuses to write out the decimal digits of a very long number.
        return _integer(str(value) if value < 1 << 64 else hex(value), node)
    made = repr(value)
    if "inf" in made:
        made = "1e999" if kind is float else "1e999j"
    return _float(made, node) if kind is float else _imaginary(made, node)


def _draw_joined(pen: _Pen, node: ast.JoinedStr) -> cst.CSTNode:
    if pen._formatted:
        return _formatted_string(pen, node, "f''")
    tokens = pen.tokens(node)
    if len(tokens) == 1:
        return _formatted_string(pen, node, tokens[0])
    return pen.concatenated(node, tokens)


def _formatted_string(pen: _Pen, node: ast.JoinedStr, token: str) -> cst.CSTNode:
    pen._formatted += 1
    try:
        shown = _shown(node, token) if "=" in token and _SHOWS_ITSELF.search(token) else {}
        return _formatted(_parts(pen, node, shown), token[: token.index(token[-1]) + 1], node)
    finally:
        pen._formatted -= 1


def _shown(node: ast.JoinedStr, token: str) -> dict[ast.expr, tuple[str, str | None]]:
    """Of each field such as `{x=}`, which the `ast` has as `x={x!r}`: what it shows of itself, and how `x` is
    converted. Raises `NotInSketch` where fields and values cannot be told to belong together."""
    values = [one for one in node.values if isinstance(one, ast.FormattedValue)]
    fields = _FIELD.findall(token)
    if len(fields) != len(values) or "{{" in token or "}}" in token:
        raise NotInSketch
    found: dict[ast.expr, tuple[str, str | None]] = {}
    for value, field in zip(values, fields, strict=True):
        if _SHOWS_ITSELF.search(field):
            plain = _SHOWN.fullmatch(field)
            if plain is None:
                raise NotInSketch
            found[value] = plain[1], plain[2]
    return found


def _parts(
    pen: _Pen, node: ast.JoinedStr, shown: dict[ast.expr, tuple[str, str | None]]
) -> tuple[cst.CSTNode, ...]:
    found: list[cst.CSTNode] = []
    for one, after in zip_longest(node.values, node.values[1:]):
        if isinstance(one, ast.Constant):
            text = str(one.value)
            if after in shown:
                if not text.endswith(shown[after][0]):
                    raise NotInSketch
                text = text.removesuffix(shown[after][0])
            if text:
                found.append(_formatted_text(text))
        elif isinstance(one, ast.FormattedValue):
            conversion = None if one.conversion < 0 else chr(one.conversion)
            if one in shown:
                conversion = shown[one][1]
            form = None if one.format_spec is None else _parts(pen, one.format_spec, {})  # type: ignore[arg-type]
            found.append(_formatted_expression(pen(one.value), conversion, form))
        else:
            raise NotInSketch
    return tuple(found)


def _draw_subscript(pen: _Pen, node: ast.Subscript) -> cst.CSTNode:
    inside = node.slice
    parts = (
        inside.elts if type(inside) is ast.Tuple and inside.elts and not _bracketed(pen, inside) else [inside]
    )
    return _subscript(pen(node.value), tuple([_subscript_element(_sliced(pen, one)) for one in parts]), node)


def _sliced(pen: _Pen, node: ast.expr) -> cst.CSTNode:
    if type(node) is ast.Slice:
        return _slice(pen.maybe(node.lower), pen.maybe(node.upper), pen.maybe(node.step))
    if type(node) is ast.Starred:
        return _index(pen(node.value), "*")
    return _index(pen(node), None)


def _bracketed(pen: _Pen, node: ast.Tuple) -> bool:
    """Whether a tuple stands in parentheses of its own."""
    first, last = node.elts[0], node.elts[-1]
    if (first.lineno, first.col_offset) == (node.lineno, node.col_offset):
        return False
    if (last.end_lineno, last.end_col_offset) == (node.end_lineno, node.end_col_offset):
        return False
    if pen._formatted:
        raise NotInSketch
    text = pen.written(node)
    if not (text.startswith("(") and text.endswith(")")):
        return False
    try:
        # What stands between them is whole where they belong to one another: not in `(a), (b)`.
        ast.parse(f"[{text[1:-1]}\n]", mode="eval")
    except SyntaxError:
        return False
    return True


def _draw_boolean(pen: _Pen, node: ast.BoolOp) -> cst.CSTNode:
    operator = cst.And if type(node.op) is ast.And else cst.Or
    made: cst.CSTNode = pen(node.values[0])
    for at, value in enumerate(node.values[1:], 2):
        part = node if at == len(node.values) else ast.BoolOp(node.op, node.values[:at])
        made = _boolean(made, object.__new__(operator), pen(value), part)
    return made


def _draw_compare(pen: _Pen, node: ast.Compare) -> cst.CSTNode:
    left = pen(node.left)
    targets = [
        _target(
            _not_equal("!=") if type(op) is ast.NotEq else object.__new__(_COMPARED[type(op)]),
            pen(comparator),
        )
        for op, comparator in zip(node.ops, node.comparators, strict=True)
    ]
    return _comparison(left, tuple(targets), node)


def _draw_dict(pen: _Pen, node: ast.Dict) -> cst.CSTNode:
    elements = [
        _starred_dict(pen(value)) if key is None else _dict_element(pen(key), pen(value))
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return _dict(tuple(elements), node)


def _loops(pen: _Pen, generators: list[ast.comprehension]) -> cst.CompFor:
    made: cst.CompFor | None = None
    for one in reversed(generators):
        made = _comp_for(
            pen(one.target),
            pen(one.iter),
            tuple([_comp_if(pen(test)) for test in one.ifs]),
            made,
            object.__new__(cst.Asynchronous) if one.is_async else None,
        )
    assert made is not None
    return made


def _elements(pen: _Pen, node: ast.Tuple | ast.List | ast.Set) -> tuple[cst.CSTNode, ...]:
    return tuple([pen.element(one) for one in node.elts])


_EXPRESSIONS: dict[type[ast.AST], _Draw] = {
    ast.Name: lambda pen, node: _name(node.id, node),
    ast.Attribute: lambda pen, node: _attribute(pen(node.value), _name(node.attr, ()), node),
    ast.Call: lambda pen, node: _call(pen(node.func), pen.arguments(node.args, node.keywords), node),
    ast.Constant: _draw_constant,
    ast.JoinedStr: _draw_joined,
    ast.Subscript: _draw_subscript,
    ast.BinOp: lambda pen, node: _binary(
        pen(node.left), object.__new__(_BINARY[type(node.op)]), pen(node.right), node
    ),
    ast.BoolOp: _draw_boolean,
    ast.UnaryOp: lambda pen, node: _unary(object.__new__(_UNARY[type(node.op)]), pen(node.operand), node),
    ast.Compare: _draw_compare,
    ast.IfExp: lambda pen, node: _if_exp(pen(node.test), pen(node.body), pen(node.orelse), node),
    ast.Lambda: lambda pen, node: _lambda(pen.parameters(node.args), pen(node.body), node),
    ast.NamedExpr: lambda pen, node: _named(pen(node.target), pen(node.value), node),
    ast.Await: lambda pen, node: _await(pen(node.value), node),
    ast.Yield: lambda pen, node: _yield(pen.maybe(node.value), node),
    ast.YieldFrom: lambda pen, node: _yield(_from(pen(node.value)), node),
    ast.Tuple: lambda pen, node: _tuple(_elements(pen, node), node),
    ast.List: lambda pen, node: _list(_elements(pen, node), node),
    ast.Set: lambda pen, node: _set(_elements(pen, node), node),
    ast.Dict: _draw_dict,
    ast.ListComp: lambda pen, node: _list_comp(pen(node.elt), _loops(pen, node.generators), node),
    ast.SetComp: lambda pen, node: _set_comp(pen(node.elt), _loops(pen, node.generators), node),
    ast.GeneratorExp: lambda pen, node: _generator(pen(node.elt), _loops(pen, node.generators), node),
    ast.DictComp: lambda pen, node: _dict_comp(
        pen(node.key), pen(node.value), _loops(pen, node.generators), node
    ),
}
