"""What the trainer makes of the engine's rows: `python -m reviewbot.parity.trainer SPEC`.

A trainer computes the log-probs of sampled tokens again, all positions of a row in one pass, with other
kernels than the engine that decoded them one by one. The gap between the two (train-inference mismatch) goes
into every ratio of an off-policy correction, with or without a restore. It is measured here in the engine's
own dtype, and the advantages of a group are computed again from its rewards, both with torch.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.parity import writer
from reviewbot.parity.dumps.dump import Dump, found
from reviewbot.parity.dumps.nemo_rl import NemoRL
from reviewbot.parity.dumps.plain import Plain
from reviewbot.parity.result import Mismatch, RowMismatch
from reviewbot.parity.rows import Row
from reviewbot.parity.writer import DumpFormat

WORST = 5  # rows named in the report
RATIO = 0.1  # how far from 1 a ratio counts as outside


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """Rows to recompute (`folder`), with which model; `tokens` bounds a batch, padding included.

    `out` gets a `Mismatch`, `rows_out` one `RowMismatch` a line, in the order of the dump.
    """

    folder: str
    dump_format: DumpFormat
    model: str
    dtype: str
    tokens: int = 32_768
    threads: int = 1
    samples: int
    out: str
    rows_out: str


def main(words: list[str]) -> int:
    """Recomputes what a spec file asks for."""
    spec = msgspec.json.decode(Path(words[0]).read_bytes(), type=Spec)
    try:
        writer.whole(Path(spec.out), msgspec.json.encode(recomputed(spec)))
    except ReviewbotError as error:
        print(f"reviewbot: {error}", file=sys.stderr)
        return 2
    return 0


def recomputed(spec: Spec) -> Mismatch:
    """The gap between the engine's log-probs and the trainer's, over all trained tokens of a dump."""
    torch.set_num_threads(spec.threads)
    rows = _rows(spec)
    model, device = _model(spec)
    begun = time.monotonic()
    gaps: dict[int, torch.Tensor] = {}
    for batch in _batches(rows, spec.tokens):
        for index, gap in zip(batch, _gaps([rows[i] for i in batch], model, device), strict=True):
            gaps[index] = gap
    found = [_of_row(row, gaps[index]) for index, row in enumerate(rows)]
    writer.whole(Path(spec.rows_out), b"".join(msgspec.json.encode(one) + b"\n" for one in found))
    every = torch.cat([gaps[index] for index in range(len(rows))]) if rows else torch.zeros(0)
    if not len(every):
        raise UsageError(f"{spec.folder}: no trained token with a log-prob")
    return Mismatch(
        rows=len(rows),
        tokens=len(every),
        seconds=round(time.monotonic() - begun, 3),
        dtype=spec.dtype,
        device=torch.cuda.get_device_name() if device == "cuda" else "cpu",
        max_difference=float(every.abs().max()),
        mean_difference=float(every.abs().mean()),
        ratios_outside=float(((every.exp() - 1).abs() > RATIO).double().mean()),
        # The estimator k3 of the KL divergence (Schulman: Approximating KL divergence, 2020).
        kl=float((every.exp() - 1 - every).mean()),
        max_advantage_difference=_advantages(rows, spec.samples),
        worst=tuple(sorted(found, key=lambda one: -one.max_difference)[:WORST]),
    )


def _rows(spec: Spec) -> list[Row]:
    form = Plain() if spec.dump_format == "plain" else NemoRL()
    dump = Dump("rows", found(spec.folder), form)
    return [dump.numbered(dump.row(line), line.where) for line in dump.lines()]


def _model(spec: Spec) -> tuple[Any, str]:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        spec.model, dtype=getattr(torch, spec.dtype)
    )
    return model.eval().to(device), device


def _batches(rows: Sequence[Row], tokens: int) -> Iterator[list[int]]:
    """Indices of rows of like length, as many as a batch may hold."""
    by_length = sorted(range(len(rows)), key=lambda index: len(rows[index].token_ids or ()))
    batch: list[int] = []
    for index in by_length:
        if batch and (len(batch) + 1) * len(rows[index].token_ids or ()) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _gaps(rows: Sequence[Row], model: Any, device: str) -> list[torch.Tensor]:
    """Trainer's log-prob less the engine's, at each trained token of each row."""
    ids = [torch.tensor(row.token_ids) for row in rows]
    padded = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)
    there = torch.nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
    with torch.inference_mode():
        logits = model(input_ids=padded.to(device), attention_mask=there.to(device)).logits
    gaps = []
    for row, one, of_row in zip(rows, ids, logits, strict=True):
        trained = torch.tensor(row.loss_mask).bool()
        trained[0] = False  # nothing predicts the first token
        at = trained.nonzero().squeeze(1)
        predicted = torch.log_softmax(of_row[(at - 1).to(device)].float(), -1)
        ours = predicted.gather(1, one[at].to(device).unsqueeze(1)).squeeze(1).cpu().double()
        gaps.append(ours - torch.tensor(row.logprobs, dtype=torch.float64)[at])
    return gaps


def _of_row(row: Row, gap: torch.Tensor) -> RowMismatch:
    assert row.step is not None and row.prompt is not None and row.sample is not None
    size = gap.abs()
    return RowMismatch(
        row=(row.step, row.prompt, row.sample),
        tokens=len(gap),
        max_difference=float(size.max()) if len(gap) else 0.0,
        mean_difference=float(size.mean()) if len(gap) else 0.0,
    )


def _advantages(rows: Sequence[Row], samples: int) -> float | None:
    """The largest gap between advantages as written and as computed from the group's rewards (GRPO)."""
    groups: dict[tuple[Any, Any], list[Row]] = defaultdict(list)
    for at, row in enumerate(rows):
        groups[row.step, row.group if row.group is not None else at // samples].append(row)
    largest = None
    for group in groups.values():
        rewards = torch.tensor([row.reward for row in group], dtype=torch.float64)
        ours = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-6)
        for row, advantage in zip(group, ours.tolist(), strict=True):
            written = row.advantages
            if not isinstance(written, list) or row.loss_mask is None:
                continue
            gaps = [abs(value - advantage) for value, on in zip(written, row.loss_mask, strict=False) if on]
            largest = max([largest or 0.0, *gaps])
    return largest


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
