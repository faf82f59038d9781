"""Commands and labels: who may order what, what is said, and that an approval holds for one shown commit."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, replace
from itertools import count

import pytest
from fakegithub import READER, Fault

from reviewbot.errors import GitError, GitHubError
from reviewbot.github import event as events
from reviewbot.github import jobs, orders
from reviewbot.github.answers import answer
from reviewbot.github.budget import Budget
from reviewbot.github.client import GitHub
from reviewbot.github.conversation import SUMMARY, read
from reviewbot.review import ledger as ledgers_text
from reviewbot.review.commands import Command
from reviewbot.review.ledger import Entry, Ledger, Look
from reviewbot.review.outcome import Outcome, Parity

ROLES = {"mia": "maintain", "wim": "write", "tia": "triage", "rob": "read", "ada": "admin"}
RUNS = count(1)
# What a GitHub says that is under load; the last one has done all the same what it was asked for.
PATIENCE = [
    Fault("", "", 403, message="You have exceeded a secondary rate limit", headers={"retry-after": "0"}),
    Fault("", "", 403, message="You have triggered an abuse detection mechanism"),
    Fault("", "", 429, times=2),
    Fault("", "", 502, after=True),
]
PATIENCE_IDS = ["secondary", "abuse", "429", "502-stored"]
BLANK = {"str": "", "int": 1, "State": "open", "Place": "line"}


def entry(name: str, **more: object) -> Entry:
    """An entry in which only what matters here is filled in."""
    blank = {f.name: BLANK[str(f.type)] for f in fields(Entry) if f.default is MISSING}
    known = {"rule": "excuse-branch", "path": "tests/parity.py", "unit": "compare"}
    return Entry(**{**blank, **known, "id": name, **more})


class Reviews:
    """Stands for the review of a head: keeps what was asked for, and stores the ledger in the summary."""

    def __init__(self, github: GitHub) -> None:
        self.heads: list[str] = []
        self.github = github

    def review(self, pull, amend) -> None:
        self.heads.append(pull.head)
        kept, comment = kept_in(self.github)
        self.github.edit_comment(comment.id, f"{SUMMARY}\n{ledgers_text.encode(amend(kept))}")

    def work(self) -> orders.Work:
        return orders.Work(
            review=self.review,
            explain=lambda pull, found: f"explained {found.id} at {pull.head}",
            size=lambda pull, known: f"sized {pull.head} of {len(known.entries)}",
        )


def kept_in(github: GitHub):
    """The ledger in the summary comment, and the comment."""
    comment = next(one for one in github.comments(7) if SUMMARY in one.body)
    return ledgers_text.decode(comment.body, github.slug, 7), comment


@pytest.fixture
def shown(fake, opened, github):
    """The bot has posted a round for the head of pull request 7, with findings C1 to C4."""
    fake.world.roles |= ROLES
    entries = (
        entry("C1"),
        entry("C2", state="fixed"),
        entry("C3", unit=""),
        entry("C4", path="tests/a\nb.py"),
    )
    made = Ledger(fake.slug, 7, 1, (Look(1, opened.base, opened.head),), (), entries, 5)
    github.add_comment(7, f"### reviewbot: 4 findings\n\n{SUMMARY}\n{ledgers_text.encode(made)}")
    return opened


@pytest.fixture
def order(fake, github):
    """Writes a comment and does what it orders; returns the job, the answers to it, and the reactions."""

    def run(body: str, by: str = "mia", *, kind: str = "User", action: str = "created", **setting: object):
        number = fake.say(body, by)
        answers = len(github.comments(7))
        comment = {
            "id": number,
            "body": body,
            "created_at": fake.world.now(),
            "user": {"login": by, "type": kind},
        }
        payload = {"action": action, "issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": comment}
        reviews = Reviews(github)
        job = orders.heard(github, decoded(payload, events.CommentEvent), reviews.work(), given(**setting))
        said = [one.body.partition("\n\n<!--")[0] for one in github.comments(7)[answers:]]
        reactions = [one["content"] for one in fake.world.reactions if one["comment"] == number]
        return job, said, reactions, reviews.heads

    return run


def decoded(payload: object, kind: type):
    import msgspec

    return msgspec.json.decode(json.dumps(payload), type=kind)


def given(gpu: bool = True, **more: object) -> orders.Setting:
    # Each order is heard by a run of its own.
    log = f"https://example.org/log/{next(RUNS)}"
    return orders.Setting(gpu=gpu, label="gpu-parity", **{"log": log, **more})


@pytest.fixture
def label(fake, github):
    """Sets the label and authorizes; returns the job and what was said."""

    def run(by: str = "mia", sha: str = "", when: str = "", name: str = "gpu-parity", **setting: object):
        fake.world.pulls[7].labels.append(name)
        payload = fake.payload("labeled", sender=by, label={"name": name})
        payload["pull_request"]["updated_at"] = when or fake.world.now()
        if sha:
            payload["pull_request"]["head"]["sha"] = sha
        answers = len(github.comments(7))
        job = orders.labeled(github, decoded(payload, events.PullEvent), given(**setting))
        return job, [one.body for one in github.comments(7)[answers:]]

    return run


def test_help_is_for_everyone(order, shown):
    _, said, reactions, _ = order("/reviewbot help", by="stranger")
    assert "`/reviewbot dismiss ID REASON`" in said[0]
    assert not said[0].startswith("/reviewbot")
    assert reactions == ["eyes", "+1"]


def test_a_maintainer_dismisses_and_reopens_and_the_head_is_reviewed_again(order, shown, github):
    _, said, reactions, reviewed = order("/reviewbot dismiss C1 checked @upstream")
    dismissed = kept_in(github)[0].entry("C1")
    assert (dismissed.state, dismissed.dismissal.by, dismissed.dismissal.reason) == (
        "dismissed",
        "mia",
        "checked @upstream",
    )
    assert (said, reactions, reviewed) == ([], ["eyes", "+1"], [shown.head])
    order("/reviewbot reopen c1", by="wim")
    assert kept_in(github)[0].entry("C1").state == "open"


@pytest.mark.parametrize("by", ["stranger", "rob", "tia", "mallory"])
@pytest.mark.parametrize("verb", ["dismiss C1 fine", "reopen C1", "probe C1", "parity"])
def test_who_may_not_write_gets_one_reaction_one_sentence_and_nothing_done(order, shown, github, by, verb):
    before = kept_in(github)[0]
    job, said, reactions, reviewed = order(f"/reviewbot {verb}", by=by)
    assert job is None and reviewed == []
    assert reactions == ["-1"]
    (sentence,) = said
    role = {"stranger": "none", "mallory": "none", "rob": "read", "tia": "triage"}[by]
    assert sentence.endswith(f"takes the role write, maintain or admin, and yours is {role}.")
    assert kept_in(github)[0] == before
    assert github.checks(shown.head, "reviewbot parity") == []


@pytest.mark.parametrize(
    ("by", "may"), [("mallory", True), ("tia", True), ("rob", False), ("stranger", False)]
)
def test_recheck_is_for_the_author_and_from_triage_on(order, shown, by, may):
    _, _, reactions, reviewed = order("/reviewbot recheck", by=by)
    assert reviewed == ([shown.head] if may else [])
    assert reactions == (["eyes", "+1"] if may else ["-1"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("/reviewbot dismiss C99 fine", "There is no finding `C99` here."),
        ("/reviewbot dismiss C1", "`dismiss` needs a reason: `/reviewbot dismiss ID REASON`."),
        ("/reviewbot dissmiss C1 x", "There is no command `dissmiss`; did you mean `dismiss`?"),
        ("/reviewbot dismiss C2 fine", "`C2` is not there any more."),
        ("/reviewbot reopen C1", "`C1` is not dismissed."),
        ("/reviewbot probe C3", "`C3` does not stand in a function, so that there is nothing to run."),
        ("/reviewbot probe C4", "The name of the file of `C4` cannot be handed to a job."),
        ("/reviewbot parity 0000000", "is not the head, which is"),
    ],
)
def test_a_refusal_says_why_in_one_sentence(order, shown, body, says):
    job, (sentence,), reactions, _ = order(body)
    assert job is None
    assert says in sentence
    assert reactions[-1] == "-1"


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("> /reviewbot parity", {}),
        ("```\n/reviewbot parity\n```", {}),
        ("/reviewbot parity", {"action": "edited"}),
        ("/reviewbot parity", {"action": "deleted"}),
        ("/reviewbot parity", {"kind": "Bot"}),
        ("/reviewbot parity", {"by": "github-actions[bot]"}),
        ("/reviewbot parity", {"verbs": ("help", "dismiss")}),
    ],
)
def test_what_is_no_order_to_this_workflow_is_not_even_looked_up(order, shown, fake, body, more):
    before = len(fake.writes)
    assert order(body, **more) == (None, [], [], [])
    assert fake.writes[before:] == []


@pytest.mark.parametrize(
    "change",
    [
        {"issue": {"number": 7}},
        {"issue": {"number": 7, "pull_request": None}},
        {"comment": {"id": 1, "body": "/reviewbot help", "created_at": "", "user": None}},
    ],
)
def test_an_issue_and_an_account_that_is_gone_order_nothing(shown, fake, github, change):
    user = {"login": "mia", "type": "User"}
    comment = {"id": 1, "body": "/reviewbot help", "created_at": "", "user": user}
    payload = {"action": "created", "issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": comment}
    event = decoded({**payload, **change}, events.CommentEvent)
    before = len(fake.calls)
    assert orders.heard(github, event, Reviews(github).work(), given()) is None
    assert fake.calls[before:] == []


def test_an_answer_is_given_once_however_often_the_job_runs(order, shown, fake, github):
    fake.faults = [Fault("POST", "/issues/7/comments", 502, after=True)]
    _, said, _, _ = order("/reviewbot explain C1", by="stranger")
    assert said == [f"explained C1 at {shown.head}"]


def test_an_answer_that_github_would_not_take_is_a_sentence(shown, github):
    answer(github, 7, "command-1", "```\n" + "x\n" * 40_000 + "```")
    (told,) = [one.body for one in github.comments(7) if "command-1" in one.body]
    assert told.startswith("The answer is longer than GitHub takes")


def test_a_change_is_made_anew_where_another_run_writes_over_it(shown, fake, github):
    reviews = Reviews(github)
    before = kept_in(github)[1]
    over = [lambda: github.edit_comment(before.id, before.body)]

    def review(pull, amend):
        reviews.review(pull, amend)
        while over:
            over.pop()()

    heard = orders.Heard("mia", "", "command-1")
    order = Command("dismiss", id="C1", reason="known")
    orders._amend(github, github.pull(7), heard, order, replace(reviews.work(), review=review))
    assert kept_in(github)[0].entry("C1").state == "dismissed"
    assert len(reviews.heads) == 2


def test_without_a_round_nothing_is_dismissed(order, opened, fake):
    fake.world.roles |= ROLES
    _, (said,), _, reviewed = order("/reviewbot dismiss C1 known")
    assert said == "There is no finding `C1` here." and reviewed == []


def test_a_ledger_that_somebody_else_pasted_is_none(shown, fake, github):
    forged = Ledger(fake.slug, 7, 99, (Look(1, shown.base, shown.head),), (), (entry("C1"),), 2)
    fake.say(f"{SUMMARY}\n{ledgers_text.encode(forged)}", "mallory")
    assert read(github, 7, shown.base, shown.head).ledger.serial == 1


def test_what_comes_to_no_end_says_so(shown, fake, github):
    def broken(pull, amend):
        raise GitError("git cannot fetch the commits: @all is gone")

    number = fake.say("/reviewbot recheck", "mia")
    comment = {"id": number, "body": "/reviewbot recheck", "created_at": fake.world.now()}
    payload = {
        "action": "created",
        "issue": {"number": 7, "pull_request": {"url": "u"}},
        "comment": {**comment, "user": {"login": "mia", "type": "User"}},
    }
    work = replace(Reviews(github).work(), review=broken)
    with pytest.raises(GitError):
        orders.heard(github, decoded(payload, events.CommentEvent), work, given())
    text = github.comments(7)[-1].body
    assert text.startswith("`recheck` came to no end: git cannot fetch the commits")
    assert "@all" not in text
    assert [one["content"] for one in fake.world.reactions] == ["eyes", "confused"]
    # The same run once more, as GitHub runs it again: what was said before holds no longer.
    said = len(github.comments(7))
    orders.heard(github, decoded(payload, events.CommentEvent), Reviews(github).work(), given())
    assert len(github.comments(7)) == said
    assert github.comments(7)[-1].body.startswith("`recheck` is done.\n")


@pytest.mark.parametrize(
    ("verb", "path"), [("POST", "/check-runs$"), ("POST", "/issues/7/comments$"), ("POST", "graphql$")]
)
@pytest.mark.parametrize("fault", PATIENCE, ids=PATIENCE_IDS)
def test_an_order_is_done_though_github_asks_for_patience(fake, shown, order, github, verb, path, fault):
    # A client asks once who it is; this one has not yet.
    vars(github).pop("viewer", None)
    fake.faults = [replace(fault, verb=verb, path=path)]
    job, _, reactions, _ = order("/reviewbot parity")
    assert job is not None and reactions == ["eyes", "+1"]
    assert [check.id for check in github.checks(shown.head, "reviewbot parity")] == [job.job.check]
    (said,) = github.comments(7)[2:]
    assert said.body.startswith(f"**Parity of `{shown.head[:12]}` is under way")


@pytest.mark.parametrize(("verb", "path"), [("PATCH", "/check-runs/"), ("PATCH", "/issues/comments/")])
@pytest.mark.parametrize("fault", PATIENCE, ids=PATIENCE_IDS)
def test_a_report_concludes_though_github_asks_for_patience(fake, shown, order, github, verb, path, fault):
    job = order("/reviewbot parity")[0].job
    fake.faults = [replace(fault, verb=verb, path=path)]
    assert jobs.report(github, job, "the job left no result", None, "", cancelled=False) is not None
    (check,) = github.checks(shown.head, "reviewbot parity")
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert "is under way" not in github.comments(7)[-1].body


@pytest.mark.parametrize("fault", PATIENCE, ids=PATIENCE_IDS)
def test_a_label_goes_though_github_asks_for_patience(fake, shown, github, fault):
    fake.world.pulls[7].labels = ["gpu-parity"]
    fake.faults = [replace(fault, verb="DELETE", path="/labels/")]
    orders.revoke(github, pushed(fake, shown.head), "gpu-parity")
    assert fake.world.pulls[7].labels == []


# Parity and probe


def test_a_command_authorizes_the_head_that_was_shown(order, shown, github):
    job, said, reactions, _ = order(f"/reviewbot parity {shown.head[:9]}")
    assert (job.job.kind, job.job.pull, job.job.sha, job.target) == ("parity", 7, shown.head, "")
    assert len(said) == 1 and reactions == ["eyes", "+1"]
    (check,) = github.checks(shown.head, "reviewbot parity")
    assert (check.id, check.status, check.external_id) == (job.job.check, "in_progress", shown.head)


def test_a_probe_is_authorized_with_its_target(order, shown, github):
    job, *_ = order("/reviewbot probe C1", by="wim")
    assert (job.job.kind, job.job.finding, job.target) == ("probe", "C1", "tests/parity.py::compare")
    assert [check.name for check in github.checks(shown.head, "reviewbot probe C1")] == ["reviewbot probe C1"]


def test_a_label_authorizes_the_head_that_was_shown(label, shown):
    job, said = label()
    assert job.job.sha == shown.head and "asked for by `mia`" in said[0]


@pytest.mark.parametrize("by", ["tia", "rob", "stranger", "github-actions[bot]"])
def test_a_label_by_who_may_not_write_is_taken_off(label, shown, fake, by):
    job, (said,) = label(by=by)
    assert job is None
    assert said.startswith("The label is taken off: `parity` takes the role write")
    assert fake.world.pulls[7].labels == []


def test_each_time_that_a_label_is_refused_is_answered_and_the_same_time_once(label, shown, fake, github):
    first, again = fake.world.now(), fake.world.now()
    for when, answers in ((first, 1), (first, 0), (again, 1)):
        job, said = label("tia", when=when)
        assert job is None and len(said) == answers


def test_another_label_is_nobody_s_business(label, shown, fake):
    assert label(name="bug") == (None, [])
    assert fake.world.pulls[7].labels == ["bug"]


def test_a_push_before_the_label_is_not_covered_by_it(label, order, shown, fake, repository):
    fake.push(repository.commit({"c.py": "pushed = 1\n"}))
    job, (said,) = label()
    assert job is None and "has not been posted yet" in said
    job, (said,), *_ = order("/reviewbot parity")
    assert job is None and "has not been posted yet" in said


def test_a_push_after_the_label_is_not_covered_by_it(label, shown, fake, repository, github):
    old = shown.head
    fake.push(repository.commit({"c.py": "pushed = 1\n"}))
    Reviews(github).review(github.pull(7), lambda one: with_look(one, fake.world.pulls[7].head))
    job, (said,) = label(sha=old)
    assert job is None and "there were new commits since" in said


def with_look(ledger: Ledger, head: str) -> Ledger:
    return replace(ledger, rounds=(*ledger.rounds, Look(2, "", head)), serial=ledger.serial + 1)


def test_a_round_that_was_posted_after_the_event_was_not_seen_by_who_made_it(label, order, shown, fake):
    job, (said,) = label(when="2026-01-01T00:00:00Z")
    assert job is None and "the review changed at about the same time" in said
    job, _ = label(when="not a time")
    assert job is None
    assert order(f"/reviewbot parity {shown.head[:7]}")[0] is not None


def test_a_push_while_it_is_being_authorized_authorizes_nothing(order, shown, fake, repository, github):
    fake.faults = [
        Fault("POST", "/check-runs", 502, after=True, then=lambda: fake.push(repository.commit({"c.py": ""})))
    ]
    old = shown.head
    job, (said,), reactions, _ = order("/reviewbot parity")
    assert job is None and "There are new commits" in said and reactions == ["eyes", "-1"]
    assert [check.conclusion for check in github.checks(old, "reviewbot parity")] == ["neutral"]


def test_nothing_runs_until_the_runner_group_is_said_to_be_locked(order, label, shown, github):
    job, (said,), *_ = order("/reviewbot parity", gpu=False)
    assert job is None and "no GPU is set up here" in said.replace("No", "no")
    job, (said,) = label(gpu=False)
    assert job is None and "REVIEWBOT_GPU_GROUP_LOCKED" in said
    assert github.checks(shown.head, "reviewbot parity") == []


def test_one_run_of_a_commit_at_a_time_unless_the_commit_is_named(order, label, shown, github):
    first, *_ = order("/reviewbot parity")
    job, (said,), *_ = order("/reviewbot parity")
    assert job is None and "is under way" in said
    job, (said,) = label()
    assert job is None and "is under way" in said
    second, *_ = order(f"/reviewbot parity {shown.head[:7]}")
    assert second.job.check != first.job.check
    stored = {check["id"]: check["conclusion"] for check in checks_of(github, shown.head)}
    assert stored == {first.job.check: "neutral", second.job.check: None}


def checks_of(github: GitHub, sha: str) -> list[dict[str, object]]:
    return github._get(f"/commits/{sha}/check-runs?filter=all")["check_runs"]


def test_of_two_runs_that_are_asked_for_at_once_one_starts(order, shown, fake, github):
    started = []

    def meanwhile():
        started.append(order("/reviewbot parity", "wim")[0])

    # After this one has looked for others, and before it has begun.
    fake.faults = [Fault("POST", "/check-runs$", None, before=True, then=meanwhile)]
    job, said, reactions, _ = order("/reviewbot parity")
    assert job is None and reactions == ["eyes", "-1"]
    assert said[-1] == f"A parity run of `{shown.head[:12]}` is under way."
    stored = {check["id"]: check["conclusion"] for check in checks_of(github, shown.head)}
    assert stored.pop(started[0].job.check) is None and list(stored.values()) == ["neutral"]
    assert sum("is under way,**" in one.body for one in github.comments(7)) == 1


def test_a_run_is_told_of_where_it_is_reported_later(order, shown, github, fake):
    job, (said,), *_ = order("/reviewbot parity")
    assert said.startswith("**Parity of `")
    assert "is under way,** asked for by `mia`" in said
    jobs.report(github, job.job, Outcome("pass", parity=NUMBERS), None, "", cancelled=False)
    (told,) = [one.body for one in github.comments(7) if "reviewbot-answer parity-" in one.body]
    assert "no difference" in told and "under way" not in told


def test_a_run_that_another_replaces_says_so(order, shown, github):
    first = order("/reviewbot parity")[0].job
    order(f"/reviewbot parity {shown.head[:7]}")
    (told,) = [
        one.body for one in github.comments(7) if f"reviewbot-answer parity-{first.check} " in one.body
    ]
    assert "came to nothing:** another run was asked for." in told


@pytest.mark.parametrize(
    ("per_day", "per_pull", "says"),
    [
        (9, 2, "2 parity runs of this pull request started in the last 24 hours, and 2 may."),
        (2, 9, "2 parity runs of this pull request started in the last 24 hours, and 2 may."),
    ],
)
def test_a_gpu_is_used_so_often_and_not_again(order, label, shown, fake, github, per_day, per_pull, says):
    budget = Budget(per_day, per_pull)
    named = f"/reviewbot parity {shown.head[:7]}"
    assert all(order(named, budget=budget)[0] for _ in range(2))
    # What others say is no run, whatever it looks like.
    fake.say("<!-- reviewbot-answer parity-1 -->", by="mallory")
    fake.say("```\n<!-- reviewbot-answer parity-1 -->\n```", by="github-actions[bot]")
    before = len(checks_of(github, shown.head))
    job, (said,), reactions, _ = order(named, budget=budget)
    assert (job, reactions, said) == (None, ["eyes", "-1"], says)
    assert len(checks_of(github, shown.head)) == before
    fake.world.checks.clear()
    job, (said,) = label(budget=budget)
    assert job is None and said.startswith(f"The label is taken off: {says}")
    assert fake.world.pulls[7].labels == []


def test_runs_of_other_pull_requests_count_for_the_day_and_old_ones_do_not(order, shown, fake, github):
    fake.open_pull(shown.base, shown.head, number=8)
    fake.say("<!-- reviewbot-answer parity-1 -->", by="github-actions[bot]", number=8)
    fake.say("<!-- reviewbot-answer probe-2 -->", by="github-actions[bot]", number=8)
    kept = max(fake.world.comments)
    job, (said,), *_ = order("/reviewbot parity", budget=Budget(1, 1))
    assert job is None and "1 parity run started here in the last 24 hours, and 1 may" in said
    # A day later.
    fake.world.clock += 24 * 60 * 60
    github.edit_comment(kept, "<!-- reviewbot-answer probe-2 -->\n")
    assert order("/reviewbot parity", budget=Budget(1, 1))[0] is not None


def test_a_run_whose_runners_were_lost_does_not_hold_up_the_next(order, shown, fake, github):
    first = order("/reviewbot parity")[0].job
    fake.world.clock += 2 * 60 * 60
    assert order("/reviewbot parity")[0] is None
    fake.world.clock += 2 * 60 * 60
    second = order("/reviewbot parity")[0].job
    stored = {check["id"]: check["conclusion"] for check in checks_of(github, shown.head)}
    assert stored == {first.check: "neutral", second.check: None}


@pytest.mark.parametrize("path", ["/issues/7/comments", "/pulls/7$"])
def test_what_cannot_be_started_is_concluded(order, shown, fake, github, path):
    # The read of the head, or the comment, after the check run was begun.
    def broken():
        verb = "POST" if "comments" in path else "GET"
        fake.faults.append(Fault(verb, path, 403, times=99))

    fake.faults = [Fault("POST", "/check-runs", None, then=broken)]
    with pytest.raises(GitHubError):
        order("/reviewbot parity")
    fake.faults.clear()
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["neutral"]


def test_a_closed_pull_request_runs_nothing(order, label, shown, fake):
    fake.world.pulls[7].state = "closed"
    assert order("/reviewbot parity")[0] is None
    assert label()[0] is None


# Revoke and report


def pushed(fake, before: str, action: str = "synchronize") -> events.PullEvent:
    return decoded(fake.payload(action, before=before), events.PullEvent)


def test_a_push_takes_the_label_off_and_concludes_what_is_under_way(label, shown, fake, repository, github):
    job, _ = label()
    old = shown.head
    fake.push(repository.commit({"c.py": "pushed = 1\n"}))
    orders.revoke(github, pushed(fake, old), "gpu-parity")
    orders.revoke(github, pushed(fake, old), "gpu-parity")
    assert fake.world.pulls[7].labels == []
    (check,) = github.checks(old, "reviewbot parity")
    assert (check.id, check.status, check.conclusion) == (job.job.check, "completed", "neutral")
    assert sum("is taken off" in one.body for one in github.comments(7)) == 1
    # The job that was stopped reports too, and finds it done.
    assert jobs.report(github, job.job, "the run was stopped", None, "", cancelled=True) is None


def test_a_close_concludes_the_run_of_the_head(label, shown, fake, github):
    label()
    orders.revoke(github, decoded(fake.payload("closed"), events.PullEvent), "gpu-parity")
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["neutral"]
    assert fake.world.pulls[7].labels == []


def test_a_push_without_a_label_says_nothing(shown, fake, github):
    before = len(fake.writes)
    orders.revoke(github, pushed(fake, shown.head), "gpu-parity")
    assert fake.writes[before:] == []


NUMBERS = Parity("pass", 12, [], 0, [], 0, 3)


@pytest.mark.parametrize(
    ("outcome", "cancelled", "conclusion", "says"),
    [
        (Outcome("pass", parity=NUMBERS), False, "success", "no difference"),
        (Outcome("inconclusive", parity=NUMBERS), False, "neutral", "inconclusive"),
        (Outcome("set_aside", parity=NUMBERS), False, "neutral", "near-tie"),
        (Outcome("fail", parity=NUMBERS), False, "failure", "the runs differ"),
        ("the result contradicts itself", False, "failure", "came to nothing"),
        ("the run was stopped", True, "neutral", "came to nothing"),
    ],
)
def test_a_report_concludes_once(order, shown, github, fake, outcome, cancelled, conclusion, says):
    job = order("/reviewbot parity")[0].job
    told = jobs.report(github, job, outcome, None, "https://example.org/log", cancelled=cancelled)
    assert told is not None and told[0] == conclusion
    assert jobs.report(github, job, Outcome("pass", parity=NUMBERS), None, "", cancelled=False) is None
    (check,) = github.checks(shown.head, "reviewbot parity")
    assert (check.status, check.conclusion) == ("completed", conclusion)
    (text,) = [one.body for one in github.comments(7) if f"parity-{job.check}" in one.body]
    assert says in text
    if isinstance(outcome, Outcome):
        assert "Code that means to deceive can report a pass" in text


def test_a_report_that_cannot_be_posted_still_concludes(order, shown, github, fake):
    job = order("/reviewbot parity")[0].job
    fake.faults = [Fault("POST|PATCH", "/comments", 403, times=9)]
    with pytest.raises(GitHubError):
        jobs.report(github, job, "the job left no result", None, "", cancelled=False)
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["failure"]


def test_a_report_that_dies_before_it_concludes_is_not_told_twice(order, shown, github, fake):
    job = order("/reviewbot parity")[0].job
    fake.faults = [Fault("PATCH", "/check-runs/", 502, times=github.pace.tries)]
    outcome = Outcome("pass", parity=NUMBERS)
    with pytest.raises(GitHubError):
        jobs.report(github, job, outcome, None, "", cancelled=False)
    assert jobs.report(github, job, outcome, None, "", cancelled=False) is not None
    assert len([one for one in github.comments(7) if f"parity-{job.check}" in one.body]) == 1


def test_a_token_that_can_only_read_does_nothing_and_says_so(order, shown, fake, github):
    fake.tokens["reader"] = READER
    reader = GitHub.of_environment(fake.slug, fake.environ("reader"), github.pace)
    with pytest.raises(GitHubError):
        jobs.begin(reader, 7, shown.head, "parity")
