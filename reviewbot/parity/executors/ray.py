"""Legs as tasks of a Ray cluster: at the same time, each on a machine that has room for it.

Nothing has to be shared between the machines but the model, where it is not the one that comes along: what
a leg reads goes to its task, what it leaves comes back. A task whose worker is lost is run once more; lost
again, it is a leg that is missing, and never a pass.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import UsageError
from reviewbot.parity import toy
from reviewbot.parity.executors import local
from reviewbot.parity.executors.executor import Ended, Hear, Leg, LegFailed, LegLost

PACKAGE = Path(__file__).parent.parent.parent
TRIES = 2  # of a task whose worker is lost
PATIENCE = 0.5  # seconds between looks at the tasks


class Ray:
    """Runs legs on the cluster at `address`, or without one on a Ray of this machine alone."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address

    def run(self, legs: Sequence[Leg], folder: Path, hear: Hear) -> dict[str, Ended]:
        try:
            import ray
        except ImportError:
            raise UsageError("--executor ray needs the package ray: pip install 'reviewbot[ray]'") from None
        runtime: dict[str, Any] = {"py_modules": [str(PACKAGE)]}
        if self._address is None:
            runtime = {"env_vars": {"PYTHONPATH": str(PACKAGE.parent)}}
        with contextlib.redirect_stdout(sys.stderr):  # where Ray tells of lost workers; a result is ours
            return self._run(ray, legs, folder, runtime)

    def _run(self, ray: Any, legs: Sequence[Leg], folder: Path, runtime: dict[str, Any]) -> dict[str, Ended]:
        try:
            ray.init(
                self._address, runtime_env=runtime, include_dashboard=None if self._address else False,
                log_to_driver=False, logging_level=logging.ERROR,
            )  # fmt: skip
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(f"--address {self._address}: {str(error).splitlines()[0][:200]}") from None
        try:
            return _all(ray, legs, folder)
        finally:
            ray.shutdown()  # only then have the threads ended in which it tells of them


def _all(ray: Any, legs: Sequence[Leg], folder: Path) -> dict[str, Ended]:
    on_gpus = ray.cluster_resources().get("GPU", 0) > 0
    tasks = {}
    for leg in legs:
        settings = leg.spec.settings
        gpus = settings.tensor_parallel_size * settings.data_parallel_size if on_gpus else 0
        task = ray.remote(num_cpus=settings.threads, num_gpus=gpus, max_retries=TRIES - 1)(_leg)
        tasks[task.remote(leg, str(folder), _files(leg, folder), str(toy.FOLDER))] = leg.name
    ended: dict[str, Ended] = {}
    waiting = list(tasks)
    try:
        while waiting:
            done, waiting = ray.wait(waiting, timeout=PATIENCE)
            for task in done:
                ended[tasks[task]] = _got(ray, task, tasks[task], folder)
    finally:
        for task in waiting:
            ray.cancel(task, force=True)
    return ended


def _got(ray: Any, task: Any, name: str, folder: Path) -> Ended:
    """A task's outcome, its files in their places."""
    try:
        how, files = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise LegFailed(f"the {name} leg failed ({str(error.cause)[:300]})") from None
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise LegLost(f"the worker of the {name} leg was lost {TRIES} times ({said})") from None
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if isinstance(how, str):
        raise LegFailed(f"{how}; its log: {folder / f'{name}.log'}")
    return Ended(*how)


def _files(leg: Leg, folder: Path) -> dict[str, bytes]:
    """What a leg reads: the folder of the killed one."""
    return _below(folder, Path(leg.spec.cut)) if leg.spec.cut else {}


def _below(top: Path, folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def _leg(leg: Leg, folder: str, files: dict[str, bytes], model: str) -> tuple[Any, dict[str, bytes]]:
    """The task: one leg in a folder of its own; how it ended, or why it failed, and what it left."""
    with tempfile.TemporaryDirectory() as made:
        here = Path(made)
        for path, data in files.items():
            (here / path).parent.mkdir(parents=True, exist_ok=True)
            (here / path).write_bytes(data)

        def moved(path: str) -> str:
            return str(here / Path(path).relative_to(folder))

        spec, settings = leg.spec, leg.spec.settings
        if settings.model == model:  # the one that comes along is wherever this package is
            settings = msgspec.structs.replace(settings, model=str(toy.FOLDER))
        outs = tuple(msgspec.structs.replace(out, folder=moved(out.folder)) for out in spec.outs)
        cut = moved(spec.cut) if spec.cut else None
        spec = msgspec.structs.replace(spec, settings=settings, outs=outs, cut=cut)
        how: Any
        try:
            ended = local.one(
                Leg(leg.name, spec, leg.python or sys.executable, leg.env), here, lambda *_: None
            )
            how = (ended.status, ended.seconds, ended.load)
        except LegFailed as error:
            how = str(error).partition("; its log")[0]
        left = _below(here, here)
        return how, {path: data for path, data in left.items() if path not in files}
