"""Facts in memory, for a run that keeps nothing."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

from reviewbot.index.facts import Facts, clean
from reviewbot.index.gather import At, Watch, facts_of, is_in, named, scoped, split, unwatched, within
from reviewbot.source.files import Source
from reviewbot.source.kept import Kept
from reviewbot.source.uncollected import uncollected

# What is looked up under a word that stands in the file as it is: a name, or a part of a dotted one.
_BY_IDENTIFIER = frozenset({"definition", "class", "call", "attribute", "import", "field"})
_DEFINED = frozenset({"definition", "class"})
_IN_WORDS = frozenset(b"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_MOST_SEARCHES = 300  # for a word in all files: these take as long as to make the facts of them all
_DEFINITION = re.compile(rb"(?:def|class)[\s\\]+(?=(\w+))")
_TWO_LINES = re.compile(rb"[^\r\n]*(?:\r\n?|\n)?[^\r\n]*")
_UTF_8 = re.compile(
    rb"(?:(?![^\r\n]*coding)[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))?"
    rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*(?:utf-?8|ascii)(?![-\w.])"
)


class Memory:
    """The facts of some files, each file's made at the first question that it may have an answer to.

    `kept` is given the trees that are made. `watch` passes on what is to be read, to show progress.
    """

    def __init__(self, sources: Iterable[Source], kept: Kept | None = None, watch: Watch = unwatched) -> None:
        self._sources = sorted(sources, key=lambda source: os.fsencode(source.path))
        self._kept, self._watch = kept, watch
        self._facts: list[Facts | None] = [None] * len(self._sources)
        self._contents: dict[int, bytes | None] = {}
        self._normals: dict[int, bytes] = {}
        self._coded: dict[int, bool] = {}
        self._places: dict[str, int] = {source.path: place for place, source in enumerate(self._sources)}
        self._scopes: dict[str, Sequence[int]] = {"": range(len(self._sources))}
        self._searches = 0
        # By word, made where one is looked up for the first time: of a file, and of a scope.
        self._of_file: dict[tuple[str, int], dict[str, list[At]]] = {}
        self._words: dict[tuple[str, str], dict[str, list[At]]] = {}
        self._defined: dict[int, frozenset[bytes]] = {}

    def gather(self) -> list[Facts]:
        """What each file says, read and parsed where it has not been."""
        return self._made(self._scope(""))

    def look(self, kind: str, name: str) -> tuple[At, ...]:
        """What `Store.look` gives."""
        kind, scope = scoped(kind)
        name = clean(name)
        if kind in ("path", "folder"):
            return tuple(at for at in self._paths(kind).get(name, ()) if is_in(scope, at.path))
        places = self._scope(scope)
        if len(places) > 1 and (kind not in _BY_IDENTIFIER or self._searches > _MOST_SEARCHES):
            return tuple(self._by_word(kind, scope).get(name, ()))
        self._searches += len(places) > 1
        if kind in _BY_IDENTIFIER:
            places = [place for place in places if self._may_say(place, kind, name.encode())]
        self._made(places)
        return tuple(at for place in places for at in self._by_word_in(kind, place).get(name, ()))

    def _scope(self, scope: str) -> Sequence[int]:
        """The places of the files in a scope."""
        if scope not in self._scopes:
            path = scope.removeprefix(within(""))
            among = [self._places[path]] if path in self._places else self._scopes[""]
            self._scopes[scope] = [place for place in among if is_in(scope, self._sources[place].path)]
        return self._scopes[scope]

    def _may_say(self, place: int, kind: str, name: bytes) -> bool:
        """Whether a file may have a fact of a kind under an identifier."""
        if self._facts[place] is not None:
            return True
        content = self._content(place)
        if content is None:
            return False
        if self._is_coded(place, content):
            return True
        if not content.isascii():
            content = self._normal(place, content)
        if name not in content:
            return False
        if kind not in _DEFINED:
            return _is_word(name, content)
        if place not in self._defined:
            self._defined[place] = frozenset(_DEFINITION.findall(content))
        return name in self._defined[place]

    def _is_coded(self, place: int, content: bytes) -> bool:
        """Whether a file says that its bytes are to be read in another way."""
        if place not in self._coded:
            lines = _TWO_LINES.match(content)
            assert lines is not None
            said = content.find(b"coding", 0, lines.end()) >= 0
            self._coded[place] = said and not _UTF_8.match(content)
        return self._coded[place]

    def _normal(self, place: int, content: bytes) -> bytes:
        """A file's content with the names as Python reads them, to which several characters are one."""
        if place not in self._normals:
            text = content.decode("utf-8", "replace")
            self._normals[place] = unicodedata.normalize("NFKC", text).encode("utf-8", "surrogatepass")
        return self._normals[place]

    def _content(self, place: int) -> bytes | None:
        if place not in self._contents:
            self._contents[place] = self._sources[place].read()
        return self._contents[place]

    def _made(self, places: Sequence[int]) -> list[Facts]:
        """The facts of the files at some places."""
        missing = [place for place in places if self._facts[place] is None]
        if missing:
            with uncollected():
                for place in self._watch(missing, len(missing)):
                    path, content = self._sources[place].path, self._content(place)
                    self._facts[place] = facts_of(path, content, self._kept)
                    del self._contents[place]
                    self._normals.pop(place, None)
        return [known for place in places if (known := self._facts[place]) is not None]

    def _by_word(self, kind: str, scope: str) -> dict[str, list[At]]:
        if (kind, scope) not in self._words:
            words: dict[str, list[At]] = {}
            places = self._scope(scope)
            self._made(places)
            for place in places:
                for word, found in self._by_word_in(kind, place).items():
                    words.setdefault(word, []).extend(found)
            self._words[kind, scope] = words
        return self._words[kind, scope]

    def _by_word_in(self, kind: str, place: int) -> dict[str, list[At]]:
        if (kind, place) not in self._of_file:
            words: dict[str, list[At]] = {}
            known = self._facts[place]
            assert known is not None
            for word, fact in named(kind, known):
                words.setdefault(word, []).append(At(self._sources[place].path, fact))
            self._of_file[kind, place] = words
        return self._of_file[kind, place]

    def _paths(self, kind: str) -> dict[str, list[At]]:
        if (kind, "") not in self._words:
            words: dict[str, list[At]] = {}
            for source in self._sources:
                folder, file = split(source.path)
                words.setdefault(file if kind == "path" else folder, []).append(At(source.path, None))
            self._words[kind, ""] = words
        return self._words[kind, ""]


def _is_word(name: bytes, content: bytes) -> bool:
    """Whether a name stands in ASCII by itself, and not only within longer ones."""
    at = content.find(name)
    while at >= 0:
        end = at + len(name)
        if _IN_WORDS.isdisjoint(content[max(at - 1, 0) : at]) and _IN_WORDS.isdisjoint(
            content[end : end + 1]
        ):
            return True
        at = content.find(name, at + 1)
    return False
