"""What each line of a file is there for: product, check, test, set-up, report, duplicate, or no code."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from reviewbot.errors import UnreadableFile
from reviewbot.flow.judging import in_test_file, judges
from reviewbot.model import Finding
from reviewbot.review.size.result import Kind
from reviewbot.source.units import File, Unit

# A rule of these says that a check cannot fail, or never runs.
CANNOT_FAIL = frozenset({
    "constant-verdict", "self-compare", "expected-from-actual", "same-run-twice", "mock-echo",
    "check-result-dropped", "mock-assert-typo", "unreachable-check", "restated-arithmetic", "implied-check",
    "never-collected-test", "shadowed-test", "never-run-script",
})  # fmt: skip
# Of these it is so where that is proved: else something may hear of the failure.
SWALLOWS = frozenset({"swallowed-failure"})
# A rule of these says that something is there a second time: the whole function, or its own lines.
DUPLICATES = frozenset({"duplicate-test", "reimplements-existing"})
REPEATS = frozenset({"repeated-row-index", "scan-as-lookup", "repeated-idiom", "single-caller-helper"})

_CODE = (
    *(
        ".py",
        ".pyi",
        ".pyx",
        ".pxd",
        ".ipynb",
        ".sh",
        ".bash",
        ".zsh",
        ".jq",
        ".awk",
        ".c",
        ".h",
        ".cc",
        ".cpp",
    ),
    *(".cxx", ".hpp", ".cu", ".cuh", ".hip", ".metal", ".rs", ".go", ".java", ".kt", ".scala", ".js", ".mjs"),
    *(".ts", ".tsx", ".jsx", ".rb", ".pl", ".lua", ".jl", ".r", ".swift", ".cs", ".proto", ".sql"),
)
_SHELL = (".sh", ".bash", ".zsh")
_SAYS = frozenset({"print", "pprint", "echo", "secho", "warn", "rule", "add_row"})
_LOGS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log", "print"})
_LOGGERS = re.compile(r"(?i)^_?(log|logs|logger|logging|console|rich|rank_zero_logger)$")
_WRITES = frozenset({"write_text", "writelines", "writerow", "writerows", "savefig", "dump"})
_REPORTS = re.compile(r"(?i)(^|_)(print|report|summar\w*|show|plot|describe|render|format|dump|log)(_|$)")
_FIXTURES = frozenset({"fixture", "yield_fixture"})
_SETS_UP = re.compile(r"^(set_?up|tear_?down)|^(setUp|tearDown|asyncSetUp|asyncTearDown)|^pytest_")
_SHELL_CHECK = re.compile(
    r"\b(exit|return)\s+[1-9]|\|\|\s*(exit|die|fail|false)\b|\bfail\b|\bdie\b|^\s*cmp\b|^\s*diff\b"
)
_SHELL_REPORT = re.compile(r"^\s*(echo|printf|tee|cat)\b")
_SHELL_SET_UP = re.compile(
    r"^\s*(#|set\b|export\b|cd\b|source\b|\.\s|mkdir\b|trap\b|shopt\b|[A-Za-z_]\w*\+?=|\)$)"
)


@dataclass(frozen=True)
class Kinds:
    """The kind of each line of one file, from 1, and where its checks stand (first and last line).

    `note` says why lines were not told apart.
    """

    default: Kind
    lines: tuple[Kind, ...] = ()
    checks: tuple[tuple[int, int], ...] = ()
    cannot_fail: tuple[tuple[int, int], ...] = ()
    note: str = ""

    def __getitem__(self, line: int) -> Kind:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else self.default


def kinds(path: str, content: bytes, findings: Sequence[Finding], wanted: Collection[int]) -> Kinds:
    """The kinds of a file's lines; outside the `wanted` ones they may be coarser.

    `findings` are those of this file; a question says nothing of a line.
    """
    default = _default(path)
    if default == "other":
        return Kinds(default)
    if path.endswith(_SHELL) and default == "test":
        return _shell(content)
    if not path.endswith(".py"):
        return Kinds(default)
    try:
        file = File(path, content)
        if default == "product" and not judges(file.units[0]):
            return Kinds(default)
        if "\r" in file.text.replace("\r\n", ""):
            return Kinds("test", note="lone carriage returns, so that its lines are not git's")
        said = [one for one in findings if one.certainty != "question"]
        return _Painter(file, said, frozenset(wanted)).painted()
    except UnreadableFile as error:
        return Kinds(default, note=error.why)


def unread(path: str, why: str) -> Kinds:
    """The kinds of a file's lines as far as its name tells."""
    default = _default(path)
    return Kinds(default, note="" if default == "other" else why)


def _default(path: str) -> Kind:
    if not path.lower().endswith(_CODE):
        return "other"
    return "test" if in_test_file(path) else "product"


def _shell(content: bytes) -> Kinds:
    lines: list[Kind] = []
    checks = []
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
        if _SHELL_CHECK.search(line) and not line.lstrip().startswith("#"):
            lines.append("check")
            checks.append((number, number))
        elif _SHELL_REPORT.search(line):
            lines.append("report")
        else:
            lines.append("set-up" if _SHELL_SET_UP.search(line) else "test")
    return Kinds("test", tuple(lines), tuple(checks))


