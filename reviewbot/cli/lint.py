"""`reviewbot lint`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from functools import lru_cache, partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from reviewbot import config
from reviewbot.cli import proving
from reviewbot.cli.streams import put_error, tell, wants_colour
from reviewbot.config import Config
from reviewbot.errors import UnreadableFile, UsageError
from reviewbot.lint import again, inputs, registry
from reviewbot.lint.repo import Fact, Repo
from reviewbot.lint.results import Report, Result, report
from reviewbot.lint.run import COMPARING, FIX_ROUNDS, Run, processes
from reviewbot.model import CERTAINTIES, Finding, Unread
from reviewbot.render.progress import watched
from reviewbot.source import discover, seen
from reviewbot.source.files import OnDisk
from reviewbot.source.uncollected import uncollected

if TYPE_CHECKING:
    from reviewbot.lint.against import Against
    from reviewbot.lint.cache import Cache

FORMATS = ("text", "json", "sarif", "github", "markdown")
BASELINE = "reviewbot-baseline.json"
STDIN = "-"
NAMED = 5  # changed files of which the last line tells the names
WORTH_KEEPING = 0.3  # seconds of processor time: what took less is soon done again
EXAMPLES = """\
examples:
  reviewbot lint                                   everything under the working folder
  reviewbot lint tests/ scripts/compare.py         a folder and a file
  reviewbot lint --diff main                       what changed since main, uncommitted changes included
  reviewbot lint --select loop-may-be-empty        one rule; `reviewbot rule` lists them
  reviewbot lint --certainty likely                no questions
  reviewbot lint --probe tests/                    run what is found, to confirm it or withdraw it
  reviewbot lint --fix tests/                      apply the safe fixes of what is proved or likely
  reviewbot lint --show-fixes tests/ | git apply   all safe fixes as a diff, those of questions too
  reviewbot lint - --stdin-filename tests/test_a.py < tests/test_a.py

`# reviewbot: ignore[rule-id] reason` on a line, or alone on the line above, silences a rule there; the reason
is required. `[tool.reviewbot]` in pyproject.toml holds select, ignore, exclude, baseline, fail-on and more.

exit codes:
  0  no finding at or above --fail-on (default: proved)
  1  a finding at or above --fail-on
  2  wrong use, no file to look at in the folders given or none that could be read, a rule failed on a file,
     or a fix could not be written
