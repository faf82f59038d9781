"""Facts in memory, for a run that keeps nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from reviewbot.index.facts import Facts, clean
from reviewbot.index.gather import At, Watch, facts_of, named, split, unwatched
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept
from reviewbot.source.uncollected import uncollected


class Memory:
    """The facts of some files, gathered at the first question that their paths alone do not answer.

    `kept` is given the trees that are made. `watch` passes on what is to be read, to show progress.
    """

    def __init__(self, sources: Iterable[Source], kept: Kept | None = None, watch: Watch = unwatched) -> None:
        self._sources = sorted(sources, key=lambda source: os.fsencode(source.path))
        self._paths = [source.path for source in self._sources]
        self._kept, self._watch = kept, watch
        self._facts: list[Facts] | None = None
        # By kind and by word, made of a kind where one is looked up for the first time.
        self._words: dict[str, dict[str, list[At]]] = {}

    def gather(self) -> list[Facts]:
        """What each file says, read and parsed at the first call."""
        if self._facts is None:
            with uncollected():
                self._facts = [
                    facts_of(source.path, source.read(), self._kept)
                    for source in self._watch(self._sources, len(self._sources))
                ]
            self._sources = []
        return self._facts

    def look(self, kind: str, name: str) -> tuple[At, ...]:
        """What `Store.look` gives."""
        if kind not in self._words:
            self._words[kind] = self._by_word(kind)
        return tuple(self._words[kind].get(clean(name), ()))

    def _by_word(self, kind: str) -> dict[str, list[At]]:
        words: dict[str, list[At]] = {}
        if kind in ("path", "folder"):
            for path in self._paths:
                folder, file = split(path)
                words.setdefault(file if kind == "path" else folder, []).append(At(path, None))
            return words
        for path, known in zip(self._paths, self.gather(), strict=True):
            for word, fact in named(kind, known):
                words.setdefault(word, []).append(At(path, fact))
        return words
