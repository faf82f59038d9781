"""Regular expressions that are compiled at their first use."""

from __future__ import annotations

import re
import sys

from reviewbot.flow.patterns import Lazy, pattern
from reviewbot.lint import registry


def test_what_a_compiled_one_says_a_lazy_one_says() -> None:
    lazy, compiled = (
        pattern(r"(?P<word>[a-z]+)\d", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)\d", re.IGNORECASE),
    )
    for _ in range(2):  # the first use, and a later one
        found = lazy.search("42 Rows7")
        assert found is not None
        assert found["word"] == "Rows"
        assert lazy.sub("-", "a1 b2") == compiled.sub("-", "a1 b2") == "- -"
        assert lazy.findall("a1 b2") == ["a", "b"]
        assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)


def test_each_that_a_rule_holds_compiles() -> None:
    registry.loaded(registry.rule_ids())
    held = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith(("reviewbot.flow.", "reviewbot.rules."))
        for value in vars(module).values()
        if isinstance(value, Lazy)
    ]
    assert len(held) > 50
    for one in held:
        assert isinstance(one.pattern, str)
