"""Mode parity: what a container without network, token or git folder makes of one commit."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from reviewbot.cli.action import results, runner
from reviewbot.cli.action.fetch import source
from reviewbot.errors import UsageError

MINUTES = 45
_IMAGE = re.compile(r"[\w.:/-]+@sha256:[0-9a-f]{64}", re.ASCII)


def sealed(name: str, files: Path, out: Path, image: str, command: str) -> list[str]:
    """The command line that runs `command` on `files`, read-only at /src, with `out` at /out."""
    return [
        *("docker", "run", "--rm", "--init", "--name", name),
        *("--gpus", "all"),
        *("--network", "none"),
        # Nobody, without capabilities, who cannot become somebody else.
        *("--user", "65534:65534", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--read-only", "--tmpfs", "/tmp:size=2g", "--tmpfs", "/scratch:size=32g,exec,mode=1777"),
        *("--env", "HOME=/scratch", "--env", "PYTHONDONTWRITEBYTECODE=1", "--workdir", "/src"),
        *("--ipc", "private", "--shm-size", "8g", "--pids-limit", "4096", "--memory", "64g"),
        *("--volume", f"{files}:/src:ro", "--volume", f"{out}:/out"),
        *("--entrypoint", "/bin/sh", image, "-c", command),
    ]


def environment() -> dict[str, str]:
    """What docker itself needs. Its containers get none of it, and it gets no token."""
    wanted = re.compile(r"PATH|HOME|USER|TMPDIR|LANG|XDG_RUNTIME_DIR|DOCKER_\w+|\w+_PROXY", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if wanted.fullmatch(name)}


def run(options: argparse.Namespace) -> int:
    """Leaves the result. Returns 1 where the container left none."""
    if not _IMAGE.fullmatch(options.image):
        raise UsageError("mode parity needs --image, a container image by its digest: NAME@sha256:DIGEST")
    if not options.run:
        raise UsageError("mode parity needs --run, a command which leaves /out/parity.json")
    path = results.place("parity")
    out = runner.temporary() / "reviewbot-out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    out.chmod(0o777)  # the container's user is nobody
    name = f"reviewbot-parity-{secrets.token_hex(8)}"
    words = sealed(name, source().resolve(), out.resolve(), options.image, options.run)
    # A runner that cancels a job says so by this signal: the container shall go too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with runner.foreign_output():
            code = subprocess.run(words, env=environment(), timeout=MINUTES * 60).returncode
        print(f"the container ended with {code}")
    except FileNotFoundError:
        raise UsageError("docker is not installed on this runner") from None
    except subprocess.TimeoutExpired:
        print(f"the container was stopped after {MINUTES} minutes")
    finally:
        subprocess.run(["docker", "rm", "--force", name], capture_output=True)
    if results.take(out / "parity.json", path):
        return 0
    print("the container left no result in /out/parity.json")
    return 1
