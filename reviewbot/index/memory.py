"""Facts in memory, for a run that keeps nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from reviewbot.index.facts import Facts, clean
from reviewbot.index.gather import At, Watch, facts_of, key_of, named, no_collection, split, unwatched
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept


class Memory:
    """The facts of the files that `update` was given last, and of older contents in case they come back."""

    def __init__(self) -> None:
        self._known: dict[bytes, Facts] = {}
        self._present: list[tuple[str, Facts]] = []
        # By kind and by word, made of a kind where one is looked up for the first time.
        self._words: dict[str, dict[str, list[At]]] = {}

    def update(self, sources: Iterable[Source], kept: Kept | None = None, watch: Watch = unwatched) -> int:
        """Makes exactly these files the ones that are known; returns how many had to be read and parsed.

        `kept` is given the trees that are made. `watch` passes on what is to be read, to show progress.
        """
        listed = [(source, key_of(source)) for source in sources]
        new = {key: source for source, key in reversed(listed) if key not in self._known}
        with no_collection():
            for key, source in watch(reversed(new.items()), len(new)):
                self._known[key] = facts_of(source.path, source.read(), kept)
        present = {source.path: self._known[key] for source, key in listed}
        self._present = sorted(present.items(), key=lambda one: os.fsencode(one[0]))
        self._words.clear()
        return len(new)

    def look(self, kind: str, name: str) -> tuple[At, ...]:
        """What `Store.look` gives."""
        if kind not in self._words:
            self._words[kind] = self._by_word(kind)
        return tuple(self._words[kind].get(clean(name), ()))

    def _by_word(self, kind: str) -> dict[str, list[At]]:
        words: dict[str, list[At]] = {}
        for path, known in self._present:
            if kind in ("path", "folder"):
                folder, file = split(path)
                words.setdefault(file if kind == "path" else folder, []).append(At(path, None))
                continue
            for word, fact in named(kind, known):
                words.setdefault(word, []).append(At(path, fact))
        return words
