"""A baseline: the findings that a repository has accepted, by fingerprint. New ones are all that is shown."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from reviewbot.errors import UsageError
from reviewbot.model import Finding

MOST_BYTES = 64 << 20


def read(path: Path) -> frozenset[str]:
    """The fingerprints of a baseline file. Raises `UsageError` where it is none."""
    try:
        document = json.loads(_content(path).decode("utf-8"))
        return frozenset(str(entry["fingerprint"]) for entry in document["findings"])
    except FileNotFoundError:
        raise UsageError(f"{path}: no such baseline; --write-baseline makes one") from None
    except RecursionError:
        raise UsageError(f"{path}: not a baseline (nested too deeply); write it again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the baseline cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not a baseline ({error.msg}); write it again") from None
    except (KeyError, TypeError):
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


def encode(findings: Iterable[Finding]) -> str:
    """A baseline of these findings. One line each, so that a change of it reads well in a diff."""
    lines = [
        json.dumps(
            {
                "fingerprint": finding.fingerprint,
                "rule": finding.rule,
                "path": finding.span.path,
                "message": finding.message,
            },
            ensure_ascii=False,
        )
        for finding in findings
    ]
    inner = ",\n  ".join(lines)
    return f'{{"findings": [\n  {inner}\n]}}\n' if lines else '{"findings": []}\n'
