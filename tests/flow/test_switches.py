"""A repeated function is told with the option under which the product runs the one that exists."""

from __future__ import annotations

import json

import pytest

from reviewbot.lint import registry

DUMP = next(iter(registry.load("reimplements-existing").bad[0].files.values()))
COPY = registry.load("reimplements-existing").bad[0].code.replace("  # <- here", "")
CALLS = {
    "under a setting": ("    if config.log_rows:\n        write_rows(path, 1, batch)\n", "log_rows"),
    "under a key": ("    if config['dump']['rows']:\n        write_rows(path, 1, batch)\n", "rows"),
    "after a return": (
        "    if not config.get('full'):\n        return\n    write_rows(path, 1, batch)\n",
        "full",
    ),
    "under a variable of the environment": (
        "    if os.environ.get('ROWS') == '1':\n        write_rows(path, 1, batch)\n",
        "ROWS",
    ),
    "without condition": ("    write_rows(path, 1, batch)\n", None),
}


@pytest.mark.parametrize("through", [False, True], ids=["straight", "through a function"])
@pytest.mark.parametrize("how", list(CALLS))
def test_the_option_is_named(reviewbot, tmp_path, how, through):
    body, option = CALLS[how]
    run = f"import os\n\nfrom trainer.dump import write_rows\n\n\ndef run(config, path, batch):\n{body}"
    if through:
        inner = "def put(path, step, batch):\n    write_rows(path, step, batch)\n"
        run = run.replace("\n\ndef run", f"\n\n{inner}\n\ndef run").replace(
            "write_rows(path, 1", "put(path, 1"
        )
    files = {"trainer/dump.py": DUMP, "trainer/run.py": run, "tests/recorder.py": COPY}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    words = ("lint", "--select", "reimplements-existing", "--output-format", "json")
    (found,) = json.loads(reviewbot(*words, cwd=tmp_path).out)
    said = [step["says"] for step in found["steps"] if step["path"] == "trainer/run.py"]
    assert said == ([f"`{option}` switches `write_rows` on"] if option else [])
    assert (f"`{option}` switches that on" in found["message"]) == (option is not None)
