"""One leg of a run, in a process of its own: `python -m reviewbot.parity.leg SPEC`.

Decodes the rows of each step, keeps a journal, and writes a dump a step. Prints one JSON object a line: how
far it is, and, in the leg that is to be killed, that it stands in mid-generation and waits for it.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import ReviewbotError
from reviewbot.parity import rollout, task, tied, writer
from reviewbot.parity.engines.engine import Engine, Request, started
from reviewbot.parity.faults import Planted
from reviewbot.parity.journal import Entry, Journal, left, mended, read
from reviewbot.parity.rollout import Rollout
from reviewbot.parity.rows import sha256
from reviewbot.parity.spec import Out, Spec
from reviewbot.parity.task import Codec

OFTEN = 0.2  # seconds between two words about how far a leg is
BEGUN = 3  # tokens that a call must have to count as cut in mid-generation


def main(words: list[str]) -> int:
    """Runs the legs that a spec file asks for."""
    tied.to_parent()
    spec = msgspec.json.decode(Path(words[0]).read_bytes(), type=Spec)
    try:
        begun = time.monotonic()
        engine = started(spec.settings)
        about = engine.about()
        codec = task.codec(_local(spec.settings.model))
        load = round(time.monotonic() - begun, 3)
        _say(ready=load)
        for out in spec.outs:
            _say(leg=Path(out.folder).name)
            Making(spec, engine, codec, out).run(load, about)
    except ReviewbotError as error:
        print(f"reviewbot: {error}", file=sys.stderr)
        return 2
    return 0


def _local(model: str) -> Path | str:
    return Path(model) if Path(model).is_dir() else model


def _say(**values: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(values) + b"\n")
    sys.stdout.buffer.flush()


class Making:
    """The making of one leg with an engine that has started."""

    def __init__(self, spec: Spec, engine: Engine, codec: Codec, out: Out) -> None:
        self.spec, self.work, self.engine, self.codec = spec, spec.work, engine, codec
        self.out, self.planted, self.at_a_time = Path(out.folder), Planted(out.fault), out.at_a_time
        self.task = task.named(spec.work.task)
        self.stop = self.task.stop(codec)
        self.decoded = self.saved = 0
        self.said = 0.0
        self.restoring: dict[str, dict[str, Any]] = {}
        self.digits = [token for digit in "0123456789" for token in codec.encode(digit)[-1:]]

    def run(self, load: float, about: dict[str, Any]) -> None:
        """All steps, then the leg's own account of itself.

        `load` is the seconds that the engine took, `about` what it says of itself.
        """
        from reviewbot.parity import noise  # numpy, which the engine has brought

        begun, written = time.monotonic(), 0.0
        self.out.mkdir(parents=True, exist_ok=True)
        cut = Path(self.spec.cut) if self.spec.cut else None
        journal = self.out / "journal.jsonl"
        for stale in (journal, self.out / "restores.jsonl"):
            stale.unlink(missing_ok=True)
        if cut:
            shutil.copyfile(cut / "journal.jsonl", journal)
            mended(journal)
        found = read(journal)
        self.journal = Journal(journal)
        self.restores = (self.out / "restores.jsonl").open("ab") if cut else None
        for step in range(1, self.work.steps + 1):
            if cut and (cut / f"train_data_step{step}.jsonl").exists():
                self.saved += sum(len(entry.tokens) for entry in found if entry.step == step)
                continue
            rollouts = self.step(step, [entry for entry in found if entry.step == step])
            rows, began = self.planted.rows(self.rows(rollouts)), time.monotonic()
            writer.write(self.out, step, rows, self.work.dump_format)
            written += time.monotonic() - began
        self.journal.flush()
        if self.restores:
            keys = left(read(journal))
            for said in (*({"left_key": key} for key in keys), {"left_keys": len(keys)}):
                self.restores.write(msgspec.json.encode(said) + b"\n")
            self.restores.close()
        account = {
            "load": load,
            "seconds": round(time.monotonic() - begun, 3),
            "write": round(written, 3),
            "at_a_time": self.at_a_time,
            "decoded": self.decoded,
            "saved": self.saved,
            "planted": self.planted.planted,
            "noise": noise.digest(),
            "engine": about,
        }
        writer.whole(self.out / "account.json", msgspec.json.encode(account))

    def step(self, step: int, found: list[Entry]) -> list[Rollout]:
        """Decodes one step's rows to their ends, from what the journal holds of them."""
        rollouts = {
            made.identity: made
            for prompt in range(self.work.prompts)
            for sample in range(self.work.samples)
            for made in [rollout.begun(self.codec, self.spec.settings.seed, step, prompt, sample)]
        }
        in_flight: dict[str, Rollout] = {}
        released: set[str] = set()
        for entry in found:
            made = rollouts[entry.row]
            if entry.released:
                released.add(entry.call)
                continue
            if entry.tool is not None:
                made.told(entry.tool)
                made.saved, made.finish = [], None
                continue
            made.sampled(entry.tokens, entry.logprobs, entry.top, entry.scores)
            made.saved += entry.tokens
            made.finish = entry.finish
            self.saved += len(entry.tokens)
        waiting = [made for made in rollouts.values() if made.saved and made.finish is None]
        self.planted.prefixes(waiting)
        for made in rollouts.values():
            if made.finish is not None:
                if made.call not in released:  # killed between its end and that
                    self.journal.write(self.entry(made, released=True))
                self.ended(made)
        self.journal.flush()
        # Rows in the making go first. No more are in flight than the engine decodes at a time, so that some
        # have not begun when others are done.
        begun = [made for made in rollouts.values() if not made.done and made.turn + len(made.saved) > 1]
        fresh = [made for made in rollouts.values() if not made.done and made not in begun]
        queue = deque([*begun, *fresh])
        while queue or in_flight:
            while queue and len(in_flight) < self.at_a_time:
                made = queue.popleft()
                in_flight[made.name] = made
                self.ask(made)
            self.pieces(in_flight)
            self.hold(rollouts.values(), step, len(queue))
        return list(rollouts.values())

    def ask(self, made: Rollout) -> None:
        """Sends the row's call to the engine, from its saved prefix on where there is one."""
        request = made.request(self.stop, self.work.budget, self.work.temperature)
        if made.saved and made.finish is None:
            request = self.planted.request(request)
            self.restoring[made.call] = self.record(made, request)
        made.finish = None
        self.engine.add(request)

    def record(self, made: Rollout, request: Request) -> dict[str, Any]:
        index = self.index(made)
        return {
            "step": made.step,
            **index,
            "call": made.call,
            "start": made.start,
            "prefix_tokens": len(made.saved),
            "prefix_sha256": sha256(made.saved),
            "request_sha256": sha256(request.tokens),
            "max_tokens": request.max_tokens,
            "budget": self.work.budget,
        }

    def index(self, made: Rollout) -> dict[str, int]:
        """The row's prompt and sample as its dump names them."""
        if self.work.dump_format == "plain":
            return {"prompt": made.prompt, "sample": made.sample}
        return {"prompt": made.prompt * self.work.samples + made.sample, "sample": 0}

    def pieces(self, in_flight: dict[str, Rollout]) -> None:
        for piece in self.engine.step():
            made = in_flight[piece.call.rpartition("-")[0]]
            self.decoded += len(piece.tokens)
            made.sampled(piece.tokens, piece.logprobs, piece.top, piece.scores)
            self.journal.write(
                Entry(
                    call=piece.call,
                    step=made.step,
                    prompt=made.prompt,
                    sample=made.sample,
                    start=made.start,
                    tokens=piece.tokens,
                    logprobs=piece.logprobs,
                    top=piece.top,
                    scores=piece.scores,
                    finish=piece.finish,
                )
            )
            if piece.finish is None:
                continue
            made.finish = piece.finish
            self.finished(made)
            self.ended(made)
            if made.done:
                del in_flight[made.name]
            else:
                self.ask(made)
        self.journal.flush()
        if time.monotonic() - self.said > OFTEN:
            self.said = time.monotonic()
            _say(tokens=self.decoded)

    def finished(self, made: Rollout) -> None:
        """A call came to its end: its saved tokens are let go, and a restored one is recorded."""
        record = self.restoring.pop(made.call, None)
        if record is None or self.planted.releases():
            self.journal.write(self.entry(made, released=True))
        if record is not None and self.restores:
            record["tail_tokens"] = len(made.tokens) - made.start - record["prefix_tokens"]
            self.restores.write(msgspec.json.encode(record) + b"\n")
            self.restores.flush()

    def ended(self, made: Rollout) -> None:
        """After a call: the tool answers and the next one begins, or the row is done."""
        answer = made.answer(self.codec, self.task)
        if answer is None:
            made.done = True
            return
        answer = self.planted.told(answer, self.digits)
        self.journal.write(self.entry(made, tool=answer))
        made.told(answer)
        made.saved, made.finish = [], None

    def entry(self, made: Rollout, tool: tuple[int, ...] | None = None, released: bool = False) -> Entry:
        return Entry(
            call=made.call,
            step=made.step,
            prompt=made.prompt,
            sample=made.sample,
            start=made.start,
            tool=tool,
            released=released,
        )

    def hold(self, rollouts: Collection[Rollout], step: int, queued: int) -> None:
        """In the leg to be killed: once the last step is well under way, stands still until it is.

        That is when a quarter of the rows are done; where too few are `queued` for another cut, when those in
        flight have half of their budget.
        """
        if not self.spec.min_cut or step != self.work.steps:
            return
        long = [len(made.tokens) - made.start for made in rollouts if not made.done]
        cut = sum(length >= BEGUN for length in long)
        half = sum(length >= max(BEGUN, self.work.budget // 2) for length in long)
        done = sum(made.done for made in rollouts)
        last = queued < self.spec.min_cut <= half
        if cut >= self.spec.min_cut and (done * 4 >= len(rollouts) or last):
            _say(tokens=self.decoded, holding=cut)
            while True:
                time.sleep(60)

    def rows(self, rollouts: list[Rollout]) -> list[dict[str, Any]]:
        """The step's rows as they are trained, with advantages relative to their group."""
        rewards = {made.name: self.task.reward(self.codec, made.tokens, made.mask) for made in rollouts}
        relative: dict[str, float] = {}
        for prompt in range(self.work.prompts):
            group = [made.name for made in rollouts if made.prompt == prompt]
            relative |= dict(zip(group, task.advantages([rewards[name] for name in group]), strict=True))
        return [
            {
                "step": made.step,
                "prompt": made.prompt,
                "sample": made.sample,
                "index": made.prompt * self.work.samples + made.sample,
                "group_id": f"{made.step}-{made.prompt}",
                "token_ids": made.tokens,
                "loss_mask": made.mask,
                "reward": rewards[made.name],
                "sample_mask": 1.0,
                "finish_reason": made.finish,
                "logprobs": made.logprobs,
                "advantages": [relative[made.name] * trained for trained in made.mask],
                "dtype": self.spec.settings.dtype,
                "top_logprobs": made.top,
                "top_scores": made.scores,
            }
            for made in rollouts
        ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
