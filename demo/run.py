"""The demo: builds the example repository, lets reviewbot look at its branch, shows what it says.

`python demo/run.py [FOLDER]` leaves the repository and what each step prints in FOLDER, which must not exist;
without one, in `demo/out`, which is made anew. Ends with 0 when every step ended with the exit code that
belongs to it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import history

HERE = Path(__file__).parent
REPOSITORY = "parcel-robot"
SANDBOX = sys.platform == "linux"  # elsewhere nothing shuts in what a probe runs
PROBE = " --probe" if SANDBOX else ""
SHOWN = " --probe ../evidence.json --probe" if SANDBOX else ""
PROGRAMS = {"python": [sys.executable], "reviewbot": [sys.executable, "-P", "-m", "reviewbot"]}


@dataclass(frozen=True)
class Step:
    """A command typed in the example repository.

    `says` introduces it, `keeps` is the file that gets its output, `ends_with` the exit code that is right.
    """

    says: str
    command: str
    keeps: str
    ends_with: int = 0


PAGES = "pages"
STEPS = (
    Step("A branch teaches a robot to resume in the middle of a turn.", history.LOG, "history.txt"),
    Step("Its parity test passes.", "python tests/resume_parity.py", "parity.txt"),
)
if SANDBOX:
    STEPS += (
        Step(
            "Does it test anything? It is run on changed rows: the smallest difference that it lets through.",
            "reviewbot probe tests/resume_parity.py::check --save ../evidence.json",
            "probe.txt",
            ends_with=1,
        ),
    )
STEPS += (
    Step(
        "The review of the branch as pages; open the one that is printed in a browser.",
        f"reviewbot report --base {history.MAIN} --head {history.BRANCH}{SHOWN} --out ../{PAGES}",
        "report.txt",
    ),
    Step(
        "What the linter says. Findings that are proved end a run with 1.",
        "reviewbot lint tests",
        "lint.txt",
        ends_with=1,
    ),
    Step(
        "The same review as its author would read it in a terminal.",
        f"reviewbot review --base {history.MAIN} --head {history.BRANCH}",
        "review.txt",
        ends_with=1,
    ),
    Step(
        "And as the comments of a pull request, its findings run where they can be.",
        f"reviewbot review --base {history.MAIN} --head {history.BRANCH} --output-format markdown{PROBE}",
        "review.md",
        ends_with=1,
    ),
)


def run(step: Step, out: Path) -> int:
    """Types one command, shows and keeps what it prints, and returns its exit code."""
    name, *words = shlex.split(step.command)
    done = subprocess.run(
        [*PROGRAMS.get(name, [name]), *words],
        cwd=out / REPOSITORY,
        env={
            **os.environ,
            "PYTHONPATH": str(HERE.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_PAGER": "cat",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    print(f"\n── {step.says}\n\n$ {step.command}\n{done.stdout}", flush=True)
    (out / step.keeps).write_text(done.stdout, encoding="utf-8")
    return done.returncode


def main() -> int:
    """Runs every step."""
    if len(sys.argv) > 1:
        out = Path(sys.argv[1])
        if out.exists():
            sys.exit(f"{out} is there already; name a folder that is not")
    else:
        out = HERE / "out"
        shutil.rmtree(out, ignore_errors=True)
    history.build(out / REPOSITORY)
    wrong = []
    for step in STEPS:
        code = run(step, out)
        if code != step.ends_with:
            wrong.append(f"{step.command}: exit code {code}, not {step.ends_with}")
    kept = ", ".join([REPOSITORY, PAGES, *(step.keeps for step in STEPS)])
    print(f"\n── Kept in {os.path.relpath(out)}: {kept}")
    print(f"── Open {(out / PAGES / 'index.html').resolve()} in a browser")
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
