"""The yardsticks, each in a process of its own: `import` libcst, or parse all files of a folder by `ast` or
`libcst`, one after the other."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    """Parses every file once, and lets go of it."""
    what, folder = sys.argv[1:]
    parse: Callable[[bytes], object] = ast.parse
    if what != "ast":
        import libcst

        parse = libcst.parse_module
    if what == "import":
        return
    warnings.simplefilter("ignore")
    for path in sorted(Path(folder).rglob("*.py")):
        content = path.read_bytes()
        try:
            parse(content)
        except Exception as error:  # Each library has exceptions of its own for what it cannot parse.
            print(f"{path}: {type(error).__name__}", file=sys.stderr)


if __name__ == "__main__":
    main()
