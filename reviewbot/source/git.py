"""A git repository read through its objects: nothing is checked out, and no hook, filter or driver runs.

Paths are relative to the repository's root, with forward slashes; bytes of a name that are not UTF-8 become
lone surrogates, as in `os.fsdecode`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

import pygit2
from pygit2.enums import CheckoutStrategy, DeltaStatus, DiffFind, DiffFlag, DiffOption, FileMode, ObjectType

from reviewbot.errors import GitError
from reviewbot.source.diff import Change, FileDiff, Hunk, Kind, Lines, Status, changed_ranges
from reviewbot.source.files import Source, named

# Who owns the files matters where git runs what stands in them. Nothing of them is run here, and in a
# container they often belong to somebody else.
pygit2.settings.owner_validation = False

CONTEXT = 3  # the unchanged lines around a change, as GitHub shows them
MOST_FILES = 1_000_000  # of a commit that somebody else made
MOST_FOLDERS = 250  # within one another
RENAME_LIMIT = 400  # files looked at for each renamed one; more would make the work quadratic

# What holds no code and no settings: a review goes on where a clone leaves it out.
DATA = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".npy", ".npz", ".pkl", ".pt", ".bin",
    ".safetensors", ".md", ".rst", ".html", ".svg", ".png", ".jpg", ".gif", ".pdf", ".gz", ".zip", ".lock",
)  # fmt: skip
LEFT_OUT = (
    "its content is missing from this clone; `git fetch --refetch --no-filter` fetches what was left out"
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a commit. `id` is the hexadecimal id of its content."""

    path: str
    kind: Kind
    id: str


