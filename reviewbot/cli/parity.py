"""`reviewbot parity`."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewbot import extras
from reviewbot.cli.streams import tell
from reviewbot.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from reviewbot.config import Parity
    from reviewbot.parity.context import Decode
    from reviewbot.parity.dumps.dump import Dump
    from reviewbot.parity.engines.engine import Settings
    from reviewbot.parity.executors.executor import Executor
    from reviewbot.parity.restores import Restores
    from reviewbot.parity.result import Result
    from reviewbot.parity.spec import Work
    from reviewbot.parity.workloads.plan import Progress

DTYPES = ("bfloat16", "float16", "float32")
FORMATS = ("plain", "nemo-rl", "verl", "trl", "mapping")

WORKLOADS = ("restore", "engines", "revisions", "command")
# Settings that the second engine may have of its own.
OTHER = ("engine", "model", "dtype", "at_a_time", "threads", "attention_backend", "batch_invariant",
         "tensor_parallel_size", "data_parallel_size", "prefix_cache")  # fmt: skip

EXAMPLES = """\
examples:
  reviewbot parity compare logs/reference logs/restored
  reviewbot parity compare reference restored --restores restores.jsonl --dtype bfloat16
  reviewbot parity compare 'a/*.jsonl.zst' 'b/*.jsonl.zst' --map token_ids=tokens --map reward=score

exit codes: 0 pass, 1 fail or set aside, 2 wrong use or a broken dump, 3 inconclusive
"""

COMPARE = """\
examples:
  reviewbot parity compare logs/reference logs/restored
  reviewbot parity compare reference restored --restores restores.jsonl --cut cut --dtype bfloat16
  reviewbot parity compare reference restored --log worker.log \\
      --pattern 'restored (?P<call>\\S+): prefix=(?P<prefix_tokens>\\d+) tail=(?P<tail_tokens>\\d+)'
  reviewbot parity compare a.parquet b.parquet --map token_ids=tokens --map reward=info.score
  reviewbot parity compare reference restored --output-format markdown > comment.md
  reviewbot parity compare reference restored --page parity.html      with plots, for a browser

A restore record is a line of JSON with the step, prompt and sample of its row, the call, prefix_tokens,
tail_tokens, and prefix_sha256: the SHA-256 of the prefix's token ids as decimals joined by commas. The
call is its row's last one. A line {"left_key": NAME} names a saved prefix that was still
there when the run ended.

verdicts and exit codes:
  pass          0   the rows are equal
  set aside     1   rows differ from a near-tie on; 0 where --allow-set-aside covers them
  fail          1   a difference that nothing excuses
  inconclusive  3   nothing was restored, or nothing could have differed
"""


RUN = """\
examples:
  reviewbot parity run                                  the small model that comes along, on the CPU
  reviewbot parity run --plant all                      and which of thirteen faults this very run would catch
  reviewbot parity run --model Qwen/Qwen3-0.6B --dtype bfloat16 --control
  reviewbot parity run --engine vllm --out on-gpu       on a GPU: batch-invariant mode, Triton attention
  reviewbot parity run --workload engines --other-engine vllm --other-python vllm/bin/python
  reviewbot parity run --workload revisions --base main --head HEAD
  reviewbot parity run --workload command               the repository's own harness, once a leg
  reviewbot parity run --executor ray --address auto    legs as tasks of a cluster

workloads:
  restore    three processes: a reference; the same, killed by SIGKILL in mid-generation; and one restored
             from what that one left on disk
  engines    two engines on the same prompts; what --other-... does not say is as in the first
  revisions  the repository's own harness at two commits, each in a clean tree; a `setup` command comes first
  command    the repository's own harness as it stands here: its legs reference, cut and restored

The last two need a command in [tool.reviewbot.parity], such as
  command = ["{python}", "-m", "tests.harness", "--leg", "{leg}", "--out", "{out}"]
  cut-when = "step 1 done"     what the cut leg prints when it is to be killed
