"""What goes wrong between a review and its conversation, and what stands there all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakegithub import POSTER, READER, RESOLVER, Fault, Token, diffs, rest
from samples import strong, weak

from reviewbot.errors import UsageError
from reviewbot.github import anchors
from reviewbot.github.client import CheckOutput, GitHub
from reviewbot.github.posting import Outdated
from reviewbot.model import Anchor, Step
from reviewbot.review import ledger as ledger_text
from reviewbot.review import threads
from reviewbot.source import git

pytestmark = pytest.mark.slow

PATH = "tests/test_rows.py"
LOOP = """\
def test_loop(run):
    rows = [row for row in run(1) if row.done]
    for row in rows:
        assert row.ok


"""
THREE = weak("a") + weak("b") + weak("c")


def states(told):
    return {thread.id: thread.state for thread in told.review.threads}


def settled(told):
    return {one.id: one.state for one in told.review.settled}


# Where comments can stand


def test_every_anchor_that_is_offered_is_one_that_github_takes(fake, repository, github):
    lines = [f"x{number} = {number}\n" for number in range(1, 61)]
    base = repository.commit({"a.py": "".join(lines)})
    lines[2], lines[30], lines[59] = "x3 = 'three'\n", "", "x60 = 60"  # changed, taken out, no end of line
    head = repository.commit({"a.py": "".join(lines), "new.py": "one = 1"})
    fake.open_pull(base, head)
    shown = anchors.shown(github.files(7))
    found = {shown.within("a.py", first, last) for first in range(1, 60) for last in range(first, 60)}
    found |= {shown.within("new.py", 1, 1), Anchor("a.py", 59, 59)}
    given = [{**anchors.fields(one), "body": "text"} for one in found if one is not None]
    assert len(given) > 40
    github.add_review(7, head, "round", given)
    assert len(github.review_comments(7)) == len(given)
    assert shown.within("a.py", 12, 20) is None


def test_a_finding_that_no_line_can_hold_stands_on_its_file_and_costs_the_others_nothing(
    bot, pull, monkeypatch
):
    monkeypatch.setattr(diffs, "LARGEST_PATCH", 400)
    pull({PATH: weak("a") + weak("b"), "tests/test_large.py": "x = 1\n" * 100 + weak("c")})
    bot.review()
    assert bot.titles == ["C2 tests/test_rows.py:2", "C3 tests/test_rows.py:6", "C1 tests/test_large.py"]
    assert "suggestion" not in bot.body("C1") and "test_large.py#L102" in bot.body("C1")
    bot.review()
    assert len(bot.titles) == 3


def test_files_that_github_does_not_name_are_told_of_in_the_summary(bot, pull, monkeypatch):
    monkeypatch.setattr(rest, "MOST_FILES", 1)
    pull({"a.md": "text\n", PATH: weak("a"), "tests/test_z.py": weak("z")})
    told = bot.review()
    assert bot.titles == []
    assert "GitHub names 1 of 3 changed files" in bot.summary
    assert bot.summary.count("<details><summary><b>C") == 2 and told.failing == 2


def test_a_refused_review_is_told_of_in_the_summary(fake, bot, pull):
    pull({PATH: THREE})
    fake.faults.append(Fault("POST", "/reviews", 422, message="Unprocessable Entity"))
    bot.review()
    assert bot.titles == []
    assert (
        bot.summary.count("<details><summary><b>C") == 3 and "GitHub refused comments on lines" in bot.summary
    )


# Heads that move


def test_a_head_that_moves_on_meanwhile_is_told_of_under_its_own_commit(fake, repository, bot, pull):
    opened = pull({PATH: THREE})
    first = opened.head

    def moves(findings):
        bot.push({PATH: "import math\n\n\n" + THREE})
        return findings

    bot.review(prove=moves)
    assert {one["original_commit_id"] for one in bot.comments} == {first}
    assert f"/blob/{first}/" in bot.summary and opened.head not in bot.summary
    assert [check["head_sha"] for check in fake.world.checks.values()] == [first]


def test_a_head_that_is_gone_is_not_told_of(fake, repository, bot, pull):
    opened = pull({PATH: THREE})

    def forced(findings):
        repository.git("reset", "--quiet", "--hard", opened.base)
        bot.push({PATH: weak("other")})
        return findings

    with pytest.raises(Outdated):
        bot.review(prove=forced)
    assert fake.writes == []


def test_an_old_run_says_nothing_after_a_new_one(fake, repository, bot, pull):
    pull({PATH: THREE})

    def overtaken(findings):
        bot.push({PATH: weak("a")})
        bot.review()
        writes.append(len(fake.writes))
        return findings

    writes: list[int] = []
    with pytest.raises(Outdated):
        bot.review(prove=overtaken)
    assert len(fake.writes) == writes[0]


@pytest.mark.parametrize("change", [{"state": "closed"}, {"state": "closed", "merged": True}])
def test_a_pull_request_that_is_closed_is_left_alone(fake, bot, pull, change):
    opened = pull({PATH: THREE})
    for name, value in change.items():
        setattr(opened, name, value)
    with pytest.raises(Outdated):
        bot.review()
    assert fake.writes == []


@pytest.mark.parametrize(
    "more", [{"fork": ""}, {"fork": "mallory/trainer"}, {"draft": True}, {"author": "github-actions[bot]"}]
)
def test_forks_gone_forks_drafts_and_the_bots_own_pull_requests_are_reviewed(bot, pull, more):
    pull({PATH: THREE}, **more)
    assert states(bot.review()) == {"C1": "new", "C2": "new", "C3": "new"}
    assert len(bot.titles) == 3


# A server that asks for patience and loses answers


@pytest.mark.parametrize(
    "path", ["/pulls/7/reviews", "/issues/7/comments", "/check-runs", "/pulls/7/comments"]
)
@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "", 403, message="You have exceeded a secondary rate limit"),
        Fault("POST", "", 403, headers={"retry-after": "0"}),
        Fault("POST", "", 429, headers={"retry-after": "0"}),
        Fault("POST", "", 422, errors=[{"resource": "x", "field": "y", "code": "abuse"}]),
        Fault("POST", "", 502, after=True),
        Fault("POST", "", 502, times=3),
        Fault("POST", "", 0, after=True),
    ],
    ids=["secondary", "retry-after", "429", "abuse", "502-stored", "502", "cut-stored"],
)
def test_nothing_is_lost_and_nothing_is_said_twice(fake, bot, pull, monkeypatch, path, fault):
    monkeypatch.setattr(diffs, "LARGEST_PATCH", 400)
    pull({PATH: weak("a"), "tests/test_large.py": "x = 1\n" * 100 + weak("c")})
    fake.faults.append(replace(fault, path=f"{path}$"))
    bot.review()
    assert len(bot.titles) == 2
    assert len(fake.world.comments) == 1 and len(fake.world.checks) == 1
    assert len(fake.world.reviews) == 2  # one with lines, and the one that a comment on a file makes


# Rounds


def test_of_two_equal_findings_the_one_that_stays_keeps_its_id(bot, pull):
    twice = 'def test_a(run):\n    assert (run, "rows")\n    run.go()\n    assert (run, "rows")\n'
    pull({PATH: twice})
    assert states(bot.review()) == {"C1": "new", "C2": "new"}
    bot.push({PATH: twice.replace('    assert (run, "rows")\n', "    assert run\n", 1)})
    told = bot.review()
    assert states(told) == {"C2": "open"} and settled(told) == {"C1": "fixed"}
    assert len(bot.titles) == 2


def test_an_id_follows_its_code_to_another_file_and_ends_with_it(bot, pull):
    pull({PATH: THREE, "tests/test_more.py": weak("d")})
    bot.review()
    bot.push({PATH: None, "tests/test_renamed.py": weak("a") + weak("b"), "tests/test_split.py": weak("c")})
    told = bot.review()
    assert {t.id: t.finding.span.path for t in told.review.threads} == {
        "C2": "tests/test_renamed.py",
        "C3": "tests/test_renamed.py",
        "C4": "tests/test_split.py",
        "C1": "tests/test_more.py",
    }
    assert set(states(told).values()) == {"open"} and len(bot.titles) == 4
    bot.push({"tests/test_more.py": None, "tests/test_split.py": "x = 1\n"})
    assert settled(bot.review()) == {"C1": "gone", "C4": "gone"}
    assert "**Gone** in round 3" in bot.body("C1")


@pytest.mark.parametrize(
    "after",
    [
        'def test_a(run):\n    assert (\n        len(run) == 3,\n        "rows of a",\n    )\n\n\n',
        "def test_a(run):\n    assert (len(run) == 3, 'rows of a')\n\n\n",
        weak("a").replace("test_a", "test_rows_of_a"),
        "# said before\n" + weak("a"),
        weak("a").replace("len(run)", "len(rows)"),
    ],
)
def test_an_id_survives_a_formatter_a_new_name_and_an_edit(bot, pull, after):
    pull({PATH: weak("a") + weak("b")})
    bot.review()
    bot.push({PATH: after + weak("b")})
    assert states(bot.review()) == {"C1": "open", "C2": "open"}
    assert len(bot.titles) == 2


def test_of_two_in_one_function_each_follows_its_own_words_through_a_formatter(bot, pull):
    one, two = '(run == 3, "rows")', '(run.ok == 4, "ok")'
    pull({PATH: f"def test_a(run):\n    assert {one}\n    assert {two}\n"})
    bot.review()
    one, two = "(\n        run == 3,\n        'rows',\n    )", "(\n        run.ok == 4,\n        'ok',\n    )"
    bot.push({PATH: f"def test_a(run):\n    assert {two}\n    assert {one}\n"})
    told = bot.review()
    assert {t.id: t.finding.span.line for t in told.review.threads} == {"C1": 6, "C2": 2}


def test_an_id_follows_code_that_is_edited_while_its_file_gets_another_name(bot, pull):
    pull({PATH: THREE})
    bot.review()
    bot.push({PATH: None, "tests/test_renamed.py": THREE.replace('"rows of a"', '"rows of all of a"')})
    assert states(bot.review()) == {"C1": "open", "C2": "open", "C3": "open"}
    assert len(bot.titles) == 3


def test_what_a_change_takes_back_is_gone(bot, pull):
    pull({PATH: weak("a"), "tests/test_b.py": weak("b")}, base={PATH: strong("a")})
    assert states(bot.review()) == {"C1": "new", "C2": "new"}
    bot.push({PATH: strong("a")})
    assert set(settled(bot.review()).values()) == {"gone"}


def test_what_is_mended_elsewhere_is_fixed_though_its_line_stands(bot, pull):
    pull({PATH: LOOP})
    assert states(bot.review()) == {"C1": "new"}
    bot.push({PATH: LOOP.replace("    for row", "    assert rows\n    for row", 1)})
    assert settled(bot.review()) == {"C1": "fixed"}
    assert "**Fixed** in round 2" in bot.body("C1")


def test_what_cannot_be_read_this_time_is_not_called_fixed(bot, pull):
    pull({PATH: THREE})
    bot.review()
    bot.push({PATH: THREE + "def broken(:\n"})
    told = bot.review()
    assert settled(told) == {"C1": "open", "C2": "open", "C3": "open"}
    assert "3 not looked at (C1, C2, C3)" in bot.summary and "fixed 0 of 3" in bot.summary
    bot.push({PATH: THREE})
    assert states(bot.review()) == {"C1": "open", "C2": "open", "C3": "open"}


def test_what_a_comment_in_the_code_silences_is_dismissed_and_comes_back_with_its_id(bot, pull):
    pull({PATH: THREE})
    bot.review()
    quiet = THREE.replace('"rows of a")\n', '"rows of a")  # reviewbot: ignore[constant-verdict] meant\n')
    bot.push({PATH: quiet})
    told = bot.review()
    assert settled(told) == {"C1": "dismissed"} and "C1" not in states(told)
    bot.push({PATH: THREE})
    assert states(bot.review())["C1"] == "open"


def test_what_a_person_took_away_is_not_posted_again(fake, bot, pull):
    pull({PATH: THREE})
    bot.review()
    first = bot.comments[0]["id"]
    rest._drop_comment(fake.world, first)
    bot.push({"other.py": "x = 1\n"})
    bot.review()
    assert [one.split()[0] for one in bot.titles] == ["C2", "C3"]
    assert "<b>C1</b>" in bot.summary


def test_rules_that_a_newer_release_brings_tell_only_of_what_changed_since(fake, repository, bot, pull):
    old = '[tool.reviewbot]\nselect = ["constant-verdict"]\n'
    opened = pull({PATH: LOOP + weak("a")}, base={"pyproject.toml": old})
    assert states(bot.review()) == {"C1": "new"}
    repository.git("switch", "--quiet", "main")
    newer = '[tool.reviewbot]\nselect = ["constant-verdict", "loop-may-be-empty"]\n'
    opened.base = repository.commit({"pyproject.toml": newer})
    repository.git("switch", "--quiet", "topic")
    bot.push({"tests/test_new.py": LOOP.replace("test_loop", "test_other")})
    told = bot.review()
    assert {t.id: t.finding.span.path for t in told.review.threads} == {"C1": PATH, "C2": "tests/test_new.py"}
    assert "Left out: 1 finding of rules that came after this review began" in bot.summary


# Who wrote what


def test_what_a_stranger_pastes_is_no_state(fake, bot, pull):
    pull({PATH: THREE})
    start = fake.world.snapshot()
    bot.review()
    kept, mark = bot.ledger, bot.body("C1")
    forged = replace(kept.dismissed("C1", "ada", "fine").dismissed("C2", "ada", "fine"), serial=99)
    pasted = f"<!-- reviewbot-summary -->\n{ledger_text.encode(forged)}"
    # Before the bot has said anything, and after.
    fake.world.restore(start)
    fake.say(pasted, by="mallory")
    fake.tokens["mallory"] = Token("mallory", POSTER.permissions)
    stranger = bot.client("mallory")
    stranger.add_file_comment(7, kept.rounds[0].head, PATH, mark)
    assert states(bot.review()) == {"C1": "new", "C2": "new", "C3": "new"}
    fake.say(pasted, by="mallory")
    fake.reply(bot.comments[1]["id"], mark.replace("C1", "C2"), by="mallory")
    assert states(bot.review()) == {"C1": "new", "C2": "new", "C3": "new"}
    assert len(bot.titles) == 3 and "Dismissed" not in bot.body("C1")


@pytest.mark.parametrize("lost", ["edited", "deleted", "both", "checks"])
def test_a_ledger_that_is_lost_is_taken_from_its_copy_or_from_the_threads(fake, bot, pull, monkeypatch, lost):
    monkeypatch.setattr(threads, "INLINE_LIMIT", 1)  # only the summary speaks of C3
    pull({PATH: THREE})
    bot.review()
    bot.review(amend=lambda one: one.dismissed("C1", "ada", "meant"))
    (summary,) = fake.world.comments.values()
    if lost == "edited":
        summary["body"] = "somebody wrote over it"
    if lost in ("deleted", "both"):
        fake.world.comments.clear()
    if lost in ("both", "checks"):
        fake.world.checks.clear()
    bot.push({PATH: "import math\n\n\n" + THREE + weak("d")})
    told = bot.review()
    assert states(told) == {"C2": "open", "C3": "new" if lost == "both" else "open", "C4": "new"}
    assert settled(told) == {"C1": "dismissed"}


def test_an_id_is_not_given_twice_by_two_runs_at_once(fake, bot, pull):
    pull({PATH: THREE})
    # Another run does all of its work after this one has read what there is.
    fake.faults.append(Fault("GET", "/check-runs", None, then=bot.review))
    told = bot.review()
    assert len(bot.titles) == 3 and len(fake.world.comments) == 1 and len(fake.world.checks) == 1
    assert states(told) == {"C1": "new", "C2": "new", "C3": "new"}


def test_two_summaries_that_are_written_at_once_become_one(fake, bot, pull):
    pull({PATH: strong("a")})
    fake.faults.append(Fault("POST", "/issues/7/comments", None, then=bot.review, before=True))
    bot.review()
    assert len(fake.world.comments) == 1 and len(fake.world.checks) == 1


# Tokens that may less


def test_a_token_that_may_only_read_leaves_everything_to_annotations(fake, bot, pull):
    fake.tokens["reader"] = READER
    pull({PATH: THREE})
    told = bot.review("reader")
    assert told.url == "" and told.failing == 3
    assert [says.split(" (")[0] for says in told.posted.refused] == [
        "The token may not comment on code",
        "There is no check run: the token needs `checks: write`.",
        "The token may not comment on the pull request",
    ]
    assert told.review.summary.count("<details><summary><b>C") == 3
    assert fake.world.comments == {} and fake.world.checks == {}


def test_a_token_without_checks_says_so_in_a_line(fake, bot, pull):
    fake.tokens["weak"] = replace(POSTER, permissions={**POSTER.permissions, "checks": "read"})
    pull({PATH: THREE})
    bot.review("weak")
    assert "There is no check run: the token needs `checks: write`." in bot.summary
    bot.push({PATH: weak("a")})
    told = bot.review("weak")
    assert states(told) == {"C1": "open"} and len(bot.titles) == 3


def test_conversations_are_resolved_only_where_the_token_may(fake, bot, pull):
    fake.tokens["resolver"] = RESOLVER
    pull({PATH: THREE})
    bot.review()
    bot.push({PATH: strong("a") + weak("b") + weak("c")})
    bot.review(resolve=True)
    assert "may not resolve conversations" in bot.summary
    bot.review("resolver", resolve=True)
    assert [t["resolved_by"] for t in fake.world.threads.values()] == ["github-actions[bot]", None, None]
    # What comes back is opened again; what a person resolved stays as that person left it.
    list(fake.world.threads.values())[1]["resolved_by"] = "ada"
    bot.push({PATH: THREE})
    bot.review("resolver", resolve=True)
    assert [t["resolved_by"] for t in fake.world.threads.values()] == [None, "ada", None]
    fake.faults.append(Fault("POST", "/graphql", 502, skip=1, times=10))
    told = bot.review("resolver", resolve=True)
    assert "Not all conversations were resolved" in bot.summary and told.url


def test_a_draft_is_left_to_its_owner_and_not_made_twice(fake, bot, pull):
    fake.tokens["ada"] = Token("ada", POSTER.permissions)
    pull({PATH: THREE})
    bot.review("ada", pending=True)
    (draft,) = fake.world.reviews.values()
    assert draft["state"] == "PENDING" and draft["by"] == "ada" and "3 findings" in draft["body"]
    assert [one["line"] for one in bot.comments] == [2, 6, 10]
    assert fake.world.comments == {} and fake.world.checks == {}
    with pytest.raises(UsageError, match="send or drop it first"):
        bot.review("ada", pending=True)
    draft["state"] = "COMMENTED"
    bot.push({PATH: weak("a") + weak("d")})
    told = bot.review("ada", pending=True)
    assert states(told) == {"C1": "open", "C4": "new"} and len(bot.comments) == 4


def test_github_enterprise_has_its_api_elsewhere(repository):
    from fakegithub import FakeGitHub

    base, head = repository.commit({"a.py": "x = 1\n"}), repository.commit({"a.py": "x = 2\n"})
    with FakeGitHub(repository.folder, prefix="/api/v3") as fake:
        fake.open_pull(base, head)
        environ = fake.environ()
        del environ["GITHUB_GRAPHQL_URL"]
        github = GitHub.of_environment(fake.slug, environ)
        assert github.pull(7).head == head and github.viewer == "github-actions[bot]"
        assert fake.drift == []


def test_the_limit_of_the_base_holds_for_what_rounds_compare(bot, pull, monkeypatch):
    compared: dict[str, int] = {}
    hunks = git.Diff.hunks

    def watched(diff, change):
        found = hunks(diff, change)
        compared[change.path] = max(compared.get(change.path, 0), len(found))
        return found

    monkeypatch.setattr(git.Diff, "hunks", watched)
    pull({PATH: THREE}, base={"pyproject.toml": "[tool.reviewbot]\nmax-file-bytes = 2000\n"})
    bot.review()
    assert compared.pop(PATH) == 1
    bot.push({PATH: "x = 1\n" * 1_000 + THREE})
    told = bot.review()
    assert settled(told) == {"C1": "open", "C2": "open", "C3": "open"}
    assert "larger than 2000 bytes" in bot.summary and compared == {PATH: 0}


def test_a_comment_of_the_bots_that_somebody_edited_is_still_its_own_and_is_mended(fake, bot, pull):
    pull({PATH: THREE})
    bot.review()
    first = bot.comments[0]
    first["body"] = "somebody wrote over it"
    bot.push({PATH: strong("a") + weak("b") + weak("c")})
    told = bot.review()
    assert settled(told) == {"C1": "fixed"} and len(bot.comments) == 3
    assert "**Fixed** in round 2" in first["body"] and "somebody wrote over it" in first["body"]
    assert ledger_text.marked(first["body"], "acme/trainer", 7) is not None


def test_a_pull_request_that_goes_to_another_branch_keeps_its_ids(fake, bot, pull):
    opened = pull({PATH: weak("a")})
    first = opened.head
    bot.review()
    bot.push({PATH: THREE})
    assert states(bot.review()) == {"C1": "open", "C2": "new", "C3": "new"}
    opened.base_ref, opened.base = "release", first
    told = bot.review()
    # What the other branch has already is no part of the change, and nobody mended it.
    assert {**states(told), **settled(told)} == {"C1": "gone", "C2": "open", "C3": "open"}
    assert len(bot.titles) == 3 and "1 gone with the code (C1)" in bot.summary


def test_what_the_bot_s_account_replies_is_no_thread(fake, bot, pull):
    """A workflow that shares the account, and repeats what a comment holds."""
    pull({PATH: THREE})
    bot.review()
    kept, look = bot.ledger.entries[0], bot.ledger.rounds[-1]
    other = replace(kept, id="C9", state="open", fingerprint="other", text="other", code="other")
    mark = ledger_text.mark(ledger_text.Mark("acme/trainer", 7, look, other))
    fake.reply(bot.comments[0]["id"], f"as was said\n{mark}", by="github-actions[bot]")
    told = bot.review()
    assert states(told) == {"C1": "new", "C2": "new", "C3": "new"} and settled(told) == {}


def test_two_bots_each_keep_their_own_state(fake, bot, pull):
    fake.tokens["app"] = Token("other[bot]", POSTER.permissions)
    pull({PATH: THREE})
    told = bot.review()
    assert states(told) == states(bot.review("app")) == {"C1": "new", "C2": "new", "C3": "new"}
    assert [one["by"] for one in bot.comments] == ["github-actions[bot]"] * 3 + ["other[bot]"] * 3
    assert [one["by"] for one in fake.world.comments.values()] == ["github-actions[bot]", "other[bot]"]
    assert [one["by"] for one in fake.world.checks.values()] == ["github-actions", "other"]
    writes = len(fake.writes)
    bot.review()
    bot.review("app")
    assert len(fake.writes) == writes


def test_a_ledger_in_the_check_run_of_another_app_is_none(fake, bot, pull):
    opened = pull({PATH: THREE})
    start = fake.world.snapshot()
    bot.review()
    forged = replace(bot.ledger.dismissed("C1", "ada", "fine"), serial=99)
    fake.world.restore(start)
    fake.tokens["app"] = Token("other[bot]", POSTER.permissions)
    output = CheckOutput("fine", "fine", ledger_text.encode(forged))
    bot.client("app").add_check(
        "reviewbot",
        opened.head,
        external_id="reviewbot-7",
        status="completed",
        conclusion="success",
        output=output,
    )
    assert states(bot.review()) == {"C1": "new", "C2": "new", "C3": "new"}


def test_two_pull_requests_of_one_commit_have_a_check_run_each_and_no_more(fake, bot, pull):
    opened = pull({PATH: THREE})
    fake.open_pull(opened.base, opened.head, 8)
    for number in (7, 8, 7, 8):
        bot.review(number=number)
    assert [one["external_id"] for one in fake.world.checks.values()] == ["reviewbot-7", "reviewbot-8"]


def test_steps_in_a_submodule_are_linked_into_its_repository(fake, repository, bot, pull):
    """Read by whoever proves: what is posted leads to the commit that the head pins."""
    sha = "5911d628aa" * 4
    modules = '[submodule "gym"]\n\tpath = third/gym\n\turl = ../gym.git\n'
    pull({PATH: weak("a"), ".gitmodules": modules})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{sha},third/gym")
    repository.git("commit", "--quiet", "--message", "pin")
    fake.push(repository.git("rev-parse", "HEAD"))
    step = Step("third/gym/gym/model.py", 449, 457, "the cut is attached here")
    bot.review(prove=lambda found: [replace(one, steps=(*one.steps, step)) for one in found])
    wanted = (
        f"[`third/gym/gym/model.py:449-457`](https://github.com/acme/gym/blob/{sha}/gym/model.py#L449-L457)"
    )
    assert wanted in bot.body("C1")
