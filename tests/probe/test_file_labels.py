"""The files of a command line are called as the script calls them, else as their folders are called."""

from __future__ import annotations

import json

import pytest

PARSER = """
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("reference")
parser.add_argument("resumed")
parser.add_argument("--only", type=int)
given = parser.parse_args()
one, other = (json.load(open(path)) for path in (given.reference, given.resumed))
for left, right in zip(one, other):
    assert left == right
"""
NUMBERS = """
import json
import sys

first, again = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
for left, right in zip(first, again):
    assert left == right
"""
NEITHER = """
import json
import sys

def read(at):
    return json.load(open(sys.argv[at]))

for left, right in zip(read(1), read(2)):
    assert left == right
"""


@pytest.mark.parametrize(
    ("script", "options", "names"),
    [
        (PARSER, "", {"reference", "resumed"}),
        (PARSER, "--only 3 ", {"reference", "resumed"}),
        (NUMBERS, "", {"first", "again"}),
        (NEITHER, "", {"run_a", "run_b"}),
    ],
)
def test_two_files_of_one_name_are_told_apart(probed, tmp_path, script, options, names):
    (tmp_path / "differ.py").write_text(script)
    for folder in ("run_a", "run_b"):
        (tmp_path / folder).mkdir()
        rows = [{"id": n, "tokens": [n, 5]} for n in (1, 2)]
        (tmp_path / folder / "rows.json").write_text(json.dumps(rows))
    code, document = probed(tmp_path, f"python differ.py {options}run_a/rows.json run_b/rows.json")
    assert code == 1 and set(document["files"]) == names
    assert document["witnesses"][0]["changes"][0]["where"].partition("[")[0] in names
