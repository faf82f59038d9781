"""How an outcome is shown: Markdown for a comment, progress on a terminal alone, seconds by stage."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

ROOT = Path(__file__).parent.parent.parent
DUMPS = ROOT / "tests" / "cases" / "dumps"


def compared(case: str) -> list[str | Path]:
    folder = DUMPS / case
    return ["parity", "compare", folder / "reference", folder / "restored",
            "--restores", folder / "restores.jsonl"]  # fmt: skip


def html(markdown: str) -> str:
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)


def test_a_comment_has_the_difference_in_its_surroundings(reviewbot):
    ran = reviewbot(*compared("prefix-swapped"), "--output-format", "markdown", "--tokenizer", "ascii")
    assert ran.code == 1
    shown = html(ran.out)
    assert re.search("<h3>Parity: fail: 8 rows, 2 restored calls, [0-9]+ failure", shown)
    drawn = re.search('<pre lang="text"><code>(.*?)</code></pre>', shown, re.DOTALL)
    assert drawn is not None
    lines = unescape(drawn[1]).splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["index", "trained", "reference", "restored"]
    at = lines[4].index("^")
    assert lines[2][at] != lines[3][at]
    assert lines[2][:at].split()[1:] == lines[3][:at].split()[1:]


def test_tokens_are_shown_although_a_difference_of_another_kind_comes_first(reviewbot, tmp_path):
    for side in ("one", "other"):
        made = [{"step": 1, "prompt": 0, "sample": at, "token_ids": [65, 66, 67 + at], "loss_mask": [0, 1, 1],
                 "reward": float(at)} for at in range(2)]  # fmt: skip
        if side == "other":
            made[0]["reward"], made[1]["token_ids"][1] = 1.0, 90
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    words = ("parity", "compare", "one.jsonl", "other.jsonl", "--tokenizer", "ascii")
    shown = [line.split() for line in reviewbot(*words).out.splitlines()]
    assert ["reference", "A", "B", "D"] in shown
    assert ["restored", "A", "Z", "D"] in shown
    ran = reviewbot(*words, "--output-format", "markdown")
    assert re.search("restored +A +Z +D", ran.out)


def test_a_row_set_aside_is_shown_with_its_gaps(reviewbot):
    ran = reviewbot(*compared("near-tie"), "--output-format", "markdown")
    assert ran.code == 1
    assert "1 row differs from a near-tie on" in html(ran.out)
    assert "<code>0.03125</code> and <code>0</code> nats apart" in html(ran.out)


def test_what_a_dump_holds_cannot_act_in_a_comment(reviewbot, tmp_path):
    evil = "@maintainer <img src=x onerror=alert(1)> ](http://x) ```\n# big | a\u202eb"
    row = {"step": 1, "prompt": 0, "sample": 0, "token_ids": [1, 2], "loss_mask": [0, 1], "reward": 1.0}
    for side, text in (("one", "fine"), ("other", evil)):
        (tmp_path / side).mkdir()
        rows = [{**row, "prompt": f"{evil}{at}", "sample": 0, "text": text, "extras": {evil: text}}
                for at in range(2)]  # fmt: skip
        (tmp_path / side / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = reviewbot("parity", "compare", "one", "other", "--output-format", "markdown")
    assert ran.code == 1
    shown = html(ran.out)
    text = re.sub("<(code|pre)[^>]*>.*?</(code|pre)>", "", shown, flags=re.DOTALL)
    assert "<img" not in text
    assert "<h1" not in text
    assert "href" not in text
    assert "@maintainer" not in text
    assert "\u202e" not in ran.out


@pytest.mark.parametrize("words", [[], ["--quiet"]], ids=["shown", "quiet"])
def test_progress_on_a_terminal_only(reviewbot, tmp_path, words):
    """A pipe that stalls makes the comparison take longer than anyone would wait without a word."""
    row = {"step": 1, "prompt": 0, "token_ids": [1, 2, 3], "loss_mask": [0, 1, 1], "text": "x" * 200_000}
    for side in ("one", "other"):
        rows = (json.dumps({**row, "sample": at, "reward": at % 2}) + "\n" for at in range(300))
        (tmp_path / f"{side}.jsonl").write_text("".join(rows))
    code = (
        "import sys; from reviewbot.render import progress; progress.PATIENCE = 0.0;"
        "from reviewbot.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "parity", "compare", "one.jsonl", "other.jsonl", *words]
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=env)
    os.close(theirs)
    said = heard(ours)
    assert done.returncode == 0
    assert (b"compare" in said) is not bool(words)
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, env=env)
    assert (piped.returncode, piped.stderr) == (0, b"")


def heard(terminal: int) -> bytes:
    """What was written to a terminal whose other end is closed."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
    finally:
        os.close(terminal)