class Repository:
    """One repository. Raises `GitError` where git has no such thing, saying what to do about it.

    A file of more than `largest` bytes counts as generated: its content is not to be had by its path, and it
    has no hunks. None is no limit.
    """

    def __init__(self, folder: Path, largest: int | None = None) -> None:
        """Opens the repository that `folder` stands in."""
        self.largest = largest
        try:
            found = pygit2.discover_repository(str(folder))
            if found is None:
                raise GitError(f"{folder}: not in a git repository")
            self._git = pygit2.Repository(found)
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise GitError(f"{folder}: git cannot open this repository ({error})") from None

    def __reduce__(self) -> tuple[type[Repository], tuple[Path, int | None]]:
        # Another process opens it anew.
        return Repository, (Path(self._git.path), self.largest)

    def up_to(self, largest: int) -> Repository:
        """The same repository with that limit."""
        return Repository(Path(self._git.path), largest)

    @property
    def root(self) -> Path | None:
        """The folder of the work tree, None for a bare repository."""
        return Path(self._git.workdir) if self._git.workdir else None

    @property
    def shallow(self) -> bool:
        """Whether part of the history was left out when it was cloned."""
        return self._git.is_shallow

    def commit(self, ref: str) -> str:
        """The full id of the commit that `ref` names: an id, a branch, a tag, `HEAD~2`; a branch that
        only `origin` has is found too."""
        for name in (ref, f"refs/remotes/origin/{ref}"):
            try:
                found = self._git.revparse_single(name)
                return str(found.peel(ObjectType.COMMIT).id)
            except (KeyError, ValueError, pygit2.GitError):
                continue
        if self._git.head_is_unborn and (ref == "HEAD" or not any(self._git.references)):
            raise GitError(f"{ref}: no such commit here; there are no commits yet on the branch checked out")
        before, tilde, _ = ref.rpartition("~")
        if tilde and not self.shallow and (first := self._first(before)):
            raise GitError(f"{ref}: no such commit here; the first that there is is {first}")
        way_out = self._deepen("fetch it") if self.shallow else "`git fetch` it, or check the spelling"
        raise GitError(f"{ref}: no such commit here; {way_out}")

    def _first(self, ref: str) -> str:
        """The first commit behind a name, counted back from it as `HEAD~2` does; "" where there is no such
        name."""
        try:
            commit = self._git.revparse_single(ref).peel(pygit2.Commit)
            number = 0
            while commit.parents:
                commit, number = commit.parents[0], number + 1
        except (KeyError, ValueError, pygit2.GitError):
            return ""
        return f"{ref}~{number}"

    def merge_base(self, one: str, other: str) -> str:
        """The id of the best common ancestor of two commits, given by their full ids."""
        try:
            found = self._git.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise GitError(f"the history of {one[:12]} and {other[:12]} cannot be read ({error})") from None
        if found is None:
            why = f"{one[:12]} and {other[:12]} have no common ancestor"
            if self.shallow:
                raise GitError(f"{why} in this shallow clone; {self._deepen('fetch the whole history')}")
            raise GitError(f"{why}; name a base that the head was branched from")
        return str(found)

    @staticmethod
    def _deepen(what: str) -> str:
        return f"{what}: `fetch-depth: 0` for actions/checkout, or `git fetch --unshallow`"

    def default_branch(self) -> str:
        """The name of the remote's default branch as git can resolve it, such as `origin/main`."""
        for remote in sorted(self.remotes(), key=lambda name: name != "origin"):
            head = self._git.references.get(f"refs/remotes/{remote}/HEAD")
            if head is not None:
                return str(head.target).removeprefix("refs/remotes/")
            for name in ("main", "master"):
                if f"refs/remotes/{remote}/{name}" in self._git.references:
                    return f"{remote}/{name}"
        for name in ("main", "master"):
            if f"refs/heads/{name}" in self._git.references:
                return name
        raise GitError("no remote says what its default branch is; name the base with --base")

    def remotes(self) -> dict[str, str]:
        """The address of each remote, by its name."""
        return {remote.name: remote.url for remote in self._git.remotes if remote.name and remote.url}

    def files(self, commit: str) -> Iterator[Entry]:
        """Every file of a commit, in git's order. Submodules are listed, not entered."""
        stack: list[tuple[bytes, pygit2.Tree]] = [(b"", self._tree(commit))]
        while stack:
            prefix, tree = stack.pop()
            below = []
            for entry in tree:
                path = prefix + (entry.raw_name or b"")
                if entry.filemode == FileMode.TREE:
                    below.append((path + b"/", self._object(str(entry.id), pygit2.Tree, os.fsdecode(path))))
                else:
                    yield Entry(os.fsdecode(path), _kind(entry.filemode), str(entry.id))
            stack.extend(reversed(below))

    def bounded(self, commit: str, most: int = MOST_FILES) -> None:
        """Raises `GitError` where a commit holds more than `most` files, or folders in folders without end.

        A few objects can name billions of files: each folder holds the same one many times over.
        """
        known: dict[str, tuple[int, int]] = {}  # of each folder: the files below it, and the folders in a row
        root = str(self._tree(commit).id)
        stack = [root]
        while stack:
            tree = self._object(stack[-1], pygit2.Tree)
            below = [str(entry.id) for entry in tree if entry.filemode == FileMode.TREE]
            missing = [one for one in below if one not in known]
            if missing and len(stack) < most:
                stack += missing
                continue
            files = len(tree) - len(below) + sum(known[one][0] for one in below if one in known)
            deep = 1 + max((known[one][1] for one in below if one in known), default=0)
            if files > most or deep > MOST_FOLDERS or missing:
                raise GitError(
                    f"{commit[:12]} holds more than {most} files, or folders within {MOST_FOLDERS} others"
                )
            known[stack.pop()] = (files, deep)

    def read(self, commit: str, path: str) -> bytes | None:
        """A regular file's content in a commit; None where that commit has no such file (a folder, a
        symbolic link and a submodule are none)."""
        try:
            found = self._tree(commit)[path]
        except UnicodeEncodeError:  # a name that is not UTF-8 cannot be asked for
            wanted = (entry for entry in self.files(commit) if entry.path == path)
            known = next(wanted, None)
            return self._wanted(known.id, path) if known and known.kind == "file" else None
        except (KeyError, ValueError):
            return None
        regular = found.filemode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
        return self._wanted(str(found.id), path) if regular else None

    def _wanted(self, object_id: str, path: str) -> bytes | None:
        lost = self.lacks(object_id, path) or self.too_large(object_id, path)
        return None if lost else self.blob(object_id, path)

    def names(self, commit: str) -> list[str]:
        """The names in a commit's top folder, and those in its folder `requirements`."""
        tree = self._tree(commit)
        found = [os.fsdecode(entry.raw_name or b"") for entry in tree]
        if "requirements" in found and tree["requirements"].filemode == FileMode.TREE:
            below = self._object(str(tree["requirements"].id), pygit2.Tree)
            found += [f"requirements/{os.fsdecode(entry.raw_name or b'')}" for entry in below]
        return found

    def submodule(self, commit: str, path: str) -> str:
        """The id of the commit that a submodule is at, "" where there is none at that path."""
        try:
            found = self._tree(commit)[path]
        except (KeyError, ValueError):
            return ""
        return str(found.id) if found.filemode == FileMode.COMMIT else ""

    def holds(self, object_id: str) -> bool:
        """Whether this clone has a content; a partial one may lack it."""
        return bool(self._git.odb.exists(pygit2.Oid(hex=object_id)))

    def lacks(self, object_id: str | None, path: str) -> bool:
        """Whether this clone has left out a content that is data, going by its path."""
        return object_id is not None and path.lower().endswith(DATA) and not self.holds(object_id)

    def size(self, object_id: str, path: str = "") -> int:
        """How many bytes a content has; it is not read for that. `path` is what an error names."""
        read = self._git.odb.read_header
        _, size = self._had(lambda: read(pygit2.Oid(hex=object_id)), object_id, path)
        return size

    def too_large(self, object_id: str | None, path: str = "") -> bool:
        """Whether a content is larger than the limit."""
        return (
            self.largest is not None and object_id is not None and self.size(object_id, path) > self.largest
        )

    def blob(self, object_id: str, path: str = "") -> bytes:
        """A content by its id, however large. `path` is what an error names."""
        return self._object(object_id, pygit2.Blob, path).data

    def checkout(self, commit: str, folder: Path) -> None:
        """Writes a commit's files into an empty folder, with links and modes; no hook and no filter runs."""
        wanted = (
            CheckoutStrategy.FORCE | CheckoutStrategy.DONT_UPDATE_INDEX | CheckoutStrategy.DONT_WRITE_INDEX
        )
        write: Callable[..., None] = self._git.checkout_tree
        _guarded(
            lambda: write(self._tree(commit), directory=str(folder.absolute()), strategy=wanted),
            f"{commit[:12]} cannot be written into {folder}",
        )

    def diff(self, old: str, new: str | None = None) -> Diff:
        """What changed from commit `old` to commit `new`, renames followed; to the work tree with files
        that git does not know yet, if `new` is None."""
        # A file's attributes come with the change itself: they shall not hide it from us as "binary".
        flags = DiffOption.FORCE_TEXT | DiffOption.INCLUDE_TYPECHANGE
        if new is None:
            flags |= DiffOption.INCLUDE_UNTRACKED | DiffOption.RECURSE_UNTRACKED_DIRS
            flags |= DiffOption.SHOW_UNTRACKED_CONTENT
            before = self._tree(old)
            return Diff(self, _guarded(lambda: before.diff_to_workdir(flags, CONTEXT, 0)))
        tree, target = self._tree(old), self._tree(new)

        def make() -> pygit2.Diff:
            what = f"the folders of {old[:12]} and {new[:12]} cannot be compared"
            return _guarded(lambda: tree.diff_to_tree(target, flags, CONTEXT, 0), what)

        try:
            return Diff(self, make())
        except GitError:
            apart = [delta for delta in make().deltas if self._is_apart(delta)]
            if not apart:
                raise
        # Whether data was renamed is not to be told without its content, but all else is: the data is left
        # as it was.
        index = pygit2.Index()
        index.read_tree(target)
        for delta in apart:
            if delta.status == DeltaStatus.ADDED:
                index.remove(delta.new_file.path)
            else:
                was = delta.old_file
                index.add(pygit2.IndexEntry(was.path, was.id, FileMode(was.mode)))
        rest = _guarded(lambda: tree.diff_to_index(index, flags, CONTEXT, 0))
        return Diff(self, rest, tuple(map(_change, apart)))

    def _is_apart(self, delta: pygit2.DiffDelta) -> bool:
        """Whether a file came or went that is data, and that this clone has left out."""
        if delta.status not in (DeltaStatus.ADDED, DeltaStatus.DELETED):
            return False
        one = _change(delta)
        return one.kind == "file" and self.lacks(one.new_id or one.old_id, one.path)

    def _tree(self, commit: str) -> pygit2.Tree:
        found = self._object(commit, pygit2.Commit)
        return self._had(lambda: found.tree, str(found.tree_id), f"the top folder of {commit[:12]}")

    def _had(self, read: Callable[[], _T], object_id: str, path: str) -> _T:
        """What is read of an object. `path` is what an error names."""
        what = path or f"object {object_id}"
        try:
            return read()
        except (KeyError, ValueError, OSError, pygit2.GitError) as error:
            if self.holds(object_id):
                raise GitError(f"{what}: git cannot read it ({error})") from None
            raise GitError(f"{what}: {LEFT_OUT}") from None

    def _object(self, object_id: str, kind: type[_T], path: str = "") -> _T:
        found = self._had(lambda: self._git[object_id], object_id, path)
        if not isinstance(found, kind):
            raise GitError(f"object {object_id} is not a {kind.__name__.lower()}")
        return found