The same comes in the environment: REVIEWBOT_LEG, REVIEWBOT_OUT, REVIEWBOT_CUT (the killed run's folder).

DIR keeps rows, journals and logs. An interrupted run goes on with --resume. One run at a time uses a DIR.
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    actions = command.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    compare = actions.add_parser(
        "compare",
        help="compare two dumps row for row, token for token",
        description="Compares two dumps row for row, token for token.",
        epilog=COMPARE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument(
        "reference", metavar="REFERENCE", help="the uninterrupted run: a folder, glob or file"
    )
    compare.add_argument(
        "restored", metavar="RESTORED", help="the run held against it: a folder, glob or file"
    )
    compare.add_argument(
        "--format", choices=FORMATS, help="the format of both (default: seen in the first row)"
    )
    compare.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="which column holds a field of a row",
    )
    records = compare.add_mutually_exclusive_group()
    records.add_argument("--restores", type=Path, metavar="FILE", help="restore records as JSON lines")
    records.add_argument(
        "--log", type=Path, metavar="FILE", help="a log that has restore records in its lines"
    )
    compare.add_argument("--pattern", metavar="REGEX", help="with --log: named groups are a record's fields")
    compare.add_argument(
        "--cut", type=Path, metavar="DIR", help="the killed run: its journal.jsonl, and rows if any"
    )
    compare.add_argument(
        "--control", metavar="DIR", help="the reference again at another batch size: bounds set-asides"
    )
    limits(compare)
    output(compare)
    run = actions.add_parser(
        "run",
        help="make the runs, one of them killed in mid-generation, and compare them",
        description="Makes a reference, a run that is killed, and one restored from its disk; compares.",
        epilog=RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _run_options(run)
    limits(run)
    output(run)


def _run_options(run: argparse.ArgumentParser) -> None:
    from reviewbot.parity.faults import FAULTS

    run.add_argument(
        "--workload", choices=WORKLOADS, default="restore", help="what to run (default: restore)"
    )
    run.add_argument(
        "--out", type=Path, default=Path("parity-run"), metavar="DIR", help="default: parity-run"
    )
    run.add_argument("--resume", action="store_true", help="go on with the run that DIR holds")
    run.add_argument("--engine", choices=("transformers", "vllm"), default="transformers")
    run.add_argument(
        "--model", metavar="PATH_OR_NAME", help="a causal model (default: a small one that comes along)"
    )
    run.add_argument(
        "--plant",
        action="append",
        default=[],
        choices=("all", *FAULTS),
        metavar="FAULT",
        help="a fault, or `all`",
    )
    run.add_argument(
        "--control", action="store_true", help="a reference at half the batch size bounds set-asides"
    )
    run.add_argument(
        "--trainer",
        action="store_true",
        help="recompute log-probs as a trainer does, in one pass, and report the gap to the engine's",
    )
    numbers = {
        "steps": (2, "training steps"),
        "prompts": (4, "prompts a step"),
        "samples": (4, "samples a prompt; the first is greedy"),
        "budget": (48, "tokens a model call may have"),
        "seed": (0, "of prompts and of sampling"),
        "at-a-time": (8, "calls decoded together"),
        "threads": (1, "CPU threads of the engine"),
        "max-length": (512, "tokens a row may have"),
        "tensor-parallel-size": (1, "GPUs a model is split over (vllm)"),
        "data-parallel-size": (1, "copies of the model (vllm)"),
    }
    for name, (default, says) in numbers.items():
        run.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{says} (default: {default})"
        )
    run.add_argument(
        "--min-cut",
        type=int,
        metavar="N",
        help="calls that the kill must cut in mid-generation (default: 3; 1 for a harness of your own)",
    )
    run.add_argument(
        "--temperature",
        type=float,
        default=0.7,
        metavar="T",
        help="of all samples but the first (default: 0.7)",
    )
    run.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter that runs the legs, where its environment has the engine",
    )
    run.add_argument(
        "--task",
        choices=("calculator", "digest"),
        default="calculator",
        help="calculator, for a model that can use one (default), or digest, for any: replies of one length, "
        "paid by their hash",
    )
    run.add_argument(
        "--executor",
        choices=("local", "ray"),
        default="local",
        help="legs here, side by side where there is room (default), or as tasks of a Ray "
        "cluster (needs the extra `ray`)",
    )
    run.add_argument(
        "--at-once",
        type=int,
        metavar="N",
        help="legs side by side on this machine (default: as many as have cores, or GPUs, of their own)",
    )
    run.add_argument("--address", metavar="ADDRESS", help="of the cluster (default: a Ray of this machine)")
    run.add_argument("--dump-format", choices=("plain", "nemo-rl"), default="plain")
    run.add_argument(
        "--attention-backend",
        metavar="NAME",
        help="as the engine names it (default: vllm on a GPU TRITON_ATTN; transformers in bfloat16 eager)",
    )
    run.add_argument(
        "--gpu-memory-utilization",
        type=float,
        default=0.3,
        metavar="SHARE",
        help="of a GPU's memory (vllm; default: 0.3)",
    )
    run.add_argument("--prefix-cache", action="store_true", help="let the engine keep a prefix cache (vllm)")
    run.add_argument(
        "--batch-invariant",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="vllm; on a GPU by default",
    )
    other = run.add_argument_group("engines: how the second one differs from the first")
    other.add_argument("--other-engine", choices=("transformers", "vllm"))
    other.add_argument("--other-model", metavar="PATH_OR_NAME")
    other.add_argument("--other-dtype", choices=DTYPES)
    other.add_argument("--other-attention-backend", metavar="NAME")
    other.add_argument("--other-python", metavar="PATH", help="the interpreter that has it")
    for name in ("at-a-time", "threads", "tensor-parallel-size", "data-parallel-size"):
        other.add_argument(f"--other-{name}", type=int, metavar="N")
    for name in ("batch-invariant", "prefix-cache"):
        other.add_argument(f"--other-{name}", action=argparse.BooleanOptionalAction, default=None)
    own = run.add_argument_group("revisions and command: the repository's own harness")
    own.add_argument("--base", metavar="REF", help="revisions: the commit held to be right")
    own.add_argument("--head", metavar="REF", default="HEAD", help="revisions: the other (default: HEAD)")
    own.add_argument("--format", choices=FORMATS, help="of its dumps (default: seen in the first row)")
    own.add_argument("--timeout", type=float, metavar="SECONDS", help="after which a leg is ended")


