"""Trees that are kept until their file is looked at."""

from __future__ import annotations

import ast

from reviewbot.lint import registry
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.source import newer
from reviewbot.source.files import InMemory
from reviewbot.source.kept import Kept

CODE = b"x = 1\n"


def test_a_tree_is_given_once_for_what_it_was_made_of():
    tree = ast.parse(CODE)
    kept = Kept(["a.py", "b.py"])
    for path in ("a.py", "b.py", "other.py"):
        kept.put(path, CODE, tree)
    assert kept.take("a.py", CODE) is tree
    assert kept.take("a.py", CODE) is None
    assert kept.take("b.py", b"x = 2\n") is None, "the file is another one by now"
    assert kept.take("other.py", CODE) is None, "nobody said that it would be looked at"


def test_no_more_is_kept_than_there_is_room_for_and_what_is_taken_makes_room():
    tree = ast.parse(CODE)
    kept = Kept(["a.py", "b.py", "c.py"], most=2 * len(CODE) - 1)
    kept.put("a.py", CODE, tree)
    kept.put("b.py", CODE, tree)
    assert kept.take("b.py", CODE) is None
    assert kept.take("a.py", CODE) is tree
    kept.put("c.py", CODE, tree)
    assert kept.take("c.py", CODE) is tree


def test_what_the_index_has_parsed_is_not_parsed_again(monkeypatch):
    code = "def test_rows(rows):\n    for row in rows:\n        print(row, row.tokens, row.mask)\n" * 3
    files = {f"tests/test_{name}.py": f"{name} = 1\n{code}".encode() for name in "abc"}
    parsed = []
    parse = newer.parse
    monkeypatch.setattr(newer, "parse", lambda text: parsed.append(text) or parse(text))
    repo = Repo(files=InMemory(files))
    repo.kept = Kept(files)
    assert repo.index.definitions("test_rows"), "the index is made"
    rules = [registry.load(rule_id) for rule_id in registry.rule_ids()]
    for path, content in files.items():
        assert not examine(path, content, rules, repo).failures
    assert sorted(parsed) == sorted(files.values())
