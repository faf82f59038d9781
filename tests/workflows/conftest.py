"""The shipped workflows as `reviewbot init` writes them, run by act on this host, without a container."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from reviewbot.render import workflows

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
COMMIT = "1" * 40
IMAGE = f"registry.example/gpu@sha256:{'a' * 64}"
STUBS = {
    workflows.CHECKOUT: "checkout",
    workflows.UPLOAD_ARTIFACT: "upload",
    workflows.DOWNLOAD_ARTIFACT: "download",
}


@dataclass(frozen=True)
class Run:
    """What act left: its exit code, its log, and how each job ended that was not skipped."""

    code: int
    log: str

    @property
    def jobs(self) -> dict[str, str]:
        ended = re.findall(r"^\[[^/\]]+/([^\]]+?) *\] .*Job (succeeded|failed)", self.log, re.MULTILINE)
        return dict(ended)


@pytest.fixture(scope="session")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as GitHub would fetch it, installed once by the very script of its own action.yml."""
    folder, temp = tmp_path_factory.mktemp("action"), tmp_path_factory.mktemp("installed")
    words = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    yaml = YAML()
    manifest = yaml.load(folder / "action.yml")
    install = manifest["runs"]["steps"][0]
    assert install["name"] == "Install reviewbot"
    env = {
        "PYTHON": sys.executable,
        "SOURCE": str(folder),
        "EXTRA": "[github,probe]",
        "PIP_CONSTRAINT": str(folder / "constraints.txt"),
        "PIP_BUILD_CONSTRAINT": str(folder / "constraints.txt"),
        "RUNNER_TEMP": str(temp),
    }
    subprocess.run(["bash", "-euo", "pipefail", "-c", install["run"]], env={**os.environ, **env}, check=True)
    # Each job would do this again. test_action_yml.py runs it as it stands.
    install["run"] = f'ln -sfn "{temp}/reviewbot" "$RUNNER_TEMP/reviewbot"\n'
    yaml.dump(manifest, folder / "action.yml")
    return folder


@pytest.fixture
def docker(tmp_path: Path) -> Path:
    """A docker whose containers leave what the test puts into `leaves`, and where to find what they saw."""
    folder = tmp_path / "docker"
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin" / "docker"
    script.write_text(
        f"""#!/bin/sh
[ "$1" = run ] || exit 0
printf '%s\\n' "$@" > {folder}/asked
env > {folder}/env
for word in "$@"; do
    case "$word" in *:/out) out="${{word%:/out}}";; *:/src:ro) src="${{word%:/src:ro}}";; esac
done
find "$src" > {folder}/files
[ ! -e {folder}/leaves ] || cp {folder}/leaves "$out/parity.json"
"""
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture
def act(tmp_path: Path, fake: Any, action: Path, docker: Path, reviewbot: Any) -> Callable[..., Run]:
    """Runs one of the workflows for an event, as a runner would."""
    home = tmp_path / "maintainer"
    home.mkdir()
    subprocess.run(["git", "init", "--quiet", home], check=True)
    uses = f"example/reviewbot@{COMMIT}"
    made = reviewbot("init", "--apply", "--uses", uses, "--gpu", IMAGE, cwd=home)
    assert made.code == 0, made.err

    def run(workflow: str, event: str, payload: Mapping[str, Any], locked: str = "true") -> Run:
        file = tmp_path / "event.json"
        file.write_text(json.dumps(payload))
        path = home / ".github" / "workflows" / f"{workflow}.yml"
        words: list[str | Path] = ["act", event, "--workflows", path, "--eventpath", file]
        for label in ("ubuntu-latest", "self-hosted", "linux", "gpu"):
            words += ["--platform", f"{label}=-self-hosted"]
        words += ["--pull=false", "--action-offline-mode", "--no-cache-server"]
        words += ["--action-cache-path", tmp_path / "act", "--var", f"REVIEWBOT_GPU_GROUP_LOCKED={locked}"]
        words += ["--local-repository", f"{uses}={action}"]
        for pinned, name in STUBS.items():
            place = Path(__file__).parent / "actions" / name
            words += ["--local-repository", f"{pinned.partition(' ')[0]}={place}"]
        environ = fake.environ()
        words += ["--secret", f"GITHUB_TOKEN={environ.pop('GITHUB_TOKEN')}"]
        for name, value in {**environ, "ARTIFACTS": str(tmp_path / "artifacts")}.items():
            words += ["--env", f"{name}={value}"]
        env = {
            **os.environ,
            "PATH": f"{docker / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
        }
        done = subprocess.run(
            list(map(str, words)), cwd=home, env=env, capture_output=True, text=True, timeout=300
        )
        return Run(done.returncode, done.stdout + done.stderr)

    return run
