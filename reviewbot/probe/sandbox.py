"""Starts a child process that shuts itself in, and talks to it in lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe.flood import MOST_PROCESSES, FloodWatch, group
from reviewbot.probe.inside.restrict import Held, Policy

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
Entry = Literal["boot", "recorder", "again"]
_START = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from reviewbot.probe.inside.{entry} import main; sys.path.pop(0); main()"
)
MOST_OUTPUT = 1 << 20
MOST_REPLIES = 256 << 20
LONGEST_LINE = 16 << 20


class ChildGone(ProbeError):
    """The child ended, was killed, or said what makes no sense. `why` is a clause."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Wants:
    """What a child is for. `read` and `write` are added to what any Python needs; `memory` in bytes."""

    entry: Entry
    read: tuple[str, ...] = ()
    list: tuple[str, ...] = ()
    memory: int = 1 << 30
    cpu: int = 20
    fork: bool = False
    files: int = 64
    python: str = sys.executable


class Box:
    """A running child. Use it as a context manager: leaving kills the whole group and removes its folder."""

    def __init__(self, wants: Wants, first: dict[str, Any] | None = None) -> None:
        self.folder = tempfile.mkdtemp(prefix="reviewbot-probe-")
        self._lines = b""
        self._read = self._printed = 0
        policy = _policy(wants, self.folder)
        self._process = _start(wants, self.folder)
        self._flood = FloodWatch(self._process.pid) if wants.fork else None
        assert self._process.stdout and self._process.stderr and self._process.stdin
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        self.stderr = b""
        try:
            self.send({"policy": asdict(policy), "folder": self.folder, **(first or {})})
            self.held = _held(self.receive(time.monotonic() + 20))
            if not self.held.landlock and not self.held.seccomp:
                raise NoSandbox(
                    "neither Landlock nor seccomp (on x86-64) holds on this machine, so the code of the "
                    "pull request was not run; use a Linux kernel of 5.13 or newer on x86-64"
                )
        except TimeoutError:
            self.close()
            raise ProbeError("a sandbox did not start within 20 s; the machine is too busy") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def send(self, document: dict[str, Any]) -> None:
        """Sends one line. Raises ChildGone."""
        assert self._process.stdin
        data = json.dumps(document, separators=(",", ":")).encode() + b"\n"
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (BrokenPipeError, OSError):
            raise ChildGone(self._end()) from None

    def receive(self, deadline: float) -> dict[str, Any]:
        """The next line. `deadline` is on the clock of `time.monotonic`. Raises ChildGone, TimeoutError."""
        while b"\n" not in self._lines:
            self._fill(deadline)
        line, _, self._lines = self._lines.partition(b"\n")
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            raise ChildGone("it wrote a line that is not JSON") from None
        if type(document) is not dict:
            raise ChildGone("it wrote a line that makes no sense")
        return document

    def _fill(self, deadline: float) -> None:
        """Reads what the child wrote. A line can be long, so partial ones are joined in one go."""
        chunks = [self._lines]
        size = len(self._lines)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self._lines = b"".join(chunks)
                raise TimeoutError
            got = b""
            for key, _ in self._selector.select(min(left, 0.2)):
                data = key.fileobj.read(1 << 16)  # type: ignore[union-attr]
                if data is None:
                    continue
                if key.fileobj is self._process.stderr:
                    self._heard(data)
                    continue
                if not data:
                    raise ChildGone(self._end())
                got += data
            if got:
                chunks.append(got)
                size += len(got)
                self._read += len(got)
                if size > LONGEST_LINE or self._read > MOST_REPLIES:
                    raise ChildGone("it wrote more than can be right")
                if b"\n" in got:
                    self._lines = b"".join(chunks)
                    return

    def _heard(self, data: bytes) -> None:
        assert self._process.stderr
        if not data:
            self._selector.unregister(self._process.stderr)
            return
        self._printed += len(data)
        self.stderr = (self.stderr + data)[-4000:]
        if self._printed > MOST_OUTPUT:
            raise ChildGone(f"it printed more than {MOST_OUTPUT >> 20} MiB")

    def _hear_the_rest(self) -> None:
        """Reads what the child said last: that it is gone can be seen before."""
        assert self._process.stderr
        while data := self._process.stderr.read(1 << 16):
            self._heard(data)

    def _end(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._hear_the_rest()
        if self._flood and self._flood.flooded:
            return f"it started more than {MOST_PROCESSES} processes"
        code = self._process.returncode
        if code == -signal.SIGXCPU or code == -signal.SIGKILL:
            return "it used up its processor time or its memory"
        said = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"it ended with {code}" + (f" ({said[-1][:200]})" if said else "")

    def close(self) -> None:
        """Kills the child and everything that it started, and removes its folder."""
        if self._flood:
            self._flood.close()
        while True:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)
            if not group(self._process.pid):
                break
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        self._selector.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _policy(wants: Wants, folder: str) -> Policy:
    policy = Policy(
        read=(*_python_needs(wants.python), *wants.read),
        write=(folder, "/dev/null"),
        list=wants.list,
        cpu=wants.cpu,
        memory=wants.memory,
        files=wants.files,
        fork=wants.fork,
    )
    return policy if not wants.fork else replace(policy, read=(*policy.read, "/bin", "/usr"))


def _python_needs(python: str) -> list[str]:
    standard = {sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]}
    libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"]
    devices = ["/dev/urandom", "/dev/null", "/dev/zero", "/etc/localtime", "/usr/share/zoneinfo"]
    real = os.path.realpath(python)
    beside = Path(real).parent.parent / "lib"
    return [*standard, *libraries, *devices, real, python, str(beside)]


def _start(wants: Wants, folder: str) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # More threads than one gain nothing on inputs of hand size and each reserves memory.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    start = _START.format(root=str(PACKAGE_ROOT), entry=wants.entry)
    command = [wants.python, "-I", "-S", "-X", "utf8", "-c", start]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=True,
        close_fds=True,
    )


def _held(reply: dict[str, Any]) -> Held:
    held = reply.get("held")
    if type(held) is not list or len(held) != 4:
        raise ChildGone("it did not say which walls hold")
    return Held(int(held[0]), bool(held[1]), bool(held[2]), bool(held[3]))


def readable(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what may be read, what may be listed) of a repository: all but what begins with a dot.

    A checkout's `.git/config` can hold a token, and `.env` holds what its name says.
    """
    names: Sequence[str]
    try:
        names = sorted(os.listdir(root))
    except OSError:
        names = ()
    return tuple(str(root / name) for name in names if not name.startswith(".")), (str(root),)
