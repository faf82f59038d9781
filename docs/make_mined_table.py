"""Lints real tests that could not fail, before and after they were mended; writes docs/precision/mined.md.

Run in a checkout, with git and a network that reaches GitHub:
`python docs/make_mined_table.py [--only TEXT] [--clones FOLDER] [--keep FOLDER] [--print]`.

For each example of docs/precision/mined.toml it takes the commit that mended the test and its parent, writes
the files that the whole catalogue reads (Python, settings, workflows, scripts) into two folders, and runs
`reviewbot lint` on the test in each. A named line is found if a finding or one of its steps stands on it. A
finding is still there after if its rule reports a function of that name in the mended file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
INPUT = ROOT / "docs" / "precision" / "mined.toml"
OUTPUT = ROOT / "docs" / "precision" / "mined.md"
READ = ("*.py", "*.toml", "*.cfg", "*.ini", "*.yml", "*.yaml", "*.sh", "*.jq")
TITLE = """\
<!-- Made by docs/make_mined_table.py from mined.toml; change it there. -->

# Real tests that could not fail

Each was mended by the commit that is linked. The whole catalogue is run on the test as it stood before that
commit and as it stood after, in the repository of that time. Here is what it says on the lines that a perfect
tool would name, and whether the rules that found them still report the same function once it is mended.

| test | defect | line | before | after |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Mined:
    """One example. `lines` are lines of the file before, from 1."""

    repository: str
    commit: str
    path: str
    lines: tuple[int, ...]
    defect: str
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.repository.replace('/', '+')}-{self.commit[:12]}"


def examples(only: str) -> list[Mined]:
    """Those whose repository or commit holds `only`."""
    read = tomllib.loads(INPUT.read_text(encoding="utf-8"))["example"]
    every = [Mined(**{**one, "lines": tuple(one["lines"])}) for one in read]
    return [one for one in every if only in f"{one.repository} {one.commit}"]


def repository(mined: Mined, clones: Path) -> Path:
    """A repository that has the commit and its parent; fetched without history where it is not there."""
    for place in (clones / mined.name, clones / mined.repository.replace("/", "+") / "repo"):
        if place.is_dir() and not _git(place, "cat-file", "-e", f"{mined.commit}^", check=False).returncode:
            return place
    place = clones / mined.name
    place.mkdir(parents=True, exist_ok=True)
    _git(place, "init", "-q", "--bare")
    url = f"https://github.com/{mined.repository}"
    _git(place, "fetch", "-q", "--depth", "2", url, mined.commit)
    return place


def _git(place: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(place), *words], check=check, capture_output=True)


def written(repository: Path, revision: str, folder: Path) -> Path:
    """A folder with the files of a revision that the catalogue reads."""
    if not folder.is_dir():
        packed = _git(repository, "archive", revision, "--", *READ, check=False)
        if packed.returncode:  # one of the patterns matches nothing
            names = (
                _git(repository, "ls-tree", "-r", "-z", "--name-only", revision).stdout.decode().split("\0")
            )
            kept = {pattern for pattern in READ if any(name.endswith(pattern[1:]) for name in names)}
            packed = _git(repository, "archive", revision, "--", *sorted(kept))
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        (folder / ".git").mkdir(exist_ok=True)
    return folder


def findings(folder: Path, path: str) -> list[dict[str, Any]]:
    """What the whole catalogue says of one file, with questions."""
    command = [sys.executable, "-m", "reviewbot", "lint", path, "--no-cache", "--output-format", "json"]
    ran = subprocess.run(
        [*command, "--fail-on", "never"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        raise SystemExit(f"reviewbot lint ended with {ran.returncode}: {ran.stderr}")
    said: list[dict[str, Any]] = json.loads(ran.stdout)
    return said


def on(line: int, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings that stand on the line, or else those with a step there."""
    direct = [one for one in said if one["line"] <= line <= one["end_line"]]
    return direct or [
        one for one in said if any(step["line"] <= line <= step["end_line"] for step in one["steps"])
    ]


def unit(source: str, line: int) -> str:
    """The name of the innermost function or class around a line, dotted; empty outside of all."""
    import ast

    found = ""

    def visit(node: ast.AST, outer: str) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{child.name}".lstrip(".")
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                if first <= line <= (child.end_lineno or first):
                    found = name
            visit(child, name)

    visit(ast.parse(source), "")
    return found


def rows(mined: Mined, clones: Path, keep: Path) -> Iterator[str]:
    """The table's rows of one example, a row a line."""
    place = repository(mined, clones)
    before = written(place, f"{mined.commit}^", keep / mined.name / "before")
    after = written(place, mined.commit, keep / mined.name / "after")
    said, later = findings(before, mined.path), findings(after, mined.path)
    old = (before / mined.path).read_text(encoding="utf-8")
    new = (after / mined.path).read_text(encoding="utf-8")
    link = f"https://github.com/{mined.repository}/commit/{mined.commit}"
    for line in mined.lines:
        found = on(line, said)
        here = unit(old, line)
        rules = {one["rule"] for one in found}
        left = [one for one in later if one["rule"] in rules and unit(new, one["line"]) == here]
        cells = (
            f"[{mined.repository}]({link}) `{mined.path}`" if line == mined.lines[0] else "",
            mined.defect if line == mined.lines[0] else "",
            str(line),
            "; ".join(_named(one) for one in found) or f"not found: {mined.notes.get(str(line), '?')}",
            _after(found, left, mined.notes.get(f"after {line}", "?")),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _named(one: dict[str, Any]) -> str:
    return f"`{one['rule']}` {one['certainty']} at {one['line']}"


def _after(found: list[dict[str, Any]], left: list[dict[str, Any]], note: str) -> str:
    if left:
        return f"still reported: {', '.join(map(_named, left))}: {note}"
    return "silent" if found else "-"


def main() -> int:
    """Writes the table, or prints it. Returns 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only examples whose repository or commit holds this text")
    parser.add_argument("--clones", type=Path, help="where repositories are kept, or already are")
    parser.add_argument(
        "--keep", type=Path, help="where the files of both revisions are kept for another run"
    )
    parser.add_argument("--print", action="store_true", help="print the rows, write nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        clones, keep = given.clones or Path(scratch, "clones"), given.keep or Path(scratch, "files")
        text = ""
        for mined in examples(given.only):
            for row in rows(mined, clones, keep):
                text += row + "\n"
                if given.print:
                    print(row, flush=True)
    if not given.print:
        OUTPUT.write_text(TITLE + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
