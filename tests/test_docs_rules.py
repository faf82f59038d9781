"""The pages of the rules are those that the rules' own files make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_pages_of_the_rules_are_current():
    words = [sys.executable, ROOT / "docs" / "make_rule_pages.py", "--check"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
