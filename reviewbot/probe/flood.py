"""Ends a child that starts processes without end, however busy they keep the machine."""

from __future__ import annotations

import contextlib
import os
import signal
import threading

from reviewbot.probe.inside.restrict import tasks

MOST_PROCESSES = 64
_PAUSE = 0.02


class FloodWatch:
    """Watches a process group from a thread of its own, and kills it once it is a flood.

    The kernel's own limit on processes does not hold for root. Where the system lets it, the thread runs
    before everything else: a flood doubles in milliseconds, and would leave it no processor time to count.
    """

    def __init__(self, leader: int) -> None:
        self.flooded = False
        self._leader = leader
        self._before = tasks()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="flood-watch", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            first = os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO))
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, first)
        while not self._ended.wait(_PAUSE):
            # Every task of the machine, in one short line: the group is counted only when that has grown.
            if tasks() - self._before <= MOST_PROCESSES:
                continue
            if len(group(self._leader)) > MOST_PROCESSES:
                self.flooded = True
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._leader, signal.SIGKILL)
                return

    def close(self) -> None:
        """Ends the thread. The group is left as it is."""
        self._ended.set()
        self._thread.join()


def group(leader: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    # The command's name stands in parentheses and may hold anything; state and group follow.
                    state, _, of = file.read().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(of) == leader and state not in "ZX":
                found.append(int(name))
    return found
