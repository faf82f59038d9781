"""rules/ and templates/ come along however reviewbot is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"

pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path | str = ROOT, env: dict[str, str] | None = None) -> str:
    """Runs a command, which must succeed; returns what it printed."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env={**clean, **(env or {})}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path, out: Path) -> Path:
    """The wheel or sdist of a source folder, made without another environment."""
    run(sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", out, cwd=source)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def environment(tmp_path) -> Path:
    """A Python environment without reviewbot: the libraries are those of the Python that runs the tests."""
    folder = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (site,) = (folder / "lib").glob("python*/site-packages")
    # A path file in a folder that a path file names is not read: an editable reviewbot there stays out.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def install(environment: Path, *words: str | Path) -> list[str | Path]:
    """Installs, and returns the command that starts what was installed."""
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet")
    run(*pip, "--no-deps", "--no-build-isolation", "--no-index", *words)
    return [environment / "bin" / "reviewbot"]


@pytest.fixture(params=["wheel", "editable", "checkout"])
def command(request, environment) -> tuple[list[str | Path], dict[str, str]]:
    """How reviewbot is started, and with which environment variables, for each way to have it."""
    if request.param == "wheel":
        return install(environment, request.getfixturevalue("wheel")), {}
    if request.param == "editable":
        return install(environment, "--editable", ROOT), {}
    return [environment / "bin" / "python", "-m", "reviewbot"], {"PYTHONPATH": str(ROOT)}


def test_rules_are_found_from_another_folder(command, tmp_path):
    start, env = command
    weak = tmp_path / "test_weak.py"
    weak.write_text(WEAK)
    out = run(*start, "lint", "--output-format", "json", "--fail-on", "never", weak, cwd="/", env=env)
    assert [(found["rule"], found["line"]) for found in json.loads(out)] == [("constant-verdict", 2)]


def names(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel):
    wanted = ("reviewbot", "rules", "templates")
    tracked = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *wanted).split()
    assert names(wheel) == {
        name if name.startswith("reviewbot/") else f"reviewbot/{name}" for name in tracked
    }


def test_a_wheel_from_the_sdist_is_the_same(wheel, tmp_path):
    sdist = build("sdist", ROOT, tmp_path / "sdist")
    run("tar", "-xzf", sdist, "-C", tmp_path)
    again = build("wheel", tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "wheel")
    assert names(again) == names(wheel)
