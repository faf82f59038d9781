"""What drives a Ray cluster: `python -m reviewbot.parity.executors.driver SPEC`.

A process of its own: Ray takes signals over, and ends the process that it runs in when it loses its own.
Prints the outcome as one line of JSON.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from reviewbot.errors import NeedsExtra, ReviewbotError, UsageError
from reviewbot.parity import toy
from reviewbot.parity.executors import local
from reviewbot.parity.executors.executor import Ended, Leg, LegFailed, LegLost

PACKAGE = Path(__file__).parent.parent.parent
TRIES = 2  # of a task whose worker is lost
PATIENCE = 0.5  # seconds between looks at the tasks
ROOM = 120.0  # seconds that a leg waits for a machine that is large enough; a cluster may be growing


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """Legs to run in `folder`, on the cluster at `address`, or without one on a Ray of this machine alone."""

    address: str | None
    folder: str
    legs: tuple[Leg, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How each leg ended, by name; or `why` not: wrong use, a leg that failed, or one that is lost."""

    kind: Literal["ended", "usage", "failed", "lost"]
    ended: dict[str, Ended] = {}
    why: str = ""


def main(words: list[str]) -> int:
    """Runs the legs of a spec file."""
    spec = msgspec.json.decode(Path(words[0]).read_bytes(), type=Spec)
    with contextlib.redirect_stdout(sys.stderr):  # where Ray tells of lost workers
        outcome = _outcome(spec)
    sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stdout.buffer.flush()
    return 0


def _outcome(spec: Spec) -> Outcome:
    try:
        return Outcome(kind="ended", ended=_run(spec))
    except UsageError as error:
        return Outcome(kind="usage", why=str(error))
    except LegLost as error:
        return Outcome(kind="lost", why=str(error))
    except ReviewbotError as error:
        return Outcome(kind="failed", why=str(error))


def _run(spec: Spec) -> dict[str, Ended]:
    try:
        import ray
    except ImportError:
        raise NeedsExtra("--executor ray", "ray", "ray") from None
    runtime: dict[str, Any] = {"py_modules": [str(PACKAGE)]}
    if spec.address is None:
        runtime = {"env_vars": {"PYTHONPATH": str(PACKAGE.parent)}}
    try:
        ray.init(
            spec.address, runtime_env=runtime, include_dashboard=None if spec.address else False,
            log_to_driver=False, logging_level=logging.ERROR,
        )  # fmt: skip
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = str(error).splitlines()[0][:200]
        raise UsageError(
            f"--address {spec.address}: {said} (a cluster that asks for a token: RAY_AUTH_MODE=token)"
        ) from None
    try:
        return _all(ray, spec.legs, Path(spec.folder), ROOM if spec.address else 0.0)
    finally:
        ray.shutdown()  # only then have the threads ended in which it tells of them


def _all(ray: Any, legs: Sequence[Leg], folder: Path, room: float) -> dict[str, Ended]:
    """How each leg ended; `room` is how long one may find no machine that is large enough, in seconds."""
    on_gpus = ray.cluster_resources().get("GPU", 0) > 0
    needs: dict[str, dict[str, int]] = {}
    tries: Counter[str] = Counter()
    tasks: dict[Any, Leg] = {}

    def start(leg: Leg) -> None:
        cpus, gpus = (needs[leg.name][kind] for kind in ("CPU", "GPU"))
        # Ray by itself would try one that is killed for want of memory again without end.
        task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(_leg)
        tasks[task.remote(leg, str(folder), _files(leg, folder), str(toy.FOLDER))] = leg
        tries[leg.name] += 1

    for leg in legs:
        settings = leg.spec.settings
        gpus = settings.tensor_parallel_size * settings.data_parallel_size if on_gpus else 0
        needs[leg.name] = {"CPU": settings.threads, "GPU": gpus}
        start(leg)
    ended: dict[str, Ended] = {}
    fitted = time.monotonic()
    try:
        while tasks:
            done, _ = ray.wait(list(tasks), timeout=PATIENCE)
            for task in done:
                leg = tasks.pop(task)
                try:
                    ended[leg.name] = _got(ray, task, leg.name, folder)
                except LegLost:
                    if tries[leg.name] == TRIES:
                        raise
                    start(leg)
            homeless = [leg.name for leg in tasks.values() if not _fits(ray, needs[leg.name])]
            if not homeless:
                fitted = time.monotonic()
            elif time.monotonic() - fitted >= room:
                raise LegLost(_too_small(homeless[0], needs[homeless[0]]))
    finally:
        for task in tasks:
            ray.cancel(task, force=True)
    return ended


def _fits(ray: Any, need: Mapping[str, int]) -> bool:
    """Whether some machine of the cluster, busy or not, is large enough for a leg."""
    nodes = (node["Resources"] for node in ray.nodes() if node["Alive"])
    return any(all(node.get(kind, 0) >= count for kind, count in need.items()) for node in nodes)


def _too_small(name: str, need: Mapping[str, int]) -> str:
    wants = " and ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in need.items() if count)
    return f"no machine of the cluster has the {wants} that the {name} leg needs"


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
