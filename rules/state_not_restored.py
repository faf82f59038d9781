"""State that is saved under a key, and that loading never reads.

## Why
What was restored looks whole: nothing fails, and nothing is missing that anybody asks for. But one part of it
starts from nothing again, a counter, a random state, the version of the weights, and the run goes on from
another state than it was stopped in.

## Instead
Read back each key that is written. Refuse a key that nothing reads, so that the two sides cannot part:
`unknown = state.keys() - {...}`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.saved_state import Unread, may_hold, pairs, unread
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, tree_span


class StateNotRestored(Rule):
    kinds = ("module",)
    bad = (
        Example(
            """
            class Sampler:
                def __init__(self, seed):
                    self.epoch, self.taken, self.rng = 0, 0, make_rng(seed)

                def draw(self):
                    self.taken += 1
                    return self.rng.integers(10)

                def next_epoch(self):
                    self.epoch += 1

                def state_dict(self):
                    return {
                        "epoch": self.epoch,
                        "rng": self.rng.get_state(),
                        "taken": self.taken,  # <- here
                    }

                def load_state_dict(self, state):
                    self.epoch = state["epoch"]
                    self.rng.set_state(state["rng"])

            class Trainer:
                def save(self, path):
                    state = {"step": self.step, "best": self.best, "seen": self.seen}  # <- here
                    torch.save(state, path)

                def load(self, path):
                    state = torch.load(path)
                    self.step, self.best = state["step"], state.get("best")

            class RowTrainer(Trainer):
                def train(self):
                    self.seen += 1
            """,
            path="worker/sampler.py",
        ),
        Example(
            """
            import json
            from dataclasses import dataclass, field

            @dataclass
            class Sample:
                tokens: list
                step: int
                weight_version: int = 0
                logprobs: list = field(default_factory=list)

                def to_dict(self):
                    out = {"tokens": self.tokens, "step": self.step}
                    out["logprobs"] = list(self.logprobs)  # <- here
                    out["weights"] = self.weight_version
                    return out

                @classmethod
                def from_dict(cls, row):
                    return cls(row["tokens"], row["step"], weight_version=row.get("weights", 0))

            def save_state(sample):
                return {
                    "tokens": sample.tokens,
                    "step": sample.step,
                    "weight_version": sample.weight_version,  # <- here
                    "logprobs": sample.logprobs,
                }

            def load_state(state):
                return Sample(tokens=state["tokens"], step=state["step"], logprobs=state["logprobs"])
            """,
            path="worker/samples.py",
        ),
    )
    good = (
        # All of it is read; or may be, as a whole, by a walk or by a name; or is no state.
        Example(
            """
            import json
            import torch

            class Sampler:
                def __init__(self, seed, size):
                    self.epoch, self.taken, self.size, self.rows = 0, 0, size, []

                def draw(self):
                    self.taken += 1
                    self.epoch += 1
                    self.rows.append(1)

                def state_dict(self):
                    return {
                        "epoch": self.epoch,
                        "taken": self.taken,
                        "size": self.size,
                        "count": len(self.rows),
                        "format": self.rows,
                    }

                def load_state_dict(self, state):
                    self.epoch = state["epoch"]
                    self.taken = state["taken"]

            class Walked(Sampler):
                def draw(self):
                    self.taken += 1

                def state_dict(self):
                    return {"epoch": self.epoch, "taken": self.taken, "rows": self.rows}

                def load_state_dict(self, state):
                    self.epoch, self.seed = state["epoch"], state["rows"]
                    for name, value in state.items():
                        setattr(self, name, value)

            class Handed(Walked):
                def draw(self):
                    self.taken += 1

                def state_dict(self):
                    return {"epoch": self.epoch, "taken": self.taken, "rows": self.rows}

                def load_state_dict(self, state):
                    self.epoch, self.rows = state["epoch"], state["rows"]
                    super().load_state_dict(state)

            class Explained(Walked):
                def draw(self):
                    self.taken += 1

                def state_dict(self):
                    return {"epoch": self.epoch, "taken": self.taken, "rows": self.rows}

                def load_state_dict(self, state):
                    # What was taken is counted anew.
                    self.epoch, self.rows = state["epoch"], state["rows"]
            """,
            path="worker/sampler.py",
        ),
        Example(
            """
            class Row:
                def __init__(self, tokens, step, weights=0):
                    self.tokens, self.step, self.weights = tokens, step, weights
                    self.length = len(tokens)

                def to_dict(self):
                    out = {"tokens": self.tokens, "step": self.step, "weights": self.weights}
                    out["length"] = self.length
                    return out

                @classmethod
                def from_dict(cls, row):
                    made = cls(row["tokens"], row["step"])
                    made.weights = row["weights"]
                    return made
            """,
            path="worker/rows.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return not in_test_file(unit.file.path) and may_hold(unit.file)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if in_test_file(unit.file.path):
            return
        for saver, loader in pairs(unit.file):
            for one in unread(saver, loader, repo):
                yield self._lost(unit, one)

    def _lost(self, unit: Unit, one: Unread) -> Finding:
        span = tree_span(unit, one.value)
        loads = Step(
            unit.file.path, one.loader.line, one.loader.end_line, "this reads the others, and not it"
        )
        return self.finding_at(
            unit,
            span,
            f"`{one.saver.name}` saves `{ast.unparse(one.value)}` under `{one.key}`, and"
            f" `{one.loader.name}` never reads it",
            certainty="likely" if one.sure else "question",
            steps=(Step(unit.file.path, span.line, span.end_line, "written here"), loads),
            still_catches=(f"nothing: `{one.loader.name}` is content without it",),
        )