@dataclass
class _Painter:
    """Paints the lines of one test file, from what is coarse to what is exact."""

    file: File
    findings: Sequence[Finding]
    wanted: frozenset[int]
    lines: list[Kind] = field(default_factory=list)

    def painted(self) -> Kinds:
        self.lines = ["set-up"] * len(self.file.lines)
        found: list[tuple[int, int]] = []
        for unit in self.file.units:
            # Of what did not change nothing is asked, and looking for checks costs a parse.
            if unit.kind == "module" or not self.wanted.isdisjoint(range(unit.line, unit.end_line + 1)):
                checks = list(checks_of(unit))
                self._paint(unit.line, unit.end_line, _of_unit(unit, bool(checks)))
                found += checks
                for statement in _reports(unit):
                    self._paint(statement.lineno, statement.end_lineno or statement.lineno, "report")
        self._between_units()
        for first, last in found:
            self._paint(first, last, "check")
        dead = self._findings(found)
        alive = tuple(sorted(set(found) - dead))
        return Kinds("test", tuple(self.lines), alive, tuple(sorted(dead)))

    def _paint(self, first: int, last: int, kind: Kind) -> None:
        self.lines[first - 1 : last] = [kind] * (min(last, len(self.lines)) - first + 1)

    def _between_units(self) -> None:
        """Blank lines and comments above a unit belong to it."""
        starts = {unit.line: self.lines[unit.line - 1] for unit in self.file.units if unit.kind != "module"}
        for line in sorted(starts, reverse=True):
            above = line - 1
            while above > 0 and _is_blank(self.file.lines[above - 1]):
                self.lines[above - 1] = starts[line]
                above -= 1

    def _findings(self, checks: list[tuple[int, int]]) -> set[tuple[int, int]]:
        """Paints what findings say; the checks that cannot fail."""
        dead: set[tuple[int, int]] = set()
        for finding in self.findings:
            span = finding.span
            if finding.rule in CANNOT_FAIL or (finding.rule in SWALLOWS and finding.certainty == "proved"):
                hit = [one for one in checks if span.overlaps(*one)]
                dead.update(hit)
                for first, last in hit or [(span.line, span.end_line)]:
                    self._paint(first, last, "cannot-fail")
            elif finding.rule in DUPLICATES:
                unit = self.file.unit(finding.unit)
                self._paint(
                    *((unit.line, unit.end_line) if unit else (span.line, span.end_line)), "duplicate"
                )
            elif finding.rule in REPEATS:
                self._paint(span.line, span.end_line, "duplicate")
        return dead


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _of_unit(unit: Unit, has_checks: bool) -> Kind:
    """What the lines of a unit are where nothing more exact is known."""
    if unit.kind == "module":
        return "set-up"
    name = unit.name.rpartition(".")[2]
    if unit.kind == "class":
        return "test" if name.lstrip("_").startswith("Test") else "set-up"
    if unit.is_test:
        return "test"
    if _is_fixture(unit.tree) or _SETS_UP.search(name):
        return "set-up"
    if has_checks:
        return "test"
    return "report" if _REPORTS.search(name) else "set-up"


def _is_fixture(tree: ast.AST) -> bool:
    for decorator in getattr(tree, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(called, "attr", getattr(called, "id", "")) in _FIXTURES:
            return True
    return False


def checks_of(unit: Unit) -> Iterator[tuple[int, int]]:
    """First and last line of each check of a unit."""
    said = any(isinstance(node.value, (ast.Call, ast.Await)) for node in unit.asts(ast.Expr))
    if not said and not unit.has(ast.Assert, ast.Raise, ast.With):
        return
    import libcst as cst

    from reviewbot.flow.checks import checks

    for check in checks(unit):
        span = unit.span(check.node)
        first, last = span.line, span.end_line
        if check.kind == "context" and isinstance(check.node, cst.With):
            last = max(unit.span(item).end_line for item in check.node.items)
        elif check.anchor is not check.node:
            first = min(first, unit.span(check.anchor).line)
        yield first, last


def comparisons_of(unit: Unit) -> Iterator[tuple[int, int]]:
    """First and last line of each comparison of two values, neither written out, in a unit that judges: what
    it decides there (a count, an excuse, a verdict) a check may rest on, though it raises nothing itself."""
    found = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in unit.asts(ast.Compare)
        if not any(isinstance(one, ast.In | ast.NotIn | ast.Is | ast.IsNot) for one in node.ops)
        and not any(isinstance(one, ast.Constant) for one in (node.left, *node.comparators))
    ]
    if not found:
        return
    from reviewbot.flow.verdicts import every_judgement

    if every_judgement(unit) or any(checks_of(unit)):
        yield from found


def _reports(unit: Unit) -> Iterator[ast.Expr]:
    """The statements that only say something."""
    for node in unit.asts(ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and _says(call.func):
            yield node


def _says(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _SAYS
    if not isinstance(function, ast.Attribute):
        return False
    on = function.value
    receiver = on.id if isinstance(on, ast.Name) else on.attr if isinstance(on, ast.Attribute) else ""
    if function.attr == "write":
        return receiver in ("stdout", "stderr")
    return function.attr in _WRITES | _SAYS or (function.attr in _LOGS and bool(_LOGGERS.match(receiver)))


def overlapping(lines: Iterable[int], spans: Sequence[tuple[int, int]]) -> int:
    """How many of the spans hold any of the lines."""
    known = frozenset(lines)
    return sum(not known.isdisjoint(range(first, last + 1)) for first, last in spans)
