"""The workflows that `reviewbot init` writes into a repository."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from reviewbot.config import FAIL_ON
from reviewbot.errors import UsageError
from reviewbot.review.commands import VERBS

FOLDER = ".github/workflows"
WRITTEN = "# Written by `reviewbot init`"  # how each of them starts

# The actions that the workflows use, by commit: a tag can be moved.
CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
UPLOAD_ARTIFACT = "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0"
DOWNLOAD_ARTIFACT = "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1"

NAMES = ("reviewbot", "reviewbot-post", "reviewbot-commands", "reviewbot-parity")
PATHS = tuple(f"{FOLDER}/{name}.yml" for name in NAMES)

# Where the workflows hold each value. Only that of parity has those of the GPU.
_HELD = {
    "uses": r"^ +- uses: (.+)\n(?: +id: .+\n)? +with:\n +mode: ",
    "fail_on": r"^ +fail-on: (.+)$",
}
_HELD_OF_PARITY = {
    "image": r"^ +image: (.+)$",
    "label": r"^ +mode: revoke.*\n +label: (.+)$",
    "group": r"^ +runs-on:\n +group: (.+)$",
    "labels": r"^ +labels: \[(.*?)\]",
    "command": r"^ +command: (.+)$",
    "per_day": r"^ +gpu-runs-per-day: (.+)$",
    "per_pull": r"^ +gpu-runs-per-pull: (.+)$",
}

# What each value may be, and how to say so. None of them can end a scalar of YAML or an expression.
_ALLOWED: dict[str, tuple[str, str]] = {
    "uses": (r"[\w.-]+/[\w./-]+@[\w./-]+(?: # [\w.+-]+)?", "OWNER/reviewbot@COMMIT"),
    "fail_on": ("|".join(("", *FAIL_ON)), f"one of {', '.join(FAIL_ON)}"),
    "image": (r"|[\w.:/-]+@sha256:[0-9a-f]{64}", "a container image by its digest, NAME@sha256:DIGEST"),
    "label": (r"[A-Za-z][\w ./:-]{0,48}[\w./:-]", "letters, digits and dashes, beginning with a letter"),
    "group": (r"[A-Za-z][\w .-]{0,99}", "the name of a runner group"),
    "per_day": (r"[1-9][0-9]{0,5}", "a number, 1 or more"),
    "per_pull": (r"[1-9][0-9]{0,5}", "a number, 1 or more"),
    "command": (r"(?!.*\$\{\{)[^\x00-\x1f\x7f]+", "one line, without `${{`"),
}


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the workflows are to be.

    `uses` is the reviewbot that they run, `OWNER/reviewbot@COMMIT`, with a release as a comment if that is
    known. `image` is the container of the GPU run; without one there is no such run. `labels` are those of
    its runners, of the runner group `group`. `command` is what the container runs, at most `per_day` times in
    24 hours, and `per_pull` times for one pull request.
    """

    uses: str
    fail_on: str = ""
    image: str = ""
    label: str = "gpu-parity"
    group: str = "gpu-ephemeral"
    labels: tuple[str, ...] = ("self-hosted", "linux", "gpu")
    command: str = (
        "reviewbot parity run --workload command --out /scratch/run --output-format json > /out/parity.json"
    )
    per_day: str = "20"
    per_pull: str = "5"

    def __post_init__(self) -> None:
        """Raises `UsageError` for a value that could not stand in a workflow."""
        for name, (pattern, says) in _ALLOWED.items():
            value = getattr(self, name)
            if not re.fullmatch(pattern, value, re.ASCII):
                raise UsageError(f"{name.replace('_', '-')} is {value!r}; it has to be {says}")
        for label in self.labels:
            if not re.fullmatch(r"[\w.-]+", label, re.ASCII):
                raise UsageError(f"{label!r} cannot be the label of a runner")


def workflows(wishes: Wishes) -> dict[str, str]:
    """The text of each workflow by its path in the repository."""
    names = NAMES if wishes.image else NAMES[:-1]
    # Without a GPU the workflow of the other commands says that there is none.
    verbs = [verb for verb in VERBS if verb != "parity" or not wishes.image]
    values = {field.name: getattr(wishes, field.name) for field in fields(Wishes)}
    values |= {
        "reviewbot": wishes.uses,
        "verbs": json.dumps(",".join(verbs)),
        "command": json.dumps(wishes.command, ensure_ascii=False),
        "quoted_label": json.dumps(wishes.label),
        "quoted_group": json.dumps(wishes.group),
        "per_day": json.dumps(wishes.per_day),
        "per_pull": json.dumps(wishes.per_pull),
        "labels": f"[{', '.join(wishes.labels)}]",
        "checkout": CHECKOUT,
        "upload_artifact": UPLOAD_ARTIFACT,
        "download_artifact": DOWNLOAD_ARTIFACT,
    }
    render = _renderer()
    return {f"{FOLDER}/{name}.yml": render(f"workflows/{name}.yml.j2", values) for name in names}


def earlier(texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of `Wishes` that workflows hold which reviewbot wrote before: `texts` are theirs by path.

    A value that none of them holds is not in the answer; where they differ, the first in the order of `PATHS`
    counts.
    """
    found: dict[str, Any] = {}
    for path in PATHS:
        text = texts.get(path, "")
        if not text.startswith(WRITTEN):
            continue
        for name, pattern in {**_HELD, **(_HELD_OF_PARITY if path == PATHS[-1] else {})}.items():
            held = re.search(pattern, text, re.MULTILINE)
            if held and name not in found:
                found[name] = held[1].strip() if name == "uses" else _scalar(held[1])
    if "labels" in found:
        found["labels"] = tuple(filter(None, re.split(r"[\s,]+", found["labels"])))
    return found


def _scalar(written: str) -> str:
    """A scalar of YAML in one line, quoted as JSON or plain, with or without a comment after it."""
    if written.startswith('"'):
        try:
            return str(json.JSONDecoder().raw_decode(written)[0])
        except ValueError:
            pass
    return re.sub(r"\s+#.*", "", written).strip().strip("'")


def _renderer() -> Callable[[str, dict[str, object]], str]:
    import jinja2

    folder = resources.files("reviewbot.templates")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        undefined=jinja2.StrictUndefined,
        # Braces and per cent signs are GitHub's own.
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return lambda name, values: made.get_template(name).render(values)
