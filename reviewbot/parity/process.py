"""Legs as processes: started, listened to, killed in mid-generation, and never left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from reviewbot.errors import UsageError
from reviewbot.parity import tied

ROOT = Path(__file__).parent.parent.parent
MARK = "REVIEWBOT_PROCESS"  # by which what a command has started is known, wherever it has gone
_running: dict[subprocess.Popen[bytes], str] = {}  # with the mark of each
ROOM = 1 << 20  # bytes; with less a disk has no room for a leg
GONE = 5.0  # seconds after which a killed process is not waited for
LONGEST = 1 << 16  # bytes of a line of output; a longer one is heard in pieces


@contextlib.contextmanager
def ended_with_us() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP unwind like an interrupt, so that legs are ended on the way out."""

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def module(
    name: str,
    spec: Path,
    hear: Callable[[bytes], bool] = lambda _: False,
    *,
    log: Path,
    threads: int,
    python: str | None = None,
    env: Mapping[str, str] = {},
) -> int:
    """A module of ours, `reviewbot.parity.<name>`, with its spec; as `spawned`, its errors in `log`."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return spawned(
        [python or sys.executable, "-m", f"reviewbot.parity.{name}", str(spec)],
        hear,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(threads), **env},
        errors=log,
    )


def last_words(log: Path) -> str:
    """The last line of a log, shortened, and where the rest is."""
    said = "".join(log.read_text(errors="replace").strip().splitlines()[-1:])
    if not said:
        full = shutil.disk_usage(log.parent).free < ROOM
        said = "there is no room left on the disk" if full else "without a word"
    return f"({said[:300]}); its log: {log}"


def spawned(
    words: Sequence[str],
    hear: Callable[[bytes], bool],
    *,
    env: Mapping[str, str],
    errors: Path | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> int:
    """One command to its end; its exit code, negative for the signal that ended it.

    `hear` is told each line of its output, with its errors among them unless those go to the file `errors`;
    where it answers True the command and all that it started are killed by SIGKILL, and so they are after
    `timeout` seconds. Raises `UsageError` where there is no such command.
    """
    mark = uuid.uuid4().hex
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(errors.open("wb")) if errors else subprocess.STDOUT
        try:
            process = subprocess.Popen(
                [sys.executable, tied.__file__, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
                cwd=cwd,
                env={**env, MARK: f"{os.environ.get(MARK, '')} {mark}".strip()},
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{words[0]}: {error.strerror}") from None
        _running[process] = mark
        clock = threading.Timer(timeout, _end, [process, mark]) if timeout else None
        if clock:
            clock.start()
        try:
            assert process.stdout is not None
            for line in iter(lambda: process.stdout.readline(LONGEST), b""):  # type: ignore[union-attr]
                if hear(line):
                    _end(process, mark)
            return process.wait()
        finally:
            if clock:
                clock.cancel()
            _end(process, mark)
            process.wait()
            del _running[process]


def end_all() -> None:
    """Ends every command that `spawned` has running in some thread, with all that they started."""
    for process, mark in tuple(_running.items()):
        _end(process, mark)


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kills a command and all that it has started, in whatever session and under whatever parent."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    end, pause = time.monotonic() + GONE, 0.01
    while (left := _marked(mark)) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.2)


def _marked(mark: str) -> list[int]:
    """The processes with a mark in their environment, on Linux; those that have ended show none."""
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdecimal():
            with contextlib.suppress(OSError):  # another user's, or gone
                if mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                    found.append(int(name))
    return found
