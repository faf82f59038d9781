"""A real repository read through its objects."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from reviewbot.config import Config
from reviewbot.errors import GitError
from reviewbot.model import Finding, Span, Step
from reviewbot.review.scope import scope
from reviewbot.source.diff import ChangedLines, changed_lines
from reviewbot.source.git import AtCommit, Repository

THIRTY = "".join(f"x{number} = {number}\n" for number in range(1, 31))


def lines(*without: int, **changed: str) -> str:
    """Thirty numbered lines, some left out, some replaced (`x10="two\\nlines\\n"`)."""
    kept = [
        changed.get(f"x{n}", line) for n, line in enumerate(THIRTY.splitlines(True), 1) if n not in without
    ]
    return "".join(kept)


def hunks(repository, old, new=None, path="a.py"):
    diff = Repository(repository.folder).diff(old, new)
    return {change.path: diff.hunks(change) for change in diff.changes}[path]


def test_hunks_say_which_lines_of_either_side_changed(repository):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(4, 5, x11="y\nz\n")})
    (hunk,) = hunks(repository, old, new)
    assert (hunk.old, hunk.new) == ((1, 14), (1, 13))
    assert hunk.removed == ((4, 5), (11, 11))
    assert hunk.changed == ((4, 3), (9, 10))


def test_hunks_are_those_that_git_itself_shows(repository):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(1, 30, x8="q\n", x15="q\n", x23="q\nr\ns\n")})
    shown = repository.git("diff", "--unified=3", old, new)
    heads = re.findall(r"^@@ -(\d+),(\d+) \+(\d+),(\d+) @@", shown, re.MULTILINE)
    assert len(heads) > 1
    assert [
        (hunk.old[0], hunk.old[1] - hunk.old[0] + 1, hunk.new[0], hunk.new[1] - hunk.new[0] + 1)
        for hunk in hunks(repository, old, new)
    ] == [tuple(map(int, head)) for head in heads]


def test_a_deletion_is_touched_only_by_what_spans_it(repository):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(10)})
    changed = changed_lines(Repository(repository.folder).diff(old, new).files())
    assert changed.ranges == {"a.py": ((10, 9),)}
    assert [changed.overlap("a.py", *span) for span in ((9, 10), (8, 12), (9, 9), (10, 10))] == [
        True,
        True,
        False,
        False,
    ]


def test_overlap_agrees_with_looking_at_each_range():
    ranges = ((1, 2), (5, 4), (7, 7), (10, 14), (20, 19))
    changed = ChangedLines({"a.py": ranges})
    for first in range(1, 24):
        for last in range(first, 24):
            plain = any(first <= end and start <= last for start, end in ranges)
            assert changed.overlap("a.py", first, last) == plain, (first, last)


def test_a_finding_is_touched_through_its_steps_in_other_files():
    changed = ChangedLines({"log.py": ((3, 3),)})
    finding = Finding("r", Span("check.py", 3, 1, 3, 2), "proved", "m", (Step("log.py", 2, 3, "made here"),))
    assert changed.touch(finding)
    assert not ChangedLines({"log.py": ((4, 4),)}).touch(finding)


def test_the_work_tree_with_new_files_against_a_commit(repository):
    old = repository.commit({"a.py": THIRTY, "b.py": "one\ntwo\nthree\n"})
    repository.write({"a.py": lines(x2="changed\n"), "new.py": "one\ntwo\n", "b.py": None, "c.txt": "text\n"})
    repository.write({"folder/renamed.py": "one\ntwo\nthree\n"})
    diffs = Repository(repository.folder / "folder").diff(old).files()
    assert {(one.path, one.old_path): (one.changed, one.removed) for one in diffs} == {
        ("a.py", "a.py"): (((2, 2),), ((2, 2),)),
        ("new.py", None): (((1, 2),), ()),
        ("folder/renamed.py", "b.py"): ((), ()),
        ("c.txt", None): (((1, 1),), ()),
    }


def test_a_commit_seen_from_a_folder_below(repository):
    sha = repository.commit({"a.py": "1\n", "pkg/sub/b.py": "2\n"})
    files = AtCommit(Repository(repository.folder), sha, "../..")
    assert [source.path for source in files.every(lambda path: True)] == ["../../a.py", "../../pkg/sub/b.py"]
    assert list(files.folders("../../pkg/sub/b.py")) == ["../../pkg/sub", "../../pkg", "../.."]


def test_names_kinds_and_renames(repository):
    old = repository.commit({"gone.py": "1\n", "old name.py": THIRTY, "link.py": "1\n"})
    (repository.folder / "old name.py").unlink()
    repository.write({'qu"o\nted \u00fc.py': lines(x3="3\n"), "gone.py": None, "link.py": None})
    (repository.folder / "link.py").symlink_to("/etc/passwd")
    (repository.folder / os.fsdecode(b"caf\xe9.py")).write_text("other\n")
    repository.git("clone", "--quiet", ".", "module")
    new = repository.commit()
    git = Repository(repository.folder)
    diff = git.diff(old, new)
    assert {change.path: (change.old_path, change.status, change.kind) for change in diff.changes} == {
        "gone.py": ("gone.py", "deleted", "file"),
        'qu"o\nted \u00fc.py': ("old name.py", "renamed", "file"),
        "link.py": ("link.py", "modified", "symlink"),
        os.fsdecode(b"caf\xe9.py"): (None, "added", "file"),
        "module": (None, "added", "submodule"),
    }
    assert {entry.path for entry in git.files(new)} == {
        change.path for change in diff.changes if change.status != "deleted"
    }


def test_a_blob_is_read_and_a_link_never_followed(repository):
    repository.write({"deep/down/a.py": b"caf\xe9\r\n", "secret.py": "secret\n"})
    (repository.folder / "link.py").symlink_to("secret.py")
    (repository.folder / "folder").symlink_to("deep")
    name = os.fsdecode(b"caf\xe9.py")
    (repository.folder / name).write_bytes(b"1\n")
    commit = repository.commit()
    repository.write({"deep/down/a.py": "the work tree is not looked at"})
    git = Repository(repository.folder)
    assert git.read(commit, "deep/down/a.py") == b"caf\xe9\r\n"
    assert git.read(commit, name) == b"1\n"
    for path in ("link.py", "folder/down/a.py", "deep", "deep/", "none.py", "", "/", "../a"):
        assert git.read(commit, path) is None, path


def test_attributes_that_come_with_the_change_hide_nothing(repository):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(x2="2\n"), ".gitattributes": "*.py binary -diff\n"})
    assert hunks(repository, old, new)[0].changed == ((2, 2),)
    assert hunks(repository, old)[0].changed == ((2, 2),)


def test_refs(repository, tmp_path):
    first = repository.commit({"a.py": "1\n"})
    repository.git("branch", "topic")
    second = repository.commit({"a.py": "2\n"})
    repository.git("tag", "-a", "v1", "-m", "tagged")
    repository.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    git = Repository(tmp_path / "clone")
    assert [git.commit(ref) for ref in ("HEAD", "v1", second[:10], "HEAD~1", "origin/topic", "topic")] == [
        second,
        second,
        second,
        first,
        first,
        first,
    ]
    assert git.default_branch() == "origin/main"
    assert git.merge_base(first, second) == first
    with pytest.raises(GitError, match="nowhere: no such commit here"):
        git.commit("nowhere")


def test_a_shallow_clone_without_merge_base_says_how_to_get_it(repository, tmp_path):
    repository.commit({"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"b.py": "1\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"c.py": "1\n"})
    address = repository.folder.as_uri()
    repository.git("clone", "--quiet", "--depth=1", "--no-single-branch", address, str(tmp_path / "clone"))
    git = Repository(tmp_path / "clone")
    one, other = git.commit("origin/main"), git.commit("origin/topic")
    with pytest.raises(GitError, match=r"shallow clone.*fetch-depth: 0"):
        git.merge_base(one, other)
    with pytest.raises(GitError, match=r"HEAD~1: no such commit.*fetch-depth: 0"):
        git.commit("HEAD~1")


def test_histories_without_a_common_ancestor(repository):
    one = repository.commit({"a.py": "1\n"})
    repository.git("checkout", "--quiet", "--orphan", "other")
    other = repository.commit({"b.py": "1\n"})
    with pytest.raises(GitError, match="no common ancestor; name a base"):
        Repository(repository.folder).merge_base(one, other)


def test_a_content_that_the_clone_left_out_is_an_error_that_names_the_file(repository, tmp_path):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(2)})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = str(tmp_path / "clone")
    repository.git("clone", "--quiet", "--filter=blob:none", "--bare", repository.folder.as_uri(), clone)
    git = Repository(tmp_path / "clone")
    assert git.root is None
    diff = git.diff(old, new)
    with pytest.raises(GitError, match=r"a\.py: its content is missing from this clone"):
        diff.hunks(diff.changes[0])


def test_settings_that_the_clone_left_out_are_passed_over_and_code_is_not(repository, tmp_path):
    new = repository.commit({"a.py": "1\n", "answers.yaml": lines(2), "ci.yaml": "a: 1\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = str(tmp_path / "clone")
    repository.git("clone", "--quiet", "--filter=blob:limit=20", "--bare", repository.folder.as_uri(), clone)
    git = Repository(tmp_path / "clone").up_to(1000)
    assert [one.path for one in AtCommit(git, new).every(lambda _: True)] == ["a.py", "ci.yaml"]
    repository.commit({"a.py": THIRTY})
    repository.git(
        "clone", "--quiet", "--filter=blob:limit=20", "--bare", repository.folder.as_uri(), f"{clone}2"
    )
    git = Repository(tmp_path / "clone2").up_to(1000)
    with pytest.raises(GitError, match="is missing from this clone"):
        list(AtCommit(git, git.commit("HEAD")).every(lambda _: True))


def partial(repository, folder, what: str) -> Repository:
    """A clone of a repository that leaves something out, read within a limit as a review reads it."""
    repository.git("config", "uploadpack.allowFilter", "true")
    address = repository.folder.as_uri()
    repository.git("clone", "--quiet", f"--filter={what}", "--no-checkout", address, str(folder))
    return Repository(folder).up_to(100_000)


@pytest.mark.parametrize("path", ["a.py", "pyproject.toml", "setup.cfg", "pytest.ini", "Makefile", "ci.yaml"])
def test_code_and_settings_that_the_clone_left_out_are_named_with_a_way_to_fetch_them(
    repository, tmp_path, path
):
    old = repository.commit({path: THIRTY})
    new = repository.commit({path: lines(2)})
    git = partial(repository, tmp_path / "clone", "blob:none")
    with pytest.raises(GitError) as read:
        git.read(new, path)
    diff = git.diff(old, new)
    with pytest.raises(GitError) as compared:
        diff.hunks(diff.changes[0])
    wanted = f"{path}: its content is missing from this clone; `git fetch --refetch --no-filter` fetches"
    for said in (str(read.value), str(compared.value)):
        assert said.startswith(wanted)
        assert "\n" not in said
        assert not re.search("[0-9a-f]{12}", said)


@pytest.mark.parametrize("what", ["blob:none", "tree:0"])
def test_the_way_to_fetch_what_was_left_out_fetches_it(repository, tmp_path, what):
    old = repository.commit({"a.py": THIRTY, "pkg/b.py": THIRTY})
    new = repository.commit({"a.py": lines(2), "pkg/b.py": lines(3)})
    git = partial(repository, tmp_path / "clone", what)
    with pytest.raises(GitError) as missing:
        git.diff(old, new).files()
    command = re.search("`git (.*)`", str(missing.value))
    assert command is not None
    repository.git("-C", str(tmp_path / "clone"), *command[1].split())
    found = Repository(tmp_path / "clone").diff(old, new).files()
    assert [(one.path, one.removed) for one in found] == [("a.py", ((2, 2),)), ("pkg/b.py", ((3, 3),))]


def test_folders_that_the_clone_left_out_are_an_error_of_one_line(repository, tmp_path):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": lines(2)})
    git = partial(repository, tmp_path / "clone", "tree:0")
    for ask in (lambda: git.diff(old, new), lambda: git.read(old, "a.py"), lambda: list(git.files(old))):
        with pytest.raises(
            GitError, match=r"top folder of \w{12}.*missing from this clone; `git fetch"
        ) as said:
            ask()
        assert "\n" not in str(said.value)


def test_code_that_was_renamed_and_that_the_clone_left_out_is_named(repository, tmp_path):
    old = repository.commit({"a.py": THIRTY})
    new = repository.commit({"a.py": None, "b.py": lines(2)})
    with pytest.raises(GitError, match=r"^[ab]\.py: its content is missing from this clone; `git fetch"):
        partial(repository, tmp_path / "clone", "blob:none").diff(old, new)


def test_data_that_the_clone_left_out_stops_nothing_and_code_beside_it_is_still_followed(
    repository, tmp_path
):
    long = THIRTY * 9
    old = repository.commit({"a.py": "x = 1\ny = 2\nz = 3\n", "d/one.json": long, "d/two.json": long + "2"})
    new = repository.commit(
        {
            "a.py": None,
            "b.py": "x = 1\ny = 2\nz = 4\n",
            "d/one.json": None,
            "d/other.json": long + "1",
            "d/two.json": long + "3",
        }
    )
    git = partial(repository, tmp_path / "clone", "blob:limit=100")
    diff = git.diff(old, new)
    assert [(one.path, one.old_path, one.status) for one in diff.changes] == [
        ("b.py", "a.py", "renamed"),
        ("d/one.json", "d/one.json", "deleted"),
        ("d/other.json", None, "added"),
        ("d/two.json", "d/two.json", "modified"),
    ]
    assert {one.path: one.removed for one in diff.files() if one.removed} == {"b.py": ((3, 3),)}
    assert git.read(new, "d/two.json") is None
    looked_at = scope(git, diff.changes, Config())
    assert [change.path for change, _ in looked_at.changes] == ["b.py"]
    assert [one.path for one in looked_at.unread if "`git fetch" in one.why] == [
        "d/one.json",
        "d/other.json",
        "d/two.json",
    ]


def test_data_that_only_the_work_tree_has_is_not_left_out(repository):
    old = repository.commit({"a.json": THIRTY})
    (repository.folder / "a.json").write_text(lines(2))
    (repository.folder / "new.json").write_text(lines(3))
    found = {one.path: one for one in Repository(repository.folder).diff(old).files()}
    assert found["a.json"].removed == ((2, 2),)
    assert "new.json" in found


def test_no_repository(tmp_path):
    with pytest.raises(GitError, match="not in a git repository"):
        Repository(tmp_path)


@pytest.mark.skipif(os.getuid() != 0, reason="giving a folder away needs root")
def test_a_repository_that_belongs_to_somebody_else_is_read(repository):
    commit = repository.commit({"a.py": "1\n"})
    subprocess.run(["chown", "-R", "12345", str(repository.folder)], check=True)
    assert Repository(repository.folder).commit("HEAD") == commit
