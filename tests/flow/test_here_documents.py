"""Documents in shell scripts: manifests are no commands, scripts that are handed on are."""

from __future__ import annotations

import shlex

import pytest

from reviewbot.flow.commands import commands
from reviewbot.flow.here_documents import without_documents
from reviewbot.lint import registry
from reviewbot.lint.engine import lint_file
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from reviewbot.source.units import file_of


@pytest.mark.parametrize("opener", ["<<EOF", "<<-'EOF'", '<< "EOF" | kubectl apply -f -', "<<\\EOF"])
@pytest.mark.parametrize("first", ["---", "apiVersion: v1", "- name: bow", "# note\nkind: Boat", "<boats>"])
def test_a_document_is_left_out_and_its_lines_keep_their_place(opener, first):
    lines = f"cat {opener}\n{first}\nrun: pytest || true\nEOF\npytest tests".splitlines()
    kept = without_documents(lines)
    assert len(kept) == len(lines)
    assert [line for line in kept if line] == [lines[0], "EOF", "pytest tests"]
    assert kept[-1] == "pytest tests"


@pytest.mark.parametrize(
    "text",
    [
        "bash <<EOF\npytest tests\nname: none\nEOF\n",
        "ssh boat <<EOF\n[ -f log ]\nEOF\n",
        "cat <<EOF\nname: bow\n",
        "read -r bow <<< EOF\nname: bow\nEOF\n",
        "# cat <<EOF\nname: bow\nEOF\n",
        "python - <<EOF\nimport json\nEOF\n",
        "echo $((1 << EOF))\nname: bow\n",
    ],
)
def test_what_may_be_run_stays(text):
    assert without_documents(text.splitlines()) == text.splitlines()


def test_a_document_holds_no_command_and_no_verdict():
    text = "set -o pipefail\ncat <<EOF\nsteps:\n  - run: diff a b || true\nEOF\ndiff a b || true\n"
    assert [one.words[0] for one in commands(text)] == ["cat", "EOF", "diff"]
    path, content = "ci/boats.sh", text.encode()
    rule = registry.load("verdict-dropped-in-ci")
    findings = lint_file(file_of(path, content), [rule], Repo(files=InMemory({path: content})).of(path))
    assert [finding.span.line for finding in findings] == [6]


@pytest.mark.parametrize(
    "line", ["a  b\tc", "run --out=$OUT x;y", "a 'b c' d", "a \\ b", "a # b c", "a#b", '"']
)
def test_words_are_those_of_a_shell(line):
    try:
        expected = shlex.split(f"go {line}", comments=True)
    except ValueError:
        expected = f"go {line}".split()
    assert list(commands(f"go {line}")[0].words) == expected
