"""Commands of CI and of shell scripts that give a verdict, and what keeps it from counting.

`pytest || true`, `compare.py a b | tee log` without `pipefail`, `set +e`, `pytest &`, an `if` that only
tells, `continue-on-error: true`, and tests that the command itself leaves out. YAML is composed, never
constructed.
What a command runs that no name tells of is asked of `Ends`: whether a module or a script ends by a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from reviewbot.flow.here_documents import without_documents
from reviewbot.flow.later_readers import CanFail, Stage, reader_of
from reviewbot.flow.patterns import pattern
from reviewbot.flow.shell_blocks import ENDS, GOES_ON, goes_on_after, is_in_function, of_conditions
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
# What runs tests or compares, whatever its words: no `diff` that may only show, no `make test`.
_RUN = pattern(
    r"(?i)^(uv run |poetry run |coverage run (-\w+ )*-m |timeout \S+ )*"
    r"(python[\d.]* (-\w+ )*-m )?(pytest|py\.test|unittest|tox|nox)(\s|$)"
)
_OWN = pattern(
    r"(^|[\s;&|(!])python[\d.]*\s+(-[a-zA-Z]+\s+)*"
    r"(-m\s+(?P<module>[A-Za-z_][\w.]*)|(?P<script>[\w./-]+\.py))(?=\s|$|[;&|)])"
)
_NO_VERDICT = pattern(
    r"(?i)\b(docker|rm|mkdir|kill|pkill|git|cp|mv|ln|chmod|apt(-get)?|pip3?|conda|echo|printf|grep|curl|wget|cat)\s"
    r"|--(collect-only|co|help|version)\b|=[\"']?\$\("
)
# What stands before a command whose output is kept, or that is git's own: `status=$(git diff --name-status)`.
_TAKEN = pattern(r"=[\"']?\$\([^)]*$|\bgit( -\S+( \S+)?)*\s+$")
_INSTALLS = pattern(r"\b(install|uninstall|add|upgrade|show|list|which|require)\b[^;&|]*$")
_OR = pattern(
    r"\|\|\s*(true|:|/bin/true|exit\s+0|(echo|printf)\b[^;&|]*|[{(]\s*(echo|printf)\b[^;&|]*;?\s*[)}])\s*$"
)
_BEHIND = pattern(r"(?<![&>|\\])&\s*$")
_AWAITED = pattern(r"\bwait\s+(-[nfp]|[\"']?[$%\d])|\bjobs\b|\btrap\b")
_WAIT = pattern(r"(?m)^\s*wait\s*$")
_SERVES = pattern(r"(?i)serve|worker|daemon|listen")
_EXITS = pattern(r";\s*(exit\s+0|true)\s*$")
_PIPE = pattern(r"(?<!\|)\|(?![|&])\s*(tee|tail|head|cat|sed|awk|ts)\b[^|]*$")
_PIPEFAIL = pattern(r"\bpipefail\b|PIPESTATUS")
_KEEPS_STATUS = pattern(
    r"\btrap\b|\b(exit|return)\s+[\"']?\$|^\s*(source|\.)\s+(?!\S*(activate|conda|env|profile))"
)
_ENDS_AT_ONCE = pattern(r"^#!.*\b(ba|da|z)?sh\b.*\s-\w*e")
_ERREXIT = pattern(r"(^|\s)-\w*e\w*(\s|$)|errexit")
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
_JQ = pattern(
    r"""(?P<before>^|[;&|(]\s*|\b(if|while|then|do)\s+(!\s+)?)jq"""
    r"""(?P<options>(\s+(--(arg|argjson|slurpfile|rawfile)\s+\S+\s+\S+|-[\w-]+))*)"""
    r"""\s+(?P<mark>['"])(?P<filter>.*?)(?P=mark)(?P<after>[^;&]*)"""
)
_EXIT_STATUS = pattern(r"(^|\s)(-[a-zA-Z]*e[a-zA-Z]*|--exit-status)\b")
_ASKS = pattern(r"==|!=|<=?|>=?")
_NO_BOOL = pattern(r"^(if|def|reduce|foreach|map|select|try)\b|error\(|halt|\bas\s+\$|,|//")

Ends = Callable[[str], bool]
"""Whether a module (`a.b`) or a script (`a/b.py`) of the repository ends by a verdict."""


def unknown(target: str) -> bool:
    """What nothing is known of ends by none."""
    return False


@dataclass(frozen=True, slots=True)
class Lost:
    """A command whose verdict is lost: where that is, the command, what becomes of its verdict, the line that
    belongs to it, and what that line says; `without` is a test that the command leaves out instead. `read` is
    the line of a later command that reads what it leaves and may fail by it, 0 where there is none."""

    line: int
    end_line: int
    command: str
    how: str
    certainty: Certainty
    by: int = 0
    says: str = ""
    without: str = ""
    read: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    line: int
    end_line: int
    explained: bool


@dataclass(frozen=True, slots=True)
class _Shell:
    """How a shell runs its lines: whether it ends at the first that fails, and whether a pipe hides that one
    of its commands failed. `by` is the line that says so, `says` what is told of it."""

    ends: bool
    pipes: bool
    by: int = 0
    says: str = ""


@dataclass(frozen=True, slots=True)
class _Later:
    """What runs after the commands of a shell: the steps behind theirs, whose own id is `identity`."""

    can_fail: CanFail
    identity: str = ""
    stages: tuple[Stage, ...] = ()


def of_script(
    text: str, ends: Ends = unknown, can_fail: CanFail = unknown, *, ends_at_once: bool = True
) -> Iterator[Lost]:
    """The lost verdicts of a shell script; `ends_at_once`: it is run by a shell that ends at a failure, or
    nobody knows by what."""
    lines = text.splitlines()
    own = bool(lines) and _ENDS_AT_ONCE.search(lines[0]) is not None
    shell = _Shell(ends_at_once or own, pipes=_PIPEFAIL.search(text) is None)
    yield from _of_lines(lines, 1, shell, ends, _Later(can_fail))


def counts_elsewhere(
    text: str, lost: Lost, told: Sequence[Lost], testpaths: Sequence[str], *, workflow: bool
) -> int | None:
    """The line of another run of pytest in the same file that runs all tests which a lost one does, and whose
    own verdict counts; None where there is none. Where it names no path it runs those of `testpaths`."""
    wanted = _tests_of(lost.command)
    if wanted is None:
        return None
    apart = {line for one in told for line in (*range(one.line, one.end_line + 1), one.by)}
    for one in _counting_in_workflow(text) if workflow else _counting(text.splitlines(), 1, ends=False):
        ran = _tests_of(_judging(one.text))
        if ran is None or one.line in apart:
            continue
        folders = ran or testpaths
        if not folders or (wanted and all(_is_below(test, folders) for test in wanted)):
            return one.line
        if not wanted and not ran:
            return one.line
    return None


def _counting(lines: list[str], first: int, *, ends: bool) -> Iterator[_Line]:
    """The lines whose failure ends a script for sure, or which are its last: plain commands that stand under
    no condition and in no function."""
    joined = list(_joined(lines, first))
    for at, one in enumerate(joined):
        if GOES_ON.match(one.text) or ENDS.match(one.text):
            ends = ENDS.match(one.text) is not None
        if one.text[:1].isspace() or re.search(r"[|;&]|\bcd\b", one.text.replace("2>&1", "")):
            continue
        if ends or at == len(joined) - 1:
            yield one


def _counting_in_workflow(text: str) -> Iterator[_Line]:
    for root in _roots(text):
        for _, job in _pairs(_get(root, "jobs")):
            for step in _items(_get(job, "steps")):
                run = _get(step, "run")
                asked = [_get(node, key) for node in (job, step) for key in ("if", "continue-on-error")]
                elsewhere = any(_get(step, key) is not None for key in ("working-directory", "shell"))
                if run is not None and not elsewhere and not any(one is not None for one in asked):
                    lines = [line.strip() for line in _value(run).splitlines()]
                    blocks = any(re.match(r"(if|for|while|until|case)\b|.*[{(]$", line) for line in lines)
                    yield from () if blocks else _counting(lines, _first_line(run), ends=True)


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


def of_workflow(text: str, ends: Ends = unknown, can_fail: CanFail = unknown) -> Iterator[Lost]:
    """The lost verdicts of a YAML file that says what CI runs; none of one that does not parse."""
    for root in _roots(text):
        yield from _of_jobs(root, text, ends, can_fail)


# Asked twice of one file, one after the other.
@lru_cache(maxsize=1)
def _roots(text: str) -> list[yaml.Node]:
    import yaml

    try:
        return [one for one in yaml.compose_all(text, Loader=yaml.SafeLoader) if one is not None]
    except (yaml.YAMLError, RecursionError, ValueError):
        return []


def _of_jobs(root: yaml.Node, text: str, ends: Ends, can_fail: CanFail) -> Iterator[Lost]:
    lines = text.splitlines()
    for _, job in _pairs(_get(root, "jobs")):
        steps = _items(_get(job, "steps"))
        shells = [_shell_in(step, job, root) for step in steps]
        stages = [_stage(step, shell) for step, shell in zip(steps, shells, strict=True)]
        for at, step in enumerate(steps):
            run = _get(step, "run")
            if run is None:
                continue
            behind = tuple(
                stage
                for stage, one in zip(stages[at + 1 :], steps[at + 1 :], strict=True)
                if _value(_get(one, "continue-on-error")).lower() != "true"
            )
            later = _Later(can_fail, _value(_get(step, "id")), (*behind, *_handed_on(job)))
            told = list(_going_on(step, [run], text, lines, ends))
            for one in told:
                yield from _unless_read(one, _value(run), later, ends)
            if not told:
                yield from _of_lines(_value(run).splitlines(), _first_line(run), shells[at], ends, later)
        runs = [run for step in steps if (run := _get(step, "run")) is not None]
        yield from _going_on(job, runs, text, lines, ends, whole=True)


def _shell_in(step: yaml.Node, job: yaml.Node, root: yaml.Node) -> _Shell:
    named = (_get(step, "shell"), _at(job, "defaults", "run", "shell"), _at(root, "defaults", "run", "shell"))
    windows = "windows" in _value(_get(job, "runs-on"))
    shell = _shell_of(next((one for one in named if one is not None), None), windows=windows)
    return replace(shell, pipes=False) if _PIPEFAIL.search(_value(_get(step, "run"))) else shell


def _stage(step: yaml.Node, shell: _Shell) -> Stage:
    run = _get(step, "run")
    joined = _joined(_value(run).splitlines(), _first_line(run)) if run is not None else ()
    return Stage(
        tuple((one.text, one.line) for one in joined),
        line=step.start_mark.line + 1,
        ends=shell.ends,
        pipes=shell.pipes,
        python=_value(_get(step, "shell")).startswith("python"),
        condition=_value(_get(step, "if")),
        action=_value(_get(step, "uses")),
        given="\n".join(f"{key.value}: {_value(given)}" for key, given in _pairs(_get(step, "with"))),
        environment=tuple((key.value, _value(given)) for key, given in _pairs(_get(step, "env"))),
    )


def _handed_on(job: yaml.Node) -> Iterator[Stage]:
    """The outputs of a job, by which another may fail."""
    for key, given in _pairs(_get(job, "outputs")):
        yield Stage((), key.start_mark.line + 1, given=_value(given), is_end=True)


def _unless_read(one: Lost, text: str, later: _Later, ends: Ends) -> Iterator[Lost]:
    """A lost verdict, unless something that runs later fails by what the command left; a question where it
    may."""
    tests = _is_run(one.command, ends)
    read = reader_of(text, later.identity, later.stages, later.can_fail, runs_tests=tests)
    if read is None:
        yield one
    elif not read.fails:
        yield replace(one, certainty="question", read=read.line)


def _shell_of(named: yaml.Node | None, *, windows: bool) -> _Shell:
    """What GitHub makes of the shell of a step: `bash -e` of none, `bash -eo pipefail` of `bash`, `sh -e` of
    `sh`; what holds `{0}` is run as it stands. Of others nothing is known."""
    said = _value(named).strip()
    if not said:
        return _Shell(ends=True, pipes=not windows)
    if said in ("bash", "sh"):
        return _Shell(ends=True, pipes=said == "sh")
    if re.match(r"(/\S*/)?(ba)?sh\s", said) and "{0}" in said:
        line = named.start_mark.line + 1 if named is not None else 0
        says = f"`{said}` goes on after a command that fails: it has no `-e`"
        return _Shell(_ERREXIT.search(said) is not None, "pipefail" not in said, line, says)
    return _Shell(ends=True, pipes=False)


def _going_on(
    node: yaml.Node, runs: list[yaml.Node], text: str, lines: list[str], ends: Ends, *, whole: bool = False
) -> Iterator[Lost]:
    """A step or a job that may fail while its run counts as passed."""
    allowed = _get(node, "continue-on-error")
    said = re.sub(r"^\$\{\{\s*(\w+)\s*\}\}$", r"\1", _value(allowed).strip())
    if said.lower() != "true" or allowed is None:
        return
    identity = _value(_get(node, "id"))
    if identity and re.search(rf"\b{re.escape(identity)}\.(outcome|conclusion|outputs)", text):
        return  # a later step asks how it went
    at = allowed.start_mark.line + 1
    explained = _is_explained(lines, at)
    for run in runs:
        for one in _joined(_value(run).splitlines(), _first_line(run)):
            command = _judging(one.text, ends)
            if command:
                how = f"{'the job' if whole else 'the step'} counts as passed however it ends"
                sure = _sure(one, explained=whole or explained)
                says = "this command says whether all is well"
                yield Lost(at, at, command, how, sure, one.line, says)
                return


def _first_line(run: yaml.Node) -> int:
    """The line on which the text of a scalar begins: a block's begins below its mark."""
    block = getattr(run, "style", None) in ("|", ">")
    return int(run.start_mark.line) + 1 + block


def _of_lines(lines: list[str], first: int, shell: _Shell, ends: Ends, later: _Later) -> Iterator[Lost]:
    joined = list(_joined(lines, first))
    texts = [one.text for one in joined]
    goes_on, by, says = not shell.ends, shell.by, shell.says
    for at, one in enumerate(joined):
        if GOES_ON.match(one.text):
            goes_on, by, says = True, one.line, "from here on a failure does not end the script"
        elif ENDS.match(one.text):
            goes_on = False
        yield from _of_jq(one)
        command = _judging(one.text, ends)
        if not command:
            continue
        rest = joined[at + 1 :]
        sure = _sure(one, explained=one.explained)
        how, of = "", (0, "")
        if _OR.search(one.text) and _fails_next(one.text, texts[at + 1 : at + 2]):
            continue  # what differs is only shown: that it does was found before
        if _OR.search(one.text):
            how = "what stands after `||` takes its failure"
        elif _EXITS.search(one.text):
            how = "the line ends with 0 whatever it says"
        elif shell.pipes and _PIPE.search(one.text):
            how = "the line ends with the status of the last command of the pipe"
        elif _BEHIND.search(one.text):
            how = _left_behind(command, texts, ends)
        elif goes_on and rest and not _asks(one, rest):
            plain = by == 0 or shell.by == by
            if not plain or _is_passed_over(command, at, texts, ends):
                how = "the script goes on after a failure, and ends with the status of its last command"
                of = by, says
        if how:
            lost = Lost(one.line, one.end_line, command, how, sure, *of)
            yield from _unless_read(lost, one.text, _from(rest, later, shell, goes_on=goes_on), ends)
        yield from _left_out(one, command)
    for at, asked in of_conditions(texts):
        command = _judging(asked, ends)
        if command and _is_run(command, ends):
            one = joined[at]
            how = "where it fails, the `if` around it only tells so"
            lost = Lost(one.line, one.end_line, command, how, _sure(one, explained=one.explained))
            behind = _from(joined[at + 1 :], later, shell, goes_on=not shell.ends)
            yield from _unless_read(lost, one.text, behind, ends)


def _fails_next(text: str, following: list[str]) -> bool:
    """Whether in the same branch the next line ends the script as a failure, or notes one: `failed=1`."""
    depth = _depth(text)
    return depth > 0 and any(_depth(one) == depth and _FAILURE.match(one.lstrip()) for one in following)


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


_FAILURE = pattern(r"(exit|return)\s+[1-9]|(?!\w*(success|ok|pass))\w+=[\"']?(1|true)[\"']?\s*(#.*)?$")


def _from(rest: Sequence[_Line], later: _Later, shell: _Shell, *, goes_on: bool) -> _Later:
    """What runs after a line: the rest of its own shell first."""
    lines = tuple((one.text, one.line) for one in rest)
    own = Stage(lines, rest[0].line if rest else 0, not goes_on, shell.pipes)
    return replace(later, stages=(own, *later.stages))


def _is_run(command: str, ends: Ends) -> bool:
    """Whether a command runs tests or ends by a comparison, by what it runs and not by a name alone."""
    return _RUN.match(command) is not None or _runs_own(command, ends)


def _runs_own(text: str, ends: Ends) -> bool:
    found = _OWN.search(text)
    return found is not None and ends(found["module"] or found["script"])


def _left_behind(command: str, texts: list[str], ends: Ends) -> str:
    """How the verdict of a command in the background is lost, "" where somebody may wait for it."""
    if _SERVES.search(command) or not _is_run(command, ends) or any(map(_AWAITED.search, texts)):
        return ""
    waited = any(map(_WAIT.search, texts))
    return "it runs in the background, and " + (
        "`wait` without its number gives 0" if waited else "nothing waits for how it ends"
    )


def _is_passed_over(command: str, at: int, texts: list[str], ends: Ends) -> bool:
    """Whether a script that never ends at a failure goes on to something else after a run of tests."""
    return (
        _is_run(command, ends)
        and not any(map(_KEEPS_STATUS.search, texts))
        and not is_in_function(texts, at)
        and goes_on_after(texts, at)
    )


def _of_jq(one: _Line) -> Iterator[Lost]:
    """A filter of jq that gives true or false, without the option that makes its status say so."""
    for found in _JQ.finditer(one.text):
        before = one.text[: found.start()]
        shown = re.sub(r"[12]?>\s*/dev/null|2>&1", "", found["after"])
        if before.count("$(") + found["before"].count("(") > before.count(")") or "`" in before:
            continue
        if re.search(r"[|>]", shown) or _EXIT_STATUS.search(f"{found['options']} {shown}"):
            continue
        if _gives_a_bool(found["filter"]):
            how = "`jq` without `-e` ends with 0 also where it prints `false`"
            command = f"jq '{found['filter']}'"
            yield Lost(one.line, one.end_line, command, how, _sure(one, explained=one.explained))


def _gives_a_bool(text: str) -> bool:
    """Whether a filter of jq is a comparison, or ends in one."""
    flat = _flat(text)
    last = flat.rpartition("|")[2].strip()
    if _NO_BOOL.search(last) or _NO_BOOL.search(flat):
        return False
    return _ASKS.search(last) is not None or re.match(r"(all|any|not)\b", last) is not None


def _flat(text: str) -> str:
    """A filter without what stands in brackets and in quotes."""
    found, depth = "", 0
    for letter in re.sub(r'"[^"]*"', '""', text.replace('\\"', '"')):
        depth += letter in "([{"
        found += letter if depth == 0 else ""
        depth -= letter in ")]}" and depth > 0
    return found


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


def _judging(text: str, ends: Ends = unknown) -> str:
    """The command of a line that gives a verdict, "" where there is none."""
    found = _VERDICT.search(text)
    if found is None and _runs_own(text, ends):
        found = _OWN.search(text)
    if found is None or text.lstrip().startswith(("if ", "elif ", "while ", "until ")):
        return ""
    before = re.split(r"\|\||;|\||(?<![&>])&\s*$", text[found.start() :].lstrip(" ;&|("), maxsplit=1)[
        0
    ].strip()
    if _TAKEN.search(text[: found.start() + 1]) or _INSTALLS.search(text[: found.start() + 1]):
        return ""
    if _NO_VERDICT.search(f"{before} ") or _NO_VERDICT.match(text.strip()):
        return ""
    return " ".join(before.split())


def _joined(lines: list[str], first: int) -> Iterator[_Line]:
    """Lines without comments, with those that a backslash continues."""
    start, held, explained = 0, "", False
    for number, raw in enumerate(without_documents(lines), first):
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


def _at(node: yaml.Node | None, *keys: str) -> yaml.Node | None:
    for key in keys:
        node = _get(node, key)
    return node
