"""Several processes give what one gives, and one that dies costs one file."""

from __future__ import annotations

import os
import signal

from reviewbot.lint import pool


def shout(path: str) -> str:
    if path == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return path.upper()


def test_a_process_that_dies_costs_the_file_that_it_died_over():
    paths = [(name, len(name)) for name in ("a", "bb", "deadly", "ccc", "dddd")]
    done = sorted(pool.each(shout, paths, 2, lambda path: f"lost {path}"))
    assert done == ["A", "BB", "CCC", "DDDD", "lost deadly"]


def test_chunks_hold_every_file_once_the_largest_first():
    paths = [(str(number), number * number) for number in range(50)]
    chunks = pool._chunks(paths, 8)
    assert sorted(path for chunk in chunks for path in chunk) == sorted(path for path, _ in paths)
    assert chunks[0][0] == "49"
    assert 6 <= len(chunks) <= 9
