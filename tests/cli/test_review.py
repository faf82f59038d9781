"""`reviewbot review` on real git repositories, through the command line."""

from __future__ import annotations

import json

import pytest

from reviewbot.render import review_json

FILLER = "".join(f"# line {number}\n" for number in range(30))
OLD = "def test_old(run):\n    assert (run(1) == [2], 'old')\n"
NEW = "def test_new(run):\n    assert (run(2) == [3], 'new')\n"


@pytest.fixture
def branch(repository):
    """A branch `topic` that adds one weak check beside an old one, with a remote on GitHub."""
    repository.git("remote", "add", "origin", "git@github.com:acme/trainer.git")
    repository.commit({"tests/test_rows.py": OLD + FILLER})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": OLD + FILLER + NEW})
    return repository


def reviewed(ran):
    """The review that a run wrote as JSON."""
    return review_json.decode(ran.out, "standard output")


def test_only_what_the_change_touches_is_reported(reviewbot, branch):
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=branch.folder)
    (thread,) = reviewed(ran).threads
    assert (ran.code, thread.id, thread.finding.span.line) == (1, "C1", 34)


def test_places_are_links_pinned_to_the_head(reviewbot, branch):
    head = branch.git("rev-parse", "HEAD")
    ran = reviewbot("review", "--base", "main", "--output-format", "markdown", cwd=branch.folder)
    assert f"(https://github.com/acme/trainer/blob/{head}/tests/test_rows.py#L34)" in ran.out


def test_the_work_tree_is_neither_read_nor_changed(reviewbot, branch):
    branch.git("checkout", "--quiet", "main")
    branch.write({"tests/test_rows.py": "half a file ("})
    status = branch.git("status", "--porcelain")
    ran = reviewbot(
        "review", "--base", "main", "--head", "topic", "--output-format", "json", cwd=branch.folder
    )
    assert [thread.finding.span.line for thread in reviewed(ran).threads] == [34]
    assert branch.git("status", "--porcelain") == status


def test_what_json_says_is_what_text_and_markdown_say(reviewbot, branch):
    text, markdown, as_json = (
        reviewbot("review", "--base", "main", "--output-format", form, cwd=branch.folder)
        for form in ("text", "markdown", "json")
    )
    review = json.loads(as_json.out)
    assert review["version"] == 1
    assert review["repository"] == "github.com/acme/trainer"
    assert review["summary"] in markdown.out
    assert review["threads"][0]["body"] in markdown.out
    assert text.out.startswith("C1 tests/test_rows.py:34:5: proved: ")
    assert "34 |     assert (run(2) == [3], 'new')\n" in text.out
    assert {text.code, markdown.code, as_json.code} == {1}


@pytest.mark.parametrize(("fail_on", "code"), [("proved", 1), ("question", 1), ("never", 0)])
def test_fail_on_decides_the_exit_code(reviewbot, branch, fail_on, code):
    assert reviewbot("review", "--base", "main", "--fail-on", fail_on, cwd=branch.folder).code == code


def test_the_configuration_is_that_of_the_base(reviewbot, branch):
    branch.commit({"pyproject.toml": '[tool.reviewbot]\nignore = ["constant-verdict"]\n'})
    assert reviewbot("review", "--base", "main", cwd=branch.folder).code == 1
    branch.git("checkout", "--quiet", "main")
    branch.commit({"pyproject.toml": '[tool.reviewbot]\nignore = ["constant-verdict"]\n'})
    assert reviewbot("review", "--base", "main", "--head", "topic", cwd=branch.folder).code == 0


