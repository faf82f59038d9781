"""A script run as a command line, with files made of plain data."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import types
from collections.abc import Callable, Mapping, Sequence

from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.inside.sites import SWITCHBOARD
from reviewbot.probe.inside.switchboard import Switchboard


class Command:
    """A compiled script. `files` maps an argument's label to its place in `words` and the file's name; a name
    that ends in a slash is a folder, and its value maps names to contents."""

    def __init__(
        self,
        code: types.CodeType,
        words: Sequence[str],
        files: Mapping[str, tuple[int, str]],
        switchboard: Switchboard,
    ) -> None:
        self.code, self.words, self.files, self.switchboard = code, list(words), files, switchboard
        self.parent = os.getcwd()

    def bind(self, values: Mapping[str, Plain]) -> Callable[[], None]:
        """The run of the script on files that hold `values`."""

        def run() -> None:
            with tempfile.TemporaryDirectory(dir=self.parent) as folder:
                words = list(self.words)
                for label, (place, name) in self.files.items():
                    path = os.path.join(folder, str(place), name)
                    write(path, values[label])
                    words[place] = path
                self._execute(words, folder)

        return run

    def _execute(self, words: Sequence[str], folder: str) -> None:
        module = types.ModuleType("__main__")
        module.__file__ = self.code.co_filename
        module.__dict__[SWITCHBOARD] = self.switchboard
        before = sys.argv, sys.modules.get("__main__")
        sys.argv = [self.code.co_filename, *words]
        sys.modules["__main__"] = module
        os.chdir(folder)
        try:
            exec(self.code, module.__dict__)
        finally:
            os.chdir(self.parent)
            sys.argv = before[0]
            if before[1] is not None:
                sys.modules["__main__"] = before[1]


def write(path: str, value: Plain) -> None:
    """A JSON file, a file of JSON lines for names that end so, or a folder of these."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.endswith("/"):
        for name, part in value.items():
            write(os.path.join(path, name), part)
        return
    with open(path, "w", encoding="utf-8") as file:
        if path.endswith(".jsonl") and type(value) is list:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in value)
        else:
            json.dump(value, file, ensure_ascii=False)
