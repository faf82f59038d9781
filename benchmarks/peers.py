"""Other tools over the same files, each with about ten rules, in one process where it can be told to."""

from __future__ import annotations

from pathlib import Path

_PYLINT = (
    "comparison-with-itself,comparison-of-constants,assert-on-tuple,assert-on-string-literal,"
    "broad-exception-caught,pointless-statement,expression-not-assigned,unreachable,using-constant-test,"
    "duplicate-except"
)
_FIXIT = (
    *(
        "AvoidOrInExcept",
        "CompareSingletonPrimitivesByIs",
        "NoAssertTrueForComparisons",
        "NoStaticIfCondition",
    ),
    *("NoRedundantListComprehension", "NoRedundantFString", "NoInheritFromObject", "UseAssertIn"),
    *("UseAssertIsNotNone", "ReplaceUnionWithOptional"),
)
_RUFF = "PT,B,S101,F631,F632,PLR0124,PLW0129,B015"

# Rules of ours that look for what these lists do: ten beside a peer's ten.
LIKE = (
    *("constant-verdict", "self-compare", "check-result-dropped", "raises-too-broad", "swallowed-failure"),
    *("unreachable-check", "loop-may-be-empty", "or-escape", "skip-after-compare", "mock-assert-typo"),
)
WITH_TEN = ("pylint", "fixit", "semgrep")  # the peers that run with ten

GOALS = {"pylint": 5, "fixit": 25, "semgrep": 3}  # how many times as much as reviewbot they are to cost


def commands(folder: Path) -> dict[str, list[str]]:
    """What runs each peer from the environment in `folder`; those that are not there are left out."""
    fixit = ["--rules", ",".join(f"fixit.rules:{rule}" for rule in _FIXIT)]
    semgrep = ["--config", str(Path(__file__).parent / "peers" / "semgrep.yml"), "--metrics", "off"]
    every = {
        "pylint": ["-j1", "--disable=all", f"--enable={_PYLINT}", "--exit-zero", "--recursive=y", "."],
        "fixit": [*fixit, "lint", "."],
        "semgrep": ["scan", *semgrep, "--disable-version-check", "--quiet", "-j1", "--no-git-ignore", "."],
        "ruff": ["check", "--isolated", "--no-cache", "--select", _RUFF, "--exit-zero", "--quiet", "."],
        "falsegreen": ["."],
    }
    return {
        name: [str(folder / "bin" / name), *words]
        for name, words in every.items()
        if (folder / "bin" / name).exists()
    }


NAMES = ("pylint", "fixit", "semgrep", "ruff", "falsegreen")
