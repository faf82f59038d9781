"""The GitHub of our own behaves as GitHub does where it matters, and tells when it does not."""

from __future__ import annotations

import httpx
import pytest
from fakegithub import POSTER, READER, RESOLVER, FakeGitHub, Fault, Token

from reviewbot.errors import Absent, Busy, Denied, Refused, Unsure
from reviewbot.github.client import CheckOutput, GitHub
from reviewbot.github.patience import Pace

FAST = Pace(between_requests=0, between_writes=0, secondary_wait=0, backoff=0)


def client(fake: FakeGitHub, token: Token) -> GitHub:
    name = f"token{len(fake.tokens)}"
    fake.tokens[name] = token
    return GitHub.of_environment(fake.slug, fake.environ(name), FAST)


def line(path: str, number: int, body: str = "text", **more: object) -> dict[str, object]:
    return {"path": path, "line": number, "side": "RIGHT", "body": body, **more}


def test_it_shows_the_pull_request_and_its_files_as_git_has_them(fake, opened, github):
    pull = github.pull(7)
    assert (pull.base, pull.head, pull.open, pull.changed_files) == (opened.base, opened.head, True, 3)
    files = {one.path: one for one in github.files(7)}
    assert {path: one.status for path, one in files.items()} == {
        "a.py": "modified",
        "b.py": "removed",
        "c.py": "added",
    }
    assert files["c.py"].patch == "@@ -0,0 +1,2 @@\n+new = 1\n+last = 2\n\\ No newline at end of file"
    assert github.commits(7) == [opened.head]
    assert [one.number for one in github.pulls_of(opened.head)] == [7]
    assert github.read(opened.head, "c.py") == b"new = 1\nlast = 2"
    assert github.read(opened.head, "b.py") is None
    assert github.viewer == "github-actions[bot]"


@pytest.mark.parametrize(
    "wrong",
    [
        line("a.py", 30),
        line("a.py", 10, side="LEFT", start_line=30, start_side="LEFT"),
        line("a.py", 10, start_line=10, start_side="RIGHT"),
        line("kept.py", 1),
        line("a.py", 10, subject_type="file"),
        line("a.py", 10, body="x" * 65_537),
    ],
)
def test_one_wrong_comment_costs_the_whole_review_and_is_not_named(fake, opened, github, wrong):
    with pytest.raises(Refused) as caught:
        github.add_review(7, opened.head, "round", [line("a.py", 10), wrong])
    assert "a.py" not in str(caught.value)
    assert github.review_comments(7) == [] and github.reviews(7) == []


def test_a_review_stands_with_its_comments_and_people_reply_and_lines_move(fake, opened, github, repository):
    github.add_review(
        7, opened.head, "round", [line("a.py", 10), line("a.py", 9, start_line=8, start_side="RIGHT")]
    )
    first, second = github.review_comments(7)
    assert (first.line, second.line, first.author) == (10, 9, "github-actions[bot]")
    reply = github.reply(7, first, "thanks")
    assert reply.reply_to == first.id
    text = (repository.folder / "a.py").read_text()
    fake.push(repository.commit({"a.py": "# more\n" + text.replace("x9 = 9", "x9 = 'nine'")}))
    first, second, _ = github.review_comments(7)
    assert (first.line, second.line) == (11, None)
    assert [thread.comment for thread in github.threads(7)] == [first.id, second.id]


def test_a_file_can_be_commented_as_a_whole(fake, opened, github):
    made = github.add_file_comment(7, opened.head, "b.py", "text")
    assert made.path == "b.py" and made.line is None
    with pytest.raises(Refused):
        github.add_file_comment(7, opened.head, "kept.py", "text")


def test_a_draft_is_seen_by_its_author_alone_and_is_one(fake, opened, github):
    github.add_review(7, opened.head, "round", [line("a.py", 10)], pending=True)
    assert [one.state for one in github.reviews(7)] == ["PENDING"]
    assert github.review_comments(7) == []
    assert client(fake, Token("ada", POSTER.permissions)).reviews(7) == []
    with pytest.raises(Refused, match="one pending review"):
        github.add_review(7, opened.head, "again", [], pending=True)


def test_conversation_labels_reactions_roles(fake, opened, github):
    made = github.add_comment(7, "hello")
    github.edit_comment(made.id, "hello again")
    assert [one.body for one in github.comments(7)] == ["hello again"]
    github.react(made.id, "eyes")
    github.react(made.id, "eyes")
    assert len(fake.world.reactions) == 1
    github.add_labels(7, ["gpu-parity", "gpu-parity"])
    github.remove_label(7, "never there")
    assert github.labels(7) == ["gpu-parity"]
    github.remove_label(7, "gpu-parity")
    assert github.labels(7) == []
    fake.world.roles |= {"ada": "maintain", "eve": "triage", "bob": "release-captain"}
    assert [github.role(login) for login in ("ada", "eve", "nobody")] == ["maintain", "triage", "none"]
    github.delete_comment(made.id)
    with pytest.raises(Absent):
        github.comment(made.id)


