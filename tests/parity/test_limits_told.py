"""Which noise a comparison allowed, why, and between which dumps: said where the verdict is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def dump(path: Path, shift: float, **more: str) -> Path:
    rows = [
        {"step": 0, "prompt": 0, "sample": at, "token_ids": [7, 8], "loss_mask": [1, 1], "reward": float(at),
         "logprobs": [-1.0, -2.0 - shift], **more}
        for at in range(2)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def compare(reviewbot, tmp_path):
    def run(*words: str | Path, **more: str):
        one, other = dump(tmp_path / "one.jsonl", 0.0, **more), dump(tmp_path / "two.jsonl", 0.05, **more)
        return reviewbot("parity", "compare", one, other, *words)

    return run


def test_an_unknown_dtype_is_said_in_the_verdict_with_what_it_allowed(compare):
    ran = compare()
    assert ran.code == 0
    first = ran.out.splitlines()[0]
    assert "largest gap 0.05 of 0.07 that the coarsest dtype allows" in " ".join(ran.out.split())
    assert first.startswith("pass")
    assert "--dtype float32 allows 0.005" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("words", "more", "code", "noise"),
    [
        (("--dtype", "float32"), {}, 1, 0.005),
        (("--dtype", "bfloat16"), {}, 0, 0.07),
        (("--noise", "0.06"), {}, 0, 0.06),
        ((), {"dtype": "float32"}, 1, 0.005),
        ((), {"dtype": "bfloat16"}, 0, 0.07),
    ],
)
def test_what_is_known_is_not_called_unknown(compare, words, more, code, noise):
    ran = compare(*words, "--output-format", "json", **more)
    told = json.loads(ran.out)
    assert (ran.code, told["logprobs"]["noise"], told["logprobs"]["dtype_known"]) == (code, noise, True)
    assert any(f"off by {noise:g} or less, and" in says for says in told["could_not_notice"])
    assert "coarsest" not in compare(*words, **more).out


def test_help_and_the_document_give_the_default(reviewbot):
    asked = " ".join(reviewbot("parity", "compare", "--help").out.split())
    document = " ".join((ROOT / "docs" / "parity.md").read_text().split())
    for says in (asked, document):
        assert "0.005" in says
        assert "0.07" in says


def test_the_page_names_both_dumps(compare, tmp_path):
    compare("--page", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for name in ("one.jsonl", "two.jsonl"):
        assert f"{tmp_path / name}</code>" in page
    assert "The rows do not say their dtype" in page
