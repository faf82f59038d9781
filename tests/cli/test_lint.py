"""`reviewbot lint`, through the command line."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"
FIXED = "def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def found(ran) -> list[tuple[str, int, str]]:
    return [(one["path"], one["line"], one["rule"]) for one in json.loads(ran.out)]


def test_text_shows_the_claim_the_source_the_marks_the_steps_and_the_way_out(reviewbot, tmp_path):
    write(
        tmp_path,
        {"tests/test_a.py": "# 漢字\n" + WEAK.replace("'wrong'", "'漢字 differ'") + "    assert run(1)\n"},
    )
    ran = reviewbot("lint")
    assert ran.code == 1
    first, source, marks, *rest = ran.out.splitlines()
    assert re.fullmatch(r"tests/test_a\.py:3:5: proved: .*tuple.* \[constant-verdict\]", first)
    assert source == "3 |     assert (run(1) == [2], '漢字 differ')"
    # A wide character takes two columns.
    assert marks == "  |     " + "^" * (len("assert (run(1) == [2], '漢字 differ')") + 2)
    assert any(line.startswith("  = still catches it: ") for line in rest)
    assert "    + " + "    assert run(1) == [2], '漢字 differ'" in rest
    assert "1 finding (1 proved) in 1 of 1 file; --fix would fix 1" in rest
    assert "\x1b" not in ran.out


def test_steps_have_their_own_source_lines(reviewbot, tmp_path):
    code = "def compare(a, b):\n    same = True\n    for key in a:\n        print(b[key])\n    assert same\n"
    write(tmp_path, {"compare.py": code})
    out = reviewbot("lint", "--select", "constant-verdict").out.splitlines()
    step = next(number for number, line in enumerate(out) if line.startswith("  = 1. compare.py:2: "))
    assert out[step + 1] == "2 |     same = True"


def test_what_a_file_holds_cannot_steer_the_terminal(reviewbot, tmp_path):
    code = "def test(run):\n    assert (run(1), '\x1b[31m\u202e')  # \x07\n"
    write(tmp_path, {"a\x1b]0;x.py": code})
    ran = reviewbot("lint")
    assert ran.code == 1
    assert "assert (run(1), '<U+001B>[31m<U+202E>')" in ran.out
    assert not set("\x1b\x07\u202e") & set(ran.out)


def test_colours_on_a_terminal_only_and_not_if_unwanted(tmp_path, reviewbot):
    write(tmp_path, {"test_a.py": WEAK})
    assert "\x1b[" in on_a_terminal(tmp_path)
    assert "\x1b[" not in on_a_terminal(tmp_path, "--no-color")
    assert "\x1b[" not in on_a_terminal(tmp_path, NO_COLOR="1")
    assert "\x1b[" not in reviewbot("lint").out


def on_a_terminal(folder: Path, *words: str, **env: str) -> str:
    ours, theirs = pty.openpty()
    root = str(Path(__file__).parent.parent.parent)
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "GITHUB_ACTIONS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "reviewbot", "lint", *words],
        cwd=folder,
        stdout=theirs,
        stderr=theirs,
        env={**clean, "PYTHONPATH": root, "TERM": "xterm", **env},
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    process.wait(timeout=60)
    os.close(ours)
    return said.decode()


def test_json_is_a_list_of_exactly_these_keys(reviewbot, tmp_path):
    write(tmp_path, {"tests/test_a.py": WEAK})
    ran = reviewbot("lint", "--output-format", "json", cwd=tmp_path / "tests")
    assert ran.code == 1
    (finding,) = json.loads(ran.out)
    assert set(finding) == {
        *("path", "line", "column", "end_line", "end_column", "rule", "certainty", "message"),
        *("steps", "still_catches", "fingerprint", "fix"),
    }
    assert finding["path"] == "test_a.py"
    assert (finding["line"], finding["column"], finding["end_line"], finding["end_column"]) == (2, 5, 2, 36)
    assert finding["fix"]["edits"] == [
        {"path": "test_a.py", "line": 2, "end_line": 2, "text": "    assert run(1) == [2], 'wrong'\n"}
    ]


def test_what_cannot_be_read_is_one_line_each_and_the_run_goes_on(reviewbot, tmp_path):
    deep = "def test_deep():\n    assert (" + "-" * 400 + "1, 2)\n"
    write(
        tmp_path,
        {
            "good.py": WEAK,
            "broken.py": "x = 1\ndef f(:\n",
            "bytes.py": b"x = 1\ny = '\xff'\n",
            "declared.py": b"# coding: no-such\n",
            "null.py": b"x = 1\0\n",
            "deep.py": deep + WEAK,
            "deeper.py": "x = " + "(" * 5000 + ")" * 5000,
            "generated.py": b"x = [" + b"1," * 25_000_000 + b"]\n",
            "latin.py": "# coding: latin-1\nassert ('é', 1)\n".encode("latin-1"),
            "empty.py": "",
        },
    )
    (tmp_path / "dangling.py").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    ran = reviewbot("lint", "--output-format", "json")
    assert ran.code == 1
    assert [(path, line) for path, line, _ in found(ran)] == [("deep.py", 4), ("good.py", 2), ("latin.py", 2)]
    said = ran.err.splitlines()
    for name, why in {
        "broken.py:2": "not valid Python",
        "bytes.py": "not text in utf-8",
        "declared.py": "declares an encoding",
        "null.py": "null bytes",
        "deep.py:1": "`test_deep` is nested",
        "deeper.py": "nested",
        "generated.py": "50.0 MB",
        "dangling.py": "a link to nothing",
        "pipe.py": "a pipe",
    }.items():
        lines = [line for line in said if line.startswith(f"reviewbot: {name}:")]
        assert len(lines) == 1, (name, said)
        assert why in lines[0]
    assert len(said) == 9


def test_nothing_that_could_be_read_is_broken_input(reviewbot, tmp_path):
    write(tmp_path, {"broken.py": "def f(:\n"})
    for _ in range(3):  # the later ones with what the first left in the cache
        assert reviewbot("lint").code == 2
        assert reviewbot("lint", "broken.py").code == 2
    assert reviewbot("lint", "gone.py").code == 2
    write(tmp_path, {"good.py": "x = 1\n"})
    ran = reviewbot("lint")
    assert ran.code == 0
    assert ran.err == "reviewbot: broken.py:1: not valid Python (invalid syntax)\n"
    write(tmp_path, {"good.py": WEAK})
    assert reviewbot("lint").code == 1


@pytest.mark.parametrize(
    ("word", "says"), [("x", "'x' is no number of processes"), ("0", "0 processes can do nothing")]
)
def test_a_number_of_processes_is_one(reviewbot, word, says):
    ran = reviewbot("lint", "-j", word)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"reviewbot lint: error: argument -j/--jobs: {says}\n")


def test_gitignore_is_honoured_as_git_does_it(reviewbot, repository):
    names = ["a.py", "build/a.py", "gen_a.py", "gen_keep.py", "sub/local.py", "sub/b.py", "tracked_gen.py"]
    repository.write(dict.fromkeys(names, WEAK))
    repository.write({"tracked/build/c.py": WEAK, ".venv/lib/x.py": WEAK})
    repository.git("add", "--force", "tracked_gen.py", "tracked/build/c.py")
    repository.write({".gitignore": "build/\ngen_*.py\n!gen_keep.py\ntracked_gen.py\n"})
    repository.write({"sub/.gitignore": "local.py\n"})
    (repository.folder / ".git/info/exclude").write_text("a.py\n!build/a.py\n")
    git = repository.git("ls-files", "--cached", "--others", "--exclude-standard", "*.py").splitlines()
    ran = reviewbot("lint", "--output-format", "json", cwd=repository.folder)
    assert sorted(path for path, *_ in found(ran)) == sorted(set(git) - {".venv/lib/x.py"})
    # What is named by hand is meant.
    ran = reviewbot("lint", "--output-format", "json", "gen_a.py", "build", cwd=repository.folder)
    assert [path for path, *_ in found(ran)] == ["build/a.py", "gen_a.py"]


def test_gitignore_counts_without_a_repository_and_leaves_nothing_behind(reviewbot, tmp_path):
    write(tmp_path, {".gitignore": "out/\n", "out/a.py": WEAK, "b.py": WEAK})
    assert [path for path, *_ in found(reviewbot("lint", "--output-format", "json"))] == ["b.py"]
    assert not (tmp_path / ".git").exists()


def test_diff_reports_what_touches_changed_lines_only(reviewbot, repository):
    base = {"tests/test_a.py": WEAK + "\n\n" + "x = 1\n" * 5, "tests/test_b.py": WEAK}
    repository.commit(base)
    repository.write({"tests/test_a.py": base["tests/test_a.py"] + WEAK.replace("rows", "new")})
    repository.write({"tests/test_new.py": WEAK})
    words = ("lint", "--diff", "main", "--output-format", "json")
    assert [one[:2] for one in found(reviewbot(*words, cwd=repository.folder))] == [
        ("tests/test_a.py", 11),
        ("tests/test_new.py", 2),
    ]
    ran = reviewbot(*words, "test_a.py", cwd=repository.folder / "tests")
    assert [one[:2] for one in found(ran)] == [("test_a.py", 11)]
    ran = reviewbot("lint", "--diff", "no-such", cwd=repository.folder)
    assert ran.code == 2
    assert "no-such: no such commit" in ran.err


def test_rules_are_selected_and_ignored_by_name(reviewbot, tmp_path):
    write(tmp_path, {"test_a.py": WEAK})
    assert reviewbot("lint", "--select", "loop-may-be-empty").code == 0
    assert reviewbot("lint", "--ignore", "loop-may-be-empty,constant-verdict").code == 0
    assert reviewbot("lint", "--select", "loop-may-be-empty", "--select", "constant-verdict").code == 1
    ran = reviewbot("lint", "--ignore", "constant-verdikt")
    assert ran.code == 2
    assert "--ignore: no rule 'constant-verdikt'; did you mean 'constant-verdict'?" in ran.err


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("slect = []", ":3: [tool.reviewbot] has no key 'slect'; did you mean 'select'?"),
        ("fail-on = 'sometimes'", ":3: fail-on is 'sometimes'; it can be proved, likely, question, never"),
        ("exclude = 'a'", ":3: [tool.reviewbot] exclude: expected `array`, got `str`"),
        ("ignore = ['loop-may-be-emty']", "no rule 'loop-may-be-emty'; did you mean 'loop-may-be-empty'?"),
        ("rule-seconds = 0", ":3: rule-seconds is 0.0; it has to be more than 0"),
        (
            "sides = {bseline = []}",
            ":3: [tool.reviewbot.sides] has no key 'bseline'; did you mean 'baseline'?",
        ),
        (
            "other = []",
            ":3: [tool.reviewbot] has no key 'other'; [tool.reviewbot.sides] has one of that name",
        ),
        (
            "[tool.reviewbot.parity]\ncut_when = 'step'",
            ":4: [tool.reviewbot.parity] has no key 'cut_when'; did you mean 'cut-when'?",
        ),
        ("select = [", ":3: not valid TOML: "),
        ("fail-on = ", ":3:11: not valid TOML: invalid value"),
    ],
)
def test_a_wrong_configuration_is_named_with_its_line_and_the_way_out(reviewbot, tmp_path, table, says):
    write(tmp_path, {"pyproject.toml": f"\n[tool.reviewbot]\n{table}\n", "a.py": ""})
    ran = reviewbot("lint")
    assert ran.code == 2
    assert ran.err.startswith("reviewbot: ")
    assert "pyproject.toml" in ran.err
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("[tool.reviewbot", ":2:16: "),
        ("tool.reviewbot]", ":2:15: "),
        ("[tool.ruff\n[tool.reviewbot]", ":2:11: "),
    ],
)
def test_a_configuration_that_does_not_parse_stops_the_run(reviewbot, tmp_path, head, place):
    write(tmp_path, {"pyproject.toml": f"\n{head}\nfail-on = 'question'\n", "tests/a.py": ""})
    for words in (("lint",), ("lint", "tests")):
        ran = reviewbot(*words)
        assert (ran.code, ran.out) == (2, "")
        assert f"pyproject.toml{place}not valid TOML: expected " in ran.err
        assert len(ran.err.splitlines()) == 1


def test_a_pyproject_that_does_not_configure_reviewbot_stops_nothing(reviewbot, tmp_path):
    broken = "[tool.black\n# no [tool.reviewbot] here\n"
    write(tmp_path, {"pyproject.toml": "[tool.reviewbot]\nfail-on = 'never'\n", "data/test_a.py": WEAK})
    write(tmp_path, {"data/pyproject.toml": broken, "data/deep/pyproject.toml": "[tool.reviewbot\n"})
    assert reviewbot("lint").code == 0
    assert reviewbot("lint", "data").code == 0
    write(tmp_path, {"pyproject.toml": "[project]\nname = 'reviewbot'\n"})
    ran = reviewbot("lint")
    assert (ran.code, ran.err) == (1, "")
    write(tmp_path, {"pyproject.toml": "[tool]\nreviewbot = {fail-on = 'never'}\n"})
    assert reviewbot("lint").code == 0


def test_the_configuration_excludes_and_decides_what_fails(reviewbot, tmp_path):
    write(tmp_path, {"tests/test_a.py": WEAK, "tests/data/test_b.py": WEAK, "gen/test_c.py": WEAK})
    write(
        tmp_path, {"pyproject.toml": "[tool.reviewbot]\nexclude = ['tests/data', 'gen']\nfail-on = 'never'\n"}
    )
    ran = reviewbot("lint", "--output-format", "json")
    assert [path for path, *_ in found(ran)] == ["tests/test_a.py"]
    assert ran.code == 0
    ran = reviewbot("lint", "--output-format", "json", "--fail-on", "likely", cwd=tmp_path / "tests")
    assert [path for path, *_ in found(ran)] == ["test_a.py"]
    assert ran.code == 1
    assert reviewbot("lint", "gen/test_c.py", "--fail-on", "proved").code == 1
    assert reviewbot("lint", "gen/test_c.py", "--fail-on", "proved", "--force-exclude").code == 0


def test_exclusions_that_leave_nothing_are_named(reviewbot, tmp_path):
    write(tmp_path, {"tests/test_a.py": WEAK, "pyproject.toml": "[tool.reviewbot]\nexclude = ['tests']\n"})
    ran = reviewbot("lint")
    assert (ran.code, ran.out) == (2, "no file was looked at\n")
    assert ran.err == "reviewbot: `exclude` or --exclude leaves out every file that was given\n"
    # Who names files one by one, as pre-commit does, did not mean a folder without any.
    assert reviewbot("lint", "tests/test_a.py", "--force-exclude").code == 0


def test_a_folder_without_a_file_to_look_at_is_no_success(reviewbot, repository, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = reviewbot("lint", "empty")
    assert (ran.code, ran.out) == (2, "no file was looked at\n")
    assert ran.err == "reviewbot: no Python file, script or workflow is in empty\n"
    # A change without such a file is one that nothing can be said against.
    repository.commit({"notes.txt": "a"})
    assert reviewbot("lint", "--diff", "HEAD", cwd=repository.folder).code == 0


def test_what_tests_only_read_is_asked_about(reviewbot, tmp_path):
    write(tmp_path, {"tests/functional/odd.py": "assert (1, 2)\n", "tests/test_odd.py": "import ast\n"})
    words = ("lint", "--output-format", "json")
    # One file alone may be a harness that is started by hand; material comes in numbers.
    (weak,) = json.loads(reviewbot(*words).out)
    assert (weak["path"], weak["certainty"]) == ("tests/functional/odd.py", "proved")
    write(tmp_path, {f"tests/functional/more_{number}.py": "" for number in range(3)})
    (weak,) = json.loads(reviewbot(*words).out)
    assert (weak["path"], weak["certainty"]) == ("tests/functional/odd.py", "question")
    write(tmp_path, {"tests/test_odd.py": "from functional import odd\n"})
    (weak,) = json.loads(reviewbot(*words).out)
    assert weak["certainty"] == "proved"
    write(tmp_path, {"tests/test_odd.py": "", "run.sh": "python tests/functional/odd.py\n"})
    (weak,) = json.loads(reviewbot(*words).out)
    assert weak["certainty"] == "proved"


def test_certainty_is_a_floor(reviewbot, tmp_path):
    likely = "def test(run):\n    for row in [row for row in run(1) if row.done]:\n        assert row == 1\n"
    write(tmp_path, {"a.py": likely + WEAK})
    words = ("lint", "--output-format", "json", "--certainty")
    everything = json.loads(reviewbot(*words, "question").out)
    assert {one["certainty"] for one in everything} > {"proved"}
    assert {one["certainty"] for one in json.loads(reviewbot(*words, "proved").out)} == {"proved"}


@pytest.mark.parametrize(
    ("comment", "code", "says"),
    [
        ("# reviewbot: ignore[constant-verdict] the message is the test", 0, ""),
        ("# reviewbot: ignore[loop-may-be-empty, constant-verdict] both wanted", 0, ""),
        ("# reviewbot: ignore[constant-verdict]", 1, "this suppression gives no reason"),
        ("# reviewbot: ignore", 1, "this suppression names no rule"),
        ("# reviewbot: ignore[constant-verdikt] because", 1, "did you mean 'constant-verdict'?"),
        ("# reviewbot: ignore[loop-may-be-empty] because", 1, ""),
    ],
)
def test_a_suppression_needs_a_rule_and_a_reason(reviewbot, tmp_path, comment, code, says):
    for where in ("  " + comment + "\n", None):
        lines = WEAK.splitlines(keepends=True)
        lines = (
            [lines[0], lines[1].rstrip("\n") + where] if where else [lines[0], f"    {comment}\n", lines[1]]
        )
        write(tmp_path, {"test_a.py": "".join(lines)})
        ran = reviewbot("lint")
        assert ran.code == code, ran.out
        assert says in ran.out
        assert ("1 suppressed with a reason" in ran.out) == (code == 0)


def test_stdin_stands_for_a_file(reviewbot, tmp_path):
    write(tmp_path, {"pyproject.toml": ""})
    ran = reviewbot("lint", "-", "--stdin-filename", "tests/test_a.py", "--output-format", "json", stdin=WEAK)
    assert found(ran) == [("tests/test_a.py", 2, "constant-verdict")]
    ran = reviewbot("lint", "-", stdin=WEAK)
    assert ran.code == 1
    assert "2 |     assert (run(1)" in ran.out
    ran = reviewbot("lint", "-", "--fix", stdin=WEAK)
    assert (ran.out, ran.code) == (FIXED, 0)
    assert "fixed 1" in ran.err
    assert reviewbot("lint", "-", stdin="def f(:\n").code == 2
    assert reviewbot("lint", "-", "a.py").code == 2
    assert reviewbot("lint", "--stdin-filename", "a.py").code == 2


def shown_fixes(folder: Path) -> bytes:
    ran = subprocess.run(
        [sys.executable, "-m", "reviewbot", "lint", "--show-fixes"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
    )
    assert ran.returncode == 1
    return ran.stdout


def test_fix_changes_only_what_it_means_to(reviewbot, tmp_path):
    before = ("# coding: latin-1\r\nname = 'é'\r\n" + WEAK.replace("\n", "\r\n")).encode("latin-1")
    after = ("# coding: latin-1\r\nname = 'é'\r\n" + FIXED.replace("\n", "\r\n")).encode("latin-1")
    write(tmp_path, {"test_a.py": before, "test_b.py": WEAK.rstrip("\n"), "real/c.py": WEAK})
    (tmp_path / "test_a.py").chmod(0o750)
    (tmp_path / "test_c.py").symlink_to("real/c.py")
    assert b"\n name = '\xe9'\r\n" in shown_fixes(tmp_path)
    assert (tmp_path / "test_a.py").read_bytes() == before
    ran = reviewbot("lint", "--fix", "test_a.py", "test_b.py", "test_c.py")
    assert ran.code == 0
    assert "nothing found in 3 files; fixed 3 in test_a.py, test_b.py, test_c.py" in ran.out
    assert (tmp_path / "test_a.py").read_bytes() == after
    assert (tmp_path / "test_a.py").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "test_b.py").read_text() == FIXED.rstrip("\n")
    assert (tmp_path / "test_c.py").is_symlink()
    assert (tmp_path / "real/c.py").read_text() == FIXED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real", "test_a.py", "test_b.py", "test_c.py"]


ABSENT = """\
class Seen:
    first, second = {"a": 1}, {"a": 1}