def test_what_cannot_be_read_is_named_with_its_reason(reviewbot, repository):
    old = {"gone.py": "1\n", "moved.py": FILLER, "mode.py": "2\n", "image.bin": b"\0\1"}
    repository.commit(old)
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.git("mv", "moved.py", "renamed.py")
    repository.write(
        {"gone.py": None, "image.bin": b"\0\2", "latin.py": b"x = '\xe9'\n", "bad.py": "x = (\n"}
    )
    repository.write({"notes.txt": "text\n", "nul.py": b"x = 1\0\n", "mac.py": b"x = 1\ry = 2\n"})
    (repository.folder / "mode.py").chmod(0o755)
    (repository.folder / "link.py").symlink_to("/etc/passwd")
    repository.git("clone", "--quiet", ".", "module")
    repository.commit()
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (last,) = reviewed(ran).rounds
    assert {file.path: (file.why, file.line) for file in last.unread} == {
        "gone.py": ("deleted", None),
        "mode.py": ("only its mode changed", None),
        "image.bin": ("binary", None),
        "nul.py": ("binary", None),
        "latin.py": ("neither UTF-8 nor the encoding that it declares", None),
        "mac.py": ("lone carriage returns, so that its line numbers are not those of the diff", None),
        "bad.py": ("not valid Python ('(' was never closed)", 1),
        "notes.txt": ("neither Python, a script nor YAML", None),
        "link.py": ("a symbolic link", None),
        "module": ("a submodule", None),
    }
    assert (last.files, last.read) == (11, 1)  # what was only renamed
    assert "passwd" not in ran.out


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ('exclude = ["tests/test_r*.py"]', "excluded by the configuration"),
        ("max-file-bytes = 50", "larger than 50 bytes (max-file-bytes), taken for a generated file"),
    ],
)
def test_what_the_base_leaves_out_is_named(reviewbot, branch, setting, why):
    branch.git("checkout", "--quiet", "main")
    branch.commit({"pyproject.toml": f"[tool.reviewbot]\n{setting}\n"})
    words = ("--base", "main", "--head", "topic", "--output-format", "json")
    ran = reviewbot("review", *words, cwd=branch.folder)
    (last,) = reviewed(ran).rounds
    assert (ran.code, last.read, reviewed(ran).threads) == (0, 0, ())
    assert [(file.path, file.why) for file in last.unread] == [("tests/test_rows.py", why)]


def test_base_is_the_default_branch_of_the_remote(reviewbot, branch, tmp_path):
    branch.git("checkout", "--quiet", "main")
    branch.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    ran = reviewbot("review", "--head", "origin/topic", cwd=tmp_path / "clone")
    assert (ran.code, ran.out.startswith("C1 ")) == (1, True)
    assert "name it with --repository" in ran.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--base", "nowhere"], "nowhere: no such commit here"),
        (["--head", "nowhere", "--base", "main"], "nowhere: no such commit here"),
        (["--base", "main", "--repository", "acme"], "'acme' names no repository; write OWNER/REPO"),
    ],
)
def test_wrong_use_says_what_is_wrong(reviewbot, branch, words, says):
    ran = reviewbot("review", *words, cwd=branch.folder)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def left_out(branch, folder, what):
    """A clone of the branch that leaves something out."""
    branch.git("config", "uploadpack.allowFilter", "true")
    words = ("--quiet", f"--filter={what}", "--no-checkout", "--branch=topic")
    branch.git("clone", *words, branch.folder.as_uri(), str(folder))
    return folder


@pytest.mark.parametrize(
    "words", [("review", "--base", "HEAD~1"), ("size", "--base", "HEAD~1"), ("lint", "--diff", "HEAD~1")]
)
@pytest.mark.parametrize(
    ("what", "named"), [("tree:0", "the top folder of "), ("blob:none", "tests/test_rows.py")]
)
def test_a_clone_that_leaves_out_what_is_needed_is_told_how_to_fetch_it(
    reviewbot, branch, tmp_path, words, what, named
):
    ran = reviewbot(*words, cwd=left_out(branch, tmp_path / "clone", what))
    assert ran.code == 2
    (line,) = ran.err.splitlines()
    assert line.startswith(f"reviewbot: {named}")
    assert "`git fetch --refetch --no-filter`" in line


def test_data_that_a_clone_leaves_out_is_named_and_the_code_is_reviewed(reviewbot, branch, tmp_path):
    row = '{"a": 1}\n'
    branch.commit({"data/rows.json": row * 300, "data/old.json": row * 200})
    weak = OLD + FILLER + NEW + NEW.replace("new", "newer")
    branch.commit(
        {
            "tests/test_rows.py": weak,
            "data/rows.json": row * 301,
            "data/old.json": None,
            "data/moved.json": row * 201,
        }
    )
    clone = left_out(branch, tmp_path / "clone", "blob:limit=1500")
    ran = reviewbot("review", "--base", "HEAD~1", "--output-format", "json", cwd=clone)
    (thread,) = reviewed(ran).threads
    assert (ran.code, thread.finding.span.path) == (1, "tests/test_rows.py")
    said = {one.path: one.why for one in reviewed(ran).rounds[-1].unread}
    assert set(said) == {"data/rows.json", "data/old.json", "data/moved.json"}
    assert all("missing from this clone; `git fetch" in why for why in said.values())


