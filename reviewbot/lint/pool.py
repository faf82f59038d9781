"""Files looked at in several processes, where that pays."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from reviewbot.source.apart import FORKS, METHOD, starting

# Forking costs 30 ms, and the children have everything that is imported.
WORTHWHILE = 400_000 if FORKS else 5_000_000  # bytes of code
CHUNKS = 8  # for each process, so that none waits long for the last one

_Done = TypeVar("_Done")


def each(
    work: Callable[[str], _Done], paths: Sequence[tuple[str, int]], jobs: int, lost: Callable[[str], _Done]
) -> Iterator[_Done]:
    """`work` on every path, given with its size in bytes, in `jobs` processes and in any order.

    `lost` stands in where a process died over a path, as it does when the system takes its memory away.
    """
    left = {path for path, _ in paths}
    try:
        with _executor(work, jobs) as executor:
            with starting():
                futures = [executor.submit(_chunk, chunk) for chunk in _chunks(paths, jobs * CHUNKS)]
            try:
                for future in as_completed(futures):
                    for path, done in future.result():
                        left.discard(path)
                        yield done
            except BaseException as error:
                executor.shutdown(wait=False, cancel_futures=True)
                if not isinstance(error, Exception):
                    # Interrupted: nobody waits for what the processes are at.
                    for process in multiprocessing.active_children():
                        process.terminate()
                raise
    except BrokenProcessPool:
        # Each of the files that are left gets a process of its own.
        for path in sorted(left):
            yield _alone(work, path, lost)


def _alone(work: Callable[[str], _Done], path: str, lost: Callable[[str], _Done]) -> _Done:
    try:
        with _executor(work, 1) as executor:
            with starting():
                future = executor.submit(_chunk, [path])
            done: _Done = future.result()[0][1]
            return done
    except BrokenProcessPool:
        return lost(path)


def _executor(work: Callable[[str], Any], jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context(METHOD)
    with starting():  # what keeps count of its locks is a process, too
        return ProcessPoolExecutor(jobs, context, initializer=_start, initargs=(work,))


_work: list[Callable[[str], Any]] = []


def _start(work: Callable[[str], Any]) -> None:
    # The parent tells the user that the run was interrupted, and ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _work[:] = [work]


def _chunk(paths: Sequence[str]) -> list[tuple[str, Any]]:
    return [(path, _work[0](path)) for path in paths]


def _chunks(paths: Sequence[tuple[str, int]], count: int) -> list[list[str]]:
    """About `count` lists of about equal size in bytes, the largest files first."""
    total = sum(size for _, size in paths)
    chunks: list[list[str]] = [[]]
    filled = 0
    for path, size in sorted(paths, key=lambda one: -one[1]):
        if filled >= total / count:
            chunks.append([])
            filled = 0
        chunks[-1].append(path)
        filled += size
    return chunks
