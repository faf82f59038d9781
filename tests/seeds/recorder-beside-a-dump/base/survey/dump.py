"""The survey's own record of every exposure that went into a night's map."""

import json


def write_night(folder, night, exposures):
    """One file a night, replaced when the night is taken again."""
    lines = []
    for number, length in enumerate(exposures["lengths"]):
        row = {"night": night, "number": number}
        for field in ("pixels", "mask", "weight"):
            row[field] = exposures[field][number][:length]
        row["seeing"] = round(float(exposures["seeing"][number]), 4)
        lines.append(json.dumps(row))
    path = folder / f"exposures_night{night}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path
