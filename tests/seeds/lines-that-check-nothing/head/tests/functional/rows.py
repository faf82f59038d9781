"""Reads what a run wrote."""

import json


def load(folder):
    """The rows of a run."""
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
