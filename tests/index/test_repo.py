"""What a rule sees of the whole repository: from a work tree, from a commit, and what it asked."""

from __future__ import annotations

import os

import pytest

from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory, OnDisk
from reviewbot.source.git import AtCommit
from reviewbot.source.git import Repository as Git

FILES = {
    "pkg/run.py": "def finish():\n    pass\n",
    "tests/test_run.py": "from pkg.run import finish\nfinish()\n",
}


def callers(repo: Repo) -> list[tuple[str, int]]:
    return [(path, call.line) for path, call in repo.index.calls("finish")]


def test_a_work_tree_is_known_without_what_git_ignores(repository, monkeypatch):
    repository.commit({**FILES, ".gitignore": "built/\n"})
    repository.write({"built/copy.py": "finish()\n", "new.py": "\nfinish()\n"})
    os.symlink("new.py", repository.folder / "link.py")
    monkeypatch.chdir(repository.folder)
    assert callers(Repo(files=OnDisk())) == [("new.py", 2), ("tests/test_run.py", 2)]


def test_from_a_folder_below_paths_are_as_findings_write_them(repository, monkeypatch):
    repository.commit(FILES)
    monkeypatch.chdir(repository.folder / "pkg")
    assert callers(Repo(files=OnDisk())) == [("../tests/test_run.py", 2)]
    monkeypatch.chdir(repository.folder / "tests")
    assert callers(Repo(files=OnDisk())) == [("test_run.py", 2)]
    head = AtCommit(Git(repository.folder), repository.git("rev-parse", "HEAD"), "..")
    assert callers(Repo(files=head)) == [("test_run.py", 2)]


def test_a_folder_without_git_is_walked(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "a.py").write_text("finish()\n")
    (tmp_path / "outside.py").write_text("finish()\n")
    monkeypatch.chdir(tmp_path)
    assert callers(Repo(files=OnDisk("here"))) == [("here/a.py", 1)]


def test_a_commit_is_known_whatever_the_work_tree_holds(repository):
    sha = repository.commit(FILES)
    repository.write({"tests/test_run.py": "nothing()\n"})
    assert callers(Repo(files=AtCommit(Git(repository.folder), sha))) == [("tests/test_run.py", 2)]


@pytest.mark.parametrize(("change", "same"), [("pkg/run.py", True), ("tests/test_run.py", False)])
def test_a_question_is_remembered_with_what_answered_it(change, same):
    def asked(files: dict[str, str]) -> tuple[Repo, Repo]:
        whole = Repo(files=InMemory({path: text.encode() for path, text in files.items()}))
        return whole, whole.of("pkg/run.py")

    whole, seen = asked(FILES)
    callers(seen)
    assert seen.asked == {("index:call", "finish")}
    changed, _ = asked({**FILES, change: "# moved down\n" + FILES[change]})
    (fact,) = seen.asked
    assert (whole.digest(fact) == changed.digest(fact)) is same
