"""`reviewbot init`: the workflows, what the validators say of them, and files that are in the way."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

BIN = Path(sys.executable).parent
USES = f"acme/reviewbot@{'1' * 40} # v1.0.0"
IMAGE = f"registry.example/gpu@sha256:{'0' * 64}"
PLAIN = {"reviewbot.yml", "reviewbot-post.yml", "reviewbot-commands.yml"}


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / ".github/workflows").iterdir()}


@pytest.fixture
def made(reviewbot, repository):
    """Runs `reviewbot init --apply` with a known reviewbot and returns the files."""

    def run(*words: str) -> dict[str, str]:
        ran = reviewbot("init", "--apply", "--uses", USES, *words, cwd=repository.folder)
        assert ran.code == 0, ran.err
        return written(repository.folder)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--fail-on", "likely"),
        ("--gpu", IMAGE),
        (
            "--gpu",
            IMAGE,
            "--label",
            "run: on gpu",
            "--gpu-labels",
            "x64",
            "--gpu-command",
            "a \"b\" > '/out'; #",
        ),
    ],
)
def test_the_validators_find_nothing(made, repository, words):
    assert set(made(*words)) == PLAIN | ({"reviewbot-parity.yml"} if "--gpu" in words else set())
    folder = repository.folder / ".github"
    (folder / "actionlint.yaml").write_text("self-hosted-runner:\n  labels: [gpu]\n")
    files = sorted((folder / "workflows").iterdir())
    for command in (
        ("zizmor", "--offline", "--no-progress", "."),
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files),
        ("actionlint", "-color=false"),
    ):
        done = subprocess.run(
            [BIN / command[0], *command[1:]], cwd=repository.folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_reviews_knows_what_fails(made):
    for name, text in made("--fail-on", "likely").items():
        steps = [step for job in YAML(typ="safe").load(text)["jobs"].values() for step in job["steps"]]
        given = {step["with"].get("mode"): step["with"].get("fail-on") for step in steps}
        reviewing = given.keys() & {"lint", "post", "command"}
        assert reviewing, name
        assert {given[mode] for mode in reviewing} == {"likely"}


def test_jobs_have_the_least_permissions_and_what_runs_foreign_code_can_only_read(made):
    jobs = {
        f"{name.removesuffix('.yml')}/{job}": body["permissions"]
        for name, text in made("--gpu", IMAGE).items()
        for job, body in YAML(typ="safe").load(text)["jobs"].items()
    }
    write, read = {"pull-requests": "write", "checks": "write"}, {"contents": "read"}
    assert jobs == {
        "reviewbot/lint": read,
        "reviewbot-post/post": {**read, **write},
        "reviewbot-commands/command": {**read, **write},
        "reviewbot-commands/probe": read,
        "reviewbot-commands/report": write,
        "reviewbot-parity/revoke": write,
        "reviewbot-parity/authorize": {**read, **write},
        "reviewbot-parity/parity": read,
        "reviewbot-parity/report": write,
    }


def test_no_script_no_secret_no_checkout_with_rights_and_every_action_by_commit(made):
    for name, text in made("--gpu", IMAGE).items():
        workflow = YAML(typ="safe").load(text)
        assert workflow["permissions"] == {}
        assert "secrets." not in text and "/cache@" not in text
        for step in itertools.chain.from_iterable(job["steps"] for job in workflow["jobs"].values()):
            assert "run" not in step
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])
            if step["uses"].startswith("actions/checkout"):
                assert (name, step["with"]["persist-credentials"]) == ("reviewbot.yml", False)


def test_the_shown_diff_is_what_apply_writes(reviewbot, repository):
    shown = reviewbot("init", "--uses", USES, cwd=repository.folder)
    assert shown.code == 0
    assert "nothing is written; --apply writes it" in shown.err
    assert not (repository.folder / ".github").exists()
    applied = subprocess.run(
        ["git", "apply", "--check", "-"],
        cwd=repository.folder,
        input=shown.out,
        text=True,
        capture_output=True,
    )
    assert applied.returncode == 0, applied.stderr
    subprocess.run(["git", "apply", "-"], cwd=repository.folder, input=shown.out, text=True, check=True)
    by_git = written(repository.folder)
    assert set(by_git) == PLAIN
    again = reviewbot("init", "--uses", USES, cwd=repository.folder)
    assert (again.code, again.out) == (0, "")
    assert "as they would be written" in again.err
    other = reviewbot("init", "--uses", USES.replace("1", "2"), "--apply", cwd=repository.folder)
    assert other.code == 0
    assert {name: text.replace("1" * 40, "2" * 40).replace("v1", "v2") for name, text in by_git.items()} == (
        written(repository.folder)
    )


def test_a_second_run_keeps_what_the_first_was_given(made, reviewbot, repository):
    command = "a \"b\" > '/out'; # {x: [y]}"
    gpu = ("--gpu", IMAGE, "--gpu-group", "big ones", "--gpu-labels", "x64,h200", "--gpu-command", command)
    first = made("--fail-on", "likely", *gpu, "--label", "run: on gpu")
    shown = reviewbot("init", cwd=repository.folder)
    assert (shown.code, shown.out) == (0, "")
    again = reviewbot("init", "--apply", cwd=repository.folder)
    assert (again.code, again.out) == (0, ""), again.err
    assert written(repository.folder) == first
    # What a bot for updates writes is a value like any other; what is given stands above it.
    update = ("1" * 40 + " # v1.0.0", "2" * 40 + " # v1.1.0")
    repository.write({f".github/workflows/{name}": text.replace(*update) for name, text in first.items()})
    assert reviewbot("init", "--apply", "--fail-on", "never", cwd=repository.folder).code == 0
    assert written(repository.folder) == {
        name: text.replace(*update).replace("fail-on: likely", "fail-on: never")
        for name, text in first.items()
    }
    assert reviewbot("init", "--apply", "--label", "gpu", cwd=repository.folder).code == 0
    parity = written(repository.folder)["reviewbot-parity.yml"]
    assert 'label: "gpu"\n' in parity
    assert "run: on gpu" not in parity
    assert "labels: [x64, h200] " in parity


def test_what_has_no_known_pin_is_shown_but_not_written(reviewbot, repository):
    shown = reviewbot("init", cwd=repository.folder)
    assert shown.code == 0
    assert "uses: OWNER/reviewbot@COMMIT" in shown.out
    ran = reviewbot("init", "--apply", cwd=repository.folder)
    assert (ran.code, ran.out) == (2, "")
    assert "--uses OWNER/reviewbot@SHA" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (repository.folder / ".github").exists()
    pinned = f"jobs:\n  post:\n    steps:\n      - uses: {USES}\n        with:\n          mode: post\n"
    # Nor are the pins read from a file of somebody else, or from one that was written without any.
    repository.write({".github/workflows/reviewbot-post.yml": f"# mine\n{pinned}"})
    assert "uses: OWNER/reviewbot@COMMIT" in reviewbot("init", cwd=repository.folder).out
    repository.write({".github/workflows/reviewbot.yml": _without_pin(shown.out)})
    assert reviewbot("init", "--apply", cwd=repository.folder).code == 2


def _without_pin(diff: str) -> str:
    """The last file of a diff that adds files."""
    return "".join(f"{line[1:]}\n" for line in diff.rpartition("+++ ")[2].splitlines()[2:])


def test_a_file_of_somebody_else_stays_unless_forced_and_the_others_are_written(reviewbot, repository):
    own = "name: mine\non: push\n"
    path = ".github/workflows/reviewbot-post.yml"
    repository.write({path: own})
    shown = reviewbot("init", "--uses", USES, cwd=repository.folder)
    assert shown.code == 0
    assert f"{path} is not from reviewbot; --apply leaves it unless --force is given" in shown.err
    ran = reviewbot("init", "--uses", USES, "--apply", cwd=repository.folder)
    assert ran.code == 2
    assert f"{path} is not from reviewbot and left as it is" in ran.err
    after = written(repository.folder)
    assert after.keys() == PLAIN
    assert after["reviewbot-post.yml"] == own
    others = {f".github/workflows/{name}" for name in PLAIN} - {path}
    assert set(re.findall(r"^\+\+\+ b/(\S+)$", shown.out, re.MULTILINE)) == others
    assert set(re.findall(r"^written: (\S+)$", ran.out, re.MULTILINE)) == others
    again = reviewbot("init", "--apply", cwd=repository.folder)
    assert (again.code, again.out) == (2, "")
    assert "the other workflows are as they would be written" in again.err
    assert reviewbot("init", "--apply", "--force", cwd=repository.folder).code == 0
    assert USES in written(repository.folder)["reviewbot-post.yml"]


def test_a_file_of_its_own_that_was_edited_stays_and_the_diff_shows_what_would_be_lost(
    made, reviewbot, repository
):
    path, first = ".github/workflows/reviewbot.yml", made()
    mine = first["reviewbot.yml"].rstrip("\n") + "\n# mine\n"
    repository.write({path: mine})
    ran = reviewbot("init", "--apply", "--fail-on", "never", cwd=repository.folder)
    assert ran.code == 2
    assert f"{path} was edited since, or written by another reviewbot, and is left as it is" in ran.err
    assert "\n-# mine\n" in ran.out
    assert written(repository.folder)["reviewbot.yml"] == mine
    assert "fail-on: never" in written(repository.folder)["reviewbot-post.yml"]
    shown = reviewbot("init", cwd=repository.folder)
    assert f"{path} was edited since, or written by another reviewbot; --apply leaves it" in shown.err
    assert reviewbot("init", "--apply", "--force", cwd=repository.folder).code == 0
    assert "# mine" not in written(repository.folder)["reviewbot.yml"]


def test_what_is_not_pinned_is_said(reviewbot, repository):
    assert "OWNER/reviewbot@COMMIT stands for" in reviewbot("init", cwd=repository.folder).err
    tag = reviewbot("init", "--uses", "acme/reviewbot@v1", cwd=repository.folder)
    assert "v1 can be moved to other code" in tag.err
    assert "can be moved" not in reviewbot("init", "--uses", USES, cwd=repository.folder).err


def test_settings_that_no_review_reads_are_named(reviewbot, repository):
    settings = '[tool.reviewbot]\nfail-on = "likely"\n'
    repository.write({"pyproject.toml": settings, "packages/trainer/pyproject.toml": settings})
    repository.write({"packages/other/pyproject.toml": '[project]\nname = "other"\n', "packages/a.py": ""})
    ran = reviewbot("init", "--uses", USES, cwd=repository.folder / "packages")
    (line,) = (one for one in ran.err.splitlines() if "pyproject.toml" in one)
    assert line.startswith("reviewbot: packages/trainer/pyproject.toml: these settings hold for commands")


def test_parity_asks_for_the_lock_of_its_runner_group(reviewbot, repository):
    ran = reviewbot("init", "--uses", USES, "--gpu", IMAGE, "--gpu-group", "big ones", cwd=repository.folder)
    assert "limit the runner group big ones" in ran.err
    assert "REVIEWBOT_GPU_GROUP_LOCKED" in ran.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--uses", "acme/reviewbot"), "OWNER/reviewbot@COMMIT"),
        (("--uses", "acme/reviewbot@v1\n        run: id"), "OWNER/reviewbot@COMMIT"),
        (("--gpu", "registry.example/gpu:latest"), "by its digest"),
        (("--gpu", IMAGE, "--label", "x' || true || '"), "label is"),
        (("--gpu", IMAGE, "--gpu-group", "a\nb"), "runner group"),
        (("--gpu", IMAGE, "--gpu-labels", "a, b]"), "label of a runner"),
        (("--gpu", IMAGE, "--gpu-command", "echo ${{ github.token }}"), "without"),
    ],
)
def test_values_that_could_act_in_a_workflow_are_refused(reviewbot, repository, words, says):
    ran = reviewbot("init", *words, cwd=repository.folder)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_outside_a_repository_it_says_so(reviewbot, tmp_path):
    ran = reviewbot("init", cwd=tmp_path)
    assert ran.code == 2
    assert "not in a git repository" in ran.err
