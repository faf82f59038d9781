"""Syntax trees that one part of a run has made and another will want, so that no file is parsed twice.

The index is made at the first question to it, of all files, before most of them are looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

MOST = 1_000_000  # bytes of code; their trees take some 45 times as much


class Kept:
    """The trees of those files that are still to be looked at, as far as there is room for them."""

    def __init__(self, paths: Iterable[str] = (), most: int = MOST) -> None:
        self._wanted = set(paths)
        self._room = most
        self._trees: dict[str, tuple[bytes, ast.Module]] = {}
        self._at_hand: tuple[str, bytes, ast.Module] | None = None

    def put(self, path: str, content: bytes, tree: ast.Module) -> None:
        """Keeps a tree if its file is still to be looked at."""
        if path in self._wanted and len(content) <= self._room:
            self._room -= len(content)
            self._trees[path] = content, tree

    def take(self, path: str, content: bytes) -> ast.Module | None:
        """The tree of a file that is looked at now; None where none of this content was kept."""
        self._wanted.discard(path)
        made, tree = self._trees.pop(path, (b"", None))
        self._room += len(made)
        return tree if made == content else None

    def hold(self, path: str, content: bytes, tree: ast.Module) -> None:
        """Has the tree of the file that is looked at now, until it is let go."""
        self._at_hand = path, content, tree

    def let_go(self) -> None:
        """Forgets the file that was looked at."""
        self._at_hand = None

    def tree(self, path: str, content: bytes) -> ast.Module | None:
        """The tree of a file if that is the one that is looked at now, with this content."""
        if self._at_hand is None or self._at_hand[:2] != (path, content):
            return None
        return self._at_hand[2]
