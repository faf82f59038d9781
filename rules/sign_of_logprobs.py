"""Of log-probs a test only asks that they are at most 0.

## Why
Every log-prob is at most 0: those of another token, of another row, of the model before its update, of a mask
that is shifted by one. The check holds for all of them, so that what the test is named after is not tested,
and what is trained on them is weighted wrongly without a failure.

## Instead
Compute the log-probs of the same tokens in another way (one forward pass over the whole row, `log_softmax`,
`gather`) and compare, within the noise of the type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.closely import Look, is_part, looks, origins
from reviewbot.flow.patterns import pattern
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, once, tree_span

_LOGPROBS = pattern(r"(?i)(^|_)log_?probs?(_|$)|(^|_)logps?(_|$)")
_ORDERS = frozenset({"assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual"})


class SignOfLogprobs(Rule):
    folds = True
    bad = (
        Example("""
            def test_scores(engine, prompts):
                answer = engine.generate(prompts, logprobs=True)
                assert len(answer.logprobs) == len(prompts)
                for row in answer.logprobs:
                    for one in row:
                        assert one <= 0.0  # <- here
        """),
        Example("""
            import torch

            class PolicyTest(TestCase):
                def test_one(self):
                    value = self.policy(self.rows)
                    log_probs = self.policy.log_prob(value)
                    self.assertEqual(log_probs.shape, (4, 7))
                    self.assertTrue(torch.all(log_probs <= 0))  # <- here

                def test_other(self):
                    for logp in self.policy.scores(self.rows):
                        self.assertLessEqual(logp.item(), 0.0)  # <- here
        """),
    )
    good = (
        # They are compared, here or by another test of the file, or handed to who may; or other bounds.
        Example("""
            import torch

            def test_compared(engine, prompts, reference):
                logprobs = engine.score(prompts)
                assert (logprobs <= 0).all()
                torch.testing.assert_close(logprobs, reference)

            def test_mean(policy, rows):
                log_prob = policy.log_prob(rows)
                assert log_prob.mean() < 0
                mean = log_prob.mean()
                assert mean == -1.5

            def test_handed_on(engine, prompts):
                logprobs = engine.score(prompts)
                assert (logprobs <= 0).all()
                check_row(logprobs)

            def test_bound(engine, prompts):
                logprobs = engine.score(prompts)
                assert (logprobs < -3).all()

            def test_difference(engine, prompts, reference):
                logprobs = engine.score(prompts)
                assert abs(logprobs - reference).max() <= 0
        """),
        Example("""
            def test_sign(engine, prompts):
                assert all(one <= 0 for one in engine.score(prompts).logprobs)

            def test_values(engine, prompts):
                assert engine.score(prompts).logprobs == [-0.5, -0.25]
        """),
        # Another thing that has a sign.
        Example("""
            def test_loss(policy, rows):
                assert policy.loss(rows) >= 0

            def test_weighted(policy, rows, weigh):
                log_probs = policy.scores(rows)
                loss = weigh(log_probs, rows)
                assert loss > 0
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.names_any(_LOGPROBS.search)

    def suspect(self, unit: Unit) -> bool:
        if not unit.is_test or not unit.names_any(_LOGPROBS.search):
            return False
        return unit.calls(*_ORDERS) or any(
            isinstance(one, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
            for node in unit.asts(ast.Compare)
            for one in node.ops
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        found = looks(unit, _is_logprob)
        signs = [one for one in found if one.how == "sign" and is_part(unit, one.read, _is_logprob)]
        signs.sort(key=lambda one: one.check.lineno)
        if not signs or any(one.how == "value" for one in found):
            return
        first = signs[0]
        made = origins(unit, first.read)
        if any(other is not unit and other.calls(*made) for other in _comparing(unit.file)):
            return
        yield self.finding_at(
            unit,
            tree_span(unit, _checked(first)),
            f"the only check of `{ast.unparse(first.read)}` is one that every log-prob meets: those of"
            " another token, row or model pass",
            certainty="question",
            still_catches=("a value that is no log-prob",),
        )


def _is_logprob(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return _LOGPROBS.search(name) is not None


def _checked(look: Look) -> ast.AST:
    return look.check.test if isinstance(look.check, ast.Assert) else look.check


@once
def _comparing(file: File) -> list[Unit]:
    """The tests of a file that look at the values of log-probs."""
    return [
        unit
        for unit in file.units
        if unit.is_test and unit.names_any(_LOGPROBS.search)
        if any(one.how == "value" for one in looks(unit, _is_logprob))
    ]
