"""What the README says can be typed can be typed."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from reviewbot import config
from reviewbot.cli.main import parser
from reviewbot.lint.registry import rule_ids

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.+?)(?: +#.*)?$", README, re.MULTILINE)
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_two_commands_do_all_the_set_up():
    first = re.search(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert first
    assert [line.split("#")[0].split() for line in first[1].splitlines()] == [
        ["$", "make", "demo"],
        ["$", "make", "test"],
    ]


def test_each_make_target_is_there():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = set()
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        named |= set(re.findall(r"`make ([a-z]+)", text)) | set(re.findall(r"^\$ make ([a-z]+)", text, re.M))
    assert {"demo", "test", "lock"} <= named <= set(targets)


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("reviewbot ")])
def test_each_command_can_be_typed(command):
    _, name, *words = shlex.split(command.partition(" > ")[0])  # what a shell does with the rest is its own
    options = parser(name).parse_args([name, *words])
    assert options.command == name
    if name == "rule":
        assert set(words) <= set(rule_ids())


def test_each_extra_that_is_installed_is_one_and_a_run_s_own_are_named_where_it_is_told_of():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = re.findall(r"pip install '\.\[(.*?)\]'", README)
    assert {extra for words in named for extra in words.split(",")} <= set(known)
    told = README.partition("### Two training runs")[2].partition("###")[0]
    assert "pip install '.[parity,engines]'" in told and "MB" in told


@pytest.mark.parametrize("block", blocks("toml"))
def test_each_configuration_is_one(block):
    assert config.from_toml(block, "README.md", frozenset(rule_ids())) != config.Config()
    assert set(tomllib.loads(block)) == {"tool"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_link_and_file_that_is_named_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^):#]+)\)", text)
    paths = re.findall(r"`((?:reviewbot|rules|templates|tests|demo|benchmarks)/[a-z_./]*)`", text)
    for name in (*links, *(path for path in paths if not path.startswith("demo/out/"))):
        assert (ROOT / name).exists(), name


def test_the_documents_name_files():
    assert blocks("toml")
    assert len(COMMANDS) > 4