def test_outside_of_a_repository(reviewbot, tmp_path):
    ran = reviewbot("review", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "not in a git repository" in ran.err


GUARDED = """\
def test_rows(run):
    rows = [row for row in run(1) if row.done]
    assert rows
    for row in rows:
        assert row.ok
"""


def test_a_finding_that_the_change_reveals_is_reported_once(reviewbot, repository):
    # The rule that looks at what a change takes away would tell it too.
    settings = '[tool.reviewbot]\nignore = ["loosened-check"]\n'
    repository.commit({"tests/test_rows.py": FILLER + GUARDED + FILLER + OLD, "pyproject.toml": settings})
    repository.git("checkout", "--quiet", "-b", "topic")
    # The old function moves to another line, and its finding with it, under a new name.
    changed = (FILLER + GUARDED.replace("    assert rows\n", "") + FILLER + OLD).replace(
        "test_old", "test_older"
    )
    repository.commit({"tests/test_rows.py": changed})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (thread,) = reviewed(ran).threads
    assert (thread.finding.rule, thread.revealed) == ("loop-may-be-empty", True)
    assert "the change took away what held this off" in thread.body
    assert thread.place == "line"


def test_a_check_that_is_taken_away_and_what_it_held_off_are_one_comment(reviewbot, repository):
    repository.commit({"tests/test_rows.py": GUARDED})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": GUARDED.replace("    assert rows\n", "")})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (thread,) = reviewed(ran).threads
    assert thread.finding.rule == "loosened-check"
    assert [step.line for step in thread.finding.steps][-1] == 4
    assert "this check never runs" in thread.finding.steps[-1].says


def test_a_base_that_cannot_be_parsed_reveals_nothing(reviewbot, repository):
    repository.commit({"tests/test_rows.py": OLD + FILLER + "x = (\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": OLD + FILLER + "x = ()\n"})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    assert reviewed(ran).threads == ()


HALF = """\
def compare(reference, restored, excused):
    for index, (left, right) in enumerate(zip(reference, restored, strict=True)):
        if index in excused:
            if left["\\ud800"] != right["\\ud800"]:
                raise AssertionError(index)
            continue
        if left["tokens"] != right["tokens"]:
            raise AssertionError(index)


def main(reference, restored):
    excused = {i for i, (a, b) in enumerate(zip(reference, restored)) if a != b}
    compare(reference, restored, excused)
"""


def test_half_a_character_in_the_code_is_spelled_out(reviewbot, repository):
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tools/parity.py": HALF})
    for form in ("json", "markdown", "text"):
        words = ("--base", "main", "--fail-on", "question", "--output-format", form)
        ran = reviewbot("review", *words, cwd=repository.folder)
        assert (ran.code, "\\ud800" in ran.out) == (1, True), ran.err
    ran = reviewbot("lint", "--output-format", "json", cwd=repository.folder)
    assert any("\\ud800" in json.dumps(finding) for finding in json.loads(ran.out))


def test_a_repository_without_commits_is_called_so(reviewbot, repository):
    for words in ((), ("--base", "main"), ("--head", "main")):
        ran = reviewbot("review", *words, cwd=repository.folder)
        assert (ran.code, ran.out) == (2, "")
        assert "there are no commits yet" in ran.err
        assert "fetch" not in ran.err
    repository.commit()
    repository.git("checkout", "--quiet", "--orphan", "fresh")
    assert "HEAD: no such commit here; there are no commits yet" in (
        reviewbot("review", "--base", "main", cwd=repository.folder).err
    )
    ran = reviewbot("review", "--head", "main", "--base", "nowhere", cwd=repository.folder)
    assert "nowhere: no such commit here; `git fetch` it" in ran.err


TWICE = """\
import numpy as np


def test_both(run, load):
    np.allclose(run(1), load(1)); np.allclose(run(2), load(2))
    np.allclose(run(3), load(3))
"""


def test_of_two_suggestions_for_the_same_lines_one_is_a_diff(reviewbot, repository, tmp_path):
    repository.commit({"README.md": "A test to come.\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_both.py": TWICE})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    threads = reviewed(ran).threads
    assert [(one.id, one.proposal.form) for one in threads] == [
        ("C1", "suggestion"),
        ("C2", "diff"),
        ("C3", "suggestion"),
    ]
    assert "C1 suggests another change of these lines" in threads[1].body
    assert [one.body.count("```suggestion\n") for one in threads] == [1, 0, 1]
    # The diff applies, to the file as it stands.
    diff = threads[1].proposal.text
    (tmp_path / "two.diff").write_text(diff)
    repository.git("apply", str(tmp_path / "two.diff"))
    assert "; assert np.allclose(run(2), load(2))\n" in (repository.folder / "tests/test_both.py").read_text()


def test_files_that_are_too_many_to_look_at_beside_a_change_are_none_of_its_files(reviewbot, repository):
    looks = {f"shop/look_{n}.py": "def look(row):\n    return row['price']\n" for n in range(61)}
    repository.commit({"shop/save.py": "def save(row):\n    return {'price': row.price}\n", **looks})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"shop/save.py": "def save(row):\n    return {'price': row.cost}\n"})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (last,) = reviewed(ran).rounds
    assert [one.path for one in last.unread] == ["61 files that read the key `price`"]
    assert (last.files, last.read) == (1, 1)
