"""`[tool.reviewbot]` of a pyproject.toml as a frozen `Config`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import ConfigError
from reviewbot.model import CERTAINTIES, Certainty

FailOn = Certainty


class Sides(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Names that this repository gives the two sides of its own comparisons."""

    baseline: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


class Parity(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """How `reviewbot parity` makes and reads this repository's dumps.

    `mapping` says which column holds which field of a row. `command` leaves the rows of one leg, of those
    that `legs` names, in the folder that stands in its place for `{out}`; `setup` comes before it in a clean
    tree. The cut leg is killed when a line of its output matches `cut_when`; `pattern` finds restore records
    in the output of the restored one.
    """

    mapping: dict[str, str] = {}
    command: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    legs: tuple[str, ...] = ("reference", "cut", "restored")
    cut_when: str = ""
    pattern: str = ""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What a repository says of how it wants to be reviewed.

    `select` and `ignore` name rules; an empty `select` means all. `exclude` holds glob patterns of paths.
    `baseline` holds the findings that `lint` has told already: a path from the pyproject.toml.
    `fail_on` is the least certainty that makes a run end with 1, or `never`. `sides` adds names for the two
    sides of a comparison. `derived_fields` are known to follow from others, `volatile_fields` to differ
    between equal runs. `ci_lists` are further files that list what CI runs.
    `max_file_bytes` is the size from which on a file counts as generated and is not read; `rule_seconds`
    the processor time that one rule may take on one file, in proportion for one of more than 100 kB.
    `parity` is for the runs that are compared row for row.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: str = ""
    fail_on: str = "proved"
    sides: Sides = Sides()
    derived_fields: tuple[str, ...] = ()
    volatile_fields: tuple[str, ...] = ()
    ci_lists: tuple[str, ...] = ()
    max_file_bytes: int = 2_000_000
    rule_seconds: float = 5.0
    parity: Parity = Parity()


FAIL_ON = ("proved", "likely", "question", "never")


def failing(fail_on: str) -> tuple[Certainty, ...]:
    """The certainties of findings that end a run with 1, for a value of `fail-on`."""
    return () if fail_on == "never" else CERTAINTIES[: FAIL_ON.index(fail_on) + 1]


def from_toml(text: str, where: str, known_rules: frozenset[str]) -> Config:
    """The `[tool.reviewbot]` table of a pyproject.toml's text; the defaults where there is none.

    `where` names the file in errors. Raises `ConfigError` for TOML that does not parse, unknown keys,
    values of a wrong type, unknown rules.
    """
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_broken(str(error), where, text)) from None
    except RecursionError:
        raise ConfigError(f"{where}: not valid TOML: nested too deeply") from None
    tool = document.get("tool", {})
    table = tool.get("reviewbot", {}) if isinstance(tool, dict) else {}
    return _convert(table, where, text, known_rules)


def load(folder: Path, known_rules: frozenset[str]) -> tuple[Config, Path]:
    """The configuration that governs `folder`, and the folder of the pyproject.toml it stands in.

    The nearest pyproject.toml at or above `folder` that has a `[tool.reviewbot]` table decides; without
    one the defaults hold and the folder itself is returned. Raises `ConfigError` for one that cannot be read,
    or that names the table and does not parse.
    """
    for candidate in (folder, *folder.parents):
        path = candidate / "pyproject.toml"
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{path}: cannot be read ({error})") from None
            if "reviewbot" in text and _configures(text):
                return from_toml(text, str(path), known_rules), candidate
    return Config(), folder


def _configures(text: str) -> bool:
    """Whether a pyproject.toml has a `[tool.reviewbot]` table, or was to have one where it does not parse."""
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        named = r"^[^#\n]*\btool[\"'\s]*\.[\"'\s]*reviewbot\b"
        return re.search(named, text, re.MULTILINE) is not None
    return isinstance(tool, dict) and "reviewbot" in tool


def _broken(message: str, where: str, text: str) -> str:
    at = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if not at:
        return f"{where}: not valid TOML: {message}"
    said, line, column = at.groups()
    place = f"{line}:{column}" if line else str(len(text.splitlines()))
    return f"{where}:{place}: not valid TOML: {said[:1].lower()}{said[1:]}"


def _convert(table: dict[str, Any], where: str, text: str, known_rules: frozenset[str]) -> Config:
    try:
        config = msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(str(error), where, text)) from None
    if config.fail_on not in FAIL_ON:
        line = _line(text, "fail-on")
        raise ConfigError(f"{where}{line}: fail-on is {config.fail_on!r}; it can be {', '.join(FAIL_ON)}")
    for key, number in (("max-file-bytes", config.max_file_bytes), ("rule-seconds", config.rule_seconds)):
        if not 0 < number < float("inf"):
            raise ConfigError(f"{where}{_line(text, key)}: {key} is {number}; it has to be more than 0")
    for key, names in (("select", config.select), ("ignore", config.ignore)):
        for name in names:
            if name not in known_rules:
                raise ConfigError(
                    f"{where}{_line(text, name)}: {key}: no rule {name!r}{hint(name, known_rules)}"
                )
    return config


def hint(word: str, known: frozenset[str] | tuple[str, ...]) -> str:
    """`; did you mean 'x'?` for the nearest known word, or nothing."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


_TABLES: dict[str, type[msgspec.Struct]] = {"": Config, "sides": Sides, "parity": Parity}


def _explain(message: str, where: str, text: str) -> str:
    said, _, place = message.partition(" - at `$.")
    inside = re.match(r"[a-z-]+", place)
    if unknown := re.search(r"unknown field `([^`]*)`", said):
        table = inside[0] if inside and inside[0] in _TABLES else ""
        return f"{where}{_line(text, unknown[1], table)}: {_no_key(unknown[1], table)}"
    key = inside[0] if inside else ""
    return f"{where}{_line(text, key)}: [tool.reviewbot] {key}: {said[:1].lower()}{said[1:]}"


def _no_key(key: str, table: str) -> str:
    """That a table, "" for [tool.reviewbot] itself, has no such key, and which may have been meant."""
    says = f"{_named(table)} has no key {key!r}"
    if near := hint(key, _keys(table)):
        return says + near
    other = next((one for one in _TABLES if key in _keys(one)), None)
    return says if other is None else f"{says}; {_named(other)} has one of that name"


def _keys(table: str) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(_TABLES[table]))


def _named(table: str) -> str:
    return f"[tool.reviewbot.{table}]" if table else "[tool.reviewbot]"


def _line(text: str, word: str, table: str = "") -> str:
    """`:LINE` of a word below the header of a table, or of any of ours."""
    inside = False
    header = f"[tool.reviewbot.{table}]" if table else "[tool.reviewbot"
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = line.lstrip().startswith(header)
        if word and inside and word in line:
            return f":{number}"
    # A table may be written in a line: `parity = { ... }`.
    return _line(text, word) if table else ""
