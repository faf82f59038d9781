"""What a child says on its standard error is heard, also when it lets go of its standard output first."""

from __future__ import annotations

import pytest

from reviewbot.probe.sandbox import Box, ChildGone, Wants


def test_what_a_child_says_last_is_heard_after_its_output_has_ended(tmp_path):
    python = tmp_path / "late"
    python.write_text("#!/bin/sh\nexec >&-\nsleep 0.3\necho 'no module of that name' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(ChildGone) as gone:
        Box(Wants("recorder", python=str(python)))
    assert gone.value.why == "it ended with 1 (no module of that name)"