"""

Keep = Callable[[Finding], bool]


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    option = command.add_argument
    option("paths", nargs="*", default=["."], metavar="PATH", help="files, folders, - for stdin (default: .)")
    option = command.add_argument_group("what is looked at").add_argument
    option("--diff", metavar="BASE", help="report only what was changed or caused since it left BASE")
    option("--stdin-filename", metavar="PATH", help="where the code on stdin would stand")
    option("--exclude", action="append", default=[], metavar="GLOB", help="leave out paths (repeatable)")
    option("--force-exclude", action="store_true", help="leave them out even if they are given by name")
    option = command.add_argument_group("what is reported").add_argument
    option("--select", action="append", default=[], metavar="RULES", help="only these, comma between them")
    option("--ignore", action="append", default=[], metavar="RULES", help="not these")
    option(
        "--certainty",
        choices=CERTAINTIES,
        default="question",
        help="the least certainty that is reported (default: question)",
    )
    option(
        "--baseline",
        metavar="FILE",
        help="report only what FILE does not hold (default: `baseline` of [tool.reviewbot], if it is set)",
    )
    option(
        "--write-baseline",
        action="store_true",
        help=f"write all findings to the baseline (default: that of [tool.reviewbot], or {BASELINE})",
    )
    option(
        "--fail-on",
        choices=config.FAIL_ON,
        help="the least certainty that ends the run with 1 (default: proved)",
    )
    either = command.add_argument_group("fixes").add_mutually_exclusive_group()
    either.add_argument("--fix", action="store_true", help="apply the safe fixes of what is proved or likely")
    either.add_argument(
        "--show-fixes",
        action="store_true",
        help="print all safe fixes as a diff, also those of questions, which --fix leaves alone",
    )
    proving.add(command.add_argument_group("proof"))
    option = command.add_argument_group("output").add_argument
    option("--output-format", choices=FORMATS, help="default: text; github in a GitHub workflow")
    option("-q", "--quiet", action="store_true", help="findings only: no summary, no progress")
    option("-v", "--verbose", action="store_true", help="say as well which rules wait for --diff")
    option("--stats", action="store_true", help="say on stderr what each rule suspected, found and cost")
    option("--no-color", action="store_true", help="no colours (NO_COLOR says the same)")
    option = command.add_argument_group("speed").add_argument
    option("--no-cache", action="store_true", help="look at every file anew, and keep nothing")
    option("-j", "--jobs", type=_count, metavar="N", help="processes (default: one for each processor)")
    option("--no-prefilter", action="store_true", help=argparse.SUPPRESS)


def _count(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of processes") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} processes can do nothing")
    return number


def main(options: argparse.Namespace) -> int:
    """Lints and prints. Returns 1 for a finding at or above --fail-on, 2 where nothing could be read or a
    fix could not be written."""
    stdin = STDIN in options.paths
    if stdin and options.paths != [STDIN]:
        raise UsageError("`-` is standard input; give it alone, without other paths")
    if options.stdin_filename and not stdin:
        raise UsageError("--stdin-filename goes with `-`: reviewbot lint - --stdin-filename PATH")
    given = [options.stdin_filename or "stdin.py"] if stdin else options.paths
    for path in () if stdin else given:
        if not os.path.lexists(path):
            raise UsageError(f"{path}: no such file or folder")
    known = frozenset(registry.rule_ids())
    folder_of_all = inputs.common_folder(given)
    seen.note_ancestors(folder_of_all, "pyproject.toml")
    settings, root = config.load(folder_of_all, known)
    _choose_baseline(options, settings, root)
    session = _Session(options, settings, root, _rules(options, settings, known))
    python = proving.python_of(options)
    with uncollected():
        made = session.stdin(given[0]) if stdin else session.files(given)
        # What has been read is still there: the first look for circles would go through all of it.
        gc.freeze()
    if options.probe:
        if stdin:
            raise UsageError("--probe runs files, and standard input is none")
        findings = proving.proved(made.findings, Path.cwd(), options.probe_budget, python)
        made = replace(made, findings=findings)
    return _told(session, made)


def _choose_baseline(options: argparse.Namespace, settings: Config, root: Path) -> None:
    """Takes the baseline of the configuration where the command line names none."""
    if options.baseline is None and settings.baseline:
        options.baseline = os.path.relpath(root / settings.baseline)
    if options.baseline and os.path.isdir(options.baseline):
        raise UsageError(f"--baseline {options.baseline}: is a folder; name the file of a baseline")


def _told(session: _Session, made: Report) -> int:
    options = session.options
    if session.says_it_again(made):
        return _kept(session, made)
    if options.write_baseline:
        session.write_baseline(Path(options.baseline or BASELINE), made)
    else:
        session.show(made)
    _complain(made)
    session.say_what_waits()
    return _code(session, made)


def _kept(session: _Session, made: Report) -> int:
    """Shows what there is to show, and keeps it for a run over the same."""
    code = _code(session, made)
    session.note_what_was_asked()
    with redirect_stdout(StringIO()) as out:
        session.show(made)
    with redirect_stderr(StringIO()) as err:
        _complain(made)
        session.say_what_waits()
    sys.stdout.write(out.getvalue())
    sys.stdout.flush()
    put_error(err.getvalue())
    again.keep(code, out.getvalue(), err.getvalue())
    return code


def _code(session: _Session, made: Report) -> int:
    options, settings = session.options, session.settings
    if session.unwritten:
        return 2
    failing = config.failing(options.fail_on or settings.fail_on)
    if any(finding.certainty in failing for finding in made.findings) and not options.write_baseline:
        return 1
    return 2 if made.failures or session.in_vain or (made.unread and not made.read) else 0


def _named(listed: Sequence[str]) -> list[str]:
    """The rules in the values of an option that may be given again, comma between them."""
    return [name.strip() for words in listed for name in words.split(",") if name.strip()]


def _rules(options: argparse.Namespace, settings: Config, known: frozenset[str]) -> tuple[str, ...]:
    """The ids of the rules that run. What the command line selects stands above the configuration."""
    named = {option: _named(getattr(options, option)) for option in ("select", "ignore")}
    for option, names in named.items():
        for name in names:
            if name not in known:
                near = config.hint(name, known) or "; `reviewbot rule` lists all"
                raise UsageError(f"--{option}: no rule {name!r}{near}")
    chosen = set(named["select"]) or set(settings.select or known) - set(settings.ignore)
    return tuple(sorted(chosen - set(named["ignore"])))


def _kept_before(root: Path, rules: tuple[str, ...], lasting: Path | None) -> tuple[Path, Cache]:
    """The facts of the repository and the results of its files that earlier runs have kept."""
    from reviewbot.lint.cache import Cache, folder, index_file

    return index_file(root), Cache(folder(), rules, lasting)


def _lasting(repository: Path, configured: Path) -> Path | None:
    """The folder from which fingerprints name files: that of the repository, else that of the configuration.
    None where there is neither: files are named from the working folder then."""
    if (repository / ".git").exists():
        return repository
    return configured if (configured / "pyproject.toml").is_file() else None


def _format(options: argparse.Namespace) -> str:
    if options.output_format:
        return str(options.output_format)
    on_github = os.environ.get("GITHUB_ACTIONS") == "true" and not sys.stdout.isatty()
    return "github" if on_github else "text"


class _Session:
    """One run of the command: what was looked at, and what was made of it."""

    def __init__(
        self, options: argparse.Namespace, settings: Config, root: Path, rules: tuple[str, ...]
    ) -> None:
        self.options, self.settings, self.root = options, settings, root
        start = options.stdin_filename or options.paths[0]
        files = OnDisk(start)
        lasting = _lasting(files.root, root)
        database, cache = _kept_before(files.root, rules, lasting) if not options.no_cache else (None, None)
        self.against = None
        if options.diff and STDIN not in options.paths:
            self.against = inputs.against(options.diff, inputs.common_folder(options.paths))
        self.colour = wants_colour(options.no_color)
        jobs = options.jobs or processes()
        # Without a database each process gathers the facts for itself: their bars would stand on one another.
        alone = database is not None or jobs == 1
        watch = partial(watched, what="facts", quiet=options.quiet or not alone, colour=self.colour)
        self.run = Run(
            rules,
            Repo(settings, files, database=database, against=self.against, watch=watch, root=lasting),
            settings.max_file_bytes,
            jobs=jobs,
            cache=cache,
            prefilter=not options.no_prefilter,
        )
        # What was looked at and is not on disk: standard input, and fixes that are only shown.
        self.content: dict[str, bytes] = {}
        self.fixed: list[tuple[str, bytes, bytes, int]] = []
        self.unwritten = False  # whether a file that could be fixed could not be written
        self.in_vain = False  # whether a folder was given and no file was found to be looked at
        self._format = _format(options)
        self._listed = True  # whether every folder could be
        self._asked: set[Fact] = set()
        self._looked_at: frozenset[str] = frozenset()

    def stdin(self, path: str) -> Report:
        """Looks at standard input, which stands for `path`."""
        self.content[path] = sys.stdin.buffer.read()
        return self._report({path: self.run.content(path, self.content[path])})

    def files(self, given: Sequence[str]) -> Report:
        """Looks at files and folders."""
        unlisted: list[Unread] = []
        patterns = (*self.settings.exclude, *self.options.exclude)
        excluded = discover.excluding(patterns, self.root)
        if self.against:
            also, unlisted = self._beside(self.against)
            reached = [*inputs.changed(self.against), *also]
            paths = [path for path in inputs.among(reached, given) if not excluded(path)]
        else:
            found = discover.files_under(
                given,
                excluded,
                lambda error: unlisted.append(Unread(error.path, error.why)),
                force=self.options.force_exclude,
            )
            paths = list(found)
            if not paths and not unlisted:
                # What names its files one by one, as pre-commit does, may well have them all left out.
                self.in_vain = any(map(os.path.isdir, given))
                excludes = next(discover.files_under(given), None) is not None
                why = "`exclude` or --exclude leaves out every file that was given"
                none = f"no Python file, script or workflow is in {', '.join(given)}"
                tell(why if excludes else none)
        quiet, colour = self.options.quiet, self.colour
        done = watched(self.run.files(paths), len(paths), "files", quiet=quiet, colour=colour)
        results = {result.path: result for result in done}
        self._looked_at = frozenset(results)
        self._asked = {fact for result in results.values() for fact in result.asked}
        made = self._report(results)
        self._listed = not unlisted
        return replace(made, unread=(*unlisted, *made.unread))

    def says_it_again(self, made: Report) -> bool:
        """Whether the same command says the same as long as no place that it looked at changes, and whether
        it took long enough to keep what it says: at the second time, or at once."""
        options = self.options
        if options.paths == [STDIN] or options.fix or options.show_fixes or options.write_baseline:
            return False
        if options.probe or options.diff or options.stats or options.no_cache or options.no_prefilter:
            return False
        if not self._listed or not made.files or made.failures:
            return False
        return made.files == made.cached or (made.effort.seconds > WORTH_KEEPING and not made.unread)

    def say_what_waits(self) -> None:
        """Says which rules look at changes only, to whoever asks for all that is said or for such a rule, and
        looks at a folder of a git repository."""
        options = self.options
        if options.quiet or options.diff or self._format != "text" or options.paths == [STDIN]:
            return
        asked = COMPARING if options.verbose else _named(options.select)
        waiting = [rule for rule in self.run.rules if rule in COMPARING and rule in asked]
        in_git = any(os.path.exists(os.path.join(above, ".git")) for above in _with_parents(self.root))
        if waiting and in_git and any(map(os.path.isdir, options.paths)):
            look = f"{' and '.join(waiting)} {'looks' if len(waiting) == 1 else 'look'}"
            says = f"{look} at what a change takes away or brings, so only with --diff BASE"
            tell(says)

    def note_what_was_asked(self) -> None:
        """Notes what results were made from, also those that other processes made."""
        for fact in self._asked:
            self.run.repo.digest(fact)

    def _beside(self, against: Against) -> tuple[list[str], list[Unread]]:
        """The unchanged files that have to do with what the change touched."""
        from reviewbot.lint.beside import beside

        return beside(self.run.repo, against, self._content)

    def _content(self, path: str) -> bytes | None:
        try:
            return discover.read(path, self.settings.max_file_bytes)
        except UnreadableFile:
            return None

    def _report(self, results: dict[str, Result]) -> Report:
        wanted_at_all, accepted = self._wanted(results), self._accepted()

        def keep(finding: Finding) -> bool:
            return finding.fingerprint not in accepted and wanted_at_all(finding)

        if self.options.fix or self.options.show_fixes:
            from reviewbot.lint import fixes

            wanted: Keep = keep if self.options.show_fixes else lambda one: one.fixed_unasked and keep(one)
            for path, result in results.items():
                if fixes.safe(filter(wanted, result.findings), path):
                    results[path] = self._fix(path, result, wanted)
        made = report(results.values())
        shown = tuple(filter(wanted_at_all, made.findings))
        kept = tuple(filter(keep, shown))
        return replace(made, findings=kept, accepted=len(shown) - len(kept))

    def write_baseline(self, path: Path, made: Report) -> None:
        """Writes what is found now. What the baseline holds of files and rules that this run has left out
        stays in it, as long as there is such a file."""
        from reviewbot.lint import baseline

        lasting = self.run.repo.lasting
        looked_at = frozenset(map(lasting, self._looked_at))
        left_out = set(registry.rule_ids()) - set(self.run.rules)
        held: tuple[baseline.Entry, ...] = ()
        with suppress(UsageError):  # one that is none is written anew
            held = baseline.read(path)
        kept = [
            one
            for one in held
            if (one.path not in looked_at or one.rule in left_out) and self._is_there(one.path)
        ]
        found = [baseline.entry(finding, lasting) for finding in made.findings]
        _save(path, baseline.encode(sorted([*kept, *found], key=lambda one: one.path)))
        count = len(kept) + len(found)
        others = f", {len(kept)} of them of what was not looked at" if kept else ""
        tell(f"{path} holds {count} finding{'' if count == 1 else 's'}{others}")

    def _is_there(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self.run.repo.root or "", path))

    def _accepted(self) -> frozenset[str]:
        """The fingerprints that a baseline holds."""
        if not self.options.baseline or self.options.write_baseline:
            return frozenset()
        from reviewbot.lint import baseline

        seen.note(self.options.baseline)
        return frozenset(one.fingerprint for one in baseline.read(Path(self.options.baseline)))

    def _wanted(self, results: dict[str, Result]) -> Keep:
        """Tells which findings are reported, if no baseline holds them."""
        certainties = CERTAINTIES[: CERTAINTIES.index(self.options.certainty) + 1]
        wanted = self._caused(results, self.against) if self.against else lambda finding: True
        from reviewbot.lint.suppress import is_unused

        # Who asks for some rules asks for what they find.
        some = bool(self.options.select)
        return lambda finding: (
            finding.certainty in certainties and not (some and is_unused(finding)) and wanted(finding)
        )

    def _caused(self, results: dict[str, Result], against: Against) -> Keep:
        from reviewbot.review.caused import caused
        from reviewbot.source.diff import changed_lines

        found = [finding for result in results.values() for finding in result.findings]
        why = caused(found, against, self.run.repo.before(), self._lines)
        revealed = frozenset(finding.fingerprint for finding in why.revealed)
        changed = changed_lines(against.diff)
        return lambda finding: changed.touch(finding) or finding.fingerprint in revealed

    def _fix(self, path: str, result: Result, keep: Keep) -> Result:
        """Fixes one file, or with --show-fixes works out how. Returns what is to be reported of it."""
        before = self.content.get(path)
        if before is None:
            before = discover.read(path, self.settings.max_file_bytes)
        # Once lines have moved, which of them changed since a commit is no longer known.
        rounds = 1 if self.options.diff else FIX_ROUNDS
        try:
            after, count, fresh = self.run.fixed(path, before, keep, rounds)
        except UnreadableFile as error:
            tell(f"{path}: {error.why}")
            return result
        if not count:
            return result
        if not self.options.show_fixes and path not in self.content:
            try:
                _write(Path(path), after)
            except OSError as error:
                self.unwritten = True
                tell(f"{path}: the fix cannot be written ({error.strerror or error})")
                return result
        self.fixed.append((path, before, after, count))
        if self.options.show_fixes:
            return result
        if path in self.content:
            self.content[path] = after
        return fresh

    def show(self, made: Report) -> None:
        """Prints what was asked for: findings, or the fixed code, or a diff."""
        stdout: TextIO = sys.stdout
        if self.options.show_fixes:
            from reviewbot.lint import fixes

            stdout.buffer.writelines(fixes.diff(path, before, after) for path, before, after, _ in self.fixed)
            stdout.flush()
            stdout = sys.stderr
        elif self.options.fix and self.options.paths == [STDIN]:
            stdout.buffer.write(next(iter(self.content.values())))
            stdout = sys.stderr
        if not self.options.show_fixes:
            stdout.write(self._findings(made))
        if self._format == "text" and not self.options.quiet:
            from reviewbot.render import terminal

            stdout.write(terminal.summary(made, colour=self.colour, did=self._did(made)))
        if self.options.stats:
            from reviewbot.render import terminal

            put_error(terminal.stats(made))

    def _did(self, made: Report) -> str | None:
        """What --fix or --show-fixes did, also where that was nothing."""
        count = sum(number for *_, number in self.fixed)
        safe = [one for one in made.findings if one.fix is not None and one.fix.safe]
        if self.options.show_fixes:
            shown = "1 fix" if count == 1 else f"{count or 'no'} fixes"
            unasked = sum(one.fixed_unasked for one in safe)
            return f"shown {shown}; --fix would fix {unasked or 'nothing'}"
        if not self.options.fix:
            return None
        asked = sum(not one.fixed_unasked for one in safe)
        left = f"; of questions, {asked} can be fixed: --show-fixes shows how" if asked else ""
        return f"fixed {count or 'nothing'}{self._where_fixed()}{left}"

    def _where_fixed(self) -> str:
        """The files that were changed, the first few by name."""
        from reviewbot.render.inert import visible

        if not self.fixed:
            return ""
        named = [visible(path) for path, *_ in self.fixed[:NAMED]]
        if len(self.fixed) > NAMED:
            named.append(f"{len(self.fixed) - NAMED} more")
        return f" in {', '.join(named)}"

    def _findings(self, made: Report) -> str:
        if self._format == "json":
            from reviewbot.render import findings_json

            return findings_json.encode(made.findings)
        if self._format == "sarif":
            from reviewbot.render import sarif

            return sarif.encode(made, self.run.rules)
        if self._format == "markdown":
            from reviewbot.render import findings_markdown

            return findings_markdown.encode(made, lru_cache(self._lines))
        if self._format == "github":
            from reviewbot.render import annotations

            return "".join(f"{annotations.annotation(finding)}\n" for finding in made.findings)
        from reviewbot.render import terminal

        return terminal.text(made, lru_cache(self._lines), colour=self.colour)

    def _lines(self, path: str) -> list[str] | None:
        content = self.content.get(path)
        try:
            if content is None:
                content = discover.read(path, self.settings.max_file_bytes)
            return [line.rstrip("\r\n") for line in discover.lines_of(path, content)]
        except UnreadableFile:
            return None


def _with_parents(folder: Path) -> tuple[Path, ...]:
    absolute = folder.absolute()
    return absolute, *absolute.parents


def _write(path: Path, content: bytes) -> None:
    """Puts content in the place of a file in one go, so that nothing that goes wrong leaves half of it.

    Raises `OSError`; the file is then as it was.
    """
    import shutil
    import tempfile

    target = path.resolve()
    # A short name: one made from the file's own might be longer than a name may be.
    number, name = tempfile.mkstemp(dir=target.parent, prefix=".fix-")
    try:
        with open(number, "wb") as file:
            file.write(content)
        shutil.copymode(target, name)
        os.replace(name, target)
    except OSError:
        os.unlink(name)
        raise


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{path}: the baseline cannot be written ({error.strerror})") from None
    except ValueError as error:  # no system knows such a name
        raise UsageError(f"{path}: the baseline cannot be written ({error})") from None


def _complain(made: Report) -> None:
    """What could not be read and which rules failed, a line each."""
    for unread in made.unread:
        where = unread.path if unread.line is None else f"{unread.path}:{unread.line}"
        tell(f"{where}: {unread.why}")
    for failure in made.failures:
        tell(f"{failure.path}:{failure.line}: rule {failure.rule}: {failure.why}")
