"""Which files are looked at."""

from __future__ import annotations

import os

from reviewbot.source.discover import files_under


def test_a_folder_that_cannot_be_listed_is_handed_over_and_the_rest_is_found(tmp_path, monkeypatch):
    # The superuser, as whom tests may run, can list any folder.
    for name in ("a.py", "shut/b.py", "z/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.chdir(tmp_path)
    unread = []
    assert list(files_under(["."], on_unread=unread.append)) == ["a.py", "z/c.py"]
    assert [(error.path, error.why) for error in unread] == [("shut", "cannot be listed (permission denied)")]


def test_links_to_folders_are_not_followed_and_no_file_comes_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").touch()
    (tmp_path / "a/loop").symlink_to("..")
    assert list(files_under([".", "a", "a/b.py", "./a/b.py"])) == ["a/b.py"]
