"""Whatever is handed to it, lint neither fails nor hangs, and takes time in proportion."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.config import Config
from reviewbot.lint import registry
from reviewbot.lint.engine import examine
from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory
from tests.corpus import sample
from tests.fuzzing import ATOMS, COMPOUND, EXPRESSIONS, NAMES, SIMPLE, Fuzz


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_and_mutated_files_neither_fail_nor_hang():
    fuzz = Fuzz()
    for number in range(2_000):
        fuzz.run(number)
    assert min(fuzz.kinds[kind] for kind in ("findings", "none", "unreadable")) > 20, fuzz.kinds


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def fill(form: str) -> st.SearchStrategy[str]:
        holes = form.replace("{{", "").replace("}}", "").count("{}")
        return st.tuples(*[inner] * holes).map(lambda parts: form.format(*parts))

    return st.sampled_from(EXPRESSIONS).flatmap(fill)


# Few leaves: most of the time would go into writing what is then read in a moment.
EXPRESSION = st.recursive(
    st.sampled_from((*ATOMS, *NAMES)) | st.text(max_size=5).map(repr), _expressions, max_leaves=8
)
STATEMENT = st.tuples(st.sampled_from(SIMPLE), st.tuples(*[EXPRESSION] * 4)).map(
    lambda made: made[0].format(*made[1])
)
BLOCK = st.recursive(
    st.lists(STATEMENT, min_size=1, max_size=4).map("\n".join),
    lambda inner: st.tuples(st.sampled_from(COMPOUND), st.tuples(*[EXPRESSION] * 2), inner, inner).map(
        lambda made: "\n    ".join([made[0].format(*made[1]), *made[2].splitlines()]) + f"\n{made[3]}"
    ),
    max_leaves=20,
)
RULES = [registry.load(rule_id) for rule_id in registry.rule_ids()]


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(BLOCK | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_what_hypothesis_writes_neither_fails_nor_is_lost(code: str):
    content = code.encode("utf-8", "surrogatepass")
    result = examine("tests/test_a.py", content, RULES, Repo(Config(), InMemory({})))
    assert not result.failures
    assert result.read or result.unread


def _cost(content: bytes) -> float:
    costs = []
    for _ in range(3):
        started = time.process_time()
        examine("tests/test_a.py", content, RULES, Repo(Config(), InMemory({})))
        costs.append(time.process_time() - started)
    return min(costs)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_files_in_one_take_about_as_long_as_apart():
    readable = (path.read_bytes() for path in sample(150))
    contents = [
        content for content in readable if 20_000 < len(content) < 60_000 and b"__future__" not in content
    ]
    pairs = list(zip(contents[:8:2], contents[1:8:2], strict=True))
    assert len(pairs) == 4
    apart = sum(_cost(one) + _cost(other) for one, other in pairs)
    # Two different files: a copy of the same one would be a finding in each line.
    together = sum(_cost(one + b"\n" + other) for one, other in pairs)
    assert together < 1.5 * apart