def ignored(folder: Path) -> Callable[[str, bool], bool]:
    """Tells whether git ignores a path under `folder`, given as (path, whether it is a folder).

    As git does it: all .gitignore files, the repository's own excludes, the user's; what is tracked is never
    ignored. Outside a repository the .gitignore files at and under `folder` count.
    """
    found = pygit2.discover_repository(str(folder))
    try:
        git = pygit2.Repository(found) if found else None
    except pygit2.GitError:
        git = None
    if git is None or not git.workdir:
        git = _around(folder)
    root = os.path.realpath(git.workdir)
    tracked = git.index

    def asks(path: str, is_folder: bool) -> bool:
        # The file itself may be a link: what counts is where the link stands.
        whole = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
        relative = os.path.relpath(whole, root).replace(os.sep, "/")
        if relative == "." or relative.startswith("../"):
            return False
        try:
            if is_folder:
                return git.path_is_ignored(relative + "/") and not _tracks_below(tracked, relative)
            return git.path_is_ignored(relative) and relative not in tracked
        except (UnicodeEncodeError, pygit2.GitError, ValueError):
            return False

    return asks


def _tracks_below(index: pygit2.Index, folder: str) -> bool:
    return any(entry.path.startswith(f"{folder}/") for entry in index)


def _around(folder: Path) -> pygit2.Repository:
    """An empty repository, gone again at once, whose work tree is `folder`."""
    with tempfile.TemporaryDirectory() as empty:
        git = pygit2.init_repository(empty)
        git.config["core.worktree"] = str(folder.absolute())
        return pygit2.Repository(empty)


