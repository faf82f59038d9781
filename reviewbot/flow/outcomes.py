"""Where code says that something went well, and whether on that path anything looked at how it went."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.checks import checks
from reviewbot.flow.commands import Command, commands
from reviewbot.flow.control import leaves, statements
from reviewbot.flow.handlers import caught
from reviewbot.flow.judgements import records
from reviewbot.flow.judging import judges, says_comparison
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.syntax import dotted, keyword_argument, last_name, literal, qualified, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

SUCCESS = pattern(
    r"(?i)\b(success(ful(ly)?)?|succeed(ed|s)?|all (tests|checks) pass(ed)?|tests? passed|verified"
    r"|(?-i:PASS|PASSED|OK))\b|✅|✔|✓"
)
_DENIES = pattern(r"(?i)\b(not|no|un\w+|fail\w*|without|if|whether|warn\w*|skip\w*|error\w*)\b")
# What is said of two sides that agree, where a handler has taken the exception of a comparison.
_AGREES = pattern(r"(?i)\b(ok|okay|equal|identical|match(es|ed)?|passed|holds?|agrees?|same)\b")
_DIFFERENCE = pattern(r"(Parity|Mismatch|Differ|Diverge|Inequal|Unequal|NotEqual|Comparison|Assertion)\w*$")
# What a handler says of a failure that may be.
_ALLOWS = pattern(
    r"(?i)\b(ok(ay)?|optional(ly)?|expected|harmless|non-?fatal|best.effort"
    r"|not (required|needed|necessary|fatal|critical))\b"
)
_SAYS = frozenset({"print", "info", "debug", "log", "success", "echo", "secho", "warning"})
_DROPS = frozenset({"subprocess.run", "subprocess.call", "os.system"})
_BROAD = frozenset({"", "Exception", "BaseException", "RuntimeError", "AssertionError", "CalledProcessError"})
_NEAR = 4


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """`says` is the call that reports success as `text`. `ignored` is what went before it, and whose outcome
    nothing looked at: a command that was run, or a handler that lets every failure go on to the claim."""

    says: cst.Call
    text: str
    ignored: cst.CSTNode
    why: Literal["command", "handler"]


def claims(unit: Unit) -> Iterator[Claim]:
    """The reports of success in a unit that are reached whatever the outcome, in source order."""
    may_let_go = _may_let_a_difference_go(unit)
    for call in unit.find(cst.Call):
        text = _claim(call, SUCCESS) or (_claim(call, _AGREES) if may_let_go else "")
        statement = unit.parent(call) if text else None
        line = unit.parent(statement) if isinstance(statement, cst.Expr) else None
        block = unit.parent(line) if line is not None else None
        if not isinstance(block, (cst.IndentedBlock, cst.Module)):
            continue
        before = list(block.body[: _place(block, line)])[-_NEAR:]
        for earlier in reversed(before):
            ignored = _command(unit, earlier)
            if ignored is not None:
                yield Claim(call, text, ignored, "command")
                break
            if isinstance(earlier, cst.Try):
                handler = _let_go(unit, earlier, call) if SUCCESS.search(text) else None
                handler = handler or (_difference_let_go(unit, earlier) if may_let_go else None)
                if handler is not None:
                    yield Claim(call, text, handler, "handler")
                break
            if not isinstance(earlier, cst.SimpleStatementLine) or _looks(unit, earlier):
                break


def may_claim(unit: Unit) -> bool:
    """Whether a unit's `ast` might hold such a report: yes too often, never no wrongly."""
    if not (unit.has(ast.Try) or unit.calls("run", "call", "system")) or unit.facts.calls.isdisjoint(_SAYS):
        return False
    lines = unit.file.lines[unit.line - 1 : unit.end_line]
    if any(SUCCESS.search(line) for line in lines):
        return True
    return _may_let_a_difference_go(unit) and any(_AGREES.search(line) for line in lines)


def _may_let_a_difference_go(unit: Unit) -> bool:
    """Whether a unit catches, by `ast`, what a comparison that it calls raises."""
    for node in unit.asts(ast.Try):
        if any(
            handler.type is not None and _of_a_comparison(handler.type, unit) for handler in node.handlers
        ):
            return unit.calls_any(says_comparison)
    return False


def _of_a_comparison(kind: ast.expr, unit: Unit) -> bool:
    """Whether an exception's name says that two sides differ, or its class is an AssertionError."""
    name = dotted_name(kind).rpartition(".")[2]
    made = unit.file.classes.get(name)
    bases = map(dotted_name, made.bases) if made is not None else ()
    return _DIFFERENCE.search(name) is not None or "AssertionError" in bases


def _claim(call: cst.Call, says: re.Pattern[str]) -> str:
    """The text by which a call says that something went well, "" for any other call."""
    if last_name(call) not in _SAYS or not call.args:
        return ""
    first = call.args[0].value
    parts = [
        below.raw_value if isinstance(below, cst.SimpleString) else below.value
        for below in walk(first)
        if isinstance(below, (cst.SimpleString, cst.FormattedStringText))
    ]
    text = "".join(parts)
    return text if says.search(text) and not _DENIES.search(says.sub("", text)) else ""


def _place(block: cst.IndentedBlock | cst.Module, line: cst.CSTNode | None) -> int:
    return next((n for n, one in enumerate(block.body) if one is line), 0)


