"""The child's main loop: shut in first, then load, then judge what the parent sends.

Requests and replies are lines of JSON. The pull request's code shares this process and could write lines
of its own: the parent believes no line beyond the verdict of an edit that it made itself.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

# Everything that is ours is imported before the process is shut in; afterwards it cannot be read.
from reviewbot.probe.inside import calls, command, edits, judge, loading, plain, produce, restrict, stubs
from reviewbot.probe.inside.judge import Outcome
from reviewbot.probe.inside.switchboard import Switchboard


class Child:
    """The state between requests."""

    def __init__(self, replies: TextIO) -> None:
        self.replies = replies
        self.switchboard = Switchboard()
        self.loading: loading.Loading | None = None
        self.loaded: loading.Loaded | None = None
        self.bind: Callable[[dict[str, Any]], Callable[[], Any]] | None = None
        self.told = 0
        self.calls: dict[str, tuple[int, bool]] = {}
        self.needs: dict[int, frozenset[str | int]] = {}
        self.producers: list[produce.Producer] = []
        self.worlds: dict[int, dict[str, Any]] = {}

    def reply(self, document: dict[str, Any]) -> None:
        """Sends one line."""
        self.replies.write(json.dumps(document, separators=(",", ":")) + "\n")
        self.replies.flush()

    def tell_sites(self) -> None:
        """Names the sites that came in since the last time."""
        assert self.loading is not None
        new = self.loading.sites[self.told :]
        self.told = len(self.loading.sites)
        if new:
            self.reply({"sites": [[getattr(site, name) for name in site.__slots__] for site in new]})

    def load(self, asked: dict[str, Any]) -> None:
        """`load`: brings the target in."""
        place = loading.Place(**{**asked["place"], "also": tuple(asked["place"]["also"])})
        self.loading = loading.Loading(place.root, asked["search"], self.switchboard)
        self.loading.instead = asked.get("instead", {})
        self.loading.figures = bool(asked.get("figures"))
        self.loading.bare = bool(asked.get("bare"))
        self.calls = {str(label): (int(n), bool(many)) for label, (n, many) in asked.get("calls", {}).items()}
        if self.calls:
            self.loading.rewrite = functools.partial(self._wire, self._whole(place))
        self.loading.absent.wanted.update(map(str, asked.get("absent", ())))
        if "command" in asked:
            self.loaded, code = self.loading.load_script(place)
            files = {
                str(label): (int(at), str(name)) for label, (at, name) in asked["command"]["files"].items()
            }
            self.bind = command.Command(code, asked["command"]["words"], files, self.switchboard).bind
        else:
            self.loaded = self.loading.load_target(place)
            assert self.loaded.function is not None
            self.bind = judge.binder(self.loaded.function)
        for name in asked.get("libraries", ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(str(name))
        stubs.start_running()
        # What ran while files were imported is none of the runs.
        self.switchboard.reset()
        self.switchboard.ever.clear()
        self.tell_sites()
        self.reply(
            {
                "loaded": {
                    "lines": self.loaded.lines,
                    "of": self.loaded.of,
                    "whole": self.loaded.whole,
                    "stubs": [*self.loading.broken[:20], *self.loading.absent.made[:50]],
                }
            }
        )

    def _whole(self, place: loading.Place) -> ast.Module | None:
        assert self.loading is not None
        path = os.path.join(place.root, place.path)
        try:
            return loading.parse(self.loading.source(path), path)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None  # what loads it says so

    def _wire(self, whole: ast.Module | None, tree: ast.Module, unit: str) -> ast.Module:
        tree, called = calls.wire(tree, unit, whole)
        self.needs = {one.number: one.needs for one in called}
        return tree

    def producer(self, asked: dict[str, Any]) -> None:
        """`producer`: brings in a function that writes what the target checks."""
        assert self.loading is not None
        place = loading.Place(**{**asked["place"], "also": tuple(asked["place"]["also"])})
        self.loading.unwired.add(place.path)
        with stubs.importing():
            loaded = self.loading.load(place)
        assert loaded.function is not None
        self.producers.append(produce.Producer(loaded.function))
        self.reply({"parameters": self.producers[-1].parameters})

    def produce(self, asked: dict[str, Any]) -> None:
        """`produce`: one line for each set of arguments, in order."""
        producer = self.producers[int(asked["number"])]
        for index, listed in enumerate(asked["arguments"]):
            made = producer.run(plain.decode(listed), float(asked["seconds"]))
            self.reply({"at": index, **made})
        self.reply({"done": len(asked["arguments"])})

    def keep(self, asked: dict[str, Any]) -> None:
        """`world`: arguments that later requests name by number."""
        world = plain.decode(asked["world"])
        self.worlds[int(asked["number"])] = world
        self.switchboard.names |= plain.names(world)
        self.reply({"kept": int(asked["number"])})

    def judge(self, asked: dict[str, Any]) -> None:
        """`judge`: one line for each list of edits, in order."""
        base = self.worlds[int(asked["base"])]
        off = frozenset(part if isinstance(part, int) else tuple(part) for part in asked.get("off", ()))
        forced = {int(number): bool(outcome) for number, outcome in asked.get("forced", ())}
        for index, listed in enumerate(asked["edits"]):
            made = [edits.decode(edit) for edit in listed]
            world = edits.apply(base, made) if made else base
            if world is None:
                self.reply({"at": index, "verdict": "inapplicable"})
                continue
            self.switchboard.reset(observing=bool(asked.get("observing")), off=off, forced=forced)
            names = {str(edit.path[0]) for edit in made}
            changed = {*names, *(self.calls[label][0] for label in names if label in self.calls)}
            self.switchboard.afresh = frozenset(n for n, needs in self.needs.items() if needs & changed)
            if asked.get("watch"):
                self._watched(index, world, asked)
            else:
                self.reply({"at": index, **self._record(self._run(world, asked))})
        self.tell_sites()
        self.reply({"done": len(asked["edits"])})

    def count(self, asked: dict[str, Any]) -> None:
        """`count`: how often each check ran since the start."""
        self.switchboard.reset()
        self.reply({"counted": [[list(key), count] for key, count in self.switchboard.ever.items()]})

    def _run(self, world: dict[str, Any], asked: dict[str, Any]) -> Outcome:
        assert self.bind is not None and self.loading is not None
        try:
            with stubs.importing():
                built = {name: plain.build(value) for name, value in world.items()}
        except Exception as error:
            return Outcome("unknown", f"its arguments cannot be built: {type(error).__name__}: {error}")
        given = {label: built.pop(label) for label in list(built) if label in self.calls}
        self.switchboard.given = {
            self.calls[label][0]: value if self.calls[label][1] else [value] for label, value in given.items()
        }
        try:
            return self._judged(self.bind(built), asked)
        finally:
            for value in built.values():
                if type(value).__name__ == "MonkeyPatch":
                    value.undo()

    def _judged(self, call: Callable[[], Any], asked: dict[str, Any]) -> Outcome:
        assert self.loading is not None
        return judge.judge(
            call,
            self.switchboard,
            self.loading.relative,
            protocol=asked.get("protocol", "raises"),
            expected=plain.decode(asked.get("expected")),
            seconds=float(asked.get("seconds", 2.0)),
        )

    def _record(self, outcome: Outcome) -> dict[str, Any]:
        board = self.switchboard
        return {
            "verdict": outcome.verdict,
            "says": outcome.says,
            "where": outcome.where,
            "fired": [list(key) for key in dict.fromkeys(board.fired)],
            "outcomes": [[*key, times] for key, times in board.outcomes.items()],
        }

    def _watched(self, index: int, world: dict[str, Any], asked: dict[str, Any]) -> None:
        assert self.loading is not None
        with judge.Watch(self.loading.relative) as watch:
            outcome = self._run(world, asked)
        seen = {}
        for name, values in watch.seen.items():
            try:
                seen[name] = plain.encode(plain.flatten(values))
            except plain.NotPlain:
                continue
        record = self._record(outcome)
        record["returned"] = plain.encode(outcome.returned) if outcome.plain else None
        record["plain"] = outcome.plain
        record["seen"] = seen
        record["reached"] = [[list(key), count] for key, count in self.switchboard.reached.items()]
        self.reply({"at": index, **record})

    def serve(self, requests: TextIO) -> None:
        """Answers until the parent closes its end."""
        does = {
            "load": self.load,
            "world": self.keep,
            "judge": self.judge,
            "count": self.count,
            "producer": self.producer,
            "produce": self.produce,
        }
        for line in requests:
            asked = json.loads(line)
            try:
                does[asked["do"]](asked)
            except loading.CannotLoad as error:
                self.reply({"error": str(error)})


def streams() -> tuple[TextIO, TextIO]:
    """The pipes to the parent, moved away from 0 and 1, which code under probe may read and print to."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return os.fdopen(requests, "r", encoding="utf-8"), os.fdopen(replies, "w", encoding="utf-8")


