"""Gathers the facts of a folder, in a process of its own: `index.py FOLDER [DATABASE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from reviewbot.index.gather import is_wanted
from reviewbot.index.memory import Memory
from reviewbot.index.store import Store
from reviewbot.source.files import OnDisk


def main() -> None:
    """Gathers what a database does not hold yet, in memory where none is given."""
    folder, *database = sys.argv[1:]
    every = OnDisk(folder).every(is_wanted)
    if database:
        Store(Path(database[0])).update(every)
    else:
        Memory(every).gather()


if __name__ == "__main__":
    main()