def test_rows():
    for item in ("a", "rightly absent"):
        left = Seen.first
        right = Seen.second
        assert left.get(item) == right.get(item)
"""


def test_fix_leaves_alone_what_is_only_asked(reviewbot, tmp_path):
    write(tmp_path, {"test_asked.py": ABSENT, "test_sure.py": WEAK})
    shown = reviewbot("lint", "--show-fixes")
    assert "+        assert left[item] == right[item]" in shown.out.splitlines()
    says = "2 findings (1 proved, 1 question) in 2 of 2 files; "
    assert says + "shown 2 fixes; --fix would fix 1\n" in shown.err
    assert says + "--fix would fix 1\n" in reviewbot("lint").out
    ran = reviewbot("lint", "--fix")
    assert "; fixed 1 in test_sure.py; of questions, 1 can be fixed: --show-fixes shows how\n" in ran.out
    assert (tmp_path / "test_sure.py").read_text() == FIXED
    names: dict = {}
    exec((tmp_path / "test_asked.py").read_text(), names)
    names["test_rows"]()  # it passed before, and still does


def test_fix_says_that_there_was_nothing_to_fix(reviewbot, tmp_path):
    write(tmp_path, {"test_a.py": FIXED})
    assert reviewbot("lint", "--fix").out == "nothing found in 1 file; fixed nothing\n"
    ran = reviewbot("lint", "--show-fixes")
    assert (ran.out, ran.err) == ("", "nothing found in 1 file; shown no fixes; --fix would fix nothing\n")


def test_fix_goes_on_after_a_file_that_cannot_be_written(tmp_path):
    long = "n" * 245 + ".py"
    large = WEAK + "#" * 9000
    write(tmp_path, {"a.py": large, "b.py": WEAK, long: WEAK})
    ran = subprocess.run(
        [sys.executable, "-m", "reviewbot", "lint", "--fix", "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        # No file may grow beyond this: what a full disk does, also to a user who may do anything.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert ran.stderr == "reviewbot: a.py: the fix cannot be written (File too large)\n"
    assert "1 finding (1 proved) in 1 of 3 files; fixed 2" in ran.stdout
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.py": large,
        "b.py": FIXED,
        long: FIXED,
    }


def test_shown_fixes_are_a_diff_that_git_applies(reviewbot, repository):
    repository.commit(
        {
            "tests/test_a.py": "x = 1\n\n\n" + WEAK + "y = 2\n" * 9 + WEAK.replace("rows", "more"),
            "b.py": WEAK.rstrip(),
        }
    )
    ran = reviewbot("lint", "--show-fixes", cwd=repository.folder)
    (repository.folder / "fix.diff").write_text(ran.out)
    repository.git("apply", "fix.diff")
    assert reviewbot("lint", cwd=repository.folder).code == 0
    assert (repository.folder / "b.py").read_text() == FIXED.rstrip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\r\n" + WEAK.encode() + b"y = 2\r\n", b"x = 1\r\n" + FIXED.encode() + b"y = 2\r\n"),
        (WEAK.encode().replace(b"\n", b"\r"), FIXED.encode().replace(b"\n", b"\r")),
        (b"# a\rx = 1\n" + WEAK.encode(), b"# a\rx = 1\n" + FIXED.encode()),
        (
            b"def test_rows(run):\n    assert (run(1) == [2], '''a\rb\r\nc''')\r\n",
            b"def test_rows(run):\n    assert run(1) == [2], '''a\rb\r\nc'''\r\n",
        ),
    ],
    ids=["mixed", "lone", "in a line", "in the fix"],
)
def test_fix_leaves_line_ends_as_they_are(reviewbot, repository, before, after):
    repository.commit({"test_a.py": before})
    shown = shown_fixes(repository.folder)
    ran = reviewbot("lint", "--fix", cwd=repository.folder)
    assert "fixed 1" in ran.out
    assert (repository.folder / "test_a.py").read_bytes() == after
    repository.write({"test_a.py": before, "../fix.diff": shown})
    repository.git("apply", "../fix.diff")
    assert (repository.folder / "test_a.py").read_bytes() == after


def test_fix_refuses_a_file_whose_encoding_would_change_it(reviewbot, tmp_path):
    code = "# coding: unicode_escape\n" + WEAK
    write(tmp_path, {"a.py": code, "b.py": WEAK})
    for option in ("--show-fixes", "--fix"):
        ran = reviewbot("lint", option, "--quiet")
        assert ran.code == 1
        assert ran.err.count("reviewbot: a.py: not fixed: ") == len(ran.err.splitlines()) == 1
    assert ((tmp_path / "a.py").read_text(), (tmp_path / "b.py").read_text()) == (code, FIXED)


NAMES = [
    "a\n--- a/b.py\n+++ b/b.py",
    'a"\\b.py',
    "a\x1b]0;x\x7f\t.py",
    "a b.py",
    "漢\u202e\x9b字.py",
]


@pytest.mark.parametrize("name", NAMES)
def test_shown_fixes_quote_names_as_git_does(reviewbot, repository, name):
    repository.write({name: WEAK, "b.py": FIXED})
    ran = reviewbot("lint", "--show-fixes", cwd=repository.folder)
    assert [line[:4] for line in ran.out.splitlines() if line[:3] in ("---", "+++")] == ["--- ", "+++ "]
    assert not set("\x1b\x7f\x9b\u202e") & set(ran.out)
    repository.write({"../fix.diff": ran.out})
    repository.git("apply", "../fix.diff")
    assert (repository.folder / name).read_text() == FIXED


def test_a_baseline_hides_what_was_there_and_shows_what_is_new(reviewbot, tmp_path):
    write(tmp_path, {"test_a.py": WEAK})
    ran = reviewbot("lint", "--baseline", "known.json", "--write-baseline")
    assert ran.code == 0
    assert reviewbot("lint", "--baseline", "known.json").code == 0
    write(tmp_path, {"test_a.py": "import os\n\n\n" + WEAK + WEAK.replace("rows", "more")})
    ran = reviewbot("lint", "--baseline", "known.json", "--output-format", "json")
    assert found(ran) == [("test_a.py", 7, "constant-verdict")]
    write(tmp_path, {"known.json": '{"findings":\n [1}'})
    ran = reviewbot("lint", "--baseline", "known.json")
    assert ran.code == 2
    assert "known.json:2: not a baseline" in ran.err
    assert reviewbot("lint", "--baseline", "gone.json").code == 2


def test_annotations_in_a_workflow(reviewbot, tmp_path):
    write(tmp_path, {"test_a.py": WEAK})
    ran = reviewbot("lint", env={"GITHUB_ACTIONS": "true"})
    assert ran.code == 1
    assert ran.out.startswith(
        "::error file=test_a.py,line=2,endLine=2,col=5,endColumn=36,title=constant-verdict"
    )
    assert len(ran.out.splitlines()) == 1
    ran = reviewbot("lint", "--output-format", "text", env={"GITHUB_ACTIONS": "true"})
    assert ran.out.startswith("test_a.py:2:5: proved: ")


def test_annotations_cannot_steer_the_terminal(reviewbot, tmp_path):
    write(tmp_path, {"a\x1b]0;x\x9b\n::error::y.py": WEAK})
    ran = reviewbot("lint", "--output-format", "github")
    assert ran.out.startswith("::error file=a<U+001B>]0;x<U+009B>%0A%3A%3Aerror%3A%3Ay.py,line=2,")
    assert len(ran.out.splitlines()) == 1
    assert not set("\x1b\x9b") & set(ran.out)


def test_quiet_leaves_the_findings(reviewbot, tmp_path):
    write(tmp_path, {"test_a.py": WEAK})
    assert "in 1 of 1 file" not in reviewbot("lint", "--quiet").out
    write(tmp_path, {"test_a.py": FIXED})
    assert reviewbot("lint", "--quiet").out == ""
    assert reviewbot("lint").out == "nothing found in 1 file\n"


def test_what_stands_above_is_named_by_way_of_the_root_and_judged_by_its_folders(reviewbot, repository):
    run = "python -c 1\n"
    files = {".ci/list.sh": "bash tests/resume.sh\n", "tests/resume.sh": run, "tests/restore.sh": run}
    write(repository.folder, {**files, "tests/deep/note.txt": ""})
    repository.commit()
    words = ("lint", "--output-format", "json", "--select", "never-run-script")
    for above in ("..", "../.."):
        ran = reviewbot(*words, above, cwd=repository.folder / "tests" / "deep")
        assert found(ran) == [("../../tests/restore.sh", 1, "never-run-script")]


def test_values_of_a_producer_are_told_as_it_writes_them(reviewbot, tmp_path):
    logged = "len(head), len(rest), len(head) + len(rest)"
    files = {
        "pyproject.toml": "",
        "antenna.py": "import logging\n\nLOG = logging.getLogger(__name__)\n\n\n"
        "def listen(head, source):\n    rest = source(head)\n"
        f'    LOG.info("heard prefix=%d tail=%d total=%d", {logged})\n',
        "tests/test_log.py": "import re\n\n\ndef test_log(log):\n    for line in log:\n"
        '        found = re.search(r"heard prefix=(\\d+) tail=(\\d+) total=(\\d+)", line)\n'
        "        prefix, tail, total = int(found[1]), int(found[2]), int(found[3])\n"
        "        assert tail > 0\n        assert prefix + tail == total\n",
    }
    write(tmp_path, files)
    ran = reviewbot("lint", "--select=restated-arithmetic", "--output-format=json")
    (one,) = json.loads(ran.out)
    says = one["steps"][0]["says"]
    assert "`tail` as `len(rest)`" in says and "`total` as `len(head) + len(rest)`" in says


def test_a_rule_that_waits_for_a_diff_is_named_once(reviewbot, repository):
    repository.commit({"test_a.py": "def test_a():\n    assert 1 + 1 == 2\n"})
    one, both = "loosened-check looks", "loosened-check and new-field-unchecked look"
    for words, told in (
        (["-v"], both),
        (["--select", "loosened-check"], one),
        (["--select", "nan-passes,loosened-check"], one),
    ):
        for _ in range(3):  # the last time from what was kept
            ran = reviewbot("lint", *words, cwd=repository.folder)
            says = f"reviewbot: {told} at what a change takes away or brings, so only with --diff BASE\n"
            assert ran.err == says
    every = "loosened-check,new-field-unchecked"
    for words in (["-q"], ["--diff", "HEAD"], ["test_a.py"], ["--ignore", every]):
        assert reviewbot("lint", "--verbose", *words, cwd=repository.folder).err == ""


def test_whoever_lints_a_folder_without_a_question_is_told_of_its_findings_alone(reviewbot, repository):
    repository.commit({"test_a.py": "def test_a():\n    assert 1 + 1 == 2\n"})
    for words in ([], ["."], ["--select", "nan-passes"]):
        for _ in range(3):
            ran = reviewbot("lint", *words, cwd=repository.folder)
            assert (ran.code, ran.err) == (0, "")


def test_the_rules_that_wait_for_a_diff_are_those_whose_examples_all_have_one():
    from reviewbot.cli import lint
    from reviewbot.lint import registry

    waiting = [one for one in registry.rule_ids() if all(bad.before for bad in registry.load(one).bad)]
    assert tuple(waiting) == lint.COMPARING
