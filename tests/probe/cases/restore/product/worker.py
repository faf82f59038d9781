"""A generation worker that continues a saved prefix, and the trainer's group advantages."""

from statistics import fmean


def finish_restored_call(row_length, prefix_tokens, tail_tokens):
    """What the worker logs of a restored call."""
    return {
        "prefix_tokens": prefix_tokens,
        "tail_tokens": tail_tokens,
        "total_tokens": prefix_tokens + tail_tokens,
        "row_length": row_length,
    }


def add_advantages(rows):
    """Group-relative advantages, written into the rows."""
    groups = {}
    for row in rows:
        groups.setdefault(row["group_id"], []).append(row)
    for members in groups.values():
        mean = fmean(row["reward"] for row in members)
        for row in members:
            row["advantages"] = [(row["reward"] - mean) * keep for keep in row["loss_mask"]]
