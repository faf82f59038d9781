"""`reviewbot action`: what a runner is told, with an event whose author is hostile."""

from __future__ import annotations

import json
import re

import pytest

WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"
FINE = "def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"
HOSTILE = 'a"; echo pwned >pwned; "$(echo pwned >pwned)`echo pwned >pwned`\n::error::pwned'


@pytest.fixture
def action(tmp_path, repository, reviewbot):
    """Runs `reviewbot action` as a runner does; returns what ran, the outputs and the step's summary."""

    def run(base: str, head: str, *words: str, event: object = None):
        files = {name: tmp_path / name for name in ("event.json", "output", "summary")}
        hostile = {"title": HOSTILE, "body": HOSTILE, "user": {"login": HOSTILE}}
        ends = {"base": {"sha": base, "ref": HOSTILE}, "head": {"sha": head, "ref": HOSTILE}}
        event = event or {"pull_request": {"number": 7, **hostile, **ends}}
        files["event.json"].write_text(event if isinstance(event, str) else json.dumps(event))
        env = {
            "GITHUB_EVENT_PATH": files["event.json"],
            "GITHUB_OUTPUT": files["output"],
            "GITHUB_STEP_SUMMARY": files["summary"],
            "GITHUB_REPOSITORY": "example/robots",
            "GITHUB_SERVER_URL": "https://github.com",
            "RUNNER_TEMP": tmp_path,
        }
        ran = reviewbot("action", *words, cwd=repository.folder, env={k: str(v) for k, v in env.items()})
        read = [files[name].read_text() if files[name].exists() else "" for name in ("output", "summary")]
        return ran, dict(line.split("=", 1) for line in read[0].splitlines()), read[1]

    return run


@pytest.fixture
def weakened(repository):
    """A base commit, and a head that weakens a test."""
    base = repository.commit({"tests/test_rows.py": FINE})
    return base, repository.commit({"tests/test_rows.py": WEAK})


def test_a_proved_finding_fails_the_step_and_stands_at_its_lines(action, weakened, tmp_path):
    ran, outputs, summary = action(*weakened)
    assert ran.code == 1
    first = ran.out.splitlines()[0]
    assert first.startswith(
        "::error file=tests/test_rows.py,line=2,endLine=2,col=5,endColumn=36,"
        "title=constant-verdict (proved)::"
    )
    assert (outputs["findings"], outputs["failing"]) == ("1", "1")
    made = json.loads((tmp_path / "reviewbot-review.json").read_text())
    assert outputs["review"] == str(tmp_path / "reviewbot-review.json")
    assert [thread["id"] for thread in made["threads"]] == ["C1"]
    pages = tmp_path / "reviewbot-pages"
    assert outputs["pages"] == str(pages)
    assert {path.name for path in pages.iterdir()} >= {"index.html", "round-1.html", "C1.html"}
    assert f"https://github.com/example/robots/blob/{weakened[1]}/tests/test_rows.py#L2" in summary
    # What counts from one here has another id in the conversation, once there were rounds.
    assert "The ids here are those of this run alone." in summary


def test_fail_on_never_reports_and_passes(action, weakened):
    ran, outputs, _ = action(*weakened, "--fail-on=never")
    assert ran.code == 0
    assert ran.out.startswith("::error file=tests/test_rows.py")
    assert (outputs["findings"], outputs["failing"]) == ("1", "0")


def test_an_empty_fail_on_means_what_the_base_commit_says(action, repository):
    settings = '[tool.reviewbot]\nfail-on = "never"\n'
    base = repository.commit({"pyproject.toml": settings, "tests/test_rows.py": FINE})
    head = repository.commit({"pyproject.toml": None, "tests/test_rows.py": WEAK})
    assert action(base, head, "--fail-on=", "--base=", "--head=")[0].code == 0
    assert action(base, head, "--fail-on=proved")[0].code == 1


def test_nothing_to_report_passes(action, repository):
    base = repository.commit({"tests/test_rows.py": "\n"})
    head = repository.commit({"tests/test_rows.py": FINE})
    ran, outputs, summary = action(base, head)
    assert (ran.code, outputs["findings"]) == (0, "0")
    assert "::" not in ran.out
    assert "no finding in what this changes" in summary


def test_given_commits_need_no_event(action, weakened):
    base, head = weakened
    ran, outputs, _ = action(base, head, f"--base={base}", f"--head={head}", event={"ref": "refs/heads/x"})
    assert (ran.code, outputs["findings"]) == (1, "1")


def test_no_name_of_a_file_becomes_a_command_of_the_runner(action, repository):
    base = repository.commit()
    weird = "tests/test_a,b%0A::warning::x\n::error::pwned.py"
    head = repository.commit({weird: WEAK, "tests/test_\n::error::pwned2.py": "def broken(:\n"})
    ran, outputs, _ = action(base, head)
    assert outputs["findings"] == "1"
    commands = [line for line in ran.out.splitlines() if line.startswith("::")]
    assert len(commands) == 2, ran.out
    assert commands[0].startswith(
        "::error file=tests/test_a%2Cb%250A%3A%3Awarning%3A%3Ax%0A%3A%3Aerror%3A%3Apwned.py,line=2"
    )
    assert commands[1].startswith("::notice file=tests/test_%0A%3A%3Aerror%3A%3Apwned2.py::not reviewed")
    assert not re.search("^::", ran.err, re.MULTILINE)


def ends(base: str, head: str) -> object:
    return {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}}


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"ref": "refs/heads/main"}, "this event has no pull request"),
        (ends("x\n::error::y", "y"), "no commit id"),
        (ends("0" * 40, "0" * 40), "no such commit"),
        ("{", "cannot be read"),
    ],
)
def test_an_event_that_leads_nowhere_is_one_error(action, repository, event, says):
    repository.commit()
    ran, outputs, summary = action("", "", event=event)
    (line,) = ran.out.splitlines()
    assert line.startswith("::error title=reviewbot::")
    assert says in line
    assert (ran.code, outputs, summary) == (2, {}, "")


def test_a_shallow_clone_is_told_how_to_be_deeper(action, weakened, repository, tmp_path, reviewbot):
    base, head = weakened
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", str(tmp_path / "shallow"))
    ran = reviewbot("action", f"--base={base}", f"--head={head}", cwd=tmp_path / "shallow")
    assert ran.code == 2
    assert "fetch-depth: 0" in ran.out