def limits(command: argparse.ArgumentParser) -> None:
    """Declares what may differ."""
    command.add_argument("--dtype", choices=DTYPES, help="that of rows which do not say theirs")
    command.add_argument(
        "--noise",
        type=float,
        metavar="NATS",
        help="how far log-probs of one token may differ (default: 0.005 in float32 and float64, 0.07 in any "
        "other dtype and where none is known)",
    )
    command.add_argument(
        "--allow-set-aside",
        type=int,
        default=0,
        metavar="N",
        help="end with 0 if at most N rows are set aside",
    )
    command.add_argument(
        "--min-unequal-groups",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="of the groups that must have unequal rewards (default: 0.5; 0: there may be no rewards at all)",
    )


def output(command: argparse.ArgumentParser) -> None:
    """Declares how a result is shown."""
    command.add_argument(
        "--tokenizer",
        metavar="PATH",
        help="a tokenizer.json to show text with (needs the extra `parity`), or `ascii`",
    )
    command.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")
    command.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write a page with plots too (HTML; needs the extra `pages`)",
    )
    command.add_argument("--profile", action="store_true", help="seconds by stage, in JSON too")
    command.add_argument(
        "-q", "--quiet", action="store_true", help="no progress, and no word of what was written"
    )
    command.add_argument("--no-color", action="store_true", help="no colour (also: NO_COLOR)")


# What a number may be: the least, the greatest, and whether the least itself may be.
_RANGES = {
    "noise": (0.0, 100.0, True),
    "allow_set_aside": (0, math.inf, True),
    "min_unequal_groups": (0.0, 1.0, True),
    "temperature": (0.0, 100.0, True),
    "gpu_memory_utilization": (0.0, 1.0, False),
    "timeout": (0.0, threading.TIMEOUT_MAX, False),
}


def _in_range(options: argparse.Namespace) -> None:
    """Raises `UsageError` for a number that means nothing, NaN among them."""
    for name, (least, greatest, itself) in _RANGES.items():
        value = getattr(options, name, None)
        if value is None or (least <= value <= greatest and (itself or value > least)):
            continue
        bounds = f"at least {least:g}" if itself else f"more than {least:g}"
        if greatest < 1e6:
            bounds += f" and at most {greatest:g}"
        raise UsageError(f"--{name.replace('_', '-')} {value:g}: a number is wanted that is {bounds}")


def main(options: argparse.Namespace) -> int:
    """Runs the action."""
    _in_range(options)
    if options.page:  # said before the work is done, not after
        extras.check("--page", "pages")
        if not options.page.parent.is_dir():
            raise UsageError(f"--page {options.page}: no such folder")
    return _run(options) if options.action == "run" else _compare(options)


