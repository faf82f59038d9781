"""An interrupt ends any command with 130 and without a traceback, whenever it comes."""

from __future__ import annotations

import pytest

SIGNAL = """\
import os, signal, time
{in_generated_code}
time.sleep(20)
"""
KILL = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder in which modules stand before those of the same name that are installed."""
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


@pytest.mark.parametrize("kill", [KILL, f"exec({KILL!r})"], ids=["plain", "in generated code"])
@pytest.mark.parametrize("name", ["argparse", "pygit2"])
def test_an_interrupt_while_modules_are_loaded(reviewbot, modules, name, kill):
    # The first module that the command line needs, and one that only this command does.
    (modules / f"{name}.py").write_text(SIGNAL.format(in_generated_code=kill))
    ran = reviewbot("report", "--base", "HEAD", "--out", "pages")
    assert ran.code == 130
    assert "KeyboardInterrupt" not in ran.err


def test_interrupts_that_are_ignored_stay_ignored(reviewbot, modules):
    # As under nohup, or in the background of a shell.
    (modules / "sitecustomize.py").write_text("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n")
    shtab = f"import os, signal\n{KILL}\ndef complete(*words, **more): return 'completed'\n"
    (modules / "shtab.py").write_text(shtab)
    ran = reviewbot("completion", "bash")
    assert (ran.code, ran.out.strip()) == (0, "completed")