class AtCommit:
    """The files of one commit (`source.files.Files`).

    `root` is the repository's own folder as paths name it: "." where they start there, as they do by default.
    """

    def __init__(self, repository: Repository, commit: str, root: str = ".") -> None:
        self._repository, self._commit, self._root = repository, commit, root

    def read(self, path: str) -> bytes | None:
        """A regular file's content, or None."""
        return self._repository.read(self._commit, self._inside(path))

    def folders(self, path: str) -> Iterator[str]:
        """The parents of a path up to the root, nearest first."""
        inside = PurePosixPath(self._inside(path))
        return (self._shown(parent.as_posix()) for parent in inside.parents)

    def every(self, wanted: Callable[[str], bool]) -> Iterator[Source]:
        """The regular files that are wanted; their keys are git's own."""
        for entry in self._repository.files(self._commit):
            if entry.kind != "file" or not wanted(entry.path):
                continue
            # A clone may leave out what is large, as recorded answers are; code has to be there.
            if not entry.path.endswith(".py") and not self._repository.holds(entry.id):
                continue
            if not self._repository.too_large(entry.id, entry.path):
                read = partial(self._repository.blob, entry.id, entry.path)
                yield Source(self._shown(entry.path), bytes.fromhex(entry.id), read)

    def _inside(self, path: str) -> str:
        if self._root == ".":
            return path.removeprefix("./")
        return os.path.relpath(path, self._root).replace(os.sep, "/")

    def _shown(self, inside: str) -> str:
        if self._root == ".":
            return inside
        return named(os.path.normpath(f"{self._root}/{inside}"), self._root)


