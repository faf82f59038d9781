"""constraints.txt holds a fitting version of everything that pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def asked() -> list[str]:
    """Every requirement of the package, its extras, its groups and its build."""
    extras = PROJECT["project"].get("optional-dependencies", {})
    lists = [PROJECT["build-system"]["requires"], PROJECT["project"]["dependencies"], *extras.values()]
    lists += PROJECT["dependency-groups"].values()
    return sorted({word for words in lists for word in words if isinstance(word, str)})


@pytest.mark.parametrize("word", asked())
def test_each_requirement_is_locked_at_a_version_that_fits(word):
    wanted = Requirement(word)
    locked = [
        version
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\n]+)", LOCK, re.MULTILINE)
        if canonicalize_name(name) == canonicalize_name(wanted.name)
    ]
    assert locked, f"{wanted.name} is not in constraints.txt: make lock"
    assert all(wanted.specifier.contains(version) for version in locked), f"{word} is locked at {locked}"


def test_the_lock_names_no_address():
    assert re.findall(r"://|^\s*-", LOCK, re.MULTILINE) == []
