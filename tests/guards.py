"""The guards that keep the bot right on GitHub, and for each a test that fails when the guard is taken out.

    python tests/guards.py [WORD...]    takes each guard out of a copy in turn, and sees its test fail
    python tests/guards.py --table      the table in docs/guards.md

`WORD` picks guards whose failure, file or test holds it. A guard is a piece of a file, which stands there
once, and what it becomes without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Guard:
    """`without` takes the place of `guard` in `file`; `test` fails then. `failure` is what it holds off."""

    failure: str
    file: str
    guard: str
    without: str
    test: str


GH, RV, RD = "reviewbot/github", "reviewbot/review", "reviewbot/render"
POST, ORDERS, LIFE = (
    "tests/github/test_posting.py",
    "tests/github/test_orders.py",
    "tests/github/test_life.py",
)
FAKE, LARGE, KILLED = "tests/github/test_fake.py", "tests/github/test_large.py", "tests/github/test_killed.py"
HOSTILE, FRONT = "tests/github/test_hostile.py", "tests/github/test_front_door.py"
COMMANDS, OUTCOME = "tests/review/test_commands.py", "tests/review/test_outcome.py"
LEDGER, JOBS, INERT = (
    "tests/review/test_ledger.py",
    "tests/cli/test_action_jobs.py",
    "tests/render/test_inert.py",
)
PINNED = "tests/source/test_pinned.py"

GUARDS = (
    # 1 to 6: what is posted
    Guard(
        "1 a line outside of the diff",
        f"{GH}/anchors.py",
        'tuple(_ranges(file.patch or ""))',
        "((1, 10**6),)",
        f"{POST}::test_a_finding_that_no_line_can_hold_stands_on_its_file_and_costs_the_others_nothing",
    ),
    Guard(
        "1 a review that is refused as a whole",
        f"{GH}/posting.py",
        "            _move(telling, names)\n\n\ndef _comment_files",
        "            pass\n\n\ndef _comment_files",
        f"{POST}::test_a_refused_review_is_told_of_in_the_summary",
    ),
    Guard(
        "2 a range of one line",
        f"{GH}/anchors.py",
        "if anchor.line >= anchor.end_line:",
        "if False:",
        f"{POST}::test_every_anchor_that_is_offered_is_one_that_github_takes",
    ),
    Guard(
        "2 lines of two hunks",
        f"{RV}/threads.py",
        "low, high = max(start, first), min(end, last)",
        "low, high = max(start, first), last",
        f"{POST}::test_every_anchor_that_is_offered_is_one_that_github_takes",
    ),
    Guard(
        "3 a head that is gone",
        f"{GH}/posting.py",
        "if last.head not in github.commits(pull.number):",
        "if False:",
        f"{POST}::test_a_head_that_is_gone_is_not_told_of",
    ),
    Guard(
        "3 an old run after a new one",
        f"{GH}/posting.py",
        "if any(look.head == pull.head for look in was.ledger.rounds):",
        "if False:",
        f"{POST}::test_an_old_run_says_nothing_after_a_new_one",
    ),
    Guard(
        "4 300 findings: comments",
        f"{RV}/threads.py",
        "INLINE_LIMIT = 40",
        "INLINE_LIMIT = 400",
        f"{LARGE}::test_three_hundred_findings",
    ),
    Guard(
        "4 300 findings: batches",
        f"{GH}/posting.py",
        "BATCH = 20",
        "BATCH = 2000",
        f"{LARGE}::test_three_hundred_findings",
    ),
    Guard(
        "4 300 findings: annotations",
        f"{GH}/posting.py",
        "while now.annotations < len(notes):",
        "while False:",
        f"{LARGE}::test_three_hundred_findings",
    ),
    Guard(
        "5 a write that was stored is repeated",
        f"{GH}/patience.py",
        "found = stored() if attempt.retry_state.attempt_number > 1 else None",
        "found = None",
        f"{POST}::test_nothing_is_lost_and_nothing_is_said_twice",
    ),
    Guard(
        "5 a library that repeats writes",
        f"{GH}/client.py",
        'allowed_methods={"GET"}',
        "allowed_methods=None",
        f"{FAKE}::test_a_write_that_goes_wrong_is_told_and_never_repeated",
    ),
    Guard(
        "5 a secondary limit without a header",
        f"{GH}/client.py",
        '"rate limit" in says.lower() or ',
        "",
        f"{FAKE}::test_a_write_that_goes_wrong_is_told_and_never_repeated",
    ),
    Guard(
        "5 422 that means patience",
        f"{GH}/client.py",
        'e.get("code") == "abuse"',
        'e.get("code") == ""',
        f"{FAKE}::test_a_write_that_goes_wrong_is_told_and_never_repeated",
    ),
    Guard(
        "5 an answer that GitHub asks patience for",
        f"{GH}/answers.py",
        "once(lambda: github.add_comment(pull, body), there, github.pace)",
        "github.add_comment(pull, body)",
        f"{ORDERS}::test_an_order_is_done_though_github_asks_for_patience",
    ),
    Guard(
        "5 an order that was done after all",
        f"{GH}/orders.py",
        "if order.verb not in _ANSWERED:",
        "if False:",
        f"{ORDERS}::test_what_comes_to_no_end_says_so",
    ),
    Guard(
        "5 death between two requests",
        f"{GH}/conversation.py",
        "next=kept.next if again else max(kept.next, after)",
        "next=max(kept.next, after)",
        f"{KILLED}::test_killed_at_every_request_in_turn",
    ),
    Guard(
        "6 a body that is too long",
        f"{RD}/comments.py",
        "if len(body.encode()) <= LIMIT - HIDDEN or most <= 1:",
        "if True:",
        "tests/render/test_comments.py::test_no_comment_is_longer_than_github_takes",
    ),
    Guard(
        "6 a summary that is too long",
        f"{RD}/comments.py",
        "        if room < 0:\n            break\n",
        "",
        f"{LARGE}::test_three_hundred_findings",
    ),
    Guard(
        "6 a ledger that is too long",
        f"{RV}/ledger.py",
        "    if len(line) <= room:\n        return line\n",
        "    return line\n",
        f"{LEDGER}::test_where_room_is_short_entries_with_a_mark_of_their_own_go_first_then_those_that_are_settled",
    ),
    # 7 to 13: rounds
    Guard(
        "7 lines that move",
        f"{RV}/rounds.py",
        "matches = paired(found, ledger.entries, moves, there)",
        "matches = {}",
        LIFE,
    ),
    Guard(
        "7 a formatter",
        f"{RV}/matching.py",
        '_FORMAT.sub("", text)',
        "text",
        f"{POST}::test_of_two_in_one_function_each_follows_its_own_words_through_a_formatter",
    ),
    Guard(
        "7 two equal ones in a file",
        f"{RV}/matching.py",
        "lambda e: (e.rule, here(e), line(e), e.text),",
        "lambda e: (object(),),",
        f"{POST}::test_of_two_equal_findings_the_one_that_stays_keeps_its_id",
    ),
    Guard(
        "8 a file with another name",
        f"{RV}/matching.py",
        "return self.renamed.get(old, old)",
        "return old",
        f"{POST}::test_an_id_follows_code_that_is_edited_while_its_file_gets_another_name",
    ),
    Guard(
        "8 a file that is gone",
        f"{RV}/rounds.py",
        '    if entry.rule not in look.rules or path not in there:\n        return "gone"\n',
        "",
        f"{POST}::test_what_a_change_takes_back_is_gone",
    ),
    Guard(
        "9 mended elsewhere",
        f"{RV}/rounds.py",
        '            return "gone"\n    return "fixed"'.replace("            ", "        "),
        '        return "gone"\n    return "gone"',
        f"{POST}::test_what_is_mended_elsewhere_is_fixed_though_its_line_stands",
    ),
    Guard(
        "9 not looked at is not fixed",
        f"{RV}/rounds.py",
        "if _unknown(entry, path, look):",
        "if False:",
        f"{POST}::test_what_cannot_be_read_this_time_is_not_called_fixed",
    ),
    Guard(
        "9 not caused any more is not fixed",
        f"{RV}/rounds.py",
        "    if outside:\n",
        "    if False:\n",
        f"{POST}::test_a_pull_request_that_goes_to_another_branch_keeps_its_ids",
    ),
    Guard(
        "10 an answer is followed by the same again",
        f"{GH}/posting.py",
        "if t.place == place and entries[t.id].comment is None]",
        "if t.place == place]",
        LIFE,
    ),
    Guard(
        "10 a reply is taken for a thread",
        f"{GH}/conversation.py",
        "if comment.author == viewer and comment.reply_to is None:",
        "if comment.author == viewer:",
        f"{POST}::test_what_the_bot_s_account_replies_is_no_thread",
    ),
    Guard(
        "10 what a person took away comes again",
        f"{GH}/conversation.py",
        'return replace(entry, place="summary") if entry.comment is not None else entry',
        "return replace(entry, comment=None)",
        f"{POST}::test_what_a_person_took_away_is_not_posted_again",
    ),
    Guard(
        "11 a regression has a new id",
        f"{RV}/rounds.py",
        'if old.state in ("fixed", "gone") or (old.state == "back" and old.since == number):',
        "if False:",
        LIFE,
    ),
    Guard(
        "12 a stranger's ledger",
        f"{GH}/conversation.py",
        "[comment for comment in github.comments(number) if comment.author == viewer]",
        "list(github.comments(number))",
        f"{POST}::test_what_a_stranger_pastes_is_no_state",
    ),
    Guard(
        "12 a stranger's mark",
        f"{GH}/conversation.py",
        "if comment.author == viewer and comment.reply_to is None:",
        "if comment.reply_to is None:",
        f"{POST}::test_what_a_stranger_pastes_is_no_state",
    ),
    Guard(
        "12 a ledger of another pull request",
        f"{RV}/ledger.py",
        "match, Ledger)\n        if found is not None and (found.repository.lower(), found.pull) == "
        "(repository.lower(), pull):",
        "match, Ledger)\n        if found is not None:",
        f"{LEDGER}::test_a_copy_from_elsewhere_is_none",
    ),
    Guard(
        "12 half a ledger",
        f"{RV}/ledger.py",
        "if unpacker.unconsumed_tail or _digest(raw) != match[1]:",
        "if unpacker.unconsumed_tail:",
        f"{LEDGER}::test_one_whose_digest_is_another_is_none",
    ),
    Guard(
        "12 a ledger that unpacks to gigabytes",
        f"{RV}/ledger.py",
        "unpacker.decompress(packed, _LARGEST)",
        "unpacker.decompress(packed)",
        f"{LEDGER}::test_one_that_unpacks_to_too_much_is_none",
    ),
    Guard(
        "12 a ledger in quoted code",
        f"{RV}/ledger.py",
        "if not fenced and line.startswith(_HIDDEN)",
        "if line.startswith(_HIDDEN)",
        f"{LEDGER}::test_code_that_the_bot_quotes_holds_no_state",
    ),
    Guard(
        "12 an edited comment of the bot's",
        f"{GH}/conversation.py",
        "    own |= _unmarked(said_on_lines, viewer, latest, own)\n",
        "",
        f"{POST}::test_a_comment_of_the_bots_that_somebody_edited_is_still_its_own_and_is_mended",
    ),
    Guard(
        "12 a ledger in another app's check run",
        f"{GH}/client.py",
        'if f"{one.app}[bot]" == self.viewer',
        "if True",
        f"{POST}::test_a_ledger_in_the_check_run_of_another_app_is_none",
    ),
    Guard(
        "12 an edited summary",
        f"{GH}/conversation.py",
        "filter(None, (kept, said))",
        "filter(None, (said,))",
        f"{POST}::test_a_ledger_that_is_lost_is_taken_from_its_copy_or_from_the_threads",
    ),
    Guard(
        "13 an id given twice",
        f"{GH}/posting.py",
        '    if there:\n        raise Raced(f"another run has written {min(there)}")',
        '    if False:\n        raise Raced(f"another run has written {min(there)}")',
        f"{POST}::test_an_id_is_not_given_twice_by_two_runs_at_once",
    ),
    Guard(
        "13 two summaries",
        f"{GH}/posting.py",
        "    if first is not None and first.id != made.id:",
        "    if False:",
        f"{POST}::test_two_summaries_that_are_written_at_once_become_one",
    ),
    Guard(
        "13 a change that another run writes over",
        f"{GH}/orders.py",
        "for _ in range(_TRIES):\n        work.review",
        "for _ in range(1):\n        work.review",
        f"{ORDERS}::test_a_change_is_made_anew_where_another_run_writes_over_it",
    ),
    # 14 to 16: who may what
    Guard(
        "14 a token that may not comment on code",
        f"{GH}/posting.py",
        '(Denied, Absent) as error:\n        telling.refused.append(f"The token may not comment on code',
        'Absent as error:\n        telling.refused.append(f"The token may not comment on code',
        f"{POST}::test_a_token_that_may_only_read_leaves_everything_to_annotations",
    ),
    Guard(
        "14 a token without checks",
        f"{GH}/posting.py",
        '    except (Denied, Absent):\n        telling.refused.append("There is no check run',
        '    except Absent:\n        telling.refused.append("There is no check run',
        f"{POST}::test_a_token_without_checks_says_so_in_a_line",
    ),
    Guard(
        "14 a token that may not resolve",
        f"{GH}/posting.py",
        '    except (Denied, Absent):\n        telling.refused.append("The token may not resolve',
        '    except Absent:\n        telling.refused.append("The token may not resolve',
        f"{POST}::test_conversations_are_resolved_only_where_the_token_may",
    ),
    Guard(
        "15 an edited comment",
        f"{RV}/commands.py",
        "if said.edited or said.by_bot:",
        "if said.by_bot:",
        f"{COMMANDS}::test_an_edit_and_a_bot_give_none",
    ),
    Guard(
        "15 a bot's comment",
        f"{RV}/commands.py",
        "if said.edited or said.by_bot:",
        "if said.edited:",
        f"{COMMANDS}::test_an_edit_and_a_bot_give_none",
    ),
    Guard(
        "15 the token's own words",
        f"{GH}/orders.py",
        'user.type != "User" or user.login == github.viewer',
        'user.type == "Bot"',
        f"{ORDERS}::test_what_is_no_order_to_this_workflow_is_not_even_looked_up",
    ),
    Guard(
        "15 a quote or code",
        f"{RV}/commands.py",
        "called = _CALL.fullmatch(first)",
        "called = _CALL.search(said.body)",
        f"{COMMANDS}::test_anything_before_it_or_beside_it_makes_it_no_command",
    ),
    Guard(
        "15 an issue",
        f"{GH}/orders.py",
        "if user is None or event.issue.pull_request is None:",
        "if user is None:",
        f"{ORDERS}::test_an_issue_and_an_account_that_is_gone_order_nothing",
    ),
    Guard(
        "15 a stranger",
        f"{GH}/orders.py",
        'if role not in (TRIAGE if verb == "recheck" else WRITERS):',
        "if False:",
        f"{ORDERS}::test_who_may_not_write_gets_one_reaction_one_sentence_and_nothing_done",
    ),
    Guard(
        "15 an unknown id",
        f"{GH}/orders.py",
        '    if found is None:\n        raise Refusal(f"there is no finding',
        '    if False:\n        raise Refusal(f"there is no finding',
        f"{ORDERS}::test_a_refusal_says_why_in_one_sentence",
    ),
    Guard(
        "15 an order that is done twice",
        f"{GH}/answers.py",
        "if mark in hidden(one.body)",
        "if False",
        f"{ORDERS}::test_an_answer_is_given_once_however_often_the_job_runs",
    ),
    Guard(
        "16 a label by triage",
        f"{GH}/approval.py",
        "if role not in WRITERS:",
        "if False:",
        f"{ORDERS}::test_a_label_by_who_may_not_write_is_taken_off",
    ),
    Guard(
        "16 a label, then a push",
        f"{GH}/approval.py",
        "if asked.sha and pull.head != asked.sha:",
        "if False:",
        f"{ORDERS}::test_a_push_after_the_label_is_not_covered_by_it",
    ),
    Guard(
        "16 a push, then a label",
        f"{GH}/approval.py",
        "or pull.head not in {look.head for look in ledger.rounds}",
        "",
        f"{ORDERS}::test_a_push_before_the_label_is_not_covered_by_it",
    ),
    Guard(
        "16 a round that nobody had seen",
        f"{GH}/approval.py",
        "if not asked.named and not _before(summary.updated_at, asked.when):",
        "if False:",
        f"{ORDERS}::test_a_round_that_was_posted_after_the_event_was_not_seen_by_who_made_it",
    ),
    Guard(
        "16 a push while it is authorized",
        f"{GH}/orders.py",
        "if github.pull(asked.pull).head != sha:",
        "if False:",
        f"{ORDERS}::test_a_push_while_it_is_being_authorized_authorizes_nothing",
    ),
    Guard(
        "16 a label that a push leaves",
        f"{GH}/orders.py",
        "        _take_off(github, number, label)\n",
        "",
        f"{ORDERS}::test_a_push_takes_the_label_off_and_concludes_what_is_under_way",
    ),
    Guard(
        "16 two runs of a commit",
        f"{GH}/approval.py",
        "if running and not ours and not asked.named:",
        "if False:",
        f"{ORDERS}::test_one_run_of_a_commit_at_a_time_unless_the_commit_is_named",
    ),
    Guard(
        "16 two runs that are asked for at once",
        f"{GH}/orders.py",
        "if not asked.named and _beaten(github, asked, job):",
        "if False:",
        f"{ORDERS}::test_of_two_runs_that_are_asked_for_at_once_one_starts",
    ),
    Guard(
        "16 a run that is started again",
        f"{GH}/approval.py",
        "if running and not ours and not asked.named:",
        "if running and not asked.named:",
        f"{KILLED}::test_an_authorization_that_is_killed_at_every_request_and_run_again",
    ),
    Guard(
        "16 runs without end in a day",
        f"{GH}/budget.py",
        "if len(started) >= budget.per_day:",
        "if False:",
        f"{ORDERS}::test_runs_of_other_pull_requests_count_for_the_day_and_old_ones_do_not",
    ),
    Guard(
        "16 runs without end of a pull request",
        f"{GH}/budget.py",
        "if here >= limit:",
        "if False:",
        f"{ORDERS}::test_a_gpu_is_used_so_often_and_not_again",
    ),
    Guard(
        "16 a runner group that anybody reaches",
        f"{GH}/orders.py",
        '    if asked.kind == "parity" and not setting.gpu:',
        "    if False:",
        f"{ORDERS}::test_nothing_runs_until_the_runner_group_is_said_to_be_locked",
    ),
    # 17 and 18: what it holds
    Guard(
        "17 text that acts: mentions",
        f"{RD}/inert.py",
        "_TRIGGERS.sub(BREAK, words))",
        "words)",
        f"{INERT}::test_what_hypothesis_seldom_makes",
    ),
    Guard(
        "17 text that acts: HTML and Markdown",
        f"{RD}/inert.py",
        "_INLINE.sub(lambda match: _escaped(match[0]), _broken(one_line(text)))",
        "_broken(one_line(text))",
        f"{INERT}::test_what_hypothesis_seldom_makes",
    ),
    Guard(
        "17 a fence that ends early",
        f"{RD}/inert.py",
        'fence = "`" * max(3, _longest(body) + 1)',
        'fence = "```"',
        f"{INERT}::test_code_that_holds_a_fence_does_not_end_its_own",
    ),
    Guard(
        "17 a code span that ends early",
        f"{RD}/inert.py",
        'fence = "`" * (_longest(inner) + 1)',
        'fence = "`"',
        f"{INERT}::test_code_that_holds_backticks_does_not_end_its_own_span",
    ),
    Guard(
        "17 characters that nobody sees",
        f"{RD}/inert.py",
        "if _unseen(c) and c not in keep else c",
        "if False else c",
        f"{INERT}::test_what_cannot_be_seen_is_spelled_out",
    ),
    Guard(
        "17 text that acts: between tags",
        f"{RD}/inert.py",
        "html.escape(_broken(one_line(text)))",
        "html.escape(one_line(text))",
        f"{INERT}::test_words_between_tags_act_no_more_than_others",
    ),
    Guard(
        "17 a template that forgets to",
        f"{RD}/markdown.py",
        "        finalize=_inert,\n",
        "",
        f"{INERT}::test_a_template_that_names_no_filter_puts_out_words",
    ),
    Guard(
        "17 a file name that is a command of the runner",
        f"{RD}/annotations.py",
        'text = text.replace(character, f"%{ord(character):02X}")',
        "pass",
        "tests/cli/test_action.py::test_no_name_of_a_file_becomes_a_command_of_the_runner",
    ),
    Guard(
        "17 an output that ends another",
        "reviewbot/cli/action/runner.py",
        "end = secrets.token_hex(16)",
        'end = "EOF"',
        f"{JOBS}::test_no_value_of_an_output_makes_another",
    ),
    Guard(
        "18 more files than GitHub names",
        f"{GH}/telling.py",
        "notes = [unshown] if missing > 0 else []",
        "notes = []",
        f"{POST}::test_files_that_github_does_not_name_are_told_of_in_the_summary",
    ),
    Guard(
        "18 a file that is too large",
        "reviewbot/source/git.py",
        "self.largest is not None and object_id is not None and self.size(object_id, path) > self.largest",
        "False",
        f"{HOSTILE}::test_what_cannot_be_reviewed_is_named",
    ),
    Guard(
        "18 a commit of files without end",
        f"{GH}/commits.py",
        "        Repository(folder).bounded(commit)\n",
        "        pass\n",
        f"{JOBS}::test_a_commit_of_files_without_end_is_not_walked_through",
    ),
    Guard(
        "18 the base's limit on what rounds read",
        f"{GH}/telling.py",
        ".up_to(settings.max_file_bytes)",
        "",
        f"{POST}::test_the_limit_of_the_base_holds_for_what_rounds_compare",
    ),
    # 19: the job on the GPU
    Guard(
        "19 concluded twice",
        f"{GH}/jobs.py",
        "    if not _under_way(github, job):\n        return None\n",
        "",
        f"{ORDERS}::test_a_report_concludes_once",
    ),
    Guard(
        "19 a conclusion that GitHub asks patience for",
        f"{GH}/jobs.py",
        "once(edit, lambda: _concluded(github, job), github.pace)",
        "edit()",
        f"{ORDERS}::test_a_report_concludes_though_github_asks_for_patience",
    ),
    Guard(
        "19 a report that cannot be posted",
        f"{GH}/jobs.py",
        "    conclude(github, job, conclusion, title, text)\n    if failed is not None:",
        "    if failed is None:\n        conclude(github, job, conclusion, title, text)\n    else:",
        f"{ORDERS}::test_a_report_that_cannot_be_posted_still_concludes",
    ),
    Guard(
        "19 an authorization that breaks off",
        f"{GH}/orders.py",
        '            jobs.withdraw(github, job, "it could not be started")\n',
        "            pass\n",
        f"{ORDERS}::test_what_cannot_be_started_is_concluded",
    ),
    Guard(
        "19 a revocation that breaks off",
        f"{GH}/jobs.py",
        "    if not _under_way(github, job):\n        return False\n    # The",
        '    if not conclude(github, job, "neutral", why, why):\n        return False\n    # The',
        f"{KILLED}::test_a_report_and_a_revocation_that_are_killed_at_every_request_and_run_again",
    ),
    Guard(
        "19 a runner that is lost",
        f"{GH}/approval.py",
        " and not lost(under_way, asked.when)",
        "",
        f"{ORDERS}::test_a_run_whose_runners_were_lost_does_not_hold_up_the_next",
    ),
    Guard(
        "19 a pass with failures",
        f"{RV}/outcome.py",
        'or (found.verdict == "pass" and not clean)',
        "",
        f"{OUTCOME}::test_a_forged_one_is_not",
    ),
    Guard(
        "19 fields that no run writes",
        f"{RV}/outcome.py",
        "if keys - set(Result.__struct_fields__):",
        "if False:",
        f"{OUTCOME}::test_a_forged_one_is_not",
    ),
    Guard(
        "19 50 MB",
        f"{RV}/outcome.py",
        "if path.stat().st_size > LARGEST:",
        "if False:",
        f"{OUTCOME}::test_size_links_and_absence",
    ),
    Guard(
        "19 a link to another file",
        f"{RV}/outcome.py",
        "path.is_symlink() or ",
        "",
        f"{OUTCOME}::test_size_links_and_absence",
    ),
    Guard(
        "19 JSON so deep that it breaks",
        f"{RV}/outcome.py",
        "(msgspec.DecodeError, RecursionError, UnicodeDecodeError)",
        "(msgspec.DecodeError, UnicodeDecodeError)",
        f"{OUTCOME}::test_neither_is_what_is_no_result_at_all",
    ),
    Guard(
        "19 a probe beside a token",
        "reviewbot/cli/action/probe.py",
        'if os.environ.get("GITHUB_TOKEN"):',
        "if False:",
        f"{JOBS}::test_a_probe_refuses_to_run_beside_a_token",
    ),
    Guard(
        "19 an image that can be moved",
        "reviewbot/cli/action/parity.py",
        "if not _IMAGE.fullmatch(options.image):",
        "if False:",
        f"{JOBS}::test_parity_takes_an_image_by_its_digest_only",
    ),
    Guard(
        "19 a container with a network",
        "reviewbot/cli/action/parity.py",
        '        *("--network", "none"),\n',
        "",
        f"{JOBS}::test_parity_seals_the_container_and_hands_on_its_result",
    ),
    Guard(
        "19 what is not a full commit id",
        f"{GH}/commits.py",
        "if not _SHA.fullmatch(commit):",
        "if False:",
        f"{JOBS}::test_nothing_but_a_full_commit_id_is_fetched",
    ),
    Guard(
        "19 outputs that somebody made up",
        "reviewbot/cli/action/report.py",
        'if options.id and not re.fullmatch(r"C[0-9]+", options.id, re.ASCII):',
        "if False:",
        f"{JOBS}::test_a_report_takes_nothing_but_what_the_authorizing_job_gives",
    ),
    # 20 and beyond
    Guard(
        "20 a fork that is deleted",
        f"{GH}/client.py",
        '(head.get("repo") or {}).get("full_name")',
        'head["repo"]["full_name"]',
        f"{POST}::test_forks_gone_forks_drafts_and_the_bots_own_pull_requests_are_reviewed",
    ),
    Guard(
        "20 closed meanwhile",
        f"{GH}/posting.py",
        "    if not pull.open:",
        "    if False:",
        f"{POST}::test_a_pull_request_that_is_closed_is_left_alone",
    ),
    Guard(
        "20 closed, and ordered",
        f"{GH}/approval.py",
        "    if not pull.open:",
        "    if False:",
        f"{ORDERS}::test_a_closed_pull_request_runs_nothing",
    ),
    Guard(
        "beyond: a dismissal whose code changes",
        f"{RV}/rounds.py",
        "if dismissal is not None and dismissal.by and dismissal.code == one.code:",
        "if dismissal is not None and dismissal.by:",
        LIFE,
    ),
    Guard(
        "beyond: ids above C999",
        f"{RV}/commands.py",
        "[1-9][0-9]{0,5}",
        "[1-9][0-9]{0,2}",
        f"{COMMANDS}::test_a_command_is_the_first_line",
    ),
    Guard(
        "beyond: configuration of the head",
        f"{GH}/telling.py",
        "local.settings(task.repository, pull.base)",
        "local.settings(task.repository, pull.head)",
        f"{HOSTILE}::test_a_configuration_and_rules_of_the_head_are_not_used",
    ),
    Guard(
        "beyond: two pull requests of one commit",
        "reviewbot/cli/action/post.py",
        "if pull.open and pull.head == run.head_sha]",
        "if pull.open and pull.head == run.head_sha][:1]",
        f"{FRONT}::test_mode_post_finds_the_pull_request_of_a_run",
    ),
    Guard(
        "beyond: a run whose commit is no head any more",
        "reviewbot/cli/action/post.py",
        "if pull.open and pull.head == run.head_sha]",
        "if pull.open]",
        f"{FRONT}::test_mode_post_of_a_run_that_a_push_overtook_posts_nothing",
    ),
    Guard(
        "beyond: rules of a newer release",
        f"{RV}/rounds.py",
        "    kept = [index for index in every if tells(index)]\n",
        "    kept = every\n",
        f"{POST}::test_rules_that_a_newer_release_brings_tell_only_of_what_changed_since",
    ),
    Guard(
        "beyond: GitHub Enterprise",
        f"{GH}/client.py",
        'if api.endswith("/api/v3")',
        "if False",
        f"{POST}::test_github_enterprise_has_its_api_elsewhere",
    ),
    Guard(
        "beyond: a submodule of another host",
        "reviewbot/source/pinned.py",
        "found.host in (GITHUB, self._home.host)",
        "True",
        f"{PINNED}::test_a_hostile_address_is_linked_nowhere",
    ),
)


def seen_failing(guard: Guard, tree: Path) -> str:
    """Takes a guard out of the copy `tree`, runs its test there, and puts it back. "" where the test failed,
    else what happened instead."""
    path = tree / guard.file
    whole = path.read_text(encoding="utf-8")
    if whole.count(guard.guard) != 1:
        return f"the guard stands there {whole.count(guard.guard)} times"
    path.write_text(whole.replace(guard.guard, guard.without), encoding="utf-8")
    words = ["-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", guard.test]
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=tree, env=env, capture_output=True, text=True, timeout=600
        )
    except subprocess.TimeoutExpired:
        return "the test came to no end in ten minutes"
    finally:
        path.write_text(whole, encoding="utf-8")
    if done.returncode == 1 and " failed" in done.stdout:
        return ""
    return f"pytest ended with {done.returncode}: {done.stdout.strip()[-200:]}"


def table() -> str:
    """The guards in Markdown."""
    lines = ["| what is held off | guard in | test that fails without it |", "| --- | --- | --- |"]
    for one in GUARDS:
        file, _, name = one.test.partition("::")
        lines.append(f"| {one.failure} | `{one.file}` | {f'`{name}`' if name else f'all of `{file}`'} |")
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Prints a line for each guard. Returns 1 if one of them can be taken out unseen."""
    if words == ["--table"]:
        print(table(), end="")
        return 0
    code = 0
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        tree = Path(folder) / "tree"
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, names.stdout.split("\0")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        for one in GUARDS:
            if words and not any(word in f"{one.failure} {one.file} {one.test}" for word in words):
                continue
            why = seen_failing(one, tree)
            print(f"{'ok  ' if not why else 'LOST'} {one.failure}: {why or one.test}", flush=True)
            code |= bool(why)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
