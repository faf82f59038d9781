"""A state is restored into the very object that it was saved from.

## Why
What is restored into holds the saved values before anything is read. A restore that reads nothing, reads
half, or gives back what it was handed passes as well as one that works.

## Instead
Restore into an object that was made anew, with other values (another seed, zeros, one more step of training),
and compare it with the one that was saved.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.saved_again import SavedAgain, may_save_again, saved_again
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, tree_span, tree_step

# A test of what is refused, or of how long it takes, compares nothing and is right.
_OTHER = pattern(r"(?i)bench|perf|speed|memory|raise|error|invalid|incorrect|fail|refus|warn|reset")


class RestoredIntoItself(Rule):
    folds = True
    told_by = (("self-compare", "unit"),)
    bad = (
        Example("""
            def test_sails_come_back(scheduler, tmp_path):
                save_state(scheduler, tmp_path)
                loaded = load_state(scheduler, tmp_path)  # <- here
                assert scheduler.state_dict() == loaded.state_dict()
        """),
        Example("""
            def test_tree(handler, folder):
                pytree = {"mast": 1, "sail": 2}
                handler.save(folder, args=SaveArgs(pytree))
                restored = handler.restore(folder, args=RestoreArgs(item=pytree))  # <- here
                assert restored == pytree
        """),
        Example("""
            def test_winds(engine):
                wind_scheduler = WindScheduler(engine)
                engine.run(8)
                assert engine.knots == 12
                state = wind_scheduler.state_dict()
                wind_scheduler.load_state_dict(state)  # <- here
        """),
        Example("""
            def test_step(optimizer, tmp_path):
                save_state(tmp_path, 10, optimizer)
                step = load_state(tmp_path, optimizer)  # <- here
                assert step == 10
        """),
    )
    good = (
        Example("""
            def test_sails_come_back(scheduler, tmp_path):
                save_state(scheduler, tmp_path)
                other = Scheduler(seed=2)
                loaded = load_state(other, tmp_path)
                assert scheduler.state_dict() == loaded.state_dict()

            def test_after_a_change(model, tmp_path):
                before = model.state_dict()
                save_state(model, tmp_path)
                model.zero_()
                load_state(model, tmp_path)
                assert model.state_dict() == before

            def test_shape_only(handler, folder, tree):
                handler.save(folder, args=SaveArgs(tree))
                restored = handler.restore(folder, args=RestoreArgs(shapes_of(tree)))
                assert restored == tree

            def test_both(handler, folder, tree, zeros):
                handler.save(folder, tree)
                restored = handler.restore(folder, tree)
                assert restored == tree
                again = handler.restore(folder, zeros)
                assert again == tree
        """),
        # What is checked is set by the load itself; a step that is given back; an error.
        Example("""
            def test_fixed_fields(optim, config, tmp_path):
                save_state(tmp_path, optim)
                load_state(tmp_path, optim)
                for group in optim.param_groups:
                    assert group["initial_lr"] == config.lr

            def test_incorrect_args(handler, state):
                handler.save(state)
                with raises(ValueError):
                    handler.restore(1, state)

            def test_optimizer(model, optim, tmp_path):
                save_state(tmp_path, model, optim, flatten_state=True)
                load_state(tmp_path, model, optim, flatten_state=True)
                assert optim.steps == 1

            def test_reading(handler, folder, tree):
                handler.save(folder, tree)
                restored = handler.restore(folder, tree)
                assert restored["mast"] == 1

            def test_flat(flatten_state, folder):
                save_rows(folder, flatten_state=flatten_state)
                load_rows(folder, flatten_state=flatten_state)

            def test_differs(optimizer, new_optimizer, tmp_path):
                save_state(optimizer, tmp_path)
                assert differ(optimizer.state_dict(), new_optimizer.state_dict())
                load_state(optimizer=new_optimizer, folder=tmp_path)

            def test_converted(model):
                state = model.state_dict()
                state = converted(state)
                model.load_state_dict(state)

            def test_goes_on(model, x):
                state = model.state_dict()
                model.load_state_dict(state)
                assert model(x).shape == (3,)
        """),
    )

    def concerns(self, file: File) -> bool:
        return may_save_again(file)

    def suspect(self, unit: Unit) -> bool:
        return may_save_again(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not in_test_file(unit.file.path) or _OTHER.search(unit.name):
            return
        for found in saved_again(unit):
            if not _is_refused(unit, found.load):
                yield self._say(unit, found)

    def _say(self, unit: Unit, found: SavedAgain) -> Finding:
        name = found.name
        steps = [
            tree_step(unit, found.save, f"`{name}` is saved"),
            tree_step(
                unit, found.load, f"what was saved goes back into `{name}`, which nothing has touched since"
            ),
        ]
        call = dotted_name(found.load.func) or "the load"
        if found.check is None:
            message = "what was just saved is restored into itself, and nothing looks at it afterwards"
            still = f"nothing but an exception: `{call}` may do nothing"
        else:
            node = found.check.node
            steps.append(tree_step(unit, node, "this holds without any load"))
            message = f"`{name}` is restored into itself: the check passes even where `{call}` reads nothing"
            still = f"nothing: `{name}` holds what was saved before `{call}` runs"
        return self.finding_at(
            unit,
            tree_span(unit, found.load),
            message,
            certainty="question" if found.check is None else "likely",
            steps=steps,
            still_catches=(still,),
        )


def _is_refused(unit: Unit, load: ast.Call) -> bool:
    """Whether the load stands in a block that expects it to be refused."""
    return any(
        any(below is load for below in ast.walk(block))
        and any("raises" in ast.unparse(item.context_expr).lower() for item in block.items)
        for block in [*unit.asts(ast.With), *unit.asts(ast.AsyncWith)]
    )