def _run(options: argparse.Namespace) -> int:
    import msgspec

    from reviewbot.parity import folder, process
    from reviewbot.parity.executors.executor import LegLost

    if options.base and options.workload != "revisions":
        raise UsageError("--base is for --workload revisions")
    if options.executor == "local":
        options.python, options.other_python = map(_from_here, (options.python, options.other_python))
    if options.min_cut is None:
        options.min_cut = 1 if options.workload == "command" else 3
    known, result_of = _owned(options) if options.workload in ("revisions", "command") else _made(options)
    settings = msgspec.json.encode({"workload": options.workload, **known})
    with (
        process.ended_with_us(),
        folder.claimed(options.out, settings, options.resume),
        _progress(options) as progress,
    ):
        try:
            result = result_of(progress)
        except LegLost as error:
            tell(f"inconclusive: {error}")
            return 3
        except OSError as error:  # the disk is full, say, or the folder has gone
            where = error.filename or options.out
            raise UsageError(f"{where}: {(error.strerror or str(error)).lower()}") from None
    show(result, options)
    return code(result, options.allow_set_aside)


def _from_here(python: str | None) -> str | None:
    """A path to an interpreter that holds in every leg's folder, too; a name that stands on PATH as it is.

    A link is not followed: what it is called by tells an interpreter its environment.
    """
    return os.path.abspath(python) if python and os.sep in python else python


# What makes a run another one than that of a folder; and the run.
_Ready = tuple[dict[str, Any], Callable[["Progress"], "Result"]]


def _made(options: argparse.Namespace) -> _Ready:
    """The workloads with an engine of ours."""
    import msgspec

    from reviewbot.parity.faults import FAULTS
    from reviewbot.parity.workloads import engines, plan, restore

    work, settings = _settings(options)
    if options.workload == "restore" and options.at_a_time < options.min_cut:
        raise UsageError(
            f"--at-a-time {options.at_a_time}: a kill cannot cut {options.min_cut} calls where no more than "
            f"{options.at_a_time} are decoded together; lower --min-cut, or raise --at-a-time"
        )
    made = plan.Plan(
        folder=options.out,
        work=work,
        settings=settings,
        faults=tuple(FAULTS) if "all" in options.plant else tuple(dict.fromkeys(options.plant)),
        control=options.control,
        trainer=options.trainer,
        min_cut=options.min_cut,
        min_unequal_groups=options.min_unequal_groups,
        noise=options.noise,
        decode=_decoder(options),
        python=options.python,
        executor=_executor(options),
    )
    known = {"work": work, "settings": settings, "min_cut": options.min_cut}
    _check_installed(options, settings.engine, options.python)
    if options.workload == "restore":
        return known, lambda progress: restore.run(made, progress)
    if options.control:
        raise UsageError("--control is for --workload restore")
    given = {name: getattr(options, f"other_{name}") for name in OTHER}
    changed = {name: value for name, value in given.items() if value is not None}
    if "model" in changed:
        changed["model"] = _model(changed["model"])
    if changed.get("engine", settings.engine) != settings.engine:
        changed.setdefault("attention_backend", None)  # its names are the engine's own
    other = msgspec.structs.replace(settings, **changed)
    _check_installed(options, other.engine, options.other_python or options.python)
    return {**known, "other": other}, lambda progress: engines.run(
        made, other, options.other_python, progress
    )


def _check_installed(options: argparse.Namespace, engine: str, python: str | None) -> None:
    """Says what is not installed before a folder is made, where the legs run in this very environment.

    A run that goes on may have all its legs already.
    """
    from reviewbot.parity.engines.engine import check_installed

    if python is None and options.executor == "local" and not options.resume:
        check_installed(engine)


def _decoder(options: argparse.Namespace) -> Decode | None:
    """What shows tokens as text: the tokenizer that is named, or the model's own where it is at hand."""
    from reviewbot.parity import context

    if options.tokenizer or not options.model:
        return context.tokenizer(options.tokenizer or "ascii")
    if (Path(options.model) / "tokenizer.json").is_file() and importlib.util.find_spec("tokenizers"):
        return context.tokenizer(options.model)
    return None


