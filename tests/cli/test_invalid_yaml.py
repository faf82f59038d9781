"""YAML that does not parse is named with its line, as Python is, and the run goes on."""

from __future__ import annotations

import pytest

FLOW = ".github/workflows/ci.yml"
BROKEN = "on: push\njobs:\n  a:\n    steps:\n      - run: tox -q || :\n"
RIGHT = BROKEN.replace("|| :", "|| true")
WEAK = "def test_rows(run):\n    assert (run(1), 2)\n"


@pytest.fixture
def tree(tmp_path):
    def write(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / {"flow": FLOW, "test": "tests/test_a.py"}.get(name, f"{name}.yml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def test_named_alone_it_is_input_that_cannot_be_read(reviewbot, tree):
    tree(flow=BROKEN)
    ran = reviewbot("lint", FLOW)
    assert (ran.code, ran.out) == (2, "nothing found in 0 files; 1 not read\n")
    assert (
        ran.err == f"reviewbot: {FLOW}:5: not valid YAML (mapping values are not allowed in this context)\n"
    )


@pytest.mark.parametrize(("test", "code"), [(WEAK, 1), ("x = 1\n", 0)])
def test_among_others_the_findings_decide(reviewbot, tree, test, code):
    tree(flow=BROKEN, test=test)
    ran = reviewbot("lint")
    assert ran.code == code
    assert f"{FLOW}:5: not valid YAML" in ran.err


@pytest.mark.parametrize("text", ["a: [1, 2\n", "a: 'b\n", "a: \x07\n", "\tb: 1\n"])
def test_whatever_is_wrong(reviewbot, tree, text):
    tree(settings=text)
    ran = reviewbot("lint", "settings.yml")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "settings.yml" in ran.err
    assert "not valid YAML (" in ran.err


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "a: !ours {b: 1}\n---\nb: *a\n", "{% if gpu %}\na: 1\n{% endif %}\n"]
)
def test_what_is_yaml_or_will_be_is_read(reviewbot, tree, text):
    tree(settings=text)
    assert reviewbot("lint", "settings.yml").code == 0


def test_in_a_workflow_a_place_to_fill_is_no_excuse(reviewbot, tree):
    tree(flow=BROKEN + "      - run: echo ${{ matrix.os }}\n")
    assert reviewbot("lint", FLOW).code == 2
    tree(flow=RIGHT + "      - run: echo ${{ matrix.os }}\n")
    assert "not valid" not in reviewbot("lint", FLOW).err


def test_a_review_names_it_too(reviewbot, repository):
    repository.commit({FLOW: RIGHT})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({FLOW: BROKEN, "tests/test_a.py": WEAK})
    ran = reviewbot("review", "--base", "main", "--output-format", "markdown", cwd=repository.folder)
    assert ran.code == 1
    assert "not valid YAML" in ran.out