def test_a_digest_of_the_environment_says_what_it_is_of(reviewbot, tmp_path):
    said = "a digest of what the verdict holds for: versions, limits, the format and size of each dump"
    ran = reviewbot(*compared("same"), "--page", tmp_path / "page.html", "--no-color")
    digest = re.search(r"^environment ([0-9a-f]{12}): (.*(?:\n.+)*)", ran.out, re.MULTILINE)
    assert digest is not None
    assert " ".join(digest[2].split()).startswith(said)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"Environment <code>{digest[1]}</code>: {said}" in " ".join(page.split())
    comment = reviewbot(*compared("same"), "--output-format", "markdown").out
    assert f"Environment `{digest[1]}`: {said}" in comment


def test_seconds_by_stage_only_where_asked(reviewbot):
    plain = json.loads(reviewbot(*compared("same"), "--output-format", "json").out)
    assert plain["profile"] is None
    ran = reviewbot(*compared("same"), "--output-format", "json", "--profile")
    assert set(json.loads(ran.out)["profile"]) == {"control", "compare"}
    assert "seconds: control" in reviewbot(*compared("same"), "--profile").out


def test_a_page_has_plots_in_words_too_and_loads_nothing(reviewbot, tmp_path):
    row = {"step": 1, "token_ids": [1, 2, 3, 4], "loss_mask": [0, 1, 1, 1], "dtype": "bfloat16"}
    rows = [{**row, "prompt": at // 2, "sample": at % 2, "reward": at % 2, "logprobs": [0, -1, -2, -3]}
            for at in range(8)]  # fmt: skip
    for side in ("one", "<b>other"):
        (tmp_path / side).mkdir()
        rows = [{**made, "logprobs": [0, -1, -2 - 0.01 * (side != "one"), -3]} for made in rows]
        rows[5]["token_ids"] = [1, 2, 3, 4 + (side != "one")]
        (tmp_path / side / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    words = ("parity", "compare", "one", "<b>other", "--page", "page.html")
    ran = reviewbot(*words)
    assert (ran.code, ran.err) == (1, "reviewbot: the page is page.html\n")
    quiet = reviewbot(*words, "--quiet")
    assert (quiet.out, quiet.err) == (ran.out, "")
    page = (tmp_path / "page.html").read_text()
    said = [unescape(one) for one in re.findall("<svg[^>]*><title[^>]*>(.*?)</title>", page)]
    assert said[:2] == [
        "How far log-probs of the same token are apart: 15 of 23 log-probs are bit-identical; the others are "
        "up to 0.01 nats apart, and 0.07 is allowed",
        "Where rows first differ: 1 row failed and 0 rows set aside; the first difference is at index 3",
    ]
    assert "mathdefault" not in page
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids)) > 20
    assert set(re.findall(r'(?:href|src)="([^#"][^"]*)"', page)) == set()
    assert reviewbot("parity", "compare", "one", "one", "--page", "no/such/page.html").code == 2


def test_a_page_draws_rows_set_aside_and_marks_where_log_probs_part(reviewbot, tmp_path):
    top = [None, {"65": -0.5, "66": -0.53}, None, None]
    row = {"step": 1, "token_ids": [64, 65, 70, 71], "loss_mask": [0, 1, 1, 1], "dtype": "bfloat16",
           "logprobs": [0, -0.5, -2, -3], "top_logprobs": top}  # fmt: skip
    rows = [{**row, "prompt": at // 2, "sample": at % 2, "reward": at % 2} for at in range(8)]
    other = [{**made} for made in rows]
    other[2] = {**rows[2], "token_ids": [64, 66, 70, 71]}
    for side, made in (("one", rows), ("other", other)):
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in made))
    words = ("parity", "compare", "one.jsonl", "other.jsonl", "--tokenizer", "ascii", "--page", "page.html")
    assert reviewbot(*words).code == 1
    page = unescape((tmp_path / "page.html").read_text())
    assert "At index 1 token 65 became 66; they are 0.03 and 0.03 nats apart, and 0.0625 is rounding." in page
    assert "First difference: index 1 (A → B)." in page
    other[2] = {**rows[2], "logprobs": [0, -0.5, -2, -4]}
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(r) + "\n" for r in other))
    assert reviewbot(*words).code == 1
    page = unescape((tmp_path / "page.html").read_text())
    assert "First difference of logprobs: index 3 (-3 → -4)." in page
    assert "The model did not sample it" not in page
