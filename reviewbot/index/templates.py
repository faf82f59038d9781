"""Log lines: the text that a call writes, with holes for its values, and what a regular expression reads
out of such a line.

Known forms: `logger.info("a=%s b=%d", a, b)`, `print(f"a={a}")`, `"a={}".format(a)`, `"a=%s" % a`,
`extra={...}`, and structlog's keywords.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from reviewbot.index.facts import Value, clean

HOLE = "\0"
_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "print"})
_PERCENT = re.compile(r"%(?:\((?P<key>\w+)\))?[-#0 +]*\d*(?:\.\d+)?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])")
_BRACES = re.compile(r"\{(?P<key>[^{}:!]*)(?:![rsa])?(?::[^{}]*)?\}")
_WORD = re.compile(r"([A-Za-z_][\w.-]*)\s*[=:]\s*[\"'\[(]?$")
_TEMPLATE_LIMIT = 2000

Source = Callable[[ast.AST], str]
Written = tuple[str, tuple[Value, ...], tuple[Value, ...]]


def log_of(call: ast.Call, name: str, source: Source) -> Written | None:
    """The template, values and keyword values of a call that logs or prints; None for any other call."""
    last = name.rpartition(".")[2]
    if last not in _LEVELS or not call.args:
        return None
    if last == "print" and name != "print":
        return None
    arguments = call.args[1:] if last == "log" and len(call.args) > 1 else call.args
    written = _text(arguments[0], list(arguments[1:]), source, spread=last == "print")
    if written is None:
        return None
    template, values = written
    return template[:_TEMPLATE_LIMIT], tuple(values), tuple(_keywords(call, source))


def _keywords(call: ast.Call, source: Source) -> list[Value]:
    found = []
    for keyword in call.keywords:
        if keyword.arg == "extra" and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    found.append(Value(clean(key.value), source(value)))
        elif keyword.arg and keyword.arg not in ("exc_info", "stack_info", "file", "flush", "end", "sep"):
            found.append(Value(keyword.arg, source(keyword.value)))
    return found


def _text(
    node: ast.expr, rest: list[ast.expr], source: Source, *, spread: bool
) -> tuple[str, list[Value]] | None:
    if isinstance(node, ast.JoinedStr):
        template, values = _f_string(node, source)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if not spread:
            return _percent(_literal(node.value), rest, source)
        template, values = _literal(node.value), []
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
        given = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        return _percent(_literal(node.left.value), given, source)  # type: ignore[attr-defined]
    elif _is_format(node):
        return _braces(node, source)  # type: ignore[arg-type]
    elif spread:
        template, values = HOLE, [Value("", source(node))]
    else:
        return None
    if spread:
        for other in rest:
            below = _text(other, [], source, spread=True)
            assert below is not None
            template, values = f"{template} {below[0]}", [*values, *_named(template + " ", below[1])]
    return template, values


def _literal(text: str) -> str:
    """A literal's text, in which nothing can be taken for a hole."""
    return clean(text.replace(HOLE, " "))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_format(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
        and _is_text(node.func.value)
    )


def _named(before: str, values: list[Value]) -> list[Value]:
    """The first value takes the word before it as its name, if it has none."""
    if values and not values[0].name:
        return [Value(_word(before), values[0].source), *values[1:]]
    return values


def _word(before: str) -> str:
    found = _WORD.search(before)
    return found[1] if found else ""


def _f_string(node: ast.JoinedStr, source: Source) -> tuple[str, list[Value]]:
    template, values = "", []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            values.append(Value(_word(template), source(part.value)))
            template += HOLE
        elif isinstance(part, ast.Constant):
            template += _literal(str(part.value))
    return template, values


def _percent(text: str, given: list[ast.expr], source: Source) -> tuple[str, list[Value]]:
    template, values, at = "", [], 0
    by_key = _mapping(given[0]) if len(given) == 1 else {}
    remaining = iter(given)
    for match in _PERCENT.finditer(text) if given else ():
        template += text[at : match.start()]
        at = match.end()
        if match["kind"] == "%":
            template += "%"
            continue
        value = by_key.get(match["key"]) if match["key"] else next(remaining, None)
        written = "" if value is None else source(value)
        values.append(Value(clean(match["key"] or _word(template)), written))
        template += HOLE
    return template + text[at:], values


def _mapping(node: ast.expr) -> dict[str, ast.expr]:
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _braces(node: ast.Call, source: Source) -> tuple[str, list[Value]]:
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Constant)
    text = _literal(str(node.func.value.value))
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    template, values, at, count = "", [], 0, 0
    for match in _BRACES.finditer(text):
        template += text[at : match.start()]
        at = match.end()
        key = match["key"]
        place = int(key) if key.isdigit() else count if not key else -1
        count += not key
        value = node.args[place] if 0 <= place < len(node.args) else keywords.get(key)
        name = key if key and not key.isdigit() else _word(template)
        values.append(Value(name, "" if value is None else source(value)))
        template += HOLE
    return template + text[at:], values


# What a regular expression reads out of a line.


def groups_of(pattern: str, template: str, values: tuple[Value, ...]) -> tuple[int | None, ...] | None:
    """For each group of a pattern, the number of the value it reads from a line of that template (None for
    a group that reads no whole value); None where the pattern does not match such a line.

    The line is made up: every hole gets a number of its own, which a word, number or `\\S+` group reads.
    """
    marks = [str(700001 + 2 * number) for number in range(len(values))]
    line = template
    for mark in marks:
        line = line.replace(HOLE, mark, 1)
    try:
        found = re.compile(pattern).search(line)
    except (re.error, OverflowError, RecursionError):
        return None
    if found is None:
        return None
    place = {mark: number for number, mark in enumerate(marks)}
    return tuple(place.get(group or "") for group in found.groups())
