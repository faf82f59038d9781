"""A check whose failure is swallowed counts as one that cannot fail, in the sums and on the page."""

from __future__ import annotations

import json


def test_a_check_whose_failure_is_proved_to_be_swallowed_is_no_check_that_can_fail(
    reviewbot, repository, tmp_path
):
    repository.commit({"a.py": "x = 1\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    text = (
        "def test_rows(run):\n    assert run(1) == 2\n    try:\n        assert run(2) == 3\n"
        "    except Exception as error:\n        print(error)\n"
    )
    repository.commit({"tests/test_a.py": text})
    ran = reviewbot("size", "--base", "main", "--output-format", "json", cwd=repository.folder)
    last = json.loads(ran.out)["rounds"][-1]
    assert (last["checks"], last["cannot_fail"]) == (1, 1)
    (tmp_path / "size.json").write_text(ran.out)
    pages = ("report", "--size", tmp_path / "size.json", "--out", tmp_path / "pages")
    assert reviewbot(*pages, cwd=repository.folder).code == 0
    assert "1 (+1 that cannot)" in (tmp_path / "pages" / "size.html").read_text()
