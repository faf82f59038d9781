"""Legs on one machine: where each runs, and what becomes of the others when one fails."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from reviewbot.parity import toy
from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.executors.executor import Leg, LegFailed
from reviewbot.parity.executors.local import Local
from reviewbot.parity.spec import Out, Spec, Work


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A machine with two GPUs, as the driver tells of them, that nothing is in use on."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nvidia-smi").write_text("#!/bin/sh\necho 0\necho 0\n")
    (programs / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def leg(folder: Path, name: str, script: str, **settings: int) -> Leg:
    """A leg whose interpreter is a script of ours."""
    program = folder / f"{name}.sh"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    own = Settings(model=str(toy.FOLDER), **settings)
    spec = Spec(work=Work(), settings=own, outs=(Out(folder=str(folder / name), at_a_time=1),))
    return Leg(name, spec, python=str(program))


# Says on which GPUs it is and whether the other leg came while it ran.
TELL = """
cd {folder}; touch {name}.running; echo "$CUDA_VISIBLE_DEVICES" > {name}.gpus
for i in $(seq {patience}); do
  [ -e {other}.running ] && {{ echo together > {name}.company; exit; }}
  sleep 0.1
done
echo alone > {name}.company; rm {name}.running
"""


def ran(folder: Path, executor: Local, patience: int, **settings: int) -> tuple[set[str], set[str]]:
    """Two legs' GPUs, and the company each had within `patience` tenths of a second."""
    names = ("reference", "cut")
    scripts = [
        TELL.format(folder=folder, name=name, other=other, patience=patience)
        for name, other in zip(names, reversed(names), strict=True)
    ]
    legs = [leg(folder, name, script, **settings) for name, script in zip(names, scripts, strict=True)]
    ended = executor.run(legs, folder, lambda *_: None)
    assert {name: how.status for name, how in ended.items()} == dict.fromkeys(names, 0)

    def said(what: str) -> set[str]:
        return {(folder / f"{name}.{what}").read_text().strip() for name in names}

    return said("gpus"), said("company")


def test_two_legs_have_a_gpu_each_at_the_same_time(folder):
    assert ran(folder, Local(), 200) == ({"0", "1"}, {"together"})


def test_a_leg_that_needs_both_gpus_has_the_machine_for_itself(folder):
    assert ran(folder, Local(), 8, tensor_parallel_size=2) == ({""}, {"alone"})


def test_gpus_that_are_given_are_the_ones_used(folder, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert ran(folder, Local(), 200) == ({"5", "7"}, {"together"})


def test_one_at_once_is_one_after_the_other(folder):
    assert ran(folder, Local(1), 8)[1] == {"alone"}


def test_a_leg_that_fails_ends_the_others(folder):
    mark = f"reviewbot-{folder.name}"
    slow = leg(folder, "reference", f"exec -a {mark} {sys.executable} -c 'import time; time.sleep(60)'")
    broken = leg(folder, "cut", "sleep 0.2; echo no room >&2; exit 7")
    began = time.monotonic()
    with pytest.raises(LegFailed, match=r"the cut leg failed \(no room\)"):
        Local().run([slow, broken], folder, lambda *_: None)
    assert time.monotonic() - began < 30
    assert not [
        found for found in Path("/proc").glob("[0-9]*/cmdline") if mark in found.read_bytes().decode("latin1")
    ]
