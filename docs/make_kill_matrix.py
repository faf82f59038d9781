"""Writes the kill matrix into docs/parity.md: which planted fault a run caught, and by which field.

    python docs/make_kill_matrix.py [RESULT.json]

RESULT.json is what `reviewbot parity run --plant all --output-format json` printed; without it that run is
made.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "parity.md"
BEGIN, END = "<!-- kill matrix: docs/make_kill_matrix.py -->\n", "<!-- end of the kill matrix -->\n"


def made() -> bytes:
    """The JSON of a run with every fault planted."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = ["parity", "run", "--out", str(out), "--plant", "all", "--output-format", "json"]
        done = subprocess.run([sys.executable, "-m", "reviewbot", *words], cwd=ROOT, capture_output=True)
    sys.stderr.buffer.write(done.stderr)
    return done.stdout


def table(result: dict) -> str:
    """The faults of a result as a Markdown table, and what the run was."""
    run, engine = result["run"], result["environment"]["reference"]["run"]
    lines = ["| planted fault | caught | by |", "| --- | --- | --- |"]
    for fault in result["planted"]:
        outcome = "yes" if fault["caught"] else "no" if fault["planted"] else "no occasion"
        by = ", ".join(f"`{field}`" for field in fault["caught_by"])
        lines.append(f"| `{fault['fault']}`: {fault['says']} | {outcome} | {by} |")
    caught = sum(fault["caught"] for fault in result["planted"])
    lines += [
        "",
        f"{caught} of {len(result['planted'])}, in a run with the verdict {result['verdict']}: "
        f"{result['rows']} rows, {run['tokens']:,} tokens, {run['cut_calls']} calls cut, engine "
        f"{engine['engine']} in {engine['dtype']}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    data = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else made()
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table(json.loads(data))}{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
