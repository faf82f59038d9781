"""What reads, later in a job of CI, how a command went whose own status is lost, and can fail by it.

A command leaves its outcome in a file (`> log`, `| tee log`, `--junitxml=report.xml`, `|| touch failed`) or
hands it on (`>> $GITHUB_OUTPUT`). What is made of that is followed: `n=$(grep -c FAILED log)`, `[ $n = 0 ]`.
A file that is only printed, copied or uploaded is read by nobody who could fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reviewbot.flow.patterns import pattern
from reviewbot.flow.shell_blocks import ENDS, GOES_ON, goes_on_after

_WORD = r"(?P<file>\"[^\"]+\"|'[^']+'|[^\s\"'|;&()<>]+)"
_WRITES = (
    pattern(rf"(?<![-=<>])>>?\|?\s*(?!&){_WORD}"),
    pattern(rf"\|\s*tee\s+(-\S+\s+)*{_WORD}"),
    pattern(rf"\btouch\s+{_WORD}"),
    pattern(rf"\s--(junit-?xml|html|out\w*|log\w*|report[\w-]*|[\w-]*-file)[= ]\s*{_WORD}"),
    pattern(rf"\s-o\s+{_WORD}"),
)
_DEFAULT_REPORT = pattern(r"--json-report(?![\w-])(?!.*--json-report-file)")
_HANDED_ON = pattern(r">>\s*[\"']?\$\{?GITHUB_(?P<where>OUTPUT|ENV)\b")
_KEY = pattern(r"[\s\"'](?P<key>[A-Za-z_][\w-]*)=")
_TAKES = pattern(
    r"(^|[\s;])(?P<key>[A-Za-z_]\w*)=[\"']?(\$\(|`)|\bread\s+(-\w+\s+)*(?P<read>[A-Za-z_]\w*)\s*<"
)
_SETS = pattern(r"(^|[\s;{])(?P<key>[A-Za-z_]\w*)=[\"']?[\w$]+[\"']?\s*($|[;}])")
_EXISTS = pattern(r"(\[+|\btest)\s+(!\s+)?-[aefrd]\s+\S+")
_BRANCHES = pattern(r"^\s*(if|elif|while|until|for|case)\b")
_ENDS_BRANCH = pattern(r"(^|[;\s])(fi|done|esac)(?=$|[\s;|&<>])")
_FAILS = pattern(
    r"(^|[\s;&|{(])((exit|return)\s+[\"']?(?!0\b)[\w$-]|(?<=\|)\s*exit\s*($|[;}])|false\s*($|[;})]))"
)
_SWALLOWED = pattern(r"\|\|\s*[{(]?\s*(true|:|echo|printf|cat|exit\s+0)(\s|$|;)")
_INLINE = pattern(r"(^|[\s;&|(])(python[\d.]*|uv run \S+)\s+(-[a-bd-zA-Z]+\s+)*(-c\s|-(\s|$)|<<)")
_CODE_FAILS = pattern(r"\b(sys\.exit|_exit|exit|SystemExit)\((?!0?\))|\bassert\b|\braise\b")
_LOOKS = pattern(
    r"^(test|\[\[?|\(\(|[ef]?grep|rg|diff|cmp)\s|^jq\s(.*\s)?(-\w*e\w*|--exit-status)(\s|$)|^awk\s.*\bexit\b"
)
_SCRIPT = pattern(r"^(\S+=\S*\s+)*(uv run )?(python[\d.]*\s+(-[a-zA-Z]\s+)*)?(?P<path>[\w./-]+\.py)(\s|$)")
_PROGRAM = pattern(
    r"^(\S+=\S*\s+)*((ba|da)?sh\s+\S|\./|node\s|(uv run )?python[\d.]*\s+-m\s+(?!json\.tool\b))"
)
_REPORT = pattern(r"[\w./-]*(report|junit|results?)[\w.-]*\.(json|jsonl|xml)\b")
_HEREDOC = pattern(r"<<-?\s*[\"']?(?P<end>\w+)")
_ALWAYS = pattern(r"^\s*(\$\{\{)?\s*(always\(\)|success\(\)|!\s*cancelled\(\)|true)?\s*(\}\})?\s*$")
_AFTER_FAILURE = pattern(r"(?<!!)\bfailure\(\)")
_KEEPS = pattern(r"(?i)upload|codecov|coveralls|cache|pages|slack|comment")
_REPORTERS = pattern(r"(?i)report|junit|publish|test")
_MADE_TO_FAIL = pattern(r"(?im)^fail[\w-]*: *[\"']?true|setFailed")
_LONGEST = 80  # lines of a text in quotes, or of a branch

CanFail = Callable[[str], bool]
"""Whether a Python script of the repository, by its path, may end with a status that it works out."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step that runs after a command, or what the command's own step still has to run.

    `lines` are shell commands without comments, with their line numbers; `ends`: the first that fails ends
    it; `pipes`: a pipe ends with its last command. `action` is what it uses instead, `given` what it hands
    to that, one `key: value` a line. `environment` holds its variables. `is_end`: no
    step, but what the job then hands to others as `given`."""

    lines: tuple[tuple[str, int], ...]
    line: int = 0
    ends: bool = True
    pipes: bool = True
    python: bool = False
    condition: str = ""
    action: str = ""
    given: str = ""
    is_end: bool = False
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """The line of a command that reads how another went, and whether that can fail the job by it for sure."""

    line: int
    fails: bool


@dataclass(frozen=True, slots=True)
class _Command:
    text: str
    line: int
    branch: str
    counts: bool
    last: bool


def reader_of(
    text: str, identity: str, stages: Sequence[Stage], can_fail: CanFail, *, runs_tests: bool
) -> Read | None:
    """Who reads what the command line `text` leaves, in a step whose id is `identity`; None where nobody
    does. Tests (`runs_tests`) may also leave a report that only their settings name."""
    followed = _Followed(text, identity)
    unsure: Read | None = None
    for stage in stages:
        for read in _readers(stage, followed, can_fail, runs_tests=runs_tests):
            if read.fails:
                return read
            unsure = unsure or read
    return unsure


class _Followed:
    """The files, variables and outputs that tell how a command went; more as they are handed on."""

    def __init__(self, text: str, identity: str) -> None:
        self._forms: list[str] = []
        self._on_failure = text.partition("||")[2]
        self.add(text, identity)

    def add(self, text: str, identity: str) -> None:
        for form in _WRITES:
            for found in form.finditer(text):
                self._add_file(found["file"].strip("\"'"))
        if _DEFAULT_REPORT.search(text):
            self._add_file(".report.json")
        handed = _HANDED_ON.search(text)
        if handed is None:
            return
        for found in _KEY.finditer(text, 0, handed.start()):
            key = re.escape(found["key"])
            if handed["where"] == "ENV":
                self.add_variable(found["key"])
                self._forms.append(rf"\benv\.{key}\b")
            elif identity:
                self._forms.append(rf"\bsteps\.{re.escape(identity)}\.outputs\.{key}(?![\w-])")

    def add_variable(self, name: str) -> None:
        self._forms.append(rf"\$\{{?#?{re.escape(name)}\b")

    def _add_file(self, name: str) -> None:
        if name.startswith(("/dev/", "$GITHUB_", "${GITHUB_")) or not re.search(r"[A-Za-z]", name):
            return
        plain = re.escape(name.removeprefix("./"))
        self._forms.append(rf"(?<![\w.$/-])(?<!git )(\./)?{plain}(?![\w/-]|\.\w)")

    def is_in(self, text: str) -> bool:
        """Whether a text names one of them; that a file is there tells something where a failure makes it."""
        for form in _WRITES[:3]:
            text = form.sub("", text)
        if not self._on_failure:
            text = _EXISTS.sub("", text)
        return any(re.search(form, text) for form in self._forms)


def _readers(stage: Stage, followed: _Followed, can_fail: CanFail, *, runs_tests: bool) -> Iterator[Read]:
    if stage.is_end:
        if followed.is_in(stage.given):
            yield Read(stage.line, fails=False)
        return
    asked = followed.is_in(stage.condition)
    if _AFTER_FAILURE.search(stage.condition) and not asked:
        return
    sure = asked or _ALWAYS.match(stage.condition) is not None
    for name, value in stage.environment:
        if followed.is_in(value):
            followed.add_variable(name)
    if stage.action:
        yield from _of_action(stage, followed, sure=sure, asked=asked)
        return
    whole = "\n".join(text for text, _ in stage.lines)
    if stage.python:
        if (asked or followed.is_in(whole)) and _CODE_FAILS.search(whole):
            yield Read(stage.line, sure)
        return
    if asked and _FAILS.search(whole):
        yield Read(stage.line, fails=True)
    for one in _commands(stage):
        named = followed.is_in(one.text)
        if named:
            _follow_on(one, followed)
        supposed = not named and runs_tests and _REPORT.search(one.text) is not None
        if named or supposed:
            fails = _judges(one, stage, can_fail)
            if fails is not None:
                yield Read(one.line, fails and sure and not supposed)


def _of_action(stage: Stage, followed: _Followed, *, sure: bool, asked: bool) -> Iterator[Read]:
    """A reporter that is given the report, or a script that marks the job as failed."""
    made_to = _MADE_TO_FAIL.search(stage.given) is not None
    if asked or followed.is_in(stage.given):
        if made_to:
            yield Read(stage.line, sure)
        elif _REPORTERS.search(stage.action) and not _KEEPS.search(stage.action):
            yield Read(stage.line, fails=False)


def _follow_on(one: _Command, followed: _Followed) -> None:
    """What a command makes of what it reads: variables, files, and what its branches set."""
    followed.add(one.text, "")
    for found in _TAKES.finditer(one.text):
        followed.add_variable(found["key"] or found["read"])
    for found in _SETS.finditer(one.branch):
        followed.add_variable(found["key"])


def _judges(one: _Command, stage: Stage, can_fail: CanFail) -> bool | None:
    """Whether a command that reads an outcome fails by it for sure; None where it does not fail by it."""
    if one.branch:
        return True if _FAILS.search(_masked(one.branch)) else None
    if _INLINE.search(one.text):
        counts = one.counts and not _SWALLOWED.search(_masked(one.text))
        return True if counts and _CODE_FAILS.search(one.text) else None
    text = _masked(one.text)
    if _FAILS.search(text):
        return True
    if _SWALLOWED.search(text):
        return None
    told: list[bool] = []
    parts = [part.strip() for part in re.split(r"(&&|;|\|\|)", text)]
    for at in range(0, len(parts), 2):
        is_left = parts[at + 1 : at + 2] not in ([], [";"])
        turned = parts[at].startswith("! ")
        # Neither what stands before `&&` nor what `!` turns ends a shell with -e.
        if one.last if is_left or turned else one.counts:
            pipe = [part.strip() for part in parts[at].removeprefix("! ").split("|")]
            looked = [_looks(part, can_fail) for part in (pipe[-1:] if stage.pipes else pipe)]
            told += [sure for sure in looked if sure is not None]
    return any(told) if told else None


def _looks(part: str, can_fail: CanFail) -> bool | None:
    """Whether one command fails by what it reads; False where only it can tell."""
    if _LOOKS.search(part):
        return True
    script = _SCRIPT.match(part)
    if script is not None:
        return can_fail(script["path"])
    return False if _PROGRAM.match(part) else None


def _masked(text: str) -> str:
    """A text of which what stands in quotes and in `$(...)` parts no commands."""
    held = re.sub(
        r"\"[^\"]*\"|'[^']*'|\$\([^()]*(\([^()]*\)[^()]*)*\)",
        lambda found: re.sub(r"[|;&]", "_", found[0]),
        text,
    )
    return held.replace("2>&1", "")


def _commands(stage: Stage) -> Iterator[_Command]:
    whole = list(_whole(stage.lines))
    texts = [text for text, _ in whole]
    ends = stage.ends
    for at, (text, line) in enumerate(whole):
        if GOES_ON.match(text) or ENDS.match(text):
            ends = ENDS.match(text) is not None
        last = not goes_on_after(texts, at)
        branch = _branch(texts, at) if _BRANCHES.match(text) else ""
        yield _Command(text.strip(), line, branch, ends or last, last)


def _branch(texts: Sequence[str], at: int) -> str:
    """A branch or a loop, up to where it ends."""
    depth, held = 0, []
    for text in texts[at : at + _LONGEST]:
        held.append(text)
        bare = _masked(text)
        depth += _BRANCHES.match(bare) is not None and not bare.lstrip().startswith("elif")
        depth -= len(_ENDS_BRANCH.findall(bare))
        if depth <= 0:
            break
    return "\n".join(held)


def _whole(lines: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Commands with all of their text in quotes, or that stands below them up to a word."""
    at = 0
    while at < len(lines):
        text, line = lines[at]
        at += 1
        heredoc = _HEREDOC.search(text)
        stop = min(len(lines), at + _LONGEST)
        if heredoc is not None:
            end = next((n for n in range(at, stop) if lines[n][0].strip() == heredoc["end"]), at - 1)
        elif _is_open(text):
            held = text
            for end in range(at, stop):
                held += "\n" + lines[end][0]
                if not _is_open(held):
                    break
            else:
                end = at - 1
        else:
            end = at - 1
        yield "\n".join([text, *(more for more, _ in lines[at : end + 1])]), line
        at = end + 1


def _is_open(text: str) -> bool:
    """Whether a text ends in quotes that nothing has closed."""
    return re.search(r"[\"']", re.sub(r"\\.|\"[^\"]*\"|'[^']*'", "", text)) is not None
