"""The facts of files that are not Python: which scripts and tests a shell or CI file names."""

from __future__ import annotations

import re

from reviewbot.index.facts import Definition, Facts, Mention

_SUFFIX = r"\.(?:sh|py|jq|bash|yaml|yml|toml|json)\b"
_PATH = re.compile(rf"[A-Za-z0-9_.\-/${{}}]*[A-Za-z0-9_\-]{_SUFFIX}|[\w./-]*\w/[\w./*-]+")
_ENDING = re.compile(_SUFFIX)
_FUNCTION = re.compile(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?", re.MULTILINE)
_MODULE = re.compile(r"(?:python\d?(?:\.\d+)?|torchrun|run)\s+-m\s+([\w.]+)")
_COMMENT = re.compile(r"(^|\s)#.*$")
_LOOP = re.compile(r"(?:^|[\s;])for\s+(\w+)\s+in\s+([^;]+?)\s*(?:;|$)")

SUFFIXES = (".sh", ".bash", ".yml", ".yaml", ".jq", ".toml", ".cfg", ".ini", ".mk")
NAMES = ("Makefile", "Dockerfile", "Jenkinsfile", "tox.ini", "noxfile.py")


def is_script(path: str) -> bool:
    """Whether a file is one that may list or be a script."""
    return path.endswith(SUFFIXES) or path.rpartition("/")[2] in NAMES


def facts_of(path: str, content: bytes) -> Facts:
    """What a script, CI file or settings file names, comments left out."""
    text = content.decode("utf-8", "replace")
    mentions: dict[tuple[str, int], None] = {}
    loops: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if number == 1 and line.startswith("#!"):
            continue
        # Most lines of a long manifest are prose and values: whether it may match at all is told at once.
        bare = _COMMENT.sub("", line) if "#" in line else line
        looped = _LOOP.search(bare) if "for" in bare else None
        if looped is not None:
            words = [word.strip("\"'") for word in looped[2].split()]
            loops[looped[1]] = [word for word in words if word and word.isprintable() and "$" not in word]
        for spelt in _spelt(bare, loops) if loops else (bare,):
            for match in _PATH.finditer(spelt) if "/" in spelt or _ENDING.search(spelt) else ():
                mentions[(match[0], number)] = None
                if (pattern := _with_stars(match[0], loops)) is not None:
                    mentions[(pattern, number)] = None
        for match in _MODULE.finditer(bare) if "-m" in bare else ():
            mentions[(match[1].replace(".", "/") + ".py", number)] = None
    functions: list[Definition] = []
    if path.endswith((".sh", ".bash")):
        for match in _FUNCTION.finditer(text):
            at = text.count("\n", 0, match.start(1)) + 1
            functions.append(Definition(match[1], "function", at, at))
    return Facts(definitions=tuple(functions), mentions=tuple(Mention(*mention) for mention in mentions))


def _spelt(line: str, loops: dict[str, list[str]]) -> list[str]:
    """A line, and what it says for each word that the variable of a `for` stands for: `$name.sh` runs
    `first.sh` and `second.sh`."""
    found = [line]
    for name, words in loops.items():
        for form in (f"${{{name}}}", f"${name}"):
            if form in line:
                found += [line.replace(form, word) for word in words[:_WORDS]]
                break
    return found


def _with_stars(word: str, loops: dict[str, list[str]]) -> str | None:
    """`tests/run_*_test.sh` of `tests/run_${backend}_test.sh`, where the rest of the name says which are
    meant. What the variable of a `for` stands for is known."""
    folder, slash, name = word.rpartition("/")
    variables = _VARIABLE.findall(name)
    if not variables or any(one.strip("${}") in loops for one in variables):
        return None
    rest = _VARIABLE.sub("", name.rpartition(".")[0])
    return (
        f"{folder}{slash}{_VARIABLE.sub('*', name)}" if len(rest) >= _TELLING and "$" not in folder else None
    )


_VARIABLE = re.compile(r"\$\{\w+\}|\$\w+")
_TELLING = 5  # letters of a name beside its variable
_WORDS = 50  # of one loop
