"""A baseline: the findings that a repository has accepted, by fingerprint. New ones are all that is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from reviewbot.errors import UsageError
from reviewbot.model import Finding


def read(path: Path) -> frozenset[str]:
    """The fingerprints of a baseline file. Raises `UsageError` where it is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(str(entry["fingerprint"]) for entry in document["findings"])
    except FileNotFoundError:
        raise UsageError(f"{path}: no such baseline; --write-baseline makes one") from None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: the baseline cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not a baseline ({error.msg}); write it again") from None
    except (KeyError, TypeError):
        raise UsageError(f"{path}: not a baseline; write it again with --write-baseline") from None


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