def shut_in(requests: TextIO, replies: TextIO) -> dict[str, Any]:
    """Reads the policy, applies it, says which layers hold; returns what else the parent sent with it."""
    asked: dict[str, Any] = json.loads(requests.readline())
    policy: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in asked["policy"].items()
    }
    held = restrict.restrict(restrict.Policy(**policy))
    replies.write(json.dumps({"held": [held.landlock, held.seccomp, held.rlimits, held.namespaces]}) + "\n")
    replies.flush()
    # The pull request may be this very package, or have modules that are called like it.
    for name in [name for name in sys.modules if name.partition(".")[0] == "reviewbot"]:
        del sys.modules[name]
    return asked


def settle(asked: dict[str, Any]) -> None:
    """The surroundings in which the repository's own tests run: its folder, its environment, where modules
    are found, and stand-ins for the packages that are `absent`."""
    sys.path[:0] = asked["search"]
    sys.path += asked["packages"]
    os.chdir(asked["root"])
    os.environ.update(asked["environment"])
    if asked["absent"]:
        absent = stubs.Finder()
        absent.wanted.update(map(str, asked["absent"]))
        sys.meta_path.append(absent)


def main() -> None:
    """The judging child."""
    requests, replies = streams()
    shut_in(requests, replies)
    Child(replies).serve(requests)
