"""A site with every kind of page, and a browser to look at it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent.parent
ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the machine's own where it has one, else Playwright's."""
    with sync_playwright() as playwright:
        found = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGS))
        yield browser
        browser.close()


def run(*words: str | Path, cwd: Path) -> str:
    """Runs a command with reviewbot from this checkout; what it prints."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def reviewbot(*words: str | Path, cwd: Path) -> str:
    """Runs a command of reviewbot."""
    return run(sys.executable, "-m", "reviewbot", *words, cwd=cwd)


def repository_of(head: Path, folder: Path, base: Path | None = None) -> None:
    """A repository whose main branch holds `base`, and whose branch `topic` adds what `head` holds."""
    git = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    folder.mkdir(parents=True)
    run(*git, "init", "--quiet", "--initial-branch=main", cwd=folder)
    run(*git, "remote", "add", "origin", "https://github.com/example/serving.git", cwd=folder)
    if base is not None:
        shutil.copytree(base, folder, dirs_exist_ok=True)
    run(*git, "add", "--all", cwd=folder)
    run(*git, "commit", "--quiet", "--allow-empty", "--message", "start", cwd=folder)
    run(*git, "switch", "--quiet", "--create", "topic", cwd=folder)
    shutil.copytree(head, folder, dirs_exist_ok=True)
    run(*git, "add", "--all", cwd=folder)
    run(*git, "commit", "--quiet", "--message", "change", cwd=folder)


SEEDS = ROOT / "tests" / "seeds"
NAMES = (
    "excuse-wider-than-its-reason",
    "lines-that-check-nothing",
    "recorder-beside-a-dump",
    "saved-part-dropped",
)


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of each seed, its code run, and of one of them (`not-run`) without that."""
    folder = tmp_path_factory.mktemp("seeds")
    for seed in NAMES:
        repository = folder / "repositories" / seed
        repository_of(SEEDS / seed / "head", repository, SEEDS / seed / "base")
        size = folder / f"{seed}.json"
        words = ("size", "--base", "main", "--probe", "--quiet", "--output-format", "json")
        size.write_text(reviewbot(*words, cwd=repository))
        pages = ("report", "--base", "main", "--probe", "--quiet", "--size", size, "--out", folder / seed)
        reviewbot(*pages, cwd=repository)
    excuse = folder / "repositories" / "excuse-wider-than-its-reason"
    reviewbot("report", "--base", "main", "--quiet", "--out", folder / "not-run", cwd=excuse)
    return folder


# A row such as a long one really is: roles, a mask, ranges, a token as text, one token more on one side.
LONG = {
    "field": "token_ids",
    "baseline": [*range(10, 32), "<|im_end|>", 7],
    "other": [*range(10, 14), 77, *range(15, 32), "<|im_end|>", 7, 12345678901],
    "sides": ["baseline_rows", "restored_rows"],
    "at": 4,
    "mask": [0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    "roles": ["prompt"] * 2 + ["trained turn 1"] * 2 + ["tool result"] * 2 + ["trained turn 2"] * 4
    + ["tool result"] + ["trained turn 3"] * 13,
    "let_through": [2, 22],
    "restored": [11, 13],
}  # fmt: skip
# Parts of one token each, whose names need more room than a token has.
CLOSE = {
    "field": "token_ids",
    "baseline": [1, 2, 3, 4, 5, 6],
    "other": [1, 2, 3, 4, 5, 9],
    "sides": ["baseline", "restored"],
    "at": 5,
    "mask": [0, 1, 0, 1, 0, 1],
    "roles": ["prompt", "trained turn 1", "tool result", "trained turn 2", "tool result", "trained turn 3"],
    "let_through": [5, 6],
    "restored": [4, 5],
}
CHANGE = {"where": "restored_rows[0].token_ids[4]", "before": 14, "after": 77, "says": "token 4 changed"}
EVIDENCE = {
    "target": "tests/parity.py::compare",
    "edits_tried": 12,
    "passed": 3,
    "witnesses": [
        {"changes": [CHANGE], "why": "excuse", "strip": LONG},
        {"changes": [CHANGE], "why": "gap", "strip": CLOSE},
        {
            "changes": [
                {"where": "rows[0].reward", "before": 1.0, "after": "nan", "says": "reward is NaN"},
                {"where": "rows[0]", "before": {"id": "x" * 300}, "after": None, "says": "row dropped"},
            ],
            "why": "nan",
        },
    ],
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, seeds: Path) -> list[Path]:
    """Pages of every kind: findings with a strip, a call tree, two lanes; rounds; probes; parity; size; and
    those of the seeds."""
    folder = tmp_path_factory.mktemp("site")
    example = folder / "parcel-robot"
    run(sys.executable, ROOT / "demo" / "history.py", example, cwd=folder)
    review = json.loads(
        reviewbot("review", "--base", "main", "--probe", "--output-format", "json", cwd=example)
    )
    # A second round, so that there is an older head and every state.
    first = review["rounds"][0]
    del first["standing"]  # a review that was made before rounds had a record
    review["rounds"].append({**first, "number": 2})
    for thread, state in zip(review["threads"], cycle(("back", "fixed", "dismissed", "open")), strict=False):
        thread["state"] = state
        thread["last_round"] = 1 if state == "fixed" else 2
    (folder / "review.json").write_text(json.dumps(review))
    reviewbot("probe", "tests/resume_parity.py::check", "--save", folder / "evidence.json", cwd=example)
    (folder / "long.json").write_text(json.dumps(EVIDENCE))
    dumps = ROOT / "tests" / "cases" / "dumps"
    parity = reviewbot("parity", "compare", "--output-format", "json", *_dumps(dumps), cwd=folder)
    (folder / "parity.json").write_text(parity)
    probes = ("--probe", folder / "evidence.json", "--probe", folder / "long.json")
    size = reviewbot("size", "--base", "main", "--output-format", "json", "--quiet", cwd=example)
    (folder / "size.json").write_text(size)
    reviewbot(
        "report",
        folder / "review.json",
        "--size",
        folder / "size.json",
        *probes,
        "--parity",
        folder / "parity.json",
        "--out",
        folder / "robot",
        cwd=example,
    )
    repository_of(ROOT / "tests" / "cases" / "field-dropped-on-rebuild" / "repo", folder / "serving")
    reviewbot("report", "--base", "main", "--out", folder / "lanes", cwd=folder / "serving")
    ours = [*(folder / "robot").glob("*.html"), *(folder / "lanes").glob("C*.html")]
    theirs = [*seeds.glob("*/C1.html"), seeds / "lines-that-check-nothing" / "size.html"]
    return sorted([*ours, *theirs])


def _dumps(folder: Path) -> list[Path]:
    (case, *_) = sorted(path.parent for path in folder.rglob("reference"))
    restores = case / "restores.jsonl"
    return [case / "reference", case / "restored", *(["--restores", restores] if restores.exists() else [])]  # type: ignore[list-item]
