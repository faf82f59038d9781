"""Requires a restored run's rows to equal those of an uninterrupted one, and its cuts to add up."""

EXACT = ("group_id", "token_ids", "loss_mask", "reward")
EXCUSED = ("reward",)


def first_difference(left, right):
    for index, (a, b) in enumerate(zip(left, right)):
        if a != b:
            return index
    return None if len(left) == len(right) else min(len(left), len(right))


def where(baseline, restored, cut):
    first = first_difference(baseline["token_ids"], restored["token_ids"])
    first_generated = baseline["loss_mask"].index(1)
    prefix_end = cut["prefix_start"] + cut["prefix_tokens"]
    if first is not None and first_generated <= first < prefix_end:
        return {"kind": "pre_cut", "first_diff": first, "restored_prefix_end": prefix_end}
    return {"kind": "other", "first_diff": first, "restored_prefix_end": prefix_end}


def compare_rows(baseline, restored, excused, atol):
    if len(baseline) != len(restored):
        raise AssertionError("row counts differ")
    for index, (left, right) in enumerate(zip(baseline, restored)):
        if index in excused:
            for field in EXCUSED:
                if left[field] != right[field]:
                    raise AssertionError(f"row {index}: {field} differs")
            continue
        for field in EXACT:
            if left[field] != right[field]:
                raise AssertionError(f"row {index}: {field} differs")
        if len(left["advantages"]) != len(right["advantages"]):
            raise AssertionError(f"row {index}: advantages differ in length")
        for a, b in zip(left["advantages"], right["advantages"]):
            if abs(a - b) > atol:
                raise AssertionError(f"row {index}: advantages differ")


def check_cut(row, cut):
    if cut["tail_tokens"] <= 0:
        raise AssertionError("no new token")
    if cut["prefix_tokens"] + cut["tail_tokens"] != cut["total_tokens"]:
        raise AssertionError("the counts have a gap or an overlap")
    if cut["prefix_start"] + cut["total_tokens"] != len(row["token_ids"]):
        raise AssertionError("the restored call is not at the row's end")
    if cut["row_length"] != len(row["token_ids"]):
        raise AssertionError("the row has another length than the worker saw")


def compare(baseline, restored, cuts, atol=1e-4):
    excused = set()
    for cut in cuts:
        index = cut["row"]
        check_cut(restored[index], cut)
        if where(baseline[index], restored[index], cut)["kind"] == "pre_cut":
            excused.add(index)
    compare_rows(baseline, restored, excused, atol)