class Diff:
    """The changed files between two states, and their hunks on demand.

    `apart` are changes besides those of `diff` whose content is not to be had.
    """

    def __init__(self, repository: Repository, diff: pygit2.Diff, apart: tuple[Change, ...] = ()) -> None:
        self._repository, self._diff, self._apart = repository, diff, apart
        # Said outright, so that nobody's own git configuration changes what is found.
        renames = DiffFind.FIND_RENAMES | DiffFind.FIND_FOR_UNTRACKED
        try:
            diff.find_similar(renames, rename_limit=RENAME_LIMIT)
        except (KeyError, ValueError, OSError, pygit2.GitError) as error:
            raise self._unsimilar(error) from None

    def _unsimilar(self, error: Exception) -> GitError:
        """Why renames cannot be found: a file that came or went has no content here, or something else."""
        for one in map(_change, self._diff.deltas):
            if one.kind == "file" and one.status in ("added", "deleted"):
                held = one.new_id if one.status == "added" else one.old_id
                if held is not None and held in str(error) and not self._repository.holds(held):
                    return GitError(f"{one.path}: {LEFT_OUT}")
        return GitError(f"git cannot read this repository ({error})")

    @cached_property
    def _by_change(self) -> dict[Change, int]:
        return {_change(delta): number for number, delta in enumerate(self._diff.deltas)}

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed files, in git's order."""
        if not self._apart:
            return tuple(self._by_change)
        return tuple(sorted((*self._by_change, *self._apart), key=lambda one: one.path))

    def hunks(self, change: Change) -> tuple[Hunk, ...]:
        """The hunks of one changed file; none for a mere rename, a submodule, a change of mode, a file that
        is too large on either side, or data that this clone has left out."""
        if change.kind == "file" and any(self._is_too_large(*side) for side in _sides(change)):
            return ()
        number = self._by_change.get(change)
        if number is None:
            return ()
        try:
            patch = self._diff[number]
        except (KeyError, ValueError, OSError, pygit2.GitError) as error:
            if any(self._repository.lacks(*side) for side in _sides(change)):
                return ()
            lost = [path for held, path in _sides(change) if held and not self._repository.holds(held)]
            raise GitError(f"{lost[-1]}: {LEFT_OUT}" if lost else f"{change.path}: {error}") from None
        return () if patch is None else tuple(_hunk(hunk) for hunk in patch.hunks)

    def _is_too_large(self, object_id: str | None, path: str) -> bool:
        return not self._repository.lacks(object_id, path) and self._repository.too_large(object_id, path)

    def files(self) -> tuple[FileDiff, ...]:
        """What changed in each regular file; one that was only renamed has no lines."""
        found = []
        for change in self.changes:
            if change.kind == "file":
                hunks = self.hunks(change)
                removed = tuple(lines for hunk in hunks for lines in hunk.removed)
                path = None if change.status == "deleted" else change.path
                found.append(FileDiff(path, change.old_path, changed_ranges(hunks), removed))
        return tuple(found)


_STATUS: dict[DeltaStatus, Status] = {
    DeltaStatus.ADDED: "added",
    DeltaStatus.UNTRACKED: "added",
    DeltaStatus.COPIED: "added",
    DeltaStatus.DELETED: "deleted",
    DeltaStatus.RENAMED: "renamed",
}


def _change(delta: pygit2.DiffDelta) -> Change:
    status = _STATUS.get(delta.status, "modified")
    old, new = delta.old_file, delta.new_file
    after = old if status == "deleted" else new
    return Change(
        path=os.fsdecode(after.raw_path),
        old_path=None if status == "added" else os.fsdecode(old.raw_path),
        status=status,
        kind=_kind(after.mode),
        old_id=_id(old),
        new_id=_id(new),
    )


def _sides(change: Change) -> tuple[tuple[str | None, str], ...]:
    """The id and the path of a change's content before it and after it."""
    return (change.old_id, change.old_path or change.path), (change.new_id, change.path)


def _id(file: pygit2.DiffFile) -> str | None:
    known = file.flags & DiffFlag.VALID_ID and file.mode != FileMode.UNREADABLE
    return str(file.id) if known and set(str(file.id)) != {"0"} else None


def _kind(mode: int) -> Kind:
    if mode == FileMode.LINK:
        return "symlink"
    return "submodule" if mode == FileMode.COMMIT else "file"


def _hunk(hunk: pygit2.DiffHunk) -> Hunk:
    removed: list[Lines] = []
    changed: list[Lines] = []
    # The last line seen of either side, context included. For an empty side git names the line before.
    old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
    new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
    for line in hunk.lines:
        if line.origin == "+":
            new = line.new_lineno
            _extend(changed, new, new)
        elif line.origin == "-":
            old = line.old_lineno
            _extend(removed, old, old)
            if not (changed and changed[-1][1] == new):
                changed.append((new + 1, new))
        elif line.origin == " ":
            old, new = line.old_lineno, line.new_lineno
    return Hunk(
        old=_shown(hunk.old_start, hunk.old_lines),
        new=_shown(hunk.new_start, hunk.new_lines),
        removed=tuple(removed),
        changed=tuple(changed),
    )


def _shown(start: int, count: int) -> Lines:
    return (start, start + count - 1) if count else (start + 1, start)


def _extend(ranges: list[Lines], first: int, last: int) -> None:
    if ranges and ranges[-1][1] + 1 == first:
        ranges[-1] = (ranges[-1][0], last)
    else:
        ranges.append((first, last))


def _guarded(read: Callable[[], _T], what: str = "git cannot read this repository") -> _T:
    try:
        return read()
    except (KeyError, ValueError, OSError, pygit2.GitError) as error:
        raise GitError(f"{what} ({error})") from None
