"""Commands of CI and of shell scripts that give a verdict, and what keeps it from counting.

`pytest || true`, `compare.py a b | tee log` without `pipefail`, `set +e`, `continue-on-error: true`, and
tests that the command itself leaves out. YAML is composed, never constructed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.patterns import pattern
from reviewbot.model import Certainty

if TYPE_CHECKING:
    import yaml

_WORDS = r"tests?|parity|compar\w*|verif\w*|equiv\w*|regress\w*|consisten\w*|restor\w*|resum\w*|replay\w*"
# What runs tests, and scripts that by their names test or compare.
_VERDICT = pattern(
    r"(?i)(^|[\s;&|(!])(pytest|py\.test|python[\d.]* -m (pytest|unittest)|tox|nox|ctest"
    r"|cargo test|go test|npm test|make (test|check|parity)\w*)(\s|$)"
    rf"|(^|[\s;&|(])(python[\d.]*|torchrun|bash|sh|uv run|coverage run|srun|accelerate launch|\.)\s[^|;&#]*?"
    rf"[\w./$]*(?<![a-z])({_WORDS})(?![a-z])[\w.-]*\.(py|sh|bash)\b"
    rf"|(^|\s)\./[\w./-]*(?<![a-z])({_WORDS})(?![a-z])[\w.-]*\.(py|sh|bash)\b"
    r"|(^|[\s;&|(])(cmp|diff) (-\w+ )*\S+ \S+"
)
_NO_VERDICT = pattern(
    r"(?i)\b(docker|rm|mkdir|kill|pkill|git|cp|mv|ln|chmod|apt(-get)?|pip3?|conda|echo|printf|grep|curl|wget|cat)\s"
    r"|--(collect-only|co|help|version)\b|=[\"']?\$\("
)
# What stands before a command whose output is kept, or that is git's own: `status=$(git diff --name-status)`.
_TAKEN = pattern(r"=[\"']?\$\([^)]*$|\bgit( -\S+( \S+)?)*\s+$")
_OR = pattern(r"\|\|\s*(true|:|/bin/true|exit\s+0|echo\b[^;&|]*|printf\b[^;&|]*)\s*$")
_EXITS = pattern(r";\s*(exit\s+0|true)\s*$")
_PIPE = pattern(r"(?<!\|)\|(?![|&])\s*(tee|tail|head|cat|sed|awk|ts)\b[^|]*$")
_PIPEFAIL = pattern(r"\bpipefail\b|PIPESTATUS")
_GO_ON = pattern(r"^\s*set\s+\+(e|o\s+errexit)\b")
_END = pattern(r"^\s*set\s+-(\w*e\w*|o\s+errexit)\b")
_STATUS = pattern(r"\$\?|\$\{\?\}")
_LEFT_OUT = (
    pattern(r"--deselect[= ]+[\"']?(?P<what>[\w./:\[\]-]+)"),
    pattern(r"--ignore[= ]+[\"']?(?P<what>[\w./-]*test[\w./-]*)"),
    pattern(rf"-k[= ]+[\"'](?P<what>[^\"']*\bnot\s+\w*(?<![a-z])({_WORDS})\w*[^\"']*)[\"']"),
)
_PYTEST = pattern(r"(^|\s)(pytest|py\.test)(?=\s|$)")
_PICKS = pattern(r"-[kmcp]($|[^a-z])|--(deselect|ignore|co|collect-only|lf|last-failed|sw|stepwise|pyargs)\b")
# Somebody may read there how it went.
_REPORTS = pattern(r"--(alluredir|junit-?xml|json-report|report-log|html)\b|--cov\b|\bcoverage run\b")
_COMMENT = pattern(r"(^|\s)#.*$")
_SHELL = pattern(r"(?i)^bash\b")


@dataclass(frozen=True, slots=True)
class Lost:
    """A command whose verdict is lost: where that is, the command, what becomes of its verdict, the line that
    belongs to it, and what that line says; `without` is a test that the command leaves out instead."""

    line: int
    end_line: int
    command: str
    how: str
    certainty: Certainty
    by: int = 0
    says: str = ""
    without: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    line: int
    end_line: int
    explained: bool


def of_script(text: str) -> Iterator[Lost]:
    """The lost verdicts of a shell script."""
    yield from _of_lines(text.splitlines(), 1, pipes=_PIPEFAIL.search(text) is None)


def counts_elsewhere(text: str, lost: Lost, told: Sequence[Lost], testpaths: Sequence[str]) -> int | None:
    """The line of another run of pytest in the same file that runs all tests which a lost one does, and whose
    own verdict counts; None where there is none. Where it names no path it runs those of `testpaths`."""
    wanted = _tests_of(lost.command)
    apart = {line for one in told for line in (*range(one.line, one.end_line + 1), one.by)}
    for one in _joined(text.splitlines(), 1) if wanted is not None else ():
        command = _judging(one.text)
        ran = _tests_of(command)
        if ran is None or one.line in apart or re.search(r"\|", one.text):
            continue
        folders = ran or testpaths
        if not folders or (wanted and all(_is_below(test, folders) for test in wanted)):
            return one.line
        if not wanted and not ran:
            return one.line
    return None


def _tests_of(command: str) -> list[str] | None:
    """The files and folders that a command of pytest names; None of another command, and of one that picks
    tests out of them."""
    found = _PYTEST.search(command)
    if found is None:
        return None
    words = command[found.end() :].split()
    if any(_PICKS.match(word) for word in words):
        return None
    return [word for word in words if not word.startswith(("-", ">", "2>", "&"))]


def _is_below(test: str, folders: Sequence[str]) -> bool:
    path = test.removeprefix("./").partition("::")[0]
    return any(
        path == (folder := one.removeprefix("./").rstrip("/")) or path.startswith(folder + "/")
        for one in folders
    )


def of_workflow(text: str) -> Iterator[Lost]:
    """The lost verdicts of a YAML file that says what CI runs; none of one that does not parse."""
    import yaml

    try:
        roots = [one for one in yaml.compose_all(text, Loader=yaml.SafeLoader) if one is not None]
    except (yaml.YAMLError, RecursionError, ValueError):
        return
    for root in roots:
        yield from _of_jobs(root, text)


def _of_jobs(root: yaml.Node, text: str) -> Iterator[Lost]:
    lines = text.splitlines()
    shell = _deep(root, "defaults", "run", "shell")
    for _, job in _pairs(_get(root, "jobs")):
        own = _deep(job, "defaults", "run", "shell") or shell
        steps = _items(_get(job, "steps"))
        runs = [(step, run) for step in steps if (run := _get(step, "run")) is not None]
        for step, run in runs:
            said = _value(_get(step, "shell")) or own
            # With no shell named it is `bash -e`, without `pipefail`.
            pipes = not _SHELL.match(said) and _PIPEFAIL.search(_value(run)) is None
            told = list(_going_on(step, [run], text, lines))
            yield from told or _of_run(run, pipes=pipes)
        yield from _going_on(job, [run for _, run in runs], text, lines, whole=True)


def _going_on(
    node: yaml.Node, runs: list[yaml.Node], text: str, lines: list[str], *, whole: bool = False
) -> Iterator[Lost]:
    """A step or a job that may fail while its run counts as passed."""
    allowed = _get(node, "continue-on-error")
    if _value(allowed).lower() != "true" or allowed is None:
        return
    identity = _value(_get(node, "id"))
    if identity and re.search(rf"\b{re.escape(identity)}\.(outcome|conclusion|outputs)", text):
        return  # a later step asks how it went
    at = allowed.start_mark.line + 1
    explained = _is_explained(lines, at)
    for run in runs:
        for one in _joined(_value(run).splitlines(), _first_line(run)):
            command = _judging(one.text)
            if command:
                how = f"{'the job' if whole else 'the step'} counts as passed however it ends"
                sure = _sure(one, explained=whole or explained)
                says = "this command says whether all is well"
                yield Lost(at, at, command, how, sure, one.line, says)
                return


def _of_run(run: yaml.Node, *, pipes: bool) -> Iterator[Lost]:
    yield from _of_lines(_value(run).splitlines(), _first_line(run), pipes=pipes)


def _first_line(run: yaml.Node) -> int:
    """The line on which the text of a scalar begins: a block's begins below its mark."""
    block = getattr(run, "style", None) in ("|", ">")
    return int(run.start_mark.line) + 1 + block


