"""What was saved is loaded into something that equals it already.

## Why
The test saves an object, loads it into the same one, or into another that is made with the same seed, and
compares the two. Nothing was changed in between, so that a load which does nothing at all passes: keys that
do not fit, an optimizer that is left out, a file that is never opened.

## Instead
Load into an object that differs: made with another seed, trained further, or set to zero; and see that it
differed before (`assert not torch.equal(...)`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.save_and_load import AsItWas, as_it_was, saves_and_loads
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, tree_span, tree_step


class RestoreIntoEqual(Rule):
    told_by = (("restored-into-itself", "unit"),)
    bad = (
        # Another object, made with the same seed.
        Example("""
            import torch
            from ships import Ship

            def test_round_trip(folder):
                torch.manual_seed(0)
                ship = Ship(16)
                torch.save(ship.state_dict(), folder / "ship.pt")
                torch.manual_seed(0)
                other = Ship(16)
                other.load_state_dict(torch.load(folder / "ship.pt"))  # <- here
                for key, value in ship.state_dict().items():
                    assert torch.equal(value, other.state_dict()[key])

            class TestShips(TestCase):
                def test_saved(self):
                    ship = Ship(masts=2, seed=7)
                    ship.save("/tmp/ship.npz")
                    fresh = Ship(masts=2, seed=7)
                    fresh.load("/tmp/ship.npz")  # <- here
                    self.assertEqual(ship.sails, fresh.sails)
        """),
        # A state that starts out the same whatever is drawn, handed over without a file.
        Example("""
            from torch.optim import SGD

            def test_state(ship):
                one = SGD(ship.sails, lr=0.1)
                other = SGD(ship.sails, lr=0.1)
                other.load_state_dict(one.state_dict())  # <- here
                assert one.state_dict() == other.state_dict()
        """),
        # The same object, to which nothing was done.
        Example("""
            import torch
            from ships import Ship

            def test_restores(folder, sea):
                ship = Ship(16)
                before = ship(sea)
                torch.save(ship.state_dict(), folder / "ship.pt")
                ship.load_state_dict(torch.load(folder / "ship.pt"))  # <- here
                after = ship(sea)
                assert torch.equal(before, after)
        """),
    )
    good = (
        # Another seed, trained, changed in between, or by something that belongs to it.
        Example("""
            import torch
            from ships import Ship

            def test_round_trip(folder):
                torch.manual_seed(0)
                ship = Ship(16)
                torch.save(ship.state_dict(), folder / "ship.pt")
                torch.manual_seed(1)
                other = Ship(16)
                other.load_state_dict(torch.load(folder / "ship.pt"))
                assert torch.equal(ship.mast, other.mast)

            def test_no_seed(folder):
                ship = Ship(16)
                torch.save(ship.state_dict(), folder / "ship.pt")
                other = Ship(16)
                other.load_state_dict(torch.load(folder / "ship.pt"))
                assert torch.equal(ship.mast, other.mast)

            def test_stepped_once(ship):
                one = SGD(ship.sails, lr=0.1)
                one.step()
                other = SGD(ship.sails, lr=0.1)
                other.load_state_dict(one.state_dict())
                assert one.state_dict() == other.state_dict()

            def test_trained(folder):
                ship = Ship(masts=2, seed=7)
                ship.sail(3)
                ship.save(folder)
                fresh = Ship(masts=2, seed=7)
                fresh.load(folder)
                assert ship.sails == fresh.sails

            def test_zeroed(folder, sea):
                ship = Ship(16)
                before = ship(sea)
                torch.save(ship.state_dict(), folder / "ship.pt")
                for weight in ship.parameters():
                    weight.zero_()
                ship.load_state_dict(torch.load(folder / "ship.pt"))
                assert torch.equal(before, ship(sea))

            def test_stepped(folder, sea):
                ship = Ship(16)
                captain = Captain(ship)
                before = ship(sea)
                torch.save(ship.state_dict(), folder / "ship.pt")
                captain.step()
                ship.load_state_dict(torch.load(folder / "ship.pt"))
                assert torch.equal(before, ship(sea))

            def test_state_is_set(ship):
                ship = Ship(16)
                state = ship.get_state()
                assert state["masts"] == 2
                ship.reset()
                assert ship.get_state()["masts"] == 0
                ship.set_state(state)
                assert ship.get_state() == state

            def test_converted(ship, sea):
                ship = Ship(16)
                before = ship(sea)
                state = {key: value.clone() for key, value in ship.state_dict().items()}
                ours = convert_from(state)
                theirs = convert_to(ours)
                ship.load_state_dict(theirs)
                assert torch.equal(before, ship(sea))

            def test_old_state(ship):
                ship = Ship(16)
                state = ship.state_dict()
                assert sorted(state) == ["mast"]
                old = {"mast": torch.full_like(ship.mast, 2.0)}
                ship.load_state_dict(old)
                assert torch.equal(ship.mast, old["mast"])

            def test_keys(folder):
                ship = Ship(16)
                torch.save(ship.state_dict(), folder / "ship.pt")
                found = ship.load_state_dict(torch.load(folder / "ship.pt"))
                assert found.missing == []
        """),
    )

    def concerns(self, file: File) -> bool:
        return saves_and_loads(file)

    def suspect(self, unit: Unit) -> bool:
        return bool(as_it_was(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for one in as_it_was(unit):
            yield self._report(unit, one)

    def _report(self, unit: Unit, one: AsItWas) -> Finding:
        loaded, path = one.loaded, unit.file.path
        check = tree_span(unit, one.check)
        if one.made is None or one.again is None:
            says = (
                f"`{loaded.into}` is loaded from what was saved of it, and nothing has changed it in between"
            )
            steps = []
        else:
            code = ast.unparse(one.made)
            says = f"`{loaded.into}` equals `{loaded.of}` before it is loaded: both are `{code}`"
            steps = [
                tree_step(unit, one.made, "the one is made here, and nothing is done to it"),
                tree_step(unit, one.again, "and the other in the same way"),
            ]
        steps += [
            tree_step(unit, loaded.saved, "saved here"),
            Step(path, check.line, check.end_line, "this holds if nothing is loaded"),
        ]
        return self.finding_at(
            unit,
            tree_span(unit, loaded.call),
            says,
            certainty="question",
            steps=steps,
            still_catches=("a load that raises, or that spoils what is there; none that does nothing",),
        )
