"""The facts of files that are not Python: which scripts and tests a shell or CI file names."""

from __future__ import annotations

import re

from reviewbot.index.facts import Definition, Facts, Mention

_PATH = re.compile(
    r"[A-Za-z0-9_.\-/${}]*[A-Za-z0-9_\-]\.(?:sh|py|jq|bash|yaml|yml|toml|json)\b|[\w./-]*\w/[\w./*-]+"
)
_FUNCTION = re.compile(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?", re.MULTILINE)
_MODULE = re.compile(r"(?:python\d?(?:\.\d+)?|torchrun|run)\s+-m\s+([\w.]+)")
_COMMENT = re.compile(r"(^|\s)#.*$")

SUFFIXES = (".sh", ".bash", ".yml", ".yaml", ".jq", ".toml", ".cfg", ".ini", ".mk")
NAMES = ("Makefile", "Dockerfile", "Jenkinsfile", "tox.ini", "noxfile.py")


def is_script(path: str) -> bool:
    """Whether a file is one that may list or be a script."""
    return path.endswith(SUFFIXES) or path.rpartition("/")[2] in NAMES


def facts_of(path: str, content: bytes) -> Facts:
    """What a script, CI file or settings file names, comments left out."""
    text = content.decode("utf-8", "replace")
    mentions: dict[tuple[str, int], None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if number == 1 and line.startswith("#!"):
            continue
        bare = _COMMENT.sub("", line)
        for match in _PATH.finditer(bare):
            mentions[(match[0], number)] = None
        for match in _MODULE.finditer(bare):
            mentions[(match[1].replace(".", "/") + ".py", number)] = None
    functions: list[Definition] = []
    if path.endswith((".sh", ".bash")):
        for match in _FUNCTION.finditer(text):
            at = text.count("\n", 0, match.start(1)) + 1
            functions.append(Definition(match[1], "function", at, at))
    return Facts(definitions=tuple(functions), mentions=tuple(Mention(*mention) for mention in mentions))