def _owned(options: argparse.Namespace) -> _Ready:
    """The workloads with the repository's own harness."""
    from reviewbot.parity import context
    from reviewbot.parity.judge import Limits
    from reviewbot.parity.workloads import own
    from reviewbot.source.git import Repository

    if options.executor != "local":
        raise UsageError("--executor ray is for the workloads restore and engines")
    if options.plant:
        raise UsageError("--plant is for the workloads restore and engines: faults go into our own legs")
    settings = _configured()
    if not settings.command:
        raise UsageError(
            f"--workload {options.workload} runs the repository's own harness: name it as "
            "command = [...] in [tool.reviewbot.parity] of pyproject.toml"
        )
    harness = own.Harness(
        command=settings.command,
        setup=settings.setup,
        legs=settings.legs,
        cut_when=settings.cut_when,
        pattern=settings.pattern,
        mapping=_mapping(settings),
        python=options.python or sys.executable,
        timeout=options.timeout,
    )
    plan = own.Plan(
        folder=options.out,
        harness=harness,
        limits=Limits(noise=options.noise, dtype=options.dtype),
        min_cut=options.min_cut,
        min_unequal_groups=options.min_unequal_groups,
        form=options.format,
        decode=context.tokenizer(options.tokenizer) if options.tokenizer else None,
    )
    known: dict[str, Any] = {"command": harness.command, "setup": harness.setup, "python": harness.python}
    if options.workload == "command":
        return known, lambda progress: own.run(plan, progress)
    if not options.base:
        raise UsageError("--workload revisions compares two commits: name the first with --base")
    repository = Repository(Path.cwd())
    commits = {side: repository.commit(getattr(options, side)) for side in own.REVISIONS}
    return {**known, **commits}, lambda progress: own.revisions(
        plan, repository, options.base, options.head, progress
    )


def _executor(options: argparse.Namespace) -> Executor:
    from reviewbot.parity.executors.local import Local
    from reviewbot.parity.executors.ray import Ray

    if options.address and options.executor != "ray":
        raise UsageError("--address is for --executor ray")
    if options.at_once is not None and options.executor == "ray":
        raise UsageError("--at-once is for legs on this machine; a cluster has its own room")
    if options.at_once is not None and options.at_once < 1:
        raise UsageError("--at-once must be at least 1")
    return Ray(options.address) if options.executor == "ray" else Local(options.at_once)


def _model(given: str) -> str:
    return str(Path(given).resolve()) if Path(given).exists() else given


def _settings(options: argparse.Namespace) -> tuple[Work, Settings]:
    from reviewbot.parity import toy
    from reviewbot.parity.engines.engine import Settings
    from reviewbot.parity.spec import Work

    for name in ("steps", "prompts", "samples", "budget", "at_a_time", "min_cut", "threads",
                 "max_length", "tensor_parallel_size", "data_parallel_size"):  # fmt: skip
        if getattr(options, name) < 1:
            raise UsageError(f"--{name.replace('_', '-')} is at least 1")
    if options.samples < 2:
        raise UsageError("--samples is at least 2: one sample has nothing that its reward is relative to")
    work = Work(
        steps=options.steps,
        prompts=options.prompts,
        samples=options.samples,
        budget=options.budget,
        temperature=options.temperature,
        task=options.task,
        dump_format=options.dump_format,
    )
    settings = Settings(
        engine=options.engine,
        model=_model(options.model or str(toy.FOLDER)),
        dtype=options.dtype or ("float32" if options.engine == "transformers" else "bfloat16"),
        seed=options.seed,
        at_a_time=options.at_a_time,
        threads=options.threads,
        max_length=options.max_length,
        tensor_parallel_size=options.tensor_parallel_size,
        data_parallel_size=options.data_parallel_size,
        prefix_cache=options.prefix_cache,
        batch_invariant=options.batch_invariant,
        attention_backend=options.attention_backend,
        gpu_memory_utilization=options.gpu_memory_utilization,
    )
    return work, settings


