"""`reviewbot action` in the jobs that run code of a pull request, and in the one that reports."""

from __future__ import annotations

import json
import os
import re
import stat
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import pytest
from fakegithub import POSTER

from reviewbot.cli.action import runner
from reviewbot.github import jobs
from reviewbot.github.client import GitHub
from reviewbot.github.patience import Pace

pytestmark = pytest.mark.slow

IMAGE = f"registry.example/gpu@sha256:{'a' * 64}"
NOWHERE = "http://github.invalid"
CHECK = """\
def compare(reference, restored):
    for left, right in zip(reference, restored):
        assert left["tokens"][0] == right["tokens"][0], "differs"


def test_compare():
    rows = [{"tokens": [13, 3, 3, 1, 11]}, {"tokens": [13, 3, 3, 1, 12]}]
    compare(rows, [dict(row) for row in rows])
"""


@pytest.fixture
def job(tmp_path, fake, reviewbot):
    """Runs a mode as a runner does; returns what ran and the outputs."""
    temp = tmp_path / "temp"
    temp.mkdir()

    def run(mode: str, *words: str, token: str = "", **more: str):
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        env = {
            **fake.environ(),
            "GITHUB_TOKEN": token,
            "GITHUB_OUTPUT": output,
            "GITHUB_STEP_SUMMARY": tmp_path / "summary",
            "RUNNER_TEMP": temp,
            **more,
        }
        ran = reviewbot("action", f"--mode={mode}", *words, env={k: str(v) for k, v in env.items()})
        text = output.read_text() if output.exists() else ""
        return ran, dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    return run


@pytest.fixture
def source(tmp_path):
    return tmp_path / "temp" / "reviewbot-source"