def _of_lines(lines: list[str], first: int, *, pipes: bool) -> Iterator[Lost]:
    joined = list(_joined(lines, first))
    goes_on = 0
    for at, one in enumerate(joined):
        if _GO_ON.match(one.text):
            goes_on = one.line
        elif _END.match(one.text):
            goes_on = 0
        command = _judging(one.text)
        if not command:
            continue
        rest = joined[at + 1 :]
        sure = _sure(one, explained=one.explained)
        how, by = "", 0
        if _OR.search(one.text):
            how = "what stands after `||` takes its failure"
        elif _EXITS.search(one.text):
            how = "the line ends with 0 whatever it says"
        elif pipes and _PIPE.search(one.text):
            how = "the line ends with the status of the last command of the pipe"
        elif goes_on and rest and not _asks(one, rest):
            how = "the script goes on after a failure, and ends with the status of its last command"
            by = goes_on
        if how:
            says = "from here on a failure does not end the script" if by else ""
            yield Lost(one.line, one.end_line, command, how, sure, by, says)
        yield from _left_out(one, command)


def _sure(one: _Line, *, explained: bool) -> Certainty:
    """Not where a comment may say why, or where a report tells how it went."""
    return "question" if explained or _REPORTS.search(one.text) else "likely"


def _asks(one: _Line, rest: list[_Line]) -> bool:
    """Whether a line, or what comes right after it, asks how its command ended."""
    if _STATUS.search(one.text) or re.search(r"&&|\|\||^\s*(if|while|until|!)\b", one.text):
        return True
    return any(_STATUS.search(after.text) for after in rest[:2])


