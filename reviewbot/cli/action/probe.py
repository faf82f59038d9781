"""Mode probe: one check run on changed inputs, in the sandbox that `reviewbot probe` uses."""

from __future__ import annotations

import argparse
import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout

from reviewbot.cli.action import results
from reviewbot.cli.action.fetch import source
from reviewbot.cli.streams import inert
from reviewbot.errors import UsageError

SECONDS = 60


def run(options: argparse.Namespace) -> int:
    """Leaves the result; 0 also where a difference passes, since the report says so."""
    from reviewbot.cli.main import main

    if "::" not in options.target:
        raise UsageError("mode probe needs --target, such as tests/parity.py::compare")
    if os.environ.get("GITHUB_TOKEN"):
        raise UsageError("mode probe runs code of the pull request, and no token may be within its reach")
    path = results.place("probe")
    out, err = io.StringIO(), io.StringIO()
    os.chdir(source())
    with redirect_stdout(out), redirect_stderr(err):
        words = ["probe", f"--budget={SECONDS}", "--output-format=json", "--quiet", "--", options.target]
        code = main(words)
    for line in err.getvalue().splitlines():
        print(f"probe: {inert(line)}")
    if code in (0, 1):
        path.write_text(out.getvalue(), encoding="utf-8")
    else:
        why = err.getvalue().strip().rpartition("\n")[2].removeprefix("reviewbot: ")
        nothing = {"edits_tried": 0, "witnesses": [], "not_run": [why[:1000]]}
        path.write_text(json.dumps(nothing), encoding="utf-8")
    print(f"probe ended with {code}")
    return 0
