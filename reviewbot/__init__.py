"""reviewbot finds tests that do not test, and proves it by running them."""

from pathlib import Path

__version__ = "0.1.0"

# In a wheel rules/ and templates/ lie inside this package; in a checkout they lie beside it.
if not (Path(__file__).parent / "rules").is_dir():
    __path__.append(str(Path(__file__).parent.parent))
