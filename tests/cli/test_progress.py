"""What a long command shows while it works: a line on a terminal, nothing in a pipe or with --quiet."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
# Whoever waits for nothing is shown at once what others see after two seconds.
IMPATIENT = (
    "import sys; from reviewbot.render import progress; progress.PATIENCE = {patience};"
    "from reviewbot.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
TEST = "def test_a():\n    assert sum([1, 2]) == 3\n"
COMMANDS = [["review"], ["size"], ["report", "--out", "pages"]]
SAYS = {"review": "reviewing", "size": "sizing", "report": "reviewing"}


@pytest.fixture
def changed(repository):
    base = repository.commit({"tests/test_a.py": TEST})
    repository.commit({"tests/test_b.py": TEST.replace("test_a", "test_b")})
    return repository.folder, base


def on_a_terminal(folder, words, patience="0.0"):
    """Its exit code, stdout, and what it wrote to the terminal."""
    ours, theirs = pty.openpty()
    heard = []
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    code = IMPATIENT.format(patience=patience)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, stdout=subprocess.PIPE, stderr=theirs, env=env
    )
    os.close(theirs)

    def listen():
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                return
            heard.append(part)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    out, _ = process.communicate(timeout=120)
    listener.join(10)
    os.close(ours)
    return process.returncode, out, b"".join(heard).decode()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_that_takes_its_time_shows_what_it_is_at(changed, words):
    folder, base = changed
    code, out, shown = on_a_terminal(folder, [*words, "--base", base])
    assert code == 0
    assert SAYS[words[0]] in shown
    assert b"\x1b" not in out and SAYS[words[0]].encode() not in out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_is_shown_where_nobody_waits_or_nobody_is_to_be_told(changed, words):
    folder, base = changed
    assert SAYS[words[0]] not in on_a_terminal(folder, [*words, "--base", base], patience="300.0")[2]
    code, _, shown = on_a_terminal(folder, [*words, "--base", base, "--quiet"])
    assert (code, shown) == (0, "")
    command = [sys.executable, "-c", IMPATIENT.format(patience="0.0"), *words, "--base", base]
    piped = subprocess.run(
        command, cwd=folder, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert piped.returncode == 0
    assert SAYS[words[0]] not in piped.stderr.decode()
