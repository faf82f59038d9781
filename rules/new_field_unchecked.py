"""A change adds a field to a result and gives it to the tests, which look at all fields but that one.

## Why
The tests of the code were touched so that they run again: what they hand in has the new field. That it comes
out, and as what it went in, nothing says. A field that is dropped on the way, or another row's, is green.

## Instead
Compare the new field where the others are compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.new_fields import Unchecked, unchecked
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, tree_span

_BEFORE = """
from sailing.records import Leg

def finish(run):
    return Leg(knots=run.knots, course=run.course, crew=run.crew)
"""
_AFTER = """
from sailing.records import Leg

def finish(run):
    return Leg(knots=run.knots, course=run.course, crew=run.crew, tides=[one.tide for one in run.hours])
"""


class NewFieldUnchecked(Rule):
    kinds = ("module",)
    bad = (
        Example(
            """
            from sailing.finish import finish

            def test_finish(mock):
                mock.knots = 3
                mock.tides = [1, 2]
                leg = finish(mock)
                assert leg.knots == 3
                assert leg.course == 40
                assert leg.crew == ["Ann"]  # <- here
            """,
            files={"sailing/finish.py": _AFTER},
            before={
                "sailing/finish.py": _BEFORE,
                "tests/test_example.py": """
from sailing.finish import finish

def test_finish(mock):
    mock.knots = 3
    leg = finish(mock)
    assert leg.knots == 3
    assert leg.course == 40
    assert leg.crew == ["Ann"]
""",
            },
        ),
    )
    good = (
        Example(
            """
            from sailing.finish import finish

            def test_finish(mock):
                mock.knots = 3
                mock.tides = [1, 2]
                leg = finish(mock)
                assert leg.knots == 3
                assert leg.course == 40
                assert leg.crew == ["Ann"]

            def test_tides(mock):
                mock.tides = [1, 2]
                assert finish(mock).tides == [1, 2]
            """,
            files={"sailing/finish.py": _AFTER},
            before={
                "sailing/finish.py": _BEFORE,
                "tests/test_example.py": """
from sailing.finish import finish

def test_finish(mock):
    mock.knots = 3
    leg = finish(mock)
    assert leg.knots == 3
    assert leg.course == 40
    assert leg.crew == ["Ann"]
""",
            },
        ),
        # It is compared as a whole; nothing came in.
        Example(
            """
            from sailing.finish import finish
            from sailing.records import Leg

            def test_finish(mock):
                mock.tides = [1, 2]
                leg = finish(mock)
                assert leg.knots == 3 and leg.course == 40 and leg.crew == ["Ann"]
                assert leg == Leg(3, 40, ["Ann"], [1, 2])
            """,
            files={"sailing/finish.py": _AFTER},
            before={"sailing/finish.py": _BEFORE, "tests/test_example.py": "X = 1\\n"},
        ),
        Example(
            """
            from sailing.finish import finish

            def test_finish(mock):
                mock.tides = [1, 2]
                leg = finish(mock)
                assert leg.knots == 3
                assert leg.course == 40
                assert leg.crew == ["Ann"]
            """,
            files={"sailing/finish.py": _AFTER},
            before={"sailing/finish.py": _AFTER, "tests/test_example.py": "X = 1\\n"},
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return in_test_file(unit.file.path)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        change = repo.change
        if repo.base is None or change is None or not in_test_file(unit.file.path):
            return
        for found in unchecked(unit.file, change.changed, repo):
            yield self._say(unit, found)

    def _say(self, unit: Unit, found: Unchecked) -> Finding:
        new, path = found.new, unit.file.path
        others = ", ".join(f"`{name}`" for name in found.looked[:3])
        more = f" and {len(found.looked) - 3} more" if len(found.looked) > 3 else ""
        return self.finding_at(
            unit,
            tree_span(unit, found.check),  # type: ignore[arg-type]
            f"no test here looks at `{new.field}`, which the change adds to `{new.made}` and hands to them",
            certainty="question",
            steps=(
                Step(new.path, new.line, new.line, f"`{new.field}` comes into what `{new.maker}` makes"),
                Step(path, found.fed, found.fed, "a test is given it"),
                Step(
                    path,
                    found.check.lineno,  # type: ignore[attr-defined]
                    found.check.lineno,  # type: ignore[attr-defined]
                    f"`{found.test.name}` looks at {others}{more}",
                ),
            ),
            still_catches=(f"nothing in this file: `{new.field}` may be dropped or another row's",),
        )
