"""action.yml: what the validators say, and the workflow of the README run end to end on the example."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
WORKFLOW = ROOT / "demo" / "review.yml"
COMMIT = "1" * 40  # the reviewbot of the workflow under test: replaced by this checkout

MODULES = ("venv", "pip", "ensurepip", "runpy", "reviewbot", "jinja2", "sitecustomize")


def hostile_name(mark: Path) -> str:
    """What makes the file `mark` if a shell takes it for its own, and an annotation if the runner does."""
    return f"a`touch {mark}`$(touch {mark})\";touch {mark};'\n::error title=pwned::${{{{ github.token }}}}"


def hostile_modules(mark: Path) -> dict[str, str]:
    """Files that make the file `mark` if Python imports one of them in the place of what it was asked for."""
    return {f"{module}.py": f"open({str(mark)!r}, 'w')\n" for module in MODULES}


def checked(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True)


@pytest.mark.parametrize("file", [ROOT / "action.yml", WORKFLOW], ids=lambda file: file.name)
def test_zizmor_finds_nothing(file, tmp_path):
    # In a fixed place, since zizmor tells a workflow by its folder.
    folder = tmp_path / (".github/workflows" if file == WORKFLOW else "")
    folder.mkdir(parents=True, exist_ok=True)
    text = file.read_text(encoding="utf-8").replace("OWNER/reviewbot@COMMIT", f"o/r@{COMMIT} # v0.1.0")
    (folder / file.name).write_text(text, encoding="utf-8")
    done = checked(BIN / "zizmor", "--offline", "--no-progress", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schemas_of_github_hold():
    for schema, file in (("actions", ROOT / "action.yml"), ("workflows", WORKFLOW)):
        done = checked(BIN / "check-jsonschema", "--builtin-schema", f"vendor.github-{schema}", file)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_input_and_output_is_documented():
    page = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    names = re.findall(r"^  ([a-z-]+):\n    (?:description|value)", text, re.MULTILINE)
    assert len(names) > 25
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_readme_shows_the_workflow_that_is_tested():
    assert WORKFLOW.read_text(encoding="utf-8") in (ROOT / "README.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Job:
    """What act left: its exit code, and its log without the job's name before each line."""

    code: int
    log: str

    def commands(self) -> list[str]:
        """The workflow commands that the runner took for such."""
        return re.findall(r"^ +❗ +(::.*)$", self.log, re.MULTILINE)

    def outputs(self) -> dict[str, str]:
        return dict(re.findall(r"::set-output:: ([a-z]+)=(.*)$", self.log, re.MULTILINE))


@pytest.fixture(scope="session")
def checkout(tmp_path_factory) -> Path:
    """The files of this checkout that git knows or would take: what GitHub would fetch as the Action."""
    folder = tmp_path_factory.mktemp("action")
    words = ("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, checked(*words).stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture
def act(tmp_path, checkout) -> Callable[..., Job]:
    """Runs the workflow on a pull request, as a runner would: on this host, without a container."""

    def run(repository: Path, base: str, head: str, text: str = WORKFLOW.read_text(encoding="utf-8")) -> Job:
        workflow = tmp_path / "review.yml"
        workflow.write_text(text.replace("OWNER/reviewbot@COMMIT", f"example/reviewbot@{COMMIT}"))
        name = hostile_name(tmp_path / "pwned")
        hostile = {"title": name, "body": name, "user": {"login": name}}
        ends = {"base": {"sha": base, "ref": "main"}, "head": {"sha": head, "ref": name}}
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"action": "opened", "pull_request": {"number": 7, **hostile, **ends}}))
        words = ["act", "pull_request", "--workflows", workflow, "--eventpath", event]
        words += ["--platform", "ubuntu-latest=-self-hosted", "--pull=false", "--action-offline-mode"]
        words += ["--no-cache-server", "--action-cache-path", tmp_path / "act"]
        words += ["--local-repository", f"example/reviewbot@{COMMIT}={checkout}"]
        env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        done = subprocess.run(
            [*map(str, words)], cwd=repository, env=env, capture_output=True, text=True, timeout=300
        )
        log = re.sub(r"^\[review/review *\]", "", done.stdout, flags=re.MULTILINE)
        return Job(done.returncode, log + done.stderr)

    return run


@pytest.fixture
def example(tmp_path) -> Path:
    folder = tmp_path / "parcel-robot"
    subprocess.run([sys.executable, ROOT / "demo" / "history.py", folder], check=True)
    return folder


def tip(folder: Path, branch: str) -> str:
    return checked("git", "-C", folder, "rev-parse", branch).stdout.strip()


@pytest.mark.slow
def test_the_example_branch_is_reviewed_in_a_workflow(act, example):
    job = act(example, tip(example, "main"), tip(example, "resume-mid-turn"))
    assert job.code == 1, job.log
    errors = [line for line in job.commands() if line.startswith("::error file=")]
    assert any("tests/resume_parity.py" in line for line in errors), job.log
    outputs = job.outputs()
    assert int(outputs["failing"]) == len(errors)
    assert "Summary - ### reviewbot:" in job.log


@pytest.mark.slow
def test_a_hostile_pull_request_runs_nothing(act, repository, tmp_path):
    base = repository.commit({"tests/test_a.py": "def test_a(run):\n    assert run() == 1, 'wrong'\n"})
    weak = "def test_a(run):\n    assert (run() == 1, '::error::pwned')\n"
    head = repository.commit({"tests/test_a.py": weak, **hostile_modules(tmp_path / "pwned")})
    text = WORKFLOW.read_text(encoding="utf-8").replace("fail-on: proved", "fail-on: never")
    job = act(repository.folder, base, head, text)
    assert job.code == 0, job.log
    (command,) = job.commands()
    assert command.startswith("::error file=tests/test_a.py,line=2")
    assert "pwned::" not in command
    assert not (tmp_path / "pwned").exists(), job.log
    assert "title=pwned" not in job.log


@pytest.mark.slow
def test_it_installs_from_a_wheel_as_from_its_own_checkout(tmp_path, checkout):
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path)
    assert subprocess.run(list(map(str, build)), cwd=checkout, capture_output=True).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    steps = YAML(typ="safe").load(ROOT / "action.yml")["runs"]["steps"]
    env = {
        **os.environ,
        "PYTHON": sys.executable,
        "SOURCE": str(wheel),
        "EXTRA": "[github]",
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "RUNNER_TEMP": str(tmp_path),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", steps[0]["run"]], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    python = tmp_path / "reviewbot" / "bin" / "python"
    assert "excuse-branch" in checked(python, "-I", "-m", "reviewbot", "rule", "excuse-branch").stdout
    assert checked(python, "-I", "-c", "import github, httpx, tenacity").returncode == 0