def _command(unit: Unit, line: cst.CSTNode) -> cst.Call | None:
    """The command that a statement runs without looking at how it ended, if it does."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    statement = line.body[0]
    value = statement.value if isinstance(statement, (cst.Expr, cst.Assign)) else None
    if not isinstance(value, cst.Call) or qualified(value.func, unit.file.imports) not in _DROPS:
        return None
    check = keyword_argument(value, "check")
    if (check is not None and literal(check) is not False) or any(arg.star == "**" for arg in value.args):
        return None
    if isinstance(statement, cst.Assign):
        name = dotted(statement.targets[0].target)
        if not name or any(
            read.value == name
            for other in unit.find(cst.Name)
            if other.value == name
            for read in values(unit).reads(other)
        ):
            return None
    return value


def _let_go(unit: Unit, node: cst.Try, claim: cst.Call) -> cst.ExceptHandler | None:
    """The handler after which a claim is reached as if nothing had happened, if there is one."""
    if node.finalbody is not None or any(_inside(check.node, node.body) for check in checks(unit)):
        return None
    if leaves(statements(node.body)) is not None:
        return None
    return next((one for one in node.handlers if caught(one) & _BROAD and _goes_on(unit, one)), None)


def _difference_let_go(unit: Unit, node: cst.Try) -> cst.ExceptHandler | None:
    """The handler that takes what a comparison in the `try` raises where two sides differ, and only tells."""
    if node.finalbody is not None or leaves(statements(node.body)) is not None:
        return None
    if judges(unit) and any(_inside(check.node, node.body) for check in checks(unit)):
        return None  # told of as a failure that is swallowed
    calls = [below for below in walk(node.body) if isinstance(below, cst.Call)]
    if not any(says_comparison(last_name(call)) for call in calls):
        return None
    for handler in node.handlers:
        named = handler.type
        kinds = named.elements if isinstance(named, cst.Tuple) else ()
        every = [one.value for one in kinds] if kinds else [named] if named is not None else []
        if any(_is_difference(one, unit) for one in every) and _goes_on(unit, handler):
            return handler
    return None


def _is_difference(kind: cst.BaseExpression, unit: Unit) -> bool:
    return _of_a_comparison(ast.parse(dotted(kind) or "_", mode="eval").body, unit)


def _goes_on(unit: Unit, handler: cst.ExceptHandler) -> bool:
    """Whether a handler does nothing about a failure but say so, and does not say that it may be."""
    body = statements(handler.body)
    if leaves(body) is not None or any(records(unit, one) for one in body) or _tries_again(body):
        return False
    return not any(_ALLOWS.search(text) for statement in body for text in _texts(statement))


def _texts(node: cst.CSTNode) -> Iterator[str]:
    for below in walk(node):
        if isinstance(below, cst.SimpleString):
            yield below.raw_value
        elif isinstance(below, cst.FormattedStringText):
            yield below.value


def _tries_again(body: list[cst.CSTNode]) -> bool:
    """Whether a handler does something about the failure, rather than only say so."""
    for below in (inner for statement in body for inner in walk(statement)):
        if isinstance(below, (cst.Raise, cst.Return, cst.Try)):
            return True
        if isinstance(below, cst.Call) and last_name(below) not in _TELLS:
            return True
    return False


_TELLS = frozenset({
    "print", "info", "debug", "log", "warning", "warn", "error", "exception", "critical", "echo", "secho",
    "print_exc", "format_exc", "str", "repr", "type", "format",
})  # fmt: skip


def _looks(unit: Unit, line: cst.SimpleStatementLine) -> bool:
    """Whether a statement in between could look at the outcome, or is what the claim is about: a check, or a
    call that does something itself."""
    return any(
        isinstance(below, (cst.Assert, cst.Raise, cst.Return))
        or (isinstance(below, cst.Call) and last_name(below) not in _TELLS)
        for below in walk(line)
    )


def _inside(node: cst.CSTNode, block: cst.CSTNode) -> bool:
    return any(below is node for below in walk(block))


# Shell scripts.

_STRICT = pattern(r"(?m)^\s*set\s+(-\w*e|-o\s+errexit)|^#!.*\s-\w*e|^\s*trap\b.*\bERR\b")
_RUNS = frozenset(
    {"python", "python3", "pytest", "torchrun", "make", "uv", "bash", "sh", "accelerate", "coverage"}
)


def claims_of_script(text: str) -> Iterator[tuple[Command, Command]]:
    """The commands of a shell script whose failure it passes over, each with the `echo` after it that reports
    success; none where the script ends at the first failure."""
    if _STRICT.search(text):
        return
    lines = text.splitlines()
    depth = 0
    depths: list[int] = []
    for line in lines:
        bare = line.strip()
        depth -= bool(re.match(r"(fi|done|esac)\b", bare))
        depths.append(depth)
        opens = re.match(r"(if|for|while|until|case)\b", bare)
        depth += bool(opens) and not re.search(r"\b(fi|done|esac)\s*;?$", bare)
    every = commands(text)
    for place, said in enumerate(every[1:], 1):
        run = every[place - 1]
        if said.words[0] != "echo" or not SUCCESS.search(" ".join(said.words[1:])) or said.function:
            continue
        whole = " ".join(lines[run.line - 1 : run.end_line])
        if run.words[0] not in _RUNS or re.search(r"\|\||&&|\bif\b|&\s*$|;", whole) or run.function:
            continue
        if depths[said.line - 1] == depths[run.line - 1] == 0 and said.line - run.end_line < _NEAR:
            yield run, said