@contextlib.contextmanager
def _progress(options: argparse.Namespace) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar a leg, on a terminal."""
    if options.quiet or not sys.stderr.isatty():
        yield lambda _leg, _tokens, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:10}"),
        BarColumn(),
        TextColumn("{task.completed} tokens"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, no_color=options.no_color or None)) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(leg: str, tokens: int, total: int | None) -> None:
            if leg not in tasks:
                tasks[leg] = bars.add_task(leg, total=total)
            bars.update(tasks[leg], completed=tokens)

        yield tell


def _compare(options: argparse.Namespace) -> int:
    import msgspec

    from reviewbot.parity import compare, context, memory, restores
    from reviewbot.parity.dumps import dump
    from reviewbot.parity.judge import Limits

    if options.map and options.format not in (None, "mapping"):
        raise UsageError(f"--map is for the format `mapping`: leave out --format {options.format}, or --map")
    columns = _columns(options.map) or _mapping(_configured())
    reference = dump.opened("reference", options.reference, options.format, columns)
    restored = dump.opened("restored", options.restored, options.format, columns)
    if columns and options.format in (None, "mapping"):
        dump.check_columns(columns.values(), (reference, restored))
    begun = None
    if options.cut:
        restored.add(dump.rows_in(options.cut, (*reference.files, *restored.files)))
        begun = restores.begun(options.cut / "journal.jsonl")
    flips, started = None, time.monotonic()
    if options.control:
        control = dump.opened("control", options.control, options.format, columns)
        again = dump.opened("reference", options.reference, options.format, columns)
        with _reading(options, again, control, "control") as step:
            flips = compare.flips(again, control, Limits(dtype=options.dtype), step)
    same = any(one.samefile(other) for one in reference.files for other in restored.files)
    settings = compare.Options(
        limits=Limits(noise=options.noise, dtype=options.dtype),
        restores=_restores(options),
        begun=begun,
        control_flips=flips,
        min_unequal_groups=options.min_unequal_groups,
        decode=context.tokenizer(options.tokenizer) if options.tokenizer else None,
        same_files=same,
    )
    ready = time.monotonic()
    memory.settled()
    with _reading(options, reference, restored, "compare") as step:
        result = compare.compared(reference, restored, settings, step)
    profile = {"control": ready - started, "compare": time.monotonic() - ready}
    result = msgspec.structs.replace(result, profile={stage: round(s, 3) for stage, s in profile.items()})
    show(result, options)
    return code(result, options.allow_set_aside)


def _reading(
    options: argparse.Namespace, one: Dump, other: Dump, what: str
) -> AbstractContextManager[Callable[[int], None]]:
    """A bar over the bytes of both dumps; compressed ones have no known end."""
    from reviewbot.render import progress

    files = [*one.files, *other.files]
    known = all(file.suffix == ".jsonl" for file in files)
    total = sum(file.stat().st_size for file in files) if known else None
    return progress.reading(total, what, quiet=options.quiet, colour=not options.no_color)


def _columns(given: list[str]) -> dict[str, str]:
    """The mapping of the command line."""
    columns = {}
    for word in given:
        field, equals, column = word.partition("=")
        if not (field and equals and column):
            raise UsageError(f"--map {word}: FIELD=COLUMN was expected")
        columns[field.replace("-", "_")] = column
    return columns


def _configured() -> Parity:
    """What the configuration says of parity."""
    from reviewbot import config
    from reviewbot.lint import registry

    return config.load(Path.cwd(), frozenset(registry.rule_ids()))[0].parity


def _mapping(settings: Parity) -> dict[str, str]:
    return {field.replace("-", "_"): column for field, column in settings.mapping.items()}


def _restores(options: argparse.Namespace) -> Restores | None:
    from reviewbot.parity import restores

    if options.pattern and not options.log:
        raise UsageError("--pattern reads a log: name it with --log FILE")
    if options.log:
        if not options.pattern:
            raise UsageError("--log needs --pattern, a regular expression with named groups")
        return restores.from_log(options.log, options.pattern)
    return restores.from_file(options.restores) if options.restores else None


def show(result: Result, options: argparse.Namespace) -> None:
    """Prints the result in the format asked for."""
    import msgspec

    from reviewbot.render import parity_json

    if options.page:
        from reviewbot.parity import writer
        from reviewbot.render import parity_page

        try:
            writer.whole(options.page, parity_page.page(result, options.page.stem).encode())
        except OSError as error:
            raise UsageError(f"--page {options.page}: {error.strerror}") from None
        if not options.quiet:
            tell(f"the page is {options.page}")
    if not options.profile:
        result = msgspec.structs.replace(result, profile=None)
    if options.output_format == "json":
        sys.stdout.write(parity_json.encode(result))
        return
    if options.output_format == "markdown":
        from reviewbot.render import parity_markdown

        sys.stdout.write(parity_markdown.text(result))
        return
    from rich.console import Console

    from reviewbot.render import parity_text

    wide: dict[str, Any] = {} if sys.stdout.isatty() else {"width": 160}
    parity_text.show(
        result, Console(no_color=options.no_color or None, highlight=False, soft_wrap=True, **wide)
    )


def code(result: Result, allow_set_aside: int) -> int:
    """The exit code of a verdict."""
    if result.verdict == "set_aside":
        return int(len(result.set_aside) > allow_set_aside)
    return {"pass": 0, "fail": 1, "inconclusive": 3}[result.verdict]
