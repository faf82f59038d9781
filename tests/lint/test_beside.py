"""Which unchanged files are looked at is found out within a time, whatever patterns a change brings."""

from __future__ import annotations

from reviewbot.lint.against import Against
from reviewbot.lint.beside import beside
from reviewbot.lint.repo import Repo
from reviewbot.source.diff import FileDiff
from reviewbot.source.files import InMemory

ENDLESS = "import re\n\n\ndef read(text):\n    return re.search(r'(x+x+)+y', text)\n"
LOGS = "import logging\n\n\ndef write(step):\n    logging.info('" + "x" * 60 + " step=%d', step)\n"


def test_a_pattern_without_end_is_given_up():
    files = InMemory({"run.py": LOGS.encode(), "tests/read.py": ENDLESS.encode()})
    against = Against(InMemory({}), (FileDiff("run.py", None, ((1, 9),)),))
    paths, unread = beside(Repo(files=files, against=against), against, files.read, seconds=0.2)
    assert paths == []
    (one,) = unread
    assert "was not found out in 0.2 s" in one.why
