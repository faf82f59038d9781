"""The proposed refusal of one more pair of options."""

from __future__ import annotations

import pytest

from reviewbot.flow.options import without_comments


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        (
            "    # No tools.\n    if a.cache and a.tools:  # not yet\n        raise ValueError(a)\n",
            "    if a.cache and a.tools:\n        raise ValueError(a)\n",
        ),
        (
            'if a:\n    # why\n\n    raise ValueError("# no comment")\n',
            'if a:\n\n    raise ValueError("# no comment")\n',
        ),
        ("if a:\n    raise ValueError(\n", "if a:\n    raise ValueError(\n"),
    ],
)
def test_a_refusal_is_copied_without_what_is_said_of_it(code, kept):
    assert without_comments(code) == kept
