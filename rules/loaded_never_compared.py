"""Of what a test saves and loads again it compares no value.

## Why
The test asks what comes back for its type, its shape, or only whether there is something. A load that reads
nothing, that leaves out half of the keys, or that mixes up two of them gives back the same type and passes.

## Instead
Save values that can be told apart (not zeros, not fresh ones), and compare each that is loaded with the one
that was saved.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from reviewbot.flow.closely import Look, looks
from reviewbot.flow.patterns import pattern
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import (
    Example,
    File,
    Finding,
    Rule,
    Unit,
    called_last,
    once,
    root_of,
    tree_span,
    tree_step,
)

_SAVES = pattern(r"(?i)^_*(save|dump|store|export|serialize)(s|_\w+)?$|^to_(disk|file|bytes)$")
_LOADS = pattern(
    r"(?i)^_*(load|restore|deserialize|unpickle|resume)(s|_(from|model|adapters?|weights|checkpoint|state\w*|pretrained"
    r"|cache|pytree|params|optimizer|tokenizer|index|local|sharded|all)(_\w+)?)?$|^from_(pretrained|checkpoint|disk)$"
)
# What only reads a text.
_TEXTS = frozenset(
    {"json", "yaml", "toml", "tomllib", "csv", "configparser", "orjson", "ujson", "importlib", "np", "numpy"}
)
# A test that compares arrays may compare what was saved in another way.
_CLOSE = frozenset({
    "allclose", "isclose", "equal", "array_equal", "assert_close", "assert_allclose", "assert_array_equal",
    "assert_equal", "assertAllClose", "assertAllEqual", "assert_trees_all_close", "assert_trees_all_equal",
    "assert_array_almost_equal", "approx", "assertAlmostEqual",
})  # fmt: skip
# What the name of a test may be about without a value.
_OTHER = pattern(
    r"(?i)shape|d?type|class|instance|lazy|device|exist|smoke|raise|error|warn|deprec|invalid|missing|fail|speed"
    r"|memory|bench|empty|none|cache|path|signature|callable|import|plugin|registr|version|compat|format|precision|float\d|bf16|fp16"
)


class LoadedNeverCompared(Rule):
    folds = True
    told_by = (("restored-into-itself", "unit"), ("restore-into-equal", "unit"))
    bad = (
        Example("""
            from rigging import Ship, load_adapters, save_adapters

            def test_valid_adapter_loads(tmp_path, sails):
                save_adapters(sails, tmp_path)
                ship = load_adapters(Ship(), tmp_path)
                assert isinstance(ship, Ship)  # <- here

            class TestShip(TestCase):
                def test_round_trip(self):
                    self.ship.save(self.folder)
                    again = Ship.from_pretrained(self.folder)
                    self.assertIsNotNone(again)  # <- here
                    self.assertEqual(again.mast.shape, (3, 4))
        """),
        # Saved by a helper of the file; every item asked for its type.
        Example("""
            import torch
            from rigging import restore_state

            def written(folder, state):
                torch.save(state, folder / "state.pt")
                return folder

            def test_types_of_state(tmp_path, state):
                found = restore_state(written(tmp_path, state))
                for name, one in found.items():
                    assert isinstance(one, torch.Tensor)
                    assert not torch.isnan(one).any()

            def test_state(tmp_path, state):
                found = restore_state(written(tmp_path, state))
                assert "mast" in found  # <- here

            def test_runs(tmp_path, state, sea):
                again = restore_state(written(tmp_path, state))
                there = again.sail(sea)
                assert there["mast"].shape == (1, 7)  # <- here

            def test_refused(tmp_path, state):
                with pytest.raises(KeyError):
                    restore_state(tmp_path)
        """),
    )
    good = (
        # Compared, run, handed on, or compared by another test of the same load.
        Example("""
            from rigging import Ship, load_adapters, load_weights, restore_state, save_adapters

            def test_compared(tmp_path, sails):
                save_adapters(sails, tmp_path)
                ship = load_adapters(Ship(), tmp_path)
                assert isinstance(ship, Ship)
                assert ship.sails == sails

            def test_only_loads(tmp_path, sails):
                save_adapters(sails, tmp_path)
                ship = load_adapters(Ship(), tmp_path)
                assert isinstance(ship, Ship)

            def test_sailed(tmp_path, sails, sea):
                save_adapters(sails, tmp_path)
                ship = load_weights(tmp_path)
                assert ship is not None
                there = ship.sail(sea)
                assert there == 4

            def test_written(tmp_path, sails):
                save_adapters(sails, tmp_path)
                torch.testing.assert_close(read(tmp_path)["mast"], sails["mast"])
                ship = restore_state(tmp_path)
                assert ship is not None

            def test_text(tmp_path, sails):
                save_adapters(sails, tmp_path)
                crew = restore_state(tmp_path)
                song = crew.sing("shanty")
                assert "bowline" in song.lower()
                assert crew.sober is True

            def test_handed_on(tmp_path, sails):
                save_adapters(sails, tmp_path)
                ship = restore_state(tmp_path)
                assert ship is not None
                check_rig(ship)
        """),
        # Nothing was saved by the test; a text; what the name of the test is about.
        Example("""
            import json
            from rigging import Ship, restore_state, save_state

            def test_published(tmp_path, sails):
                save_state(sails, tmp_path)
                ship = Ship.from_pretrained("harbour/sloop")
                assert isinstance(ship, Ship)

            def test_report(tmp_path, ship):
                ship.save_report(tmp_path / "report.json")
                report = json.loads((tmp_path / "report.json").read_text())
                assert "mast" in report

            def test_restored_dtypes(tmp_path, ship):
                save_state(ship, tmp_path)
                found = restore_state(tmp_path)
                assert found.mast.dtype == "float32"
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.calls_any(_LOADS.search)

    def suspect(self, unit: Unit) -> bool:
        if not unit.is_test or not unit.calls_any(_LOADS.search) or _OTHER.search(unit.name):
            return False
        return not unit.calls(*_CLOSE) and any(_loaded(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        calls = dict(_loaded(unit))
        found = _kinds(looks(unit, _named(calls)))
        saved = _saved(unit) if found else None
        comparing = _comparing(unit.file)
        loaders = {called_last(call) for call in calls.values()}
        if saved is None or any(one is not unit for name in loaders for one in comparing.get(name, ())):
            return
        # What is computed from what was loaded is asked under another name.
        name = next((one.read.id for one in found if getattr(one.read, "id", "") in calls), next(iter(calls)))
        call = calls[name]
        if saved.lineno > call.lineno:
            return
        yield self.finding_at(
            unit,
            tree_span(unit, found[0].check),
            f"`{name}`, which `{called_last(call)}` gives back, is only checked for its type, shape or"
            " presence: no value is compared with what was saved",
            certainty="question",
            steps=(
                tree_step(unit, saved, "saved here"),
                tree_step(unit, call, "and loaded here"),
            ),
            still_catches=("a load that raises; not one that reads nothing, or other values",),
        )


def _kinds(found: list[Look]) -> list[Look]:
    """The looks that ask for a kind in the order in which they stand; none where another asks for a value."""
    if any(one.how != "kind" for one in found):
        return []
    return sorted(found, key=lambda one: one.check.lineno)


def _saved(unit: Unit) -> ast.Call | None:
    """The first call of a test that saves something, or that runs a function of the file that does."""
    saving = {
        one.name.rpartition(".")[2]
        for one in unit.file.units
        if one.is_function and not one.is_test and one.calls_any(_SAVES.search)
    }
    found = [
        call
        for call in unit.asts(ast.Call)
        if _SAVES.search(called_last(call)) or called_last(call) in saving
        if root_of(call.func) not in _TEXTS
    ]
    return min(found, key=lambda call: (call.lineno, call.col_offset), default=None)


def _loaded(unit: Unit) -> Iterator[tuple[str, ast.Call]]:
    """The names that a test gives what it has loaded, once each, with the calls."""
    for node in unit.asts(ast.Assign):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        target = node.targets[0]
        if not isinstance(call, ast.Call) or not isinstance(target, ast.Name) or len(node.targets) != 1:
            continue
        if any(isinstance(arg, ast.Constant) for arg in call.args[:1]):
            continue  # of a name that others have published
        once_given = len(unit.facts.stored.get(target.id, ())) == 1
        if once_given and _LOADS.search(called_last(call)) and root_of(call.func) not in _TEXTS:
            yield target.id, call


@once
def _comparing(file: File) -> dict[str, list[Unit]]:
    """By the last name of a loader the tests of the file, two at most, that call it and look at the values,
    or do not say what they load."""
    found: dict[str, list[Unit]] = {}
    for unit in file.units:
        loaders = [name for name in sorted(unit.facts.calls) if _LOADS.search(name)] if unit.is_test else []
        loaders = [name for name in loaders if len(found.get(name, ())) < _ENOUGH]
        if loaders and _looks_at_values(unit):
            for name in loaders:
                found.setdefault(name, []).append(unit)
    return found


_ENOUGH = 2  # one of them may be the test that asks


def _looks_at_values(unit: Unit) -> bool:
    names = {name for name, _ in _loaded(unit)}
    if not names:
        return not unit.calls("raises", "assertRaises", "assertRaisesRegex")
    return any(one.how == "value" for one in looks(unit, _named(names)))


def _named(names: Collection[str]) -> Callable[[ast.expr], bool]:
    return lambda node: isinstance(node, ast.Name) and node.id in names
