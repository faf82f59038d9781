"""A baseline: the findings that a repository has accepted, by fingerprint. New ones are all that is shown."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from reviewbot.errors import UsageError
from reviewbot.model import Finding

MOST_BYTES = 64 << 20


class Entry(msgspec.Struct, frozen=True):
    """A finding that is accepted; `path` from the folder from which fingerprints name files."""

    fingerprint: str
    rule: str = ""
    path: str = ""
    message: str = ""


class _Document(msgspec.Struct, frozen=True):
    findings: tuple[Entry, ...]


def read(path: Path) -> tuple[Entry, ...]:
    """What a baseline file holds. Raises `UsageError` where it is none."""
    try:
        return msgspec.convert(json.loads(_content(path).decode("utf-8")), _Document).findings
    except FileNotFoundError:
        raise UsageError(f"{path}: no such baseline; --write-baseline makes one") from None
    except RecursionError:
        raise UsageError(f"{path}: not a baseline (nested too deeply); write it again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the baseline cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not a baseline ({error.msg}); write it again") from None
    except msgspec.ValidationError:
        raise UsageError(f"{path}: not a baseline; write it again with --write-baseline") from None


def _content(path: Path) -> bytes:
    """At most `MOST_BYTES` of a regular file. Raises `OSError`, and `UsageError` for anything else."""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except ValueError as error:  # no system knows such a name
        raise UsageError(f"{path}: the baseline cannot be read ({error})") from None
    if not regular:
        raise UsageError(f"{path}: not a regular file; name the file of a baseline")
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path}: more than {MOST_BYTES >> 20} MiB, which no baseline holds")
    return content


def entry(finding: Finding, lasting: Callable[[str], str]) -> Entry:
    """How a finding is accepted; `lasting` names its file."""
    return Entry(finding.fingerprint, finding.rule, lasting(finding.span.path), finding.message)


def encode(entries: Iterable[Entry]) -> str:
    """A baseline of these. One line each, so that a change of it reads well in a diff."""
    lines = [json.dumps(msgspec.to_builtins(one), ensure_ascii=False) for one in entries]
    inner = ",\n  ".join(lines)
    return f'{{"findings": [\n  {inner}\n]}}\n' if lines else '{"findings": []}\n'
