"""Records the exposures of a night, for the comparison of an interrupted survey with a whole one."""

import json


class Recorder:
    """Stands in front of the camera and keeps what it took."""

    def __init__(self, camera, folder):
        self.camera, self.folder = camera, folder

    def expose(self, night):
        taken = self.camera.expose(night)
        record(self.folder, night, taken)
        return taken


def record(folder, night, batch):
    found = []
    for place, size in enumerate(batch["lengths"]):
        entry = {"night": night, "number": place}
        for name in ("pixels", "mask", "weight"):
            entry[name] = batch[name][place][:size]
        entry["seeing"] = round(float(batch["seeing"][place]), 4)
        found.append(json.dumps(entry))
    target = folder / f"exposures_night{night}.jsonl"
    target.write_text("\n".join(found) + "\n")
    return target