def _left_out(one: _Line, command: str) -> Iterator[Lost]:
    """The tests that a command of pytest names to leave them out, without a word why."""
    if "test" not in command or one.explained:
        return
    for form in _LEFT_OUT:
        for match in form.finditer(one.text):
            yield Lost(one.line, one.end_line, command, "", "question", without=match["what"].strip())


def _judging(text: str) -> str:
    """The command of a line that gives a verdict, "" where there is none."""
    found = _VERDICT.search(text)
    if found is None or text.lstrip().startswith(("if ", "elif ", "while ", "until ")):
        return ""
    before = re.split(r"\|\||;|\|", text[found.start() :].lstrip(" ;&|("), maxsplit=1)[0].strip()
    if _TAKEN.search(text[: found.start() + 1]):
        return ""
    if _NO_VERDICT.search(f"{before} ") or _NO_VERDICT.match(text.strip()):
        return ""
    return " ".join(before.split())


def _joined(lines: list[str], first: int) -> Iterator[_Line]:
    """Lines without comments, with those that a backslash continues."""
    start, held, explained = 0, "", False
    for number, raw in enumerate(lines, first):
        if raw.lstrip().startswith("#"):
            explained = number > first or not raw.startswith("#!")
            continue
        bare = _COMMENT.sub("", raw)
        explained = explained or bare != raw
        start = start or number
        if bare.endswith("\\"):
            held += bare[:-1] + " "
            continue
        if (held + bare).strip():
            yield _Line(held + bare, start, number, explained)
        start, held, explained = 0, "", False


def _is_explained(lines: list[str], at: int) -> bool:
    return "#" in lines[at - 1] or (at > 1 and lines[at - 2].lstrip().startswith("#"))


# YAML nodes.


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    value = getattr(node, "value", None)
    return [one for one in value if isinstance(one, tuple)] if isinstance(value, list) else []


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    value = getattr(node, "value", None)
    return [one for one in value if not isinstance(one, tuple)] if isinstance(value, list) else []


def _get(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return next((value for name, value in _pairs(node) if name.value == key), None)


def _value(node: yaml.Node | None) -> str:
    value = getattr(node, "value", "")
    return value if isinstance(value, str) else ""


def _deep(node: yaml.Node | None, *keys: str) -> str:
    for key in keys:
        node = _get(node, key)
    return _value(node)
