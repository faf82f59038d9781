"""A test of a resumed run that a run from scratch would pass as well.

## Why
The second run is told to resume and to go on to step 10, and the test asks whether it came to step 10, or
whether its loss is a number. A run that finds no checkpoint, and starts at step 0, comes there too.

## Instead
Ask for what only a resumed run has: the step at which it began, the losses that it takes over from the first
run, weights equal to those that were saved, right after the load and before it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.resumed import may_resume, unproven
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, tree_span


class ResumeOrRestart(Rule):
    bad = (
        # How far it comes it is told.
        Example("""
            import json

            def sail(folder, *more):
                run(["sail.py", "--out", folder, *more])

            def test_resumes(folder):
                sail(folder, "--days", "5")
                sail(folder, "--days", "10", "--resume")  # <- here
                state = json.loads((folder / "log.json").read_text())
                assert state["step"] == 10

            class TestShips(TestCase):
                def test_goes_on(self):
                    first = Ship(steps=4)
                    first.fit()
                    second = Ship(steps=8)
                    second.fit(resume_from="ship.pt")  # <- here
                    self.assertEqual(second.global_step, 8)
                    self.assertTrue(math.isfinite(second.loss))
        """),
        # There is a number.
        Example("""
            import numpy as np

            def test_keeps_learning(folder):
                ship = Ship(seed=0)
                ship.update()
                ship.save(folder)
                resumed = Ship(seed=0)
                resumed.load(folder)  # <- here
                figures = resumed.update()
                assert np.isfinite(figures["loss"])
        """),
    )
    good = (
        # The step that it begins at, what it has taken over, weights, a sum of both runs' steps.
        Example("""
            import json
            import numpy as np

            def test_begins(folder):
                sail(folder, "--days", "5")
                sail(folder, "--days", "10", "--resume")
                state = json.loads((folder / "log.json").read_text())
                assert state["first_step"] == 6
                assert state["step"] == 10

            def test_takes_over(folder):
                sail(folder, "--days", "5")
                before = json.loads((folder / "log.json").read_text())
                sail(folder, "--days", "10", "--resume")
                state = json.loads((folder / "log.json").read_text())
                assert state["step"] == 10
                assert state["losses"][:5] == before["losses"]

            def test_sum(folder):
                sail(folder, "--days", "4")
                state = sail(folder, "--days", "4", "--resume")
                assert state.step == 8

            def test_weights(folder):
                ship = Ship(seed=0)
                ship.update()
                ship.save(folder)
                resumed = Ship(seed=1)
                resumed.load(folder)
                np.testing.assert_array_equal(resumed.sails, ship.sails)
                assert np.isfinite(resumed.update()["loss"])

            class TestShips(TestCase):
                def test_goes_on(self):
                    first = Ship(steps=4)
                    first.fit()
                    first.save("ship.pt")
                    second = Ship(steps=8)
                    second.load("ship.pt")
                    self.assertEqual(second.global_step, 4)
                    second.fit()
                    self.assertEqual(second.global_step, 8)
        """),
    )

    def concerns(self, file: File) -> bool:
        return may_resume(file)

    def suspect(self, unit: Unit) -> bool:
        return bool(unproven(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in unproven(unit):
            asked = [tree_span(unit, check) for check in one.checks]
            what = (
                "how far it comes, which it is told here"
                if one.step
                else "whether there is a number or a file"
            )
            yield self.finding_at(
                unit,
                tree_span(unit, one.call),
                f"a run from scratch passes as well: of the resumed run is only asked {what}",
                certainty="likely" if one.step else "question",
                steps=[Step(span.path, span.line, span.end_line, "this is asked of it") for span in asked],
                still_catches=("a second run that fails; none that starts anew",),
            )