def test_check_runs_take_fifty_annotations_at_a_time(fake, opened, github):
    one = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "warning", "message": "m"}
    output = CheckOutput("title", "summary", "text", [one] * 50)
    check = github.add_check(
        "reviewbot", opened.head, external_id="7", status="completed", conclusion="neutral", output=output
    )
    github.edit_check(check.id, output=CheckOutput("title", "summary", "text", [one] * 3))
    (found,) = github.checks(opened.head, "reviewbot")
    assert (found.annotations, found.text, found.conclusion) == (53, "text", "neutral")
    with pytest.raises(Refused):
        github.edit_check(check.id, output=CheckOutput("t", "s", "", [one] * 51))
    with pytest.raises(Refused):
        github.edit_check(check.id, output=CheckOutput("t", "x" * 65_536))


def test_a_token_may_what_it_may(fake, opened):
    reader, poster, resolver = (client(fake, token) for token in (READER, POSTER, RESOLVER))
    with pytest.raises(Denied):
        reader.add_comment(7, "hello")
    poster.add_review(7, opened.head, "round", [line("a.py", 10)])
    (thread,) = poster.threads(7)
    with pytest.raises(Denied):
        poster.resolve(thread.id)
    resolver.resolve(thread.id)
    assert poster.threads(7)[0].resolved
    resolver.unresolve(thread.id)
    assert not poster.threads(7)[0].resolved
    poster.minimize(poster.review_comments(7)[0].node_id, "OUTDATED")
    with pytest.raises(Denied):
        GitHub(fake.slug, "stranger", fake.api, pace=FAST).pull(7)


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (Fault("POST", "/comments", 403, message="You have exceeded a secondary rate limit"), Busy),
        (Fault("POST", "/comments", 403, headers={"retry-after": "7"}), Busy),
        (Fault("POST", "/comments", 429), Busy),
        (Fault("POST", "/comments", 422, errors=[{"resource": "x", "code": "abuse"}]), Busy),
        (Fault("POST", "/comments", 502, after=True), Unsure),
        (Fault("POST", "/comments", 502), Unsure),
        (Fault("POST", "/comments", 0, after=True), Unsure),
    ],
)
def test_a_write_that_goes_wrong_is_told_and_never_repeated(fake, opened, github, fault, raised):
    fake.faults.append(fault)
    with pytest.raises(raised) as caught:
        github.add_comment(7, "hello")
    if fault.headers:
        assert isinstance(caught.value, Busy) and caught.value.wait == 7
    assert len(fake.writes) == 1
    assert len(github.comments(7)) == fault.after


def test_reads_are_tried_again(fake, opened, github):
    fake.faults += [
        Fault("GET", "/comments", 502),
        Fault("GET", "/comments", 0),
        Fault("GET", "/comments", 503),
    ]
    assert github.comments(7) == []
    fake.faults += [Fault("POST", "/graphql", 502), Fault("POST", "/graphql", 0)]
    assert github.viewer == "github-actions[bot]"


def test_long_lists_come_in_pages(fake, opened, github):
    for number in range(230):
        fake.say(f"{number}")
    assert [one.body for one in github.comments(7)] == [str(number) for number in range(230)]
    assert sum(call.path.endswith("/comments") for call in fake.calls) == 3


def test_what_github_does_not_describe_is_drift(repository):
    repository.commit({"a.py": ""})
    with FakeGitHub(repository.folder) as fake:
        headers = {"Authorization": "Bearer poster"}
        httpx.get(f"{fake.api}/repos/acme/trainer/pulls?colour=red", headers=headers)
        httpx.get(f"{fake.api}/repos/acme/trainer/nothing", headers=headers)
    assert [one.split(": ")[-1] for one in fake.drift] == [
        "no parameter 'colour' is described",
        "the fake does not know it",
    ]


def test_git_is_served_beside_it(fake, opened, repository, tmp_path):
    repository.git("clone", "--quiet", "--bare", f"{fake.pages}/acme/trainer.git", str(tmp_path / "clone"))
    repository.git("-C", str(tmp_path / "clone"), "fetch", "--quiet", "origin", "refs/pull/7/head")
    assert repository.git("-C", str(tmp_path / "clone"), "rev-parse", "FETCH_HEAD") == opened.head