@pytest.fixture
def docker(tmp_path):
    """A docker that writes down what it was asked for, and leaves in /out what the test says."""
    folder = tmp_path / "bin"
    folder.mkdir()
    leaves = tmp_path / "leaves"
    script = folder / "docker"
    script.write_text(
        f"""#!/bin/sh
[ "$1" = run ] || {{ echo "$@" >> {tmp_path}/removed; exit 0; }}
printf '%s\\n' "$@" > {tmp_path}/asked
env > {tmp_path}/env
echo '::error title=pwned::from the container'
for word in "$@"; do case "$word" in *:/out) out="${{word%:/out}}";; esac; done
[ ! -e {leaves} ] || cp -P {leaves} "$out/parity.json"
exit 1
"""
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_a_commit_is_fetched_as_files_without_git_links_or_token(job, opened_with, source, tmp_path):
    head = opened_with({"tests/a.py": CHECK, "run.sh": "touch /tmp/x\n"}, link="/etc/passwd")
    ran, _ = job("fetch", f"--sha={head}", token="poster")
    assert ran.code == 0, ran.out
    files = sorted(str(path.relative_to(source)) for path in source.rglob("*") if path.is_file())
    assert files == ["a.py", "pyproject.toml", "run.sh", "tests/a.py"]
    assert not [path for path in (tmp_path / "temp").rglob("*") if b"poster" in read(path)]
    assert not (tmp_path / "temp" / "reviewbot-objects").exists()


def read(path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.fixture
def opened_with(fake, repository):
    """Opens pull request 7 with files, and a symbolic link; returns its head."""

    def open_(files: dict[str, str], link: str = "") -> str:
        base = repository.commit({"a.py": "x = 1\n"})
        if link:
            (repository.folder / "link").symlink_to(link)
        head = repository.commit(files)
        fake.open_pull(base, head)
        repository.git("checkout", "--quiet", base)
        return head

    return open_


@pytest.mark.parametrize("sha", ["", "main", "HEAD", "a" * 39, "--upload-pack=touch x", "A" * 40])
def test_nothing_but_a_full_commit_id_is_fetched(job, opened_with, source, sha):
    opened_with({"tests/a.py": CHECK})
    ran, _ = job("fetch", f"--sha={sha}", token="poster")
    assert ran.code == 2
    assert "full" in ran.out
    assert not source.exists()


def test_a_commit_of_files_without_end_is_not_walked_through(job, opened_with, source, fake, repository):
    """Nine folders, each the one below it ten times: a billion files of one object."""
    opened_with({"tests/a.py": CHECK})
    tree = repository.git("rev-parse", "HEAD^{tree}")
    for _ in range(9):
        lines = "".join(f"040000 tree {tree}\tf{number}\n" for number in range(10))
        (repository.folder / "list").write_text(lines)
        tree = repository.git("-c", "alias.make=!git mktree < list", "make")
    head = repository.git("commit-tree", "-p", "HEAD", "-m", "many", tree)
    fake.world.git.ask("update-ref", "refs/pull/7/head", head)
    ran, _ = job("fetch", f"--sha={head}", token="poster")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith(f"::error title=reviewbot::{head[:12]} holds more than 1000000 files")
    assert not source.exists() or not list(source.iterdir())


def test_a_commit_that_is_not_there_is_one_error(job, opened_with):
    opened_with({"tests/a.py": CHECK})
    ran, _ = job("fetch", f"--sha={'0' * 40}", token="poster")
    assert ran.code == 2
    (line,) = ran.out.splitlines()
    assert line.startswith("::error title=reviewbot::git cannot fetch the commits")
    assert "poster" not in ran.out + ran.err


def test_a_probe_leaves_its_result(job, opened_with, tmp_path):
    head = opened_with({"tests/test_a.py": CHECK})
    assert job("fetch", f"--sha={head}", token="poster")[0].code == 0
    ran, outputs = job("probe", "--target=tests/test_a.py::compare")
    assert ran.code == 0, ran.out
    made = json.loads((tmp_path / "temp/reviewbot-result/probe.json").read_text())
    assert outputs["result"] == str(tmp_path / "temp/reviewbot-result/probe.json")
    assert made["witnesses"], ran.out
    assert made["target"] == "tests/test_a.py::compare"


def test_a_probe_that_comes_to_nothing_says_why_in_its_result(job, opened_with, tmp_path):
    head = opened_with({"tests/test_a.py": CHECK})
    job("fetch", f"--sha={head}", token="poster")
    ran, _ = job("probe", "--target=tests/test_a.py::gone")
    assert ran.code == 0, ran.out
    made = json.loads((tmp_path / "temp/reviewbot-result/probe.json").read_text())
    assert (made["edits_tried"], made["witnesses"]) == (0, [])
    assert "has no function 'gone'" in made["not_run"][0]


def test_a_probe_refuses_to_run_beside_a_token(job, opened_with):
    head = opened_with({"tests/test_a.py": CHECK})
    job("fetch", f"--sha={head}", token="poster")
    ran, _ = job("probe", "--target=tests/test_a.py::compare", token="poster")
    assert ran.code == 2
    assert "no token may be within its reach" in ran.out


def test_parity_seals_the_container_and_hands_on_its_result(job, opened_with, docker, source, tmp_path):
    head = opened_with({"tests/test_a.py": CHECK})
    job("fetch", f"--sha={head}", token="poster")
    (tmp_path / "leaves").write_text('{"verdict": "pass"}')
    ran, outputs = job("parity", f"--image={IMAGE}", "--run=go > /out/parity.json", **docker)
    assert ran.code == 0, ran.out
    assert (tmp_path / "temp/reviewbot-result/parity.json").read_text() == '{"verdict": "pass"}'
    assert outputs["result"].endswith("reviewbot-result/parity.json")
    asked = (tmp_path / "asked").read_text().splitlines()
    pairs = set(pairwise(asked))
    assert {
        ("--network", "none"),
        ("--user", "65534:65534"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--volume", f"{source}:/src:ro"),
        (IMAGE, "-c"),
        ("-c", "go > /out/parity.json"),
    } <= pairs
    assert "--read-only" in asked and "--privileged" not in asked
    given = [after for word, after in pairwise(asked) if word == "--env"]
    assert given == ["HOME=/scratch", "PYTHONDONTWRITEBYTECODE=1"]
    assert "GITHUB_TOKEN=poster" not in (tmp_path / "env").read_text()
    # What the container says reaches the log between two words that it cannot know.
    lines = ran.out.splitlines()
    stop = next(line for line in lines if line.startswith("::stop-commands::"))
    said = lines.index("::error title=pwned::from the container")
    assert lines.index(stop) < said < lines.index(f"::{stop.removeprefix('::stop-commands::')}::")
    assert (tmp_path / "removed").read_text().startswith("rm --force reviewbot-parity-")


@pytest.mark.parametrize("what", ["nothing", "a link", "a folder", "too much"])
def test_parity_hands_on_nothing_but_a_small_file(job, opened_with, docker, tmp_path, what):
    head = opened_with({"tests/test_a.py": CHECK})
    job("fetch", f"--sha={head}", token="poster")
    leaves = tmp_path / "leaves"
    if what == "a link":
        leaves.symlink_to("/etc/hostname")
    elif what == "too much":
        leaves.write_bytes(b" " * (4 * 1024 * 1024 + 1))
    ran, _ = job("parity", f"--image={IMAGE}", "--run=go", **docker)
    assert ran.code == 1
    assert "left no result" in ran.out
    assert not (tmp_path / "temp/reviewbot-result/parity.json").exists()


@pytest.mark.parametrize("image", ["", "registry.example/gpu", "registry.example/gpu:latest", "--privileged"])
def test_parity_takes_an_image_by_its_digest_only(job, docker, tmp_path, image):
    ran, _ = job("parity", f"--image={image}", "--run=go", **docker)
    assert ran.code == 2
    assert "by its digest" in ran.out
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("given", "conclusion"),
    [
        (("success", '{"edits_tried": 3, "witnesses": []}'), "success"),
        (("success", '{"edits_tried": 3, "witnesses": [], "sha": NaN}'), "failure"),
        (("success", ""), "failure"),
        (("failure", '{"edits_tried": 3, "witnesses": []}'), "failure"),
        (("cancelled", ""), "neutral"),
        (("", ""), "failure"),
        (("whatever", ""), "failure"),
    ],
)
def test_a_report_concludes_whatever_the_job_left(job, opened_with, fake, tmp_path, given, conclusion):
    ended, text = given
    head = opened_with({"tests/test_a.py": CHECK})
    fake.tokens["poster"] = POSTER
    github = GitHub.of_environment(fake.slug, fake.environ(), Pace(0, 0, 0, 0))
    begun = jobs.begin(github, 7, head, "probe", "C1")
    (tmp_path / "left").mkdir()
    if text:
        (tmp_path / "left" / "probe.json").write_text(text)
    words = ["--kind=probe", "--pr=7", f"--sha={head}", "--id=C1", f"--check={begun.check}"]
    words += [f"--job-result={ended}", f"--result={tmp_path / 'left'}"]
    ran, _ = job("report", *words, token="poster")
    assert ran.code == 0, ran.out
    assert [check.conclusion for check in github.checks(head, "reviewbot probe C1")] == [conclusion]
    again, _ = job("report", *words, token="poster")
    assert "concluded before" in again.out
    assert len(github.comments(7)) == 1


@pytest.fixture
def proxy(fake):
    """The address of a proxy that knows where github.invalid is, which nobody else does."""

    class Forward(BaseHTTPRequestHandler):
        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            there = HTTPConnection(fake.pages.removeprefix("http://"))
            path = self.path.removeprefix(NOWHERE).removeprefix(":80")
            there.request(self.command, path, body, dict(self.headers))
            answer = there.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = forward

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_enterprise_and_proxies_are_taken_from_the_environment(
    job, opened_with, fake, proxy, proxied, prefix
):
    fake.prefix = prefix  # where GitHub Enterprise has its API
    head = opened_with({"a.py": "x = 2\n"})
    github = GitHub.of_environment(fake.slug, fake.environ(), Pace(0, 0, 0, 0))
    begun = jobs.begin(github, 7, head, "probe", "C1")
    env = {**fake.environ(), "GITHUB_TOKEN": "poster"}
    if proxied:
        env = {name: value.replace(fake.pages, NOWHERE) for name, value in env.items()}
        env |= {"HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": "", "no_proxy": ""}
    words = ["--kind=probe", "--pr=7", f"--sha={head}", "--id=C1", f"--check={begun.check}"]
    ran, _ = job("report", *words, "--job-result=cancelled", **env)
    assert ran.code == 0, ran.out
    assert [check.conclusion for check in github.checks(head, "reviewbot probe C1")] == ["neutral"]
    assert len(github.comments(7)) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"--kind": "lint"}, {"--pr": "7; id"}, {"--sha": "main"}, {"--check": "x"}, {"--id": "C1`id`"}],
)
def test_a_report_takes_nothing_but_what_the_authorizing_job_gives(job, fake, wrong):
    given = {"--kind": "probe", "--pr": "7", "--sha": "a" * 40, "--id": "C1", "--check": "3", **wrong}
    ran, _ = job("report", *(f"{name}={value}" for name, value in given.items()), token="poster")
    assert ran.code == 2
    assert fake.calls == []


@pytest.mark.parametrize(
    "value", ["x\nfailing=0", "x\r\nrun=parity", "x\nEOF\nrun=parity\nrest<<EOF\n", "x\n"]
)
def test_no_value_of_an_output_makes_another(monkeypatch, tmp_path, value):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    runner.outputs({"target": value, "after": "1"})
    found, rest = {}, (tmp_path / "output").read_bytes().decode().split("\n")
    while rest:
        name, given = re.match(r"([a-z]*)(.*)", rest.pop(0), re.DOTALL).groups()
        if given.startswith("<<"):
            until = rest.index(given[2:])
            found[name], rest = "\n".join(rest[:until]), rest[until + 1 :]
        elif name:
            found[name] = given[1:]
    assert found == {"target": value, "after": "1"}
