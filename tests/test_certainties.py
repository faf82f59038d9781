"""What a rule claims and what it only asks about, in code that differs by little."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from reviewbot.lint import registry
from reviewbot.lint.engine import lint_file
from reviewbot.lint.repo import Repo
from reviewbot.model import Finding
from reviewbot.source.files import InMemory
from reviewbot.source.units import file_of

_DUMP = """
def write_rows(path, step, batch):
    lines = []
    for index, length in enumerate(batch["lengths"]):
        row = {"step": step}
        for field in ("tokens", "mask"):
            row[field] = batch[field][index][:length]
        lines.append(str(row))
    path.write_text("\\n".join(lines))
"""
_AT_HAND = "from trainer import loop\n"
_WAITS = """
import os
import pytest

@pytest.mark.skipif("WORLD_SIZE" not in os.environ, reason="{}")
def test_rows(gather):
    assert gather() == [0, 1]
"""
_CI = {".github/workflows/test.yml": "jobs:\n  unit:\n    steps:\n      - run: pytest tests/ranks\n"}


def certainties(rule_id: str, code: str, files: dict[str, str] | None = None, path: str = "") -> list[str]:
    return [finding.certainty for finding in found(rule_id, code, files, path)]


def reasons(rule_id: str, code: str, files: dict[str, str] | None = None, path: str = "") -> list[str]:
    """The certainties, where a question that names no reason of its own is `unexplained`."""
    return [
        "unexplained" if finding.message.endswith(_WITHOUT_REASON) else finding.certainty
        for finding in found(rule_id, code, files, path)
    ]


_WITHOUT_REASON = (
    "other code may have put something there",
    "its callers may know that there is some",
    "what the test is given may decide it",
    "there may be nothing to test then",
    "is the branch the agreement itself, or does it say where the check applies?",
)


def found(rule_id: str, code: str, files: dict[str, str] | None = None, path: str = "") -> list[Finding]:
    path = path or "tests/test_rows.py"
    content = dedent(code)
    repo = Repo(
        files=InMemory({name: text.encode() for name, text in {**(files or {}), path: content}.items()})
    )
    file = file_of(path, content.encode())
    return list(lint_file(file, [registry.load(rule_id)], repo.of(path)))


@pytest.mark.parametrize(
    ("setup", "condition", "expected"),
    [
        ("", "not isinstance(size, int)", "question"),
        ("width, height = size", "width > height", "question"),
        ("", "size.rows >= size.columns", "question"),
        ("rows = load(size)", "not rows", "unexplained"),
        ("", "not device_count() > 1", "likely"),
    ],
)
def test_a_cell_of_a_table_of_cases_may_be_left_out(setup, condition, expected):
    code = f"""
        def test_grid(run, size):
            {setup}
            if {condition}:
                return
            assert run(size)
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("does not converge", "likely"),
        ("FIXME: this is not right yet", "likely"),
        ("TODO: more to test of a large one", "question"),
    ],
)
def test_a_cell_is_left_out_because_it_fails_or_for_now(says, expected):
    code = f"""
        def test_grid(run, large):
            if large:
                # {says}
                return
            assert run(large)
    """
    assert certainties("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("path", "other", "expected"),
    [
        ("tests/recorder.py", "trainer/dump.py", ["likely"]),
        ("tests/recorder.py", "benchmarks/dump.py", ["question"]),
        ("tests/reference_dump.py", "trainer/dump.py", ["question"]),
        ("tests/recorder.py", "docs/examples/dump.py", []),
    ],
)
def test_a_copy_may_have_a_reason(path, other, expected):
    files = {other: _DUMP, "tests/test_dumps.py": "import recorder, reference_dump\n"}
    assert certainties("reimplements-existing", _AT_HAND + _DUMP, files, path) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("assert send.call_count == 6", "question"),
        ("send.assert_has_calls(tries)", "question"),
        ("assert send.call_count == 0", "likely"),
        ("send.assert_not_called()", "likely"),
        ("assert client.closed", "question"),
    ],
)
def test_a_broad_failure_is_asked_about_where_the_calls_before_it_are_looked_at(asked, expected):
    code = f"""
        import pytest

        def test_gives_up(client, send, tries):
            with pytest.raises(Exception):
                client.post("row")
            {asked}
    """
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("Not relevant for Postgres", "question"),
        ("The test is meaningless for it", "question"),
        ("We can't check anything then", "question"),
        ("It has no rows here", "unexplained"),
    ],
)
def test_a_return_that_says_that_nothing_is_to_be_tested_there(says, expected):
    code = f"""
        def test_migration(connect):
            dialect = connect()
            if dialect.name == "postgresql":
                # {says}
                return
            assert dialect.rows()
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("says", "expected"),
    [("the number of rows is as before", "question"), ("the rows are as before", "likely")],
)
def test_what_the_paragraph_of_a_check_says_that_it_asks(says, expected):
    code = f"""
        def test_restored_run_is_the_same(train, restore):
            baseline = train()

            # {says}
            restored = restore()
            assert len(restored) == len(baseline)
    """
    assert certainties("projection-before-compare", code) == [expected]


@pytest.mark.parametrize(
    ("reason", "expected"), [("brittle for some reason", "question"), ("acts twice", "likely")]
)
def test_an_expected_failure_that_comes_and_goes_is_asked_about(reason, expected):
    code = f"""
        import pytest

        @pytest.mark.xfail(reason="{reason}")
        def test_rows(run):
            assert run() == 1
    """
    assert certainties("xfail-not-strict", code) == [expected]


@pytest.mark.parametrize(
    ("error", "before", "asked", "expected"),
    [
        ("AttributeError", "calls.append(row)", "row.name", "question"),
        ("AttributeError", "row.name = 1", "row.name == 1", "proved"),
        ("AttributeError", "run(row)", "'name' in str(error.value)", "proved"),
        ("KeyError", "run(row)", "row['name'] == 1", "question"),
        ("ValueError", "run(row)", "row['name'] == 1", "proved"),
    ],
)
def test_the_reading_of_a_check_may_be_what_must_raise(error, before, asked, expected):
    code = f"""
        import pytest

        def test_row(run, row, calls):
            with pytest.raises({error}) as error:
                {before}
                assert {asked}
    """
    assert certainties("unreachable-check", code) == [expected]


@pytest.mark.parametrize("apart", ["left.retried", "not left.supports_seed", "left.steps != right.steps"])
def test_another_way_to_pass_is_asked_about(apart):
    code = f"""
        def test_restored(run, before, after):
            for left, right in zip(before, after, strict=True):
                assert left.tokens == right.tokens or {apart}
    """
    assert certainties("or-escape", code)[:1] == ["question"]


@pytest.mark.parametrize(("module", "expected"), [("pathlib", "question"), ("engine.fast", "likely")])
def test_the_standard_library_is_there(module, expected):
    code = f"""
        def test_load(load):
            try:
                import {module}
            except ImportError:
                return
            assert load({module})
    """
    assert certainties("early-return-test", code) == [expected]


@pytest.mark.parametrize(("given", "expected"), [("height", "question"), ("measure(place)", "likely")])
def test_how_large_the_values_of_a_table_of_cases_are_is_for_the_table_to_say(given, expected):
    code = f"""
        import pytest

        def test_height(look_up, measure, place, height):
            assert look_up(place) == pytest.approx({given}, abs=125)
    """
    assert certainties("huge-tolerance", code) == [expected]


@pytest.mark.parametrize(("name", "expected"), [("test__imports", "question"), ("test_important", "likely")])
def test_an_empty_test_that_the_imports_of_its_file_work(name, expected):
    code = f"""
        from rows import load

        def {name}():
            pass
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"), [("rows_tests_disabled.py", "question"), ("rows_tests.py", "likely")]
)
def test_a_file_may_say_that_its_tests_are_switched_off(name, expected):
    code = """
        def test_rows(run):
            assert run() == 1
    """
    assert certainties("never-collected-test", code, path=f"tests/{name}") == [expected]


@pytest.mark.parametrize(("caller", "expected"), [("dump_reference", ["question"]), ("dump_all", ["likely"])])
def test_a_part_of_a_reference_may_be_written_again(caller, expected):
    code = f"{_AT_HAND}{_DUMP}\ndef {caller}(path, batch):\n    write_rows(path, 0, batch)\n"
    files = {"trainer/dump.py": _DUMP, "tests/test_dumps.py": "import recorder\n"}
    assert certainties("reimplements-existing", code, files, "tests/recorder.py") == expected


@pytest.mark.parametrize(
    ("row", "last", "expected"),
    [
        ("(0.2, 0.3)", "micro[-1] is None", "question"),
        ("(0.2, 0.3)", "micro[0] > 0", "likely"),
        ("load(2)", "micro[-1] is None", "likely"),
    ],
)
def test_metrics_of_a_fixed_number_are_walked_with_rows_that_are_written_out(row, last, expected):
    code = f"""
        import pytest

        @pytest.mark.parametrize(("given", "wanted"), [(1, (0.5, 0.4)), (2, {row})])
        def test_micro(metrics, given, wanted):
            _, micro = metrics(given)
            assert {last}
            for found, one in zip(micro[:-1], wanted):
                assert abs(found - one) < 1e-3
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("left", "expected"), [("self.pages, self.wanted", "question"), ("self.pages, wanted()", "likely")]
)
def test_what_the_setup_made_is_walked_with_what_is_written_out(left, expected):
    code = f"""
        class TestPages:
            def test_numbers(self, wanted):
                numbers = [3, 5]
                for page, one, number in zip({left}, numbers):
                    assert page.name == f"{{one.name}}-{{number}}"
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("in_class", "expected"), [(True, ["question"]), (False, ["likely"])])
def test_a_method_may_be_written_again_for_a_class_of_its_own(in_class, expected):
    method = _DUMP.replace("\n", "\n    ").replace("(path", "(self, path")
    there, here = (f"class Dump:{method}", f"class SlowDump:{method}") if in_class else (_DUMP, _DUMP)
    assert certainties("reimplements-existing", _AT_HAND + here, {"trainer/dump.py": there}) == expected


@pytest.mark.parametrize(("made", "expected"), [("ref_rows, _", ["question"]), ("preferred, _", ["likely"])])
def test_what_is_made_by_a_copy_may_be_called_the_reference(made, expected):
    code = f"""
{_AT_HAND}{_DUMP}
def both(path, batch):
    return write_rows(path, 0, batch), 1

def test_rows(path, batch, fast):
    {made} = both(path, batch)
    assert fast() == path
"""
    assert certainties("reimplements-existing", code, {"trainer/dump.py": _DUMP}) == expected


@pytest.mark.parametrize(
    ("filled", "expected"), [("    losses.append(run(step))", "likely"), ("    run(step)", "proved")]
)
def test_a_list_of_the_module_that_a_function_fills_is_not_known_to_be_empty(filled, expected):
    code = f"""
WANTED = [2.0, 1.5]
losses = []

def train(step):
{filled}

def check_losses():
    for loss, wanted in zip(losses, WANTED):
        assert abs(loss - wanted) < 0.1
"""
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('"""The original, vendored to be compared with."""', ["question"]),
        ('"""Records rows."""', ["likely"]),
    ],
)
def test_an_original_that_is_compared_with_may_be_kept_beside_the_tests(said, expected):
    files = {"trainer/dump.py": _DUMP, "tests/original/__init__.py": said}
    code = _AT_HAND + _DUMP
    assert certainties("reimplements-existing", code, files, "tests/original/recorder.py") == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("needs torchrun", "likely"),
        ("a manual test: torchrun -n 2", "question"),
        ("not run in CI", "question"),
    ],
)
def test_what_is_said_to_be_started_by_hand_is_asked_about(reason, expected):
    assert certainties("skip-without-launcher", _WAITS.format(reason), _CI, "tests/ranks/test_rows.py") == [
        expected
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("class TestDisk", "likely"),
        ("class EveryStore", "question"),
        ("class EveryStore(TestCase)", "likely"),
    ],
)
def test_a_test_of_all_implementations_cannot_name_their_errors(name, expected):
    code = f"""
        import pytest

        {name}:
            def test_closed(self, store):
                with pytest.raises(Exception):
                    store.read("a")
    """
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("with pytest.raises(OSError):\n            store.read('a')", "question"),
        ("with pytest.raises(OSError):\n            store.write('a')", "likely"),
        ("store.find('b')", "likely"),
    ],
)
def test_the_other_branch_may_name_the_error(other, expected):
    code = f"""
import pytest

def test_closed(store, first):
    if first:
        {other}
    else:
        with pytest.raises(BaseException):
            store.read('a')
"""
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("test_rows", "likely"), ("test_trivial", "question"), ("test_merge_not_implemented", "question")],
)
def test_an_empty_test_may_say_that_it_is_one(name, expected):
    assert certainties("test-without-check", f"def {name}():\n    pass\n") == [expected]


@pytest.mark.parametrize(
    ("check", "expected"),
    [("1 == 1", ["question"]), ("run(1) == 1 or 1", ["proved"]), ("len(run(1)) >= 0", ["proved"])],
)
def test_who_writes_out_both_sides_sees_that_they_are_equal(check, expected):
    code = f"""
        def test_rows(run):
            assert run(2) == 2
            assert {check}
    """
    assert certainties("constant-verdict", code) == expected


@pytest.mark.parametrize(
    ("unread", "expected"),
    [
        ("rloss, ploss", ["likely"]),
        ("expected_loss, actual_loss", ["likely"]),
        ("enforce_order, enforce_sign", ["question"]),
        ("order, seasonal_order", ["question"]),
    ],
)
def test_sides_are_told_apart_as_others_are(unread, expected):
    code = f"""
        def check_parity(rmodel, pmodel, {unread}):
            assert rmodel == pmodel
    """
    assert certainties("side-not-compared", code) == expected


def test_what_an_annotation_says_binds_nobody():
    code = """
        from kitchen import bake

        def test_fan():
            assert bake(mode="fan") == 1
    """
    files = {
        "kitchen.py": "from typing import Literal\n\ndef bake(mode: Literal['grill', 'oven']): return 1\n"
    }
    assert certainties("impossible-input", code, files) == ["question"]


@pytest.mark.parametrize(
    ("decorator", "other", "expected"),
    [
        ("@given(drawn())", "rows", "question"),
        ("@given(drawn())", "run(rows)", "likely"),
        ("", "rows", "likely"),
    ],
)
def test_inputs_that_are_drawn_are_no_two_runs(decorator, other, expected):
    code = f"""
        from hypothesis import given

        {decorator}
        def test_rows(run, made):
            kind, rows = made
            run(kind, rows)
            for field, row in zip(kind.fields, {other}):
                assert row == field.default
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("decorator", "expected"), [('@engine.on("epoch")', "question"), ("", "proved")])
def test_a_handler_waits_for_an_event_of_many(decorator, expected):
    code = f"""
        def test_events(engine, done, last):
            {decorator}
            def check_epoch():
                epoch = done // 2 + 1
                if epoch == engine.state.epoch and done == engine.state.done:
                    assert engine.called[-2] == (epoch, done, last)
                    assert engine.called[-1] == (epoch, done, "epoch")

            engine.run(check_epoch)
    """
    assert certainties("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ('raise Exception("planned")', "question"),
        ('raise ValueError("planned")', "likely"),
        # Only says that something has failed.
        ("try: request()\n                except ValueError: raise Exception(request)", "likely"),
    ],
)
def test_a_bare_error_may_be_the_one_that_the_file_raises_for_it(raised, expected):
    code = f"""
        import pytest

        class Broken:
            def on_get(self, request):
                {raised}

        def test_error(client):
            client.add("/", Broken())
            with pytest.raises(Exception):
                client.get("/")
    """
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(
    ("imported", "left", "expected"),
    [
        ("import math", "left", "likely"),
        ("from sympy import N", "left", "question"),
        ("from sympy import N", "float(left)", "likely"),
    ],
)
def test_nan_of_sympy_refuses_to_be_ordered(imported, left, expected):
    code = f"""
        {imported}

        def check_roots(left, right):
            if abs({left} - right) > 1e-9:
                raise AssertionError(left)
    """
    assert certainties("nan-passes", code) == [expected]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [("rows", "likely"), ("run", "question"), ("step", "question"), ("later", "likely")],
)
def test_a_method_is_bound_anew_each_time(attribute, expected):
    code = f"""
        def test_trainer(make):
            class Trainer(Base):
                def run(self):
                    return self.rows

                step = wrapped(run)

            trainer = Trainer(make)
            assert trainer.{attribute} == trainer.{attribute}
            assert trainer.step(2) == 4
    """
    assert certainties("self-compare", code) == [expected]


@pytest.mark.parametrize(
    ("switch", "expected"),
    [("ram_limited = True", "question"), ("ram_limited = memory() < 18", "likely")],
)
def test_a_test_may_be_switched_off_by_hand(switch, expected):
    code = f"""
        def test_large_weights(run):
            {switch}  # set to False to run this here
            if device_count() == 1 and ram_limited:
                return
            assert run(1) < 10
    """
    assert certainties("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("path", "stored", "expected"),
    [
        ("tests/compare_rows.py", "row", ["likely"]),
        ("tests/compare_rows.py", "row.size", ["question"]),
        ("tools/show.py", "row", ["question"]),
    ],
)
def test_the_rows_of_a_comparison_are_many(path, stored, expected):
    code = f"""
        def by_kind(rows):
            found = {{}}
            for row in rows:
                found[row.kind] = {stored}
            return found

        def show(rows, others):
            first = by_kind(rows)
            second = by_kind(rows)
            for kind, row in by_kind(others).items():
                assert first[kind] == row
                assert second[kind].size == row.size
    """
    assert certainties("repeated-row-index", code, path=path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ('"tests/data/rows.jsonl"', "question"),
        ("run.path", "unexplained"),
        ('"out/rows.jsonl"', "unexplained"),
    ],
)
def test_a_file_beside_the_tests_holds_something(path, expected):
    code = f"""
        def test_rows(run):
            with open({path}) as lines:
                for number, line in enumerate(lines):
                    assert run(line) == number
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("sides", "more", "expected"),
    [
        ("left, right", "", "likely"),
        ("left, right, strict=False", "", "question"),
        ("left, right", "assert next(left, None) is None and next(right, None) is None", "question"),
        ("left, right", "assert next(left, None) is None", "likely"),
    ],
)
def test_who_walks_in_step_may_have_thought_of_the_rest(sides, more, expected):
    code = f"""
        def test_rows(run):
            left, right = iter(run(1)), iter(run(2))
            for one, other in zip({sides}):
                assert one == other
            {more}
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ("reference, restored", "likely"),
        ("planned_config, restored_config", "question"),
        ("north, south", "question"),
    ],
)
def test_settings_may_rightly_lack_a_key(sides, expected):
    one, other = sides.split(", ")
    code = f"""
        def compare({sides}):
            for key in ("course", "load"):
                assert {one}.get(key) == {other}.get(key), key
    """
    assert certainties("missing-equals-missing", code) == [expected]


@pytest.mark.parametrize(("source", "expected"), [("chart.rows", "likely"), ("_CODE_TO_NAME", "question")])
def test_what_is_left_of_a_table_is_hardly_empty(source, expected):
    code = f"""
        from harbour.codes import _CODE_TO_NAME

        def test_names(chart):
            names = list({source}.values())
            others = [name for name in names if name != "buoy"]
            assert sorted(others) == others
    """
    assert certainties("order-of-nothing", code) == [expected]


@pytest.mark.parametrize(
    ("setup", "loop", "expected"),
    [
        ("", "name in restored", "likely"),
        ("", "name in baseline", "question"),
        ("common = set(baseline) & set(restored)", "name in common", "likely"),
        ("common = set(baseline) & set(restored); assert len(common) >= 5", "name in common", "question"),
    ],
)
def test_what_the_run_under_test_has_beyond_the_other_is_a_question(setup, loop, expected):
    code = f"""
        def test_restored(train):
            baseline = train(resume=False)
            restored = train(resume=True)
            {setup}
            for {loop}:
                assert restored[name] == baseline[name]
    """
    assert certainties("pair-keys-intersect", code) == [expected]


@pytest.mark.parametrize(("also", "expected"), [("", "unexplained"), ("assert crew", "question")])
def test_figures_that_may_be_missing_may_leave_no_check(also, expected):
    code = f"""
        def test_speed(sail, tow, crew):
            here = sail(crew).get("knots")
            there = tow(crew).get("knots")
            {also}
            if here is not None and there is not None:
                assert here - there <= 0.3
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("baseline.startswith(restored)", ["question"]),
        ("all(row in baseline for row in restored)", ["question"]),
        ("set(restored) == set(baseline)", []),
    ],
)
def test_a_part_of_what_a_run_gave_may_be_all_that_is_asked(asked, expected):
    code = f"""
        def test_runs_match(run, resume):
            baseline, restored = run(), resume()
            assert {asked}
    """
    assert certainties("one-way-compare", code) == expected


@pytest.mark.parametrize(
    ("comment", "expected"), [("the same values", "likely"), ("have the same number of them", "question")]
)
def test_a_comment_may_speak_of_the_number_alone(comment, expected):
    code = f"""
        def test_steps(env):
            first_row = env.step()
            second_row = env.step()
            # Both {comment}, and are the same.
            assert len(first_row.sails) == len(second_row.sails)
    """
    assert certainties("projection-before-compare", code) == [expected]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("len(first.sails)", "len(second.sails)", "likely"),
        ("len(first.sails)", "len(second.masts)", "question"),
        ("first.sails.shape", "second.sails.shape", "question"),
    ],
)
def test_the_numbers_of_two_things_are_no_part_of_one(one, other, expected):
    code = f"""
        def test_same_ships(build, load):
            first, second = build(), load()
            assert {one} == {other}
    """
    assert certainties("projection-before-compare", code) == [expected]


@pytest.mark.parametrize(("atol", "expected"), [("0.7", "likely"), ("0.1", "question")])
def test_a_tenth_of_what_is_drawn_is_not_as_wide(atol, expected):
    code = f"""
        import torch

        def test_sails(hull):
            sails = torch.randn(4)
            assert torch.allclose(hull(sails), hull.slow(sails), atol={atol})

        def test_others(hull):
            sails = torch.randn(4)
            assert torch.allclose(hull.a(sails), hull.b(sails), atol=1e-4)
            assert torch.allclose(hull.c(sails), hull.d(sails), atol=1e-4)
            assert torch.allclose(hull.e(sails), hull.f(sails), atol=1e-4)
    """
    assert certainties("huge-tolerance", code) == [expected]


@pytest.mark.parametrize(
    ("demanded", "expected"),
    [
        ('assert set(first.keys()) - set(second.keys()) == {"tied"}', "question"),
        ("assert len(second)", "likely"),
    ],
)
def test_which_keys_one_side_lacks_may_be_demanded(demanded, expected):
    code = f"""
        def test_merged(load, merge):
            first = load("one")
            second = load("other")
            {demanded}
            for key, row in first.items():
                if key not in second:
                    continue
                assert row == second[key]
    """
    assert certainties("pair-keys-intersect", code) == [expected]


@pytest.mark.parametrize(
    ("made", "expected"),
    [("(a + b for a, b in given)", "question"), ("run(1), run(2)", "likely")],
)
def test_two_parts_of_one_value_may_differ_in_length(made, expected):
    code = f"""
        def test_tensors(run, given):
            before, after = {made}
            for one, other in zip(before, after):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [("left.param_groups, right.param_groups", "question"), ("left.rows, right.rows", "likely")],
)
def test_optimizers_have_as_many_groups_as_they_were_given(sides, expected):
    code = f"""
        def test_groups(left, right):
            for one, other in zip({sides}):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


def test_a_group_of_what_was_wrapped_may_have_as_many_weights():
    code = """
        def assert_alike(one, other, close):
            for left, right in zip(one.param_groups, other.param_groups, strict=True):
                for weight, wanted in zip(left["params"], right["params"]):
                    assert close(weight, wanted)
    """
    assert certainties("zip-truncates", code) == ["question"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("targets", "question"), ("load('wanted')", "likely")],
)
def test_a_helper_is_told_what_to_expect_of_each_group(wanted, expected):
    code = f"""
        def check_rates(optimizer, targets):
            for group, target in zip(optimizer.param_groups, {wanted}):
                assert group["lr"] == target
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("lines", "wanted", "expected"),
    [
        ("iter(TEXT.splitlines())", '[["a", 1], ["b", 2]]', "question"),
        ("TEXT.splitlines()", "[read(line) for line in WANTED.split()]", "question"),
        ("[one, other]", "map(str.strip, WANTED.splitlines())", "question"),
        # What is tested has made how many there are.
        ("parse(TEXT)", '[["a", 1], ["b", 2]]', "likely"),
        ("[row for row in TEXT.splitlines() if parse(row)]", '[["a", 1], ["b", 2]]', "likely"),
    ],
)
def test_how_many_there_are_may_be_written_in_the_test(lines, wanted, expected):
    code = f"""
        TEXT = "a 1; b 2"
        WANTED = "a b"

        def test_lines(parse, read, one, other):
            for line, expected in zip({lines}, {wanted}):
                assert parse(line) == expected
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("adds", "expected"),
    [
        ('lines.append("\\n".join(lines))', "question"),
        ("lines.append(parse(TEXT))", "question"),
        ("for _ in parse(TEXT): lines.append(_)", "likely"),
        ("parse.on_line(lambda line: lines.append(line))", "likely"),
    ],
)
def test_a_list_grows_by_what_the_test_adds_once(adds, expected):
    code = f"""
        TEXT = "a 1; b 2"

        def test_lines(parse):
            lines = TEXT.splitlines()
            {adds}
            for line, expected in zip(lines, [["a", 1], ["b", 2]]):
                assert parse(line) == expected
    """
    assert certainties("zip-truncates", code) == [expected]


def test_a_table_of_a_module_may_be_made_item_by_item_of_another():
    code = """
        ROWS = [make(4) for _ in range({})]
        WANTED = [most(row) for row in ROWS]

        def test_rows(run):
            for row, wanted in zip(ROWS, {}):
                assert run(row) == wanted
    """
    assert certainties("zip-truncates", code.format(5, "WANTED")) == []
    assert certainties("zip-truncates", code.format(5, "[most(r) for r in run(ROWS)]")) == ["likely"]


def test_a_list_that_stays_empty_holds_as_many_as_are_written():
    code = """
        def test_steps(run):
            found = []
            run(2)
            for step, wanted in zip(found, [0, 1]):
                assert step == wanted
    """
    assert certainties("zip-truncates", code) == ["proved"]


@pytest.mark.parametrize(
    ("two", "expected"),
    [
        ("(run(a, f) for a, f in zip((one, other), fold))", "question"),
        ("(run(a, f) for a, f in zip(one.rows, fold))", "likely"),
    ],
)
def test_two_are_walked_beside_what_a_helper_is_told(two, expected):
    code = f"""
        def check_both(run, one, other, wanted, late):
            if late:
                fold = [0, 1]
            else:
                fold = [0, 0]
            made = {two}
            for value, found in zip(wanted, made):
                assert found == value
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("wanted", "expected"), [("[200, 500]", []), ("codes()", ["likely"])])
def test_as_many_results_as_tasks(wanted, expected):
    code = f"""
        import asyncio

        async def test_codes(ask, codes):
            tasks = [ask("a"), ask("b")]
            results = await asyncio.gather(*tasks)
            wanted = {wanted}
            for found, code in zip(results, wanted):
                assert found.code == code
    """
    assert certainties("zip-truncates", code) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("['a', 'b']", "'1 2'.split()", "question"), ("['a', 'b']", "run(2)", "likely")],
)
def test_callers_may_write_both_tables(one, other, expected):
    code = f"""
        class TestNames(TestCase):
            def check_names(self, names, wanted):
                for name, number in zip(names, wanted):
                    self.assertEqual(self.find(name), number)

            def test_names(self, run):
                self.check_names({one}, {other})
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("names", "expected"), [("state._fields", "question"), ("run(3)", "likely")])
def test_fields_may_be_walked_beside_their_names(names, expected):
    code = f"""
        def test_state(run):
            state, wanted = run(1), run(2)
            for name, found, value in zip({names}, state, wanted):
                assert found == value, name
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('["out", "dq"] + (["dk"] if state else [])', "question"),
        ("NAMES", "question"),
        ("[name for name in state]", "likely"),
    ],
)
def test_callers_may_write_the_names_of_what_is_compared(given, expected):
    code = f"""
        NAMES = ("out", "dq")

        def assert_alike(run, names, close):
            wanted, made = run("slow"), run("fast")
            for name, left, right in zip(names, wanted, made):
                close(name, left, right)
                assert left == right

        def test_gradients(run, state, close):
            assert_alike(run, {given}, close)
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("setup", "sides", "expected"),
    [
        ("a = [p for p in left.parameters() if p.requires_grad]", "a, right.parameters()", "question"),
        ("a = [p for p in left.parameters() if p.grad is not None]", "a, right.parameters()", "likely"),
        ("a = left.parameters()", "a, right.parameters()", "question"),
        ("a = left.parameters(); print(*a)", "a, right.parameters()", "likely"),
        ("assert len(left) == 4", "left[1:], run(right)", "question"),
        ("assert len(right) == 4", "left[1:], run(left)", "likely"),
        # Who wrote out the names has counted what is compared.
        ("names = ['dq', 'dk']", "run(left), run(right), names", "question"),
        ("names = run(right).names", "run(left), run(right), names", "likely"),
        # As many pairs of neighbours as there are rows less one.
        ("", "left, run(right), left[1:]", "question"),
        ("", "left, run(right), right[1:]", "likely"),
    ],
)
def test_sides_may_be_known_or_meant_to_differ_in_length(setup, sides, expected):
    code = f"""
        def test_rows(run, left, right):
            {setup}
            for one, other, *more in zip({sides}):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("items", "expected"), [("[run(left), 2]", "question"), ("run(left)", "likely")])
def test_items_that_a_test_writes_out_it_has_counted(items, expected):
    code = f"""
        def test_rows(run, left):
            before = []
            after = []
            for n in left:
                before.append({items})
            run(left)
            for n in left:
                after.append({items})
            for one in before:
                for other in after:
                    for part, again in zip(one, other):
                        assert part == again
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("given", "expected"), [("rows, masks", "question"), ("rows, again", "likely")])
def test_callers_may_have_unpacked_both_sides_from_one_value(given, expected):
    code = f"""
        def check_masks(rows, masks):
            for row, mask in zip(rows, masks):
                assert row.size == mask.size

        def test_masks(made, run):
            rows, masks = made
            again = run(rows)
            check_masks({given})
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("[row for row in run(1) if row.done]", "likely"),
        ("[row for row in run(1) if row.grad is not None]", "likely"),
        # What leaves out the exceptions expects the rest to be there.
        ("[row for row in run(1) if row is not None]", "question"),
        ("[row for row in run(1) if row != case]", "question"),
        ("filter(lambda row: 'late' not in row, run(1))", "question"),
        ("filter(lambda row: 'late' in row, run(1))", "likely"),
        # Something is written out, of which the filter is to leave some.
        ("[line for line in 'a : b'.split(' ') if ':' in line]", "question"),
        ("[pair for pair in list(set(combinations(list(range(-2, 3)) * 3, 3))) if any(pair)]", "question"),
        ("reports(run(1), 'targets')", "question"),
    ],
)
def test_a_filter_need_not_be_there_to_find_anything(made, expected):
    later = "rows = [row[1:] for row in rows]; rows = sorted(rows)" if "reports" in made else ""
    code = f"""
        from itertools import combinations

        def reports(lines, kind):
            return [line for line in lines if kind in line]

        def test_rows(run, case, wanted):
            rows = {made}
            for row in rows:
                assert run(row)
            {later}
            {"assert len(rows) == len(wanted)" if later else ""}
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("decorator", "written", "expected"),
    [("", "parts", "unexplained"), ("@given(rows())", "parts", "question"), ("", "buffer", "question")],
)
def test_what_the_test_puts_in_or_draws_is_asked_about(decorator, written, expected):
    code = f"""
        import tarfile
        from hypothesis import given

        {decorator}
        def test_archive(run, buffer, parts):
            with tarfile.open(fileobj={written}, mode="w") as archive:
                archive.addfile(run(1))
            for part in tarfile.open(fileobj=buffer):
                assert run(part)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ('self.assertFalse(name.endswith(".log"))', "question"),
        ('assert not name.startswith("tmp")', "question"),
        ("self.assertNotIn(name, given)", "question"),
        ("self.assertFalse(is_damaged(name))", "unexplained"),
        ('self.assertTrue(name.endswith(".log"))', "unexplained"),
    ],
)
def test_nothing_is_as_good_where_a_name_is_forbidden(check, expected):
    code = f"""
        import os

        class TestFolder(TestCase):
            def test_files(self, run, folder, given):
                run(folder)
                for name in os.listdir(folder):
                    {check}
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("self.folder", "question"), ("self.other", "unexplained")],
)
def test_a_folder_that_is_restored_from_holds_something(folder, expected):
    code = f"""
        class TestFolder(TestCase):
            def test_files(self, handler, rows):
                handler.save(self.folder, rows)
                for path in (self.folder / "rows").iterdir():
                    assert path.stat().st_size < 4096
                loaded = handler.restore({folder})
                self.assertEqual(rows, loaded)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ('Path(__file__).parent / "wanted.json"', "question"),
        ('os.path.join(os.path.dirname(__file__), "..", "wanted.json")', "question"),
        ("WANTED", "question"),
        # Of the run, or of whoever calls: it may be as empty as what made it.
        ('folder / "wanted.json"', "unexplained"),
        ('os.path.join(os.getcwd(), "wanted.json")', "unexplained"),
        ("Path(__file__).parent / run(1)", "unexplained"),
    ],
)
def test_a_file_that_stands_beside_the_test_is_not_empty(path, expected):
    code = f"""
        import json
        import os
        from pathlib import Path

        WANTED = Path(__file__).resolve().parent / "data" / "wanted.json"

        def test_rows(run, folder):
            path = {path}
            with open(path) as file:
                rows = json.load(file)
            for row in rows:
                assert run(row)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ("readlines()", "question"),
        ("read().splitlines()", "question"),
        ("read(9).splitlines()", "question"),
    ],
)
def test_a_file_beside_the_test_may_be_read_line_by_line(reads, expected):
    code = f"""
        from pathlib import Path

        def test_lines(run):
            root = Path(__file__).parent
            with (root / "setup.toml").open() as file:
                lines = file.{reads}
            for line in lines:
                assert run(line)
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("done", "asked", "expected"),
    [
        ("clean_up(folder)", "not names", []),
        ("clean_up(folder)", "False", []),
        ("clean_up(folder)", "'rows.json' not in names", []),
        ("clean_up(folder)", "names == ['rows.json']", ["unexplained"]),
        ("write(folder)", "len(names) == 0", ["unexplained"]),
    ],
)
def test_a_folder_of_which_nothing_is_to_be_left_may_be_gone(done, asked, expected):
    code = f"""
        import os

        def test_rows(folder):
            {done}
            for _, _, names in os.walk(folder):
                assert {asked}
    """
    assert reasons("loop-may-be-empty", code) == expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("Path(__file__).parent / 'rows'", "question"), ("ROWS", "question"), ("run.folder", "unexplained")],
)
def test_a_folder_of_the_repository_is_kept_and_one_of_a_run_may_be_empty(folder, expected):
    code = f"""
        from pathlib import Path

        ROWS = Path("rows")

        def test_rows(run):
            for path in ({folder}).glob("*.json"):
                assert run(path)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("name", "comment", "expected"),
    [
        ("rows_are_done", "each of them", "likely"),
        ("no_row_is_late", "each of them", "question"),
        ("rows_are_done", "it is fine if there are none", "question"),
    ],
)
def test_a_name_or_a_comment_may_say_that_none_is_right(name, comment, expected):
    code = f"""
        def test_{name}(run):
            # {comment}
            for row in [row for row in run(1) if row.kind == "late"]:
                assert row.done
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("also", "expected"), [("", "likely"), ("assert rows[-1] == 3", "question"), ("print(rows)", "likely")]
)
def test_what_looks_at_the_same_may_tell_of_none(also, expected):
    code = f"""
        def test_rows(run):
            rows = [row.place for row in run(1) if row.kind == "late"]
            assert all(later >= row for row, later in zip(rows, rows[1:]))
            {also}
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ('os.listdir(os.path.join(os.path.dirname(__file__), "settings"))', "question"),
        ('(Path(__file__).parent / "settings").iterdir()', "question"),
        ("os.listdir(packed)", "question"),
        ('(Path(__file__).parent / "settings").glob("*.conf")', "question"),
        ('[n for n in os.listdir(packed) if n.endswith(".conf")]', "likely"),
        ("os.listdir(made)", "unexplained"),
    ],
)
def test_all_of_a_folder_of_the_repository_is_something(listed, expected):
    code = f"""
        import importlib.resources
        import os
        from pathlib import Path

        def test_settings(run, known, made):
            with importlib.resources.as_file(importlib.resources.files("kettle") / "settings") as packed:
                run(made)
                for name in {listed}:
                    assert run(name) in known
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("done", "expected"), [("self.find(part)", []), ("self.assert_named(part)", ["question"])]
)
def test_a_method_that_walks_down_does_with_each_part_what_it_does(done, expected):
    code = f"""
        class Finder:
            def find(self, thing):
                assert thing.found
                for part in getattr(thing, "parts", {{}}).values():
                    {done}
    """
    assert certainties("loop-may-be-empty", code) == expected


def test_a_script_calls_no_method_by_its_own_name():
    code = """
        from pathlib import Path

        if __name__ == "__main__":
            for path in Path(folder()).glob("*.pt"):
                loaded = load(path)
                assert loaded.rows
                for row in loaded.rows:
                    print(row.gap().max())
    """
    assert reasons("loop-may-be-empty", code) == ["unexplained"]


@pytest.mark.parametrize(
    ("asserted", "expected"),
    [("len(twice) == 4", "question"), ("len(twice) == 0", "unexplained")],
)
def test_that_there_are_none_of_a_kind_says_not_that_there_are_some(asserted, expected):
    code = f"""
        def test_spine(root):
            found = []
            for item in root.findall("item"):
                assert item.id
                found.append(item.name)
            twice = [name for name, times in count(found).items() if times > 1]
            assert {asserted}
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(("again", "times"), [("#doors > *", 1), ("#windows > *", 2)])
def test_what_many_tests_ask_of_one_query_is_said_once(again, times):
    code = f"""
        def test_open(page):
            assert all(part.open for part in page.query("#doors > *"))

        def test_painted(page):
            assert all(part.painted for part in page.query("{again}"))
    """
    assert certainties("loop-may-be-empty", code) == ["question"] * times


@pytest.mark.parametrize(("again", "times"), [("all_names()", 1), ("other_names()", 2)])
def test_what_one_helper_may_leave_empty_is_said_once(again, times):
    code = f"""
        import glob

        def all_names():
            return {{path[:-5] for path in glob.glob("settings/*.yaml")}}

        def other_names():
            return {{path[:-5] for path in glob.glob("others/*.yaml")}}

        def test_version(load):
            for name in all_names():
                assert "version" in load(name)

        def test_name(load):
            for name in {again}:
                assert load(name)["name"] == name
    """
    assert certainties("loop-may-be-empty", code) == ["question"] * times


_FILLED = """
def test_groups(run, named):
    wanted, settings = [], []
    wanted = []
    settings = []
    wanted.append(["bias"])
    settings.append(0.1)
    {more}
    for name, made in named(run(1)):
        for group, rate in zip(wanted, settings):
            assert made.of(name, group) == rate
    wanted = []
    settings = []
    wanted.append(["weight"])
    settings.append(0.3)
    for name, made in named(run(2)):
        assert made.rate == settings[0]
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [("", "question"), ("settings = run(3).settings", "likely")],
)
def test_lists_that_a_test_fills_side_by_side(more, expected):
    assert certainties("zip-truncates", _FILLED.format(more=more)) == [expected]


@pytest.mark.parametrize(
    ("compared", "expected"),
    [("target, result", "question"), ("wanted, found", "likely")],
)
def test_a_loop_for_the_message_of_a_whole_comparison(compared, expected):
    code = f"""
        from numpy.testing import assert_allclose

        def test_rates(run, tables):
            result = run(1)
            target = [table[1] for table in tables]
            for wanted, found in zip(target, result):
                assert_allclose({compared}, err_msg=f"{{wanted}}, {{found}}")
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("tools/fill_words.py", "question"), ("tests/test_words.py", "likely")],
)
def test_a_program_that_refuses_an_index_compares_nothing(path, expected):
    code = """
        def fill(source_in, target_in, write):
            for source, target in zip(source_in, target_in):
                words = source.split()
                place = int(target)
                if place >= len(words):
                    raise IndexError(target)
                write(words[place])
    """
    assert certainties("zip-truncates", code, path=path) == [expected]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [("Both find the same rows.", "likely"), ("Both find the same number of rows.", "question")],
)
def test_a_comment_may_say_that_only_the_number_is_meant(comment, expected):
    code = f"""
        def test_search(search):
            plain = search(fast=False)
            fast = search(fast=True)

            # {comment}
            assert len(plain) == len(fast)
    """
    assert certainties("projection-before-compare", code) == [expected]


@pytest.mark.parametrize(
    ("condition", "expected"), [("kind != 'a' and rows", "question"), ("rows is None", "unexplained")]
)
def test_a_return_from_a_later_turn_of_a_loop_is_asked_about(condition, expected):
    code = f"""
        def test_kinds(load, run):
            rows = load()
            for kind in ["a", "b"]:
                if {condition}:
                    return
                assert run(rows, kind)
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("-1 not in before and -1 not in after", "question"),
        ("rows[0] not in before and rows[0] not in after", "unexplained"),
    ],
)
def test_rows_with_padding_may_be_left_out(condition, expected):
    code = f"""
        def split(rows, seen):
            if len(rows) < seen:
                raise ValueError(seen)
            return [row for row in rows if row > seen]

        def test_resumed(rows):
            original = split(rows, 0)
            resumed = split(rows, 3)
            for number in range(len(original)):
                before = set(original[number])
                after = set(resumed[number])
                if {condition}:
                    assert before == after
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("over", "expected"),
    [("dir(model)", "question"), ("model.names()", "likely")],
)
def test_a_filter_over_what_the_test_defines_itself(over, expected):
    code = f"""
        def test_stages(trace, Model):
            model = Model()
            for name in filter(lambda n: n.startswith("stage"), {over}):
                assert name in trace(model)
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert whole.size - part.size == 1", "question"),
        ("assert whole.size == part.size + 1", "unexplained"),
    ],
)
def test_equal_sizes_are_not_apart(check, expected):
    code = f"""
        def test_sizes(run):
            part, whole = run(1), run(2)
            if part.size < whole.size:
                {check}
            assert part.mode == whole.mode
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ('"""The ranges give the same number of results as all."""', "question"),
        ('"""The ranges give the same results as all."""', "likely"),
    ],
)
def test_a_test_may_say_that_it_is_about_how_many_there_are(says, expected):
    code = f"""
        def test_same_ranges(names):
            {says}
            wanted = names(0, 9)
            found = names(RANGES)
            assert len(wanted) == len(found)
    """
    assert certainties("projection-before-compare", code) == [expected]


def test_each_of_one_side_may_be_looked_for_in_the_other():
    code = """
        def compare_rows(actual, expected):
            assert len(actual) == len(expected)
            for wanted in expected:
                found = False
                for row in {}:
                    if row == wanted:
                        found = True
                assert found
    """
    assert certainties("projection-before-compare", code.format("actual")) == []


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [("@given(moments())", "question"), ("", "unexplained")],
)
def test_what_is_drawn_and_left_out_is_one_of_many(drawn, expected):
    code = f"""
        from hypothesis import given

        {drawn}
        def test_zone(moment):
            zone = find_zone()
            if zone.is_local:
                return
            assert moment.to(zone) == moment
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("asks", "expected"),
    [
        ("", "likely"),
        ("tmp_path", "likely"),
        ("kettle", "likely"),
        ("pot", "likely"),
        ("options, wanted", "question"),
        ("full=False", "question"),
    ],
)
def test_what_no_fixture_gives_somebody_hands_in(asks, expected):
    code = f"""
        import pytest

        @pytest.fixture
        def kettle():
            return 1

        def test_pot(pot):
            assert pot

        def _test_lid({asks}):
            assert make()
    """
    assert certainties("never-collected-test", code) == [expected]


@pytest.mark.parametrize(
    ("under", "expected"),
    [
        ('release.startswith("1.4.")', "question"),
        ('release == "1.5"', "question"),
        ('release == "fast"', "unexplained"),
    ],
)
def test_an_excuse_may_be_for_one_version_of_a_dependency(under, expected):
    code = f"""
        import warnings
        from engine import release

        def test_logits(run):
            wanted, found = run(1), run(2)
            if {under}:
                whole = str(wanted) + str(found)
                if "nan" in whole:
                    warnings.warn(whole)
                    return
            assert wanted == found
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("made", "item", "expected"),
    [
        ("rows = [{}, {}]", "rows[0]", "proved"),
        ("rows = load()", "rows[0]", "question"),
        ("rows = load()", 'rows["tokens"]', "likely"),
        ("rows = [load(), load()]", "rows[0][1]", "question"),
        ("rows = written()", "rows[0]", "proved"),
        ("rows = json.loads(text)", 'rows[0]["tokens"]', "proved"),
        ("rows = other = load()", "rows.order", "question"),
        ("rows = other = load()", "rows.loss", "likely"),
    ],
)
def test_only_an_item_of_plain_data_is_surely_the_same_twice(made, item, expected):
    code = f"""
        import json
        def written():
            return [[1, 2], [3]]

        class Shuffled:
            @property
            def order(self):
                return draw()

        def test_rows(load, text):
            {made}
            assert {item} == {item}
    """
    assert certainties("self-compare", code) == [expected]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("class Wide(Schema):\n                keys = 3\n            row = Wide", "proved"),
        ("class row(Schema):\n                keys = 3", "question"),
        ("class row:\n                keys = 3", "proved"),
    ],
)
def test_a_class_made_of_another_may_be_asked_whether_it_equals_itself(made, expected):
    code = f"""
        from tables import Schema

        def test_rows():
            {made}
            assert row == row
    """
    assert certainties("self-compare", code) == [expected]


@pytest.mark.parametrize(("item", "expected"), [("", "proved"), (".loss", "likely"), ("[0]", "likely")])
def test_another_name_for_an_object_is_no_other_name_for_what_it_computes(item, expected):
    code = f"""
        def test_rows(load):
            first = load()
            second = first
            assert first{item} == second{item}
    """
    assert certainties("self-compare", code) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", "likely"),
        ("pass  # TODO(ann): find one that is small enough", "question"),
        ("# TODO", "question"),
        ("# assert run(1) == 2", "likely"),
    ],
)
def test_an_empty_test_may_say_that_it_is_still_to_be_written(body, expected):
    code = f"""
        class TestRows:
            def test_rows(self):
                {body}
                pass
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("handler", "run", "expected"),
    [
        ("print(error)", "test_menu()", "question"),
        ("client.close()", "test_menu()", "likely"),
        ("print(error)", "serve()", "likely"),
    ],
)
def test_an_example_of_a_client_may_be_named_as_a_test(handler, run, expected):
    code = f"""
        from client import Client, serve

        def test_menu():
            client = Client()
            try:
                menu = client.menu()
                print(menu)
            except Exception as error:
                {handler}

        def main():
            {run}

        if __name__ == "__main__":
            main()
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [("return Rows", "likely"), ("return Rows(1)", "question"), ("yield Rows", "question")],
)
def test_a_fixture_that_runs_nothing_makes_no_test(returns, expected):
    code = f"""
        import pytest

        class TestRows:
            @pytest.fixture
            def rows_class(self):
                from rows import Rows
                {returns}

            def test_rows(self, rows_class):
                pass
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        ("torch.autograd.grad(loss, [left, right])", "slow(loss)", ["likely"]),
        ("torch.autograd.grad(loss, [left, right])", "[left.grad, right.grad]", []),
        ("torch.autograd.grad(loss, [left, right])", "torch.autograd.grad(slow, [left, right])", []),
        ("loss.grads()", "slow.grads()", ["likely"]),
    ],
)
def test_there_is_a_gradient_for_each_input(found, wanted, expected):
    code = f"""
        import torch

        def test_gradients(loss, slow, left, right):
            found = {found}
            wanted = {wanted}
            for one, other in zip(found, wanted):
                assert abs(one - other) < 1e-3
    """
    assert certainties("zip-truncates", code) == expected


@pytest.mark.parametrize("fills", ["heapq.heappush(best, row)", "keep(best, row)"])
def test_what_is_given_an_empty_list_may_fill_it(fills):
    code = f"""
        import heapq

        def test_best(rows, search):
            best = []
            for row in rows:
                {fills}
            for one, other in zip(sorted(best), search(1)[:4]):
                assert one == other
    """
    assert "proved" not in certainties("zip-truncates", code)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("assert left == right", "question"),
        ("if not left: assert left == right; return", "likely"),
        ("assert left is not right", "likely"),
        ("", "likely"),
    ],
)
def test_what_holds_both_sides_may_be_compared_as_a_whole(before, expected):
    code = f"""
        def test_tables(run):
            left, right = run(1), run(2)
            {before}
            column, other = left["sail"], right["sail"]
            for one, value in zip(column, other):
                assert type(one) is type(value)
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("decorator", "made", "expected"),
    [
        ("@parameterized.expand(CASES)", "wanted", "question"),
        ("@parameterized.expand(CASES)", "run(wanted)", "likely"),
        ("@pytest.mark.skip(reason='slow')", "run(wanted)", "question"),
        ("@pytest.mark.skipif(SLOW, reason='slow')", "run(wanted)", "likely"),
        ("", "Rows()(2)", "question"),
        ("", "run(Rows())", "likely"),
    ],
)
def test_a_test_says_how_long_its_own_sides_are(decorator, made, expected):
    code = f"""
        class TestRows(TestCase):
            {decorator}
            def test_rows(self, given, wanted):
                class Rows:
                    def __call__(self, number):
                        return [1, 2]
                left = {made}
                for one, other in zip(left, {"Rows()(1)" if "Rows" in made else "given"}):
                    assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("listed", "check", "expected"),
    [
        ("source.iterdir()", "assert (target / path.name).exists()", "question"),
        ("os.listdir(source)", "assert path in os.listdir(target)", "question"),
        ("os.listdir(source)", "assert path in WANTED", "unexplained"),
        ("source.iterdir()", "assert path.stat().st_size > 0", "unexplained"),
    ],
)
def test_what_is_looked_for_somewhere_else_is_the_original(listed, check, expected):
    code = f"""
        import os

        def test_copied(run, source, target):
            run(source, target)
            for path in {listed}:
                {check}
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("run(1).names or []", "question"),
        ('getattr(run(1), "names", [])', "question"),
        ("set(run(1)) - set(run(2))", "question"),
        ("page.query('#doors')", "question"),
        ('run(1).get("names", [])', "question"),
        ("[name for name in run(1) if name.done]", "likely"),
    ],
)
def test_what_is_empty_for_a_reason_as_often_as_not_is_asked_about(over, expected):
    code = f"""
        def test_names(run, page):
            for name in {over}:
                assert name.known
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("os.walk(ROWS_DIR)", "question"),
        ("os.walk(folder)", "unexplained"),
        ('(Path(__file__).parents[2] / "rows").rglob("*.py")', "question"),
        ('(Path(__file__).parents[2] / "rows").rglob("*.json")', "question"),
        ("[path for path in ROWS_DIR.iterdir() if path.is_file()]", "question"),
        ("[path for path in ROWS_DIR.iterdir() if path.suffix == '.json']", "likely"),
        ("Path('docs/rows').iterdir()", "question"),
        ("Path('docs/rows').glob('*.py')", "question"),
        ("Path('docs/rows').glob('*.json')", "question"),
        ("Path('/out/rows').iterdir()", "unexplained"),
    ],
)
def test_a_folder_of_the_tests_own_holds_something(listed, expected):
    code = f"""
        import os
        from pathlib import Path

        from tests.common import ROWS_DIR

        def test_rows(run, folder):
            for path in {listed}:
                assert run(path)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("walked", "expected"), [("range(8)", "question"), ("run(8)", "likely"), ("range(len(run(8)))", "likely")]
)
def test_numbers_and_combinations_are_as_many_as_is_written(walked, expected):
    code = f"""
        import itertools

        def test_bits(run):
            found = []
            for number in {walked}:
                found.append(run(number))
            wanted = [list(reversed(bits)) for bits in itertools.product([False, True], repeat=3)]
            for one, other in zip(found, wanted):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert not path.is_file()", "question"),
        ("assert path.is_dir()", "question"),
        ("assert path.is_file()", "unexplained"),
    ],
)
def test_that_there_is_no_file_holds_of_nothing_too(check, expected):
    code = f"""
        def test_cache(run, cache):
            run(cache)
            for path in cache.glob("**/rows/**"):
                {check}
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("rows", "wanted", "expected"),
    [
        ("[Row(one) for one in self.rows]", "self.wanted", "question"),
        ("self.rows", "self.wanted", "question"),
        ("[draw(number) for number in range(4)]", "[0, 1, 2, 3]", "question"),
        ("run(self.rows)", "self.wanted", "likely"),
    ],
)
def test_what_the_callers_keep_is_side_by_side_in_them(rows, wanted, expected):
    code = f"""
        class TestRows(TestCase):
            def compare_rows(self, rows, wanted):
                turned = [row.turn(column) for row in rows for column in rows]
                expected = [row @ column for row in wanted for column in wanted]
                for one, other in zip(turned, expected):
                    self.assertEqual(one, other)

            def test_turned(self):
                self.compare_rows({rows}, {wanted})
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("after", "expected"),
    [("raise AssertionError", []), ("self.fail('no step')", []), ("print('no step')", ["unexplained"])],
)
def test_a_loop_that_has_to_return_is_not_passed_by(after, expected):
    code = f"""
        class TestBuild(TestCase):
            def test_step(self, path):
                with open(path) as lines:
                    for line in lines:
                        if line.startswith("step"):
                            self.assertIn("epoch", line)
                            return
                {after}
    """
    assert reasons("loop-may-be-empty", code) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [("assert form == other_form", ["question"]), ("assert form is not None", ["likely"])],
)
def test_what_tells_of_both_sides_may_be_compared(before, expected):
    code = f"""
        def test_trees(run, flatten):
            leaves, form = flatten(run(1))
            others, other_form = flatten(run(2))
            {before}
            for one, other in zip(leaves, others):
                assert one == other
            leaves = [leaf for leaf in leaves if leaf]
            others = [leaf for leaf in others if leaf]
            assert run(leaves, others)
    """
    assert certainties("zip-truncates", code) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("left.shape == right.shape", "question"),
        ("left.seed == right.seed", "likely"),
        ("left.shape", "likely"),
    ],
)
def test_arrays_of_one_shape_have_as_many_items(asked, expected):
    code = f"""
        def test_items(run):
            left, right = run(1), run(2)
            assert {asked}
            for one, other in zip(left.flat, right.flat):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("last", "expected"), [("[one, run(4)]", []), ("run(4)", ["likely"])])
def test_a_helper_returns_lists_that_it_writes_out(last, expected):
    code = f"""
        def sampled(run):
            one = run(3)
            return [one, one], {last}

        def test_sampled(run, slow):
            values, kept = sampled(run)
            _, others = sampled(slow)
            for value, one, other in zip(values, kept, others):
                assert one - value == other
    """
    assert certainties("zip-truncates", code) == expected


@pytest.mark.parametrize(
    ("made", "check", "expected"),
    [
        ("sizes", "assert run(size, seed) > 0.1", "question"),
        ("load()", "assert run(size, seed) > 0.1", "likely"),
        ("sizes", "assert size == seed", "likely"),
        ("sizes", "assert size.rows == seed.rows", "likely"),
        ("sizes", "assert_close(size, seed)", "likely"),
        ("sizes", "assert size in seed", "question"),
    ],
)
def test_inputs_stand_side_by_side_where_nothing_compares_them(made, check, expected):
    code = f"""
        class TestSizes(TestCase):
            def compare_sizes(self, run, load, sizes, seeds):
                for size, seed in zip({made}, seeds):
                    assert size
                    assert seed
                    {check}
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("KINDS", "question"),
        ("kinds['small'] + kinds['large']", "question"),
        ("run(KINDS)", "likely"),
        ("left(KINDS)", "question"),
        ("left(run(1))", "likely"),
        ("self.run.kinds", "likely"),
    ],
)
def test_what_is_kept_of_a_table_its_author_knows(over, expected):
    made = over if "left" in over else f"[kind for kind in {over} if kind.ready]"
    code = f"""
        from kettle import KINDS, kinds

        def left(every):
            return [kind for kind in every if kind.ready]

        class TestKinds(TestCase):
            def test_kinds(self, run):
                for kind in {made}:
                    self.assertEqual(kind.boil(), 100)
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert rows.size == chosen.size", "question"),
        ("assert_close(rows, chosen)", "unexplained"),
        ("assert rows1.size == rows2.size", "unexplained"),
        ("assert rows_no_cache.size == rows_cache.size", "unexplained"),
    ],
)
def test_a_branch_between_two_runs_is_asked_about_without_a_reason_of_its_own(check, expected):
    left, right = [
        word.strip("(),") for word in check.replace("(", " ").split() if word.startswith(("rows", "chosen"))
    ]
    left, right = left.removesuffix(".size"), right.removesuffix(".size")
    code = f"""
        def test_sizes(take, choose):
            {left} = take(1)
            {right} = choose(2)
            if {left}.weight < {right}.weight:
                {check}
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        # What a set holds that compared values have filled, and what the branch works out itself.
        ("name in late", "likely"),
        ("first_late(row, sailed[name]) == kept.get(name)", "unexplained"),
    ],
)
def test_a_branch_that_works_something_out_may_be_the_agreement(asked, expected):
    code = f"""
        def first_late(row, other):
            for at, (day, found) in enumerate(zip(row["days"], other["days"], strict=True)):
                if found != day:
                    return at
            return None

        def compare(planned, sailed, kept):
            late = {{one for one in planned if first_late(planned[one], sailed[one]) == kept.get(one)}}
            for name, row in planned.items():
                if {asked}:
                    continue
                assert row["days"] == sailed[name]["days"]
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("made", "expected"),
    [("after.clone()", "question"), ("after.copy()", "question"), ("sail(after)", "likely")],
)
def test_places_that_may_change_are_masked_in_a_copy(made, expected):
    code = f"""
        def test_others_stay(sail, before, after):
            restored = {made}
            restored[2:5] = before[2:5]
            assert torch.equal(restored, before)
    """
    assert certainties("expected-from-actual", code) == [expected]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("assert kept == {0, 2}", []),
        ("assert run(2) == kept", []),
        ("assert other == {0, 2}", ["likely"]),
    ],
)
def test_what_the_same_filter_keeps_may_be_compared_as_a_whole(before, expected):
    code = f"""
        def test_pairs(run):
            rows = run(1)
            kept = {{row.place for row in rows if row.done}}
            other = {{row.place for row in rows if row.late}}
            {before}
            for row in [row for row in rows if row.done]:
                assert row.place > 1
    """
    assert certainties("loop-may-be-empty", code) == expected


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ("plot = draw(rows)", "question"),
        ("plot = draw(other)", "question"),
        ("plot = draw(other, wide=True)", "likely"),
        ("plot = draw(rows, wide=True)", "question"),
        ("plot = draw(other, more)", "likely"),
        ("with pytest.raises(Exception):\n                plot = draw(rows)", "likely"),
    ],
)
def test_a_call_that_passes_elsewhere_in_the_test_shows_a_misspelt_name(again, expected):
    code = f"""
        import pytest

        def test_plots(rows, other, fits):
            if not fits:
                with pytest.raises(Exception):
                    plot = draw(rows)
            {again}
        """
    assert certainties("raises-too-broad", code) == [expected]


_VISIT = """
from dataclasses import dataclass

@dataclass
class Visit:
    garden: str
    town: str
    day: int
    guide: str = ""
"""
_LATER = """
def later(visit: Visit):
    return Visit(garden=visit.garden, town=visit.town, day=visit.day + 1, guide=visit.guide)
"""


@pytest.mark.parametrize(
    ("reader", "day", "expected"),
    [
        (_LATER, "visit.day", "likely"),
        (_LATER, "with_guide", "question"),
        ("def told(visit: Visit):\n    return visit.guide\n", "visit.day", "question"),
        ("def told(visit):\n    return visit.guide\n", "visit.day", "question"),
        ("", "visit.day", "question"),
    ],
)
def test_who_would_miss_the_field_that_a_rebuild_leaves_behind(reader, day, expected):
    code = f"""
from garden.visit import Visit

def moved(visit: Visit) -> Visit:
    with_guide = visit.day + (1 if {"visit.guide" if day == "with_guide" else "visit.town"} else 0)
    return Visit(garden=visit.garden, town=visit.town, day={day})

{reader}
"""
    found = certainties("field-dropped-on-rebuild", code, {"garden/visit.py": _VISIT}, "garden/moved.py")
    assert found == [expected]


@pytest.mark.parametrize(
    ("condition", "says", "expected"),
    [
        ("not fast and named", "names are not supported by the slow one", "question"),
        ("not fast and named", "it fails there", "likely"),
        ("BOATS[named].sunk", "", "question"),
        ("any(part > 3 for part in named)", "", "question"),
        ("harbour.is_drill_mode()", "", "question"),
        ("harbour.count() < 2", "", "unexplained"),
    ],
)
def test_a_return_for_some_of_the_cases_that_a_test_is_given(condition, says, expected):
    code = f"""
        import harbour
        from boats import BOATS

        def test_sail(fast, named, sail):
            if {condition}:
                # {says}
                return
            assert sail(fast, named)
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("name", "remark", "expected"),
    [
        ("_test_lid", "# needs a kiln of its own", "question"),
        ("_test_lid", "", "likely"),
        ("tset_lid", "# needs a kiln of its own", "likely"),
    ],
)
def test_an_underscore_and_a_comment_in_the_test_switch_it_off(name, remark, expected):
    code = f"""
        def test_pot():
            assert bake()

        def {name}():
            {remark}
            assert make()
    """
    assert certainties("never-collected-test", code) == [expected]


@pytest.mark.parametrize(
    ("condition", "remark", "expected"),
    [
        ("device_count() < 2", "", "likely"),
        ("device_count() < 2", "# one boat has no convoy", "question"),
        ("harbour.boats() < 2", "", "unexplained"),
        ("harbour.engine is None", "# no engine importable here", "likely"),
        ("harbour.engine is None", "# boats that are rowed", "question"),
        ("isinstance(harbour.boats(), str)", "# skip names", "question"),
    ],
)
def test_a_return_says_whether_it_is_for_a_machine(condition, remark, expected):
    code = f"""
        from fleet import device_count, harbour

        def test_convoy():
            if {condition}:
                return  {remark}
            assert harbour.convoy()
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(("mark", "expected"), [("network", "question"), ("slow", "likely")])
def test_an_expected_failure_of_a_test_that_asks_the_network(mark, expected):
    code = f"""
        import pytest

        @pytest.mark.{mark}
        @pytest.mark.xfail(reason="refuses us")
        def test_rows(run):
            assert run() == 1
    """
    assert certainties("xfail-not-strict", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("boat", "question"), ("boat.name", "question"), ("boat.sails", "likely"), ("boat.id == 3", "likely")],
)
def test_a_loop_over_all_that_have_a_name(asked, expected):
    code = f"""
        def test_boats(harbour):
            named = [boat for boat in harbour.boats() if {asked}]
            assert all(boat.afloat for boat in named)
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ('assert harbour.berth("north")', "question"),
        ('assert harbour.berth("north", wide=True)', "likely"),
        ('assert harbour.quay("north")', "likely"),
    ],
)
def test_a_broad_failure_is_asked_about_where_the_same_call_passes_before(before, expected):
    code = f"""
        import pytest

        def test_no_such_berth(harbour):
            {before}
            with pytest.raises(Exception):
                harbour.berth("nowhere")
    """
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("(sent, refused) = events", "question"),
        ("assert client.closed", "question"),
        ("client.close.assert_not_called()", "likely"),
        ("record.close()", "likely"),
    ],
)
def test_a_broad_failure_is_asked_about_where_what_was_recorded_is_taken_apart(after, expected):
    code = f"""
        import pytest

        def test_refused(client, record):
            events = record()
            try:
                client.send(["row"])
                pytest.fail("must refuse")
            except Exception:
                pass
            {after}
    """
    assert certainties("raises-too-broad", code) == [expected]


@pytest.mark.parametrize(("error", "expected"), [("Exception", "question"), ("AssertionError", "likely")])
def test_a_check_behind_a_failed_comparison_does_not_say_which_check_failed(error, expected):
    code = f"""
        import pytest

        def compare_tides(run, baseline):
            assert len(run) == len(baseline)
            assert run == baseline

        def test_refused(run, baseline):
            try:
                compare_tides(run, baseline)
                pytest.fail("must differ")
            except {error}:
                pass
            assert run.closed
    """
    assert certainties("raises-too-broad", code) == [expected]


def test_a_broad_failure_is_asked_about_where_no_other_can_be_named():
    code = """
        import pytest
        from harbour import berth

        def test_refused():
            with pytest.raises(Exception):
                berth("nowhere")
    """
    raises = "def berth(name):\n    raise {}(name)\n"
    told = [
        certainties("raises-too-broad", code, {"harbour.py": raises.format(error)})
        for error in ("Exception", "KeyError")
    ]
    assert told == [["question"], ["likely"]]


@pytest.mark.parametrize("call", ["basin.flood", "flood"])
def test_a_broad_failure_of_what_is_handed_over_is_asked_about_where_no_other_can_be_named(call):
    code = f"""
        import unittest
        from harbour import Basin, flood

        class TestBasin(unittest.TestCase):
            def test_flooded(self):
                basin = Basin()
                self.assertRaises(Exception, {call})
    """
    raises = "class Basin:\n    def flood(self):\n        raise {0}(1)\n\ndef flood():\n    raise {0}(1)\n"
    told = [
        certainties("raises-too-broad", code, {"harbour.py": raises.format(error)})
        for error in ("Exception", "KeyError")
    ]
    assert told == [["question"], ["likely"]]


@pytest.mark.parametrize(
    ("expected_error", "dead", "after", "expected"),
    [
        ('ValueError, match="no such port"', "assert course == 1", "", "question"),
        ("ValueError", "assert course == chart.course", 'assert "no port" in str(caught.value)', "question"),
        # Nothing says which error it was; what is left behind could be asked all the same.
        ("ValueError", "assert course == 1", "", "proved"),
        ("ValueError", "assert course == 1", "assert chart.calm", "proved"),
        ('ValueError, match="no such port"', "assert chart.course is None", "", "proved"),
        ("ValueError", 'assert caught.value.port == "Atlantis"', "assert caught", "proved"),
        (
            'ValueError, match="no such port"',
            "assert course == 1\n                assert chart.calm",
            "",
            "proved",
        ),
    ],
)
def test_a_check_of_what_there_is_not_once_it_has_raised_is_asked_about(
    expected_error, dead, after, expected
):
    code = f"""
        import pytest

        def test_course_is_refused(plan, chart):
            with pytest.raises({expected_error}) as caught:
                course = plan("Atlantis")
                {dead}
            {after}
    """
    assert certainties("unreachable-check", code) == [expected]


@pytest.mark.parametrize(
    ("note", "expected"),
    [("pass", "proved"), ('"fails now and then, #1420"', "question"), ("pass  # see issues/77", "question")],
)
def test_a_failure_that_is_let_go_with_the_number_of_its_report_is_asked_about(note, expected):
    code = f"""
        def test_lamp(lamp):
            try:
                assert lamp.lit
            except Exception:
                {note}
    """
    assert certainties("swallowed-failure", code) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert left == right", "likely"),
        ("assert left == right\n        if left is None:\n            break", "question"),
        ("assert left < 9 and run(right)", "question"),
        ("for a, b in zip(left, right):\n            assert a == b", "question"),
    ],
)
def test_a_walk_in_step_is_asked_about_where_it_ends_of_itself_or_its_sides_stand_side_by_side(
    body, expected
):
    code = f"""
def test_rows(run):
    rows, again = run(1), run(2)
    for left, right in zip(rows, again):
        {body}
"""
    assert certainties("zip-truncates", code)[-1:] == [expected]


@pytest.mark.parametrize(
    ("counted", "expected"),
    [("assert len(events) == 3", "question"), ("assert events[0].name == 'start'", "likely")],
)
def test_a_walk_over_all_but_the_first_of_what_is_counted(counted, expected):
    code = f"""
        def test_tasks(record, run):
            events = record(run)
            {counted}
            later = events[1:]
            for event, name in zip(later, ["first", "second"]):
                assert event.name == name
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("shown", "expected"), [('assert tree(spans) == "- a"', "question"), ("print(tree(spans))", "likely")]
)
def test_a_loop_over_some_of_what_is_compared_as_a_whole(shown, expected):
    code = f"""
        def test_spans(record, run, tree):
            spans = record(run)
            for span in [span for span in spans if span.kind == "db"]:
                assert span.system == "files"
            {shown}
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("reason", "expected"), [("compiled kernels are not built here", "question"), ("later", "likely")]
)
def test_own_code_that_has_to_be_built_first(reason, expected):
    code = f"""
        import pytest

        rows = pytest.importorskip("trainer.rows", reason="{reason}")

        def test_read():
            assert rows.read() == []
    """
    files = {"trainer/__init__.py": "", "trainer/rows.py": "def read():\n    return []\n"}
    assert certainties("import-skip-of-own-code", code, files) == [expected]


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        ("assert chart.count(NEWLINE) + 1 == shown.count(NEWLINE)", "question"),
        ("assert chart.count(NEWLINE) + 1 == 4", "likely"),
    ],
)
def test_lines_of_which_a_check_says_by_how_many_they_differ(counted, expected):
    code = f"""
        NEWLINE = chr(10)

        def test_shown(show, chart):
            shown = show(chart)
            {counted}
            for one, other in zip(chart.splitlines(), shown.splitlines()):
                assert one == other
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ("source.splitlines()", "question"),
        ("re.findall(r'def (.*)', FERRY_PY)", "question"),
        ("[node for node in ast.walk(tree) if isinstance(node, ast.Call)]", "question"),
        ("shown.splitlines()", "unexplained"),
    ],
)
def test_a_loop_over_the_source_of_a_program(over, expected):
    code = f"""
        import ast
        import re

        def test_style(source, tree, shown):
            for one in {over}:
                assert one.short
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"), [("!= 'sunk'", "question"), ("== 'afloat'", "likely"), ("!= ''", "likely")]
)
def test_a_loop_that_forbids_one_value(asked, expected):
    code = f"""
        def test_none_has_sunk(harbour):
            moored = [boat for boat in harbour.boats() if boat.moored == 3]
            assert all(boat.state {asked} for boat in moored)
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(("name", "expected"), [("test_print_chart", "question"), ("test_chart", "likely")])
def test_a_test_that_is_named_for_printing(name, expected):
    code = f"""
        def {name}(draw):
            chart = draw(3)
            print(chart)
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(("name", "expected"), [("_test_boats.py", "question"), ("boats.py", "likely")])
def test_a_file_that_an_underscore_switches_off(name, expected):
    code = """
        def test_boats(harbour):
            assert harbour.boats == 3
    """
    assert certainties("never-collected-test", code, path=f"tests/{name}") == [expected]


@pytest.mark.parametrize(
    ("again", "expected"), [("read([left, right])", "question"), ("resume([left, right])", "likely")]
)
def test_a_walk_over_what_one_call_gives_twice(again, expected):
    code = f"""
        def test_averages(read, resume, update, left, right):
            first, second = read([left, right])
            update(left, right)
            third, fourth = {again}
            for one, two, three, four in zip(first, second, third, fourth):
                assert one == three
                assert four == (one + two) / 2
    """
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(("comment", "expected"), [("  # no part of the API", "question"), ("", "likely")])
def test_a_test_that_a_comment_takes_out(comment, expected):
    code = f"""
        def _test_boats(harbour):{comment}
            assert harbour.boats == 3

        def test_quay(harbour):
            assert harbour.quay
    """
    assert certainties("never-collected-test", code) == [expected]


@pytest.mark.parametrize(
    ("over", "made", "expected"),
    [
        ("@pytest.mark.parametrize('name', NAMES)", "load(name)", "question"),
        ("@parameterized.expand(NAMES)", "load(name)", "question"),
        ("@pytest.mark.parametrize('name', NAMES)", "load('all')", "unexplained"),
        ("", "load(name)", "unexplained"),
    ],
)
def test_what_is_made_of_a_case_may_leave_the_case_out(over, made, expected):
    code = f"""
        import pytest
        from harbour import load

        {over}
        def test_berths(name):
            rows = {made}
            if not rows:
                return
            assert rows[0].berth
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(("given", "expected"), [("(params=ROUTES)", "question"), ("", "unexplained")])
def test_a_fixture_may_be_one_of_several_cases(given, expected):
    code = f"""
        import pytest
        from harbour import load

        @pytest.fixture{given}
        def route(harbour):
            return harbour.route()

        def test_berths(route):
            rows = load(route)
            if not rows:
                return
            assert rows[0].berth
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(("made", "expected"), [("load(name)", "question"), ("load()", "unexplained")])
def test_a_return_of_what_a_turn_has_made_may_come_after_checks(made, expected):
    code = f"""
        from harbour import load

        def test_berths():
            for name in ("north", "south"):
                rows = {made}
                if not rows:
                    return
                assert rows[0].berth
    """
    assert reasons("early-return-test", code) == [expected]


@pytest.mark.parametrize(("taken", "expected"), [("one, other", "question"), ("", "likely")])
def test_a_check_that_takes_something_may_be_left_of_a_test_that_is_gone(taken, expected):
    code = f"""
        from harbour import one, other

        def assert_same_berth({taken}):
            assert one.berth == other.berth

        def test_berth():
            assert one.berth
    """
    assert certainties("never-collected-test", code) == [expected]


@pytest.mark.parametrize(
    ("sides", "made", "expected"),
    [("north, south", "run(1), run(2)", "question"), ("reference, restored", "run(1), run(2)", "likely")],
)
def test_two_calls_may_rightly_give_no_such_key(sides, made, expected):
    one, other = sides.split(", ")
    code = f"""
        def test_loads(run):
            {sides} = {made}
            assert {one}.get("load") == {other}.get("load")
    """
    assert certainties("missing-equals-missing", code) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("...\n    # TODO\n    # port = Port()", "question"),
        ("...\n# TODO: another file", "likely"),
        ("...\n    # port = Port()", "likely"),
    ],
)
def test_a_comment_behind_the_last_line_of_an_empty_test_is_its_own(body, expected):
    code = f"""
def test_port():
    {body}

def test_berth(port):
    assert port.berth
"""
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("same_berth", "likely"), ("check_berth", "likely"), ("wait_for_berth", "question")],
)
def test_a_verdict_may_be_dropped_of_what_is_called_for_what_it_does(name, expected):
    code = f"""
        def {name}(one, other):
            return one.berth == other.berth

        def test_berth(ship, boat):
            {name}(ship, boat)
            assert ship.berth
    """
    assert certainties("check-result-dropped", code) == [expected]


@pytest.mark.parametrize(
    ("also", "expected"),
    [
        ("assert 'berth' in text", "likely"),
        ("assert 'berth' in text or 'port' in text", "likely"),
        ("assert dock.moor() == 3", "question"),
    ],
)
def test_text_in_a_source_may_be_one_thing_of_several_that_are_tested(also, expected):
    code = f"""
        import inspect
        import dock

        def test_moor():
            text = inspect.getsource(dock.moor)
            assert "rope" in text
            {also}
    """
    files = {"dock.py": "def moor():\n    rope = 3\n    return rope\n"}
    assert certainties("test-restates-code", code, files) == [expected]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("harbour.berth('north', quay=1, deep=True)", "question"),
        ("harbour.berth('north', deep=True)", "likely"),
        ("harbour.berth(quay=1)", "likely"),
    ],
)
def test_a_call_that_passes_with_more_by_name_shows_a_misspelt_name(before, expected):
    code = f"""
        import pytest

        def test_no_such_quay(harbour):
            {before}
            with pytest.raises(Exception):
                harbour.berth("south", quay=0)
    """
    assert certainties("raises-too-broad", code) == [expected]


def test_a_case_is_left_out_that_the_test_writes_down():
    code = """
        import pytest
        from harbour import BERTHS, deep, load, shallow

        @pytest.mark.parametrize("berth", BERTHS)
        def test_berths(berth):
            without = {}
            if berth in without:
                return
            assert load(berth).rows
    """
    told = [reasons("early-return-test", code.format(made)) for made in ("[deep, shallow]", "load('none')")]
    assert told == [["question"], ["unexplained"]]


@pytest.mark.parametrize(
    ("hook", "expected"),
    [("def pytest_generate_tests(metafunc): ...", "question"), ("", "unexplained")],
)
def test_a_fixture_may_take_what_a_hook_gives_several_values(hook, expected):
    code = """
        def test_parsed(parser):
            tree = parser.parse("row")
            if tree is None:
                return
            assert tree.rows
    """
    fixtures = f"import pytest\n\n@pytest.fixture\ndef parser(version):\n    return version\n\n{hook}\n"
    assert reasons("early-return-test", code, {"tests/conftest.py": fixtures}) == [expected]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("requires a newer chart", "question"), ("only on old charts", "question"), ("wrong chart", "likely")],
)
def test_an_expected_failure_may_depend_on_where_it_runs(reason, expected):
    code = f"""
        import pytest

        @pytest.mark.xfail(reason="{reason}")
        def test_rows(run):
            assert run() == 1
    """
    assert certainties("xfail-not-strict", code) == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("tests/issue_files/rows.py", "question"), ("tests/rows.py", "proved")],
)
def test_what_stands_among_the_files_that_tests_read_may_not_be_run(path, expected):
    assert certainties("check-result-dropped", "rows[1:] == rows[:]\n", path=path) == [expected]


@pytest.mark.parametrize(("import_", "expected"), [("from nose.tools import eq_", []), ("", ["likely"])])
def test_nose_looks_into_files_of_any_name(import_, expected):
    code = """
        def test_berth(berth):
            assert berth.quay
    """
    files = {"tests/port_tests.py": f"{import_}\n\ndef test_port(port):\n    assert port\n"}
    assert certainties("never-collected-test", code, files, "tests/berth_tests.py") == expected


@pytest.mark.parametrize(
    ("mark", "expected"),
    [("@pytest.mark.skip(reason='to come')", []), ("@pytest.mark.slow", ["likely"])],
)
def test_an_empty_test_of_a_class_that_is_skipped_does_not_pass(mark, expected):
    code = f"""
        import pytest

        {mark}
        class TestBerth:
            def test_quay(self): ...
    """
    assert certainties("test-without-check", code) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("shown == wanted", []), ("shown == other", ["unexplained"]), ("shown != wanted", ["unexplained"])],
)
def test_a_return_where_two_are_equal_before_they_are_compared_otherwise(asked, expected):
    code = f"""
        def test_shown(load, show, other):
            shown, wanted = load("shown"), load("wanted")
            if {asked}:
                return
            assert show(shown) == show(wanted)
    """
    assert reasons("early-return-test", code) == expected


@pytest.mark.parametrize(
    ("also", "expected"),
    [
        ("assert plan.axis(0) == plan.axis(1)", []),
        ("assert plan.axis(0) == 3", ["proved"]),
        ("assert len(plan) == len(chart)", ["proved"]),
    ],
)
def test_what_is_got_in_one_way_may_have_an_equality_that_is_tested(also, expected):
    code = f"""
        def test_axes(plan, chart):
            axis = plan.axis(2)
            assert axis == axis
            {also}
    """
    assert certainties("self-compare", code) == expected


@pytest.mark.parametrize(("name", "expected"), [("tset_berth", ["likely"]), ("atest_berth", [])])
def test_a_letter_in_front_of_a_name_switches_a_test_off(name, expected):
    code = f"""
        from unittest import TestCase

        class TestBerth(TestCase):
            def test_port(self):
                self.assertTrue(port())

            def {name}(self):
                self.assertTrue(berth())
    """
    assert certainties("never-collected-test", code) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("raise AssertionError(path)", []),
        ("if path.exists():\n            raise AssertionError(path)", ["question"]),
        ("if path.stat().st_size:\n            raise AssertionError(path)", ["unexplained"]),
    ],
)
def test_a_loop_that_fails_for_each_item_wants_none(body, expected):
    code = f"""
def test_locks(run):
    for path in run.folder.glob("*.lock"):
        {body}
"""
    assert reasons("loop-may-be-empty", code) == expected


@pytest.mark.parametrize(
    ("import_", "expected"), [("from trainer import loop", "likely"), ("import json", "question")]
)
def test_a_copy_is_claimed_where_its_package_is_at_hand(import_, expected):
    files = {"trainer/dump.py": _DUMP, "trainer/loop.py": "", "trainer/__init__.py": ""}
    found = certainties("reimplements-existing", f"{import_}\n{_DUMP}", files, "tests/recorder.py")
    assert found == [expected]


@pytest.mark.parametrize(("asked", "expected"), [("sorted(late)", "likely"), ("set(late)", "question")])
def test_nothing_is_there_twice_where_nothing_is_there(asked, expected):
    one, other = ("len(late)", f"len({asked})") if asked.startswith("set") else ("late", asked)
    code = f"""
        def test_late(run):
            late = [row.place for row in run(1) if row.kind == "late"]
            assert {one} == {other}
    """
    assert certainties("order-of-nothing", code) == [expected]


@pytest.mark.parametrize(
    ("keeps", "expected"), [("row.engine in available_engines", "question"), ("row.engine == 'x'", "likely")]
)
def test_what_is_there_may_depend_on_where_a_test_runs(keeps, expected):
    code = f"""
        from engines import available_engines

        def test_rows(run):
            for row in [row for row in run(1) if {keeps}]:
                assert row.done
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", "proved"),
        ("failed[rank] = False", "question"),
        ("done.set()", "question"),
        ("rank = 3", "proved"),
    ],
)
def test_what_follows_a_check_may_put_down_that_it_has_passed(after, expected):
    code = f"""
        def test_ranks(run, failed, done, rank):
            try:
                assert run(rank) == 3
                {after}
            except Exception:
                pass
    """
    assert certainties("swallowed-failure", code) == [expected]


@pytest.mark.parametrize(
    ("pattern", "before", "expected"),
    [
        ("os.path.join('charts', 'north', '*.chart')", "", "question"),
        ("self.charts", "", "question"),
        ("self.drawn", "", "unexplained"),
        ("'/charts/*.chart'", "", "unexplained"),
        ("'out/charts/*.chart'", "", "unexplained"),
        ("charts", "charts = 'drawn/*.chart'", "question"),
        ("charts", "charts = 'drawn/*.chart'; run(charts)", "unexplained"),
    ],
)
def test_a_written_path_of_the_repository_is_kept(pattern, before, expected):
    code = f"""
        import glob
        import os
        import unittest

        class TestCharts(unittest.TestCase):
            def setUp(self):
                self.charts = os.path.join("charts", "south", "*.chart")
                self.drawn = draw()

            def test_charts(self):
                {before}
                for name in glob.glob({pattern}):
                    self.assertEqual(len(read(name)), 6)
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("set(first).intersection(second)", "question"), ("[key for key in first if key in second]", "likely")],
)
def test_the_keys_that_both_have_may_be_asked_for_as_such(keys, expected):
    code = f"""
        def test_merged(load):
            first, second = load(1), load(2)
            for key in {keys}:
                assert first[key] == second[key]
    """
    assert certainties("pair-keys-intersect", code) == [expected]


@pytest.mark.parametrize(("name", "expected"), [("walk_charts", "question"), ("test_charts", "unexplained")])
def test_a_helper_may_be_given_an_empty_folder(name, expected):
    code = f"""
        import os

        def {name}(folder):
            for root, folders, files in os.walk(folder):
                assert "chart" in files
    """
    assert reasons("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("rows", "after", "expected"),
    [
        ("[row for row in run(1) if row.late]", "", "likely"),
        ("[row for row in run(1) if isinstance(row, Late)]", "", "question"),
        ("[row for row in load('rows/late.json') if row.late]", "", "question"),
        ("[row for row in run(1) if row.late]", "verify_row_count(3)", "question"),
    ],
)
def test_what_is_filtered_may_be_of_another_kind_kept_or_counted(rows, after, expected):
    code = f"""
        def test_rows(run, load, verify_row_count):
            for row in {rows}:
                assert row.done
            {after}
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"), [("row.place is not None", "question"), ("row.kind == 'late'", "likely")]
)
def test_what_has_a_value_is_hardly_empty(asked, expected):
    code = f"""
        def test_order(run):
            places = [row.place for row in run(1) if {asked}]
            assert places == sorted(places)
    """
    assert certainties("order-of-nothing", code) == [expected]


@pytest.mark.parametrize(
    ("body", "after", "expected"),
    [
        ("if left != right: return False\n                return True", "return True", "likely"),
        ("assert left == right\n                break", "return True", "question"),
        ("same = left.hour == right.hour", "return same", "likely"),
        ("gap = abs(left - right)", "return gap < 1", "likely"),
        ("gap = abs(drift(left) - right)", "return gap < 1", "question"),
    ],
)
def test_one_pair_decides_for_sure_where_it_is_the_verdict(body, after, expected):
    code = f"""
        def same_logs(ours, theirs, drift):
            for left, right in zip(ours, theirs):
                {body}
            {after}
    """
    assert certainties("one-pair-decides", code) == [expected]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("line.strip()", "question"), ("line", "question"), ("line.rstrip() == cut", "likely")],
)
def test_a_loop_over_all_lines_but_the_blank_ones(asked, expected):
    code = f"""
        def test_boats(tell, cut, boats):
            told = {{}}
            for line in tell("boats").split("|"):
                if {asked}:
                    name, place = line.split(" ")
                    told[name] = place
            for name, place in told.items():
                assert boats()[name] == place
    """
    assert certainties("loop-may-be-empty", code) == [expected]


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("xfail(strict=False)  # flaky at night", "question"),
        ("xfail()  # flaky at night", "question"),
        ("xfail  # flaky at night", "question"),
        ("xfail(strict=False)  # to be mended", "likely"),
        ("xfail  # to be mended", "likely"),
    ],
)
def test_a_comment_beside_a_mark_says_why_a_test_may_fail(mark, expected):
    code = f"""
        import pytest

        @pytest.mark.{mark}
        def test_rows(run):
            assert run() == 1
    """
    assert certainties("xfail-not-strict", code) == [expected]


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        ("# Skip unsupported combinations.", "question"),
        ("# skip invalid cases", "question"),
        ("# skip: fails on Mondays", "likely"),
    ],
)
def test_cells_of_a_product_may_make_no_sense(remark, expected):
    code = f"""
        from absl.testing import parameterized

        class TestFeeds(parameterized.TestCase):
            @parameterized.product(feeds=(1, 2), rows=(1, 2, 4))
            def test_feeds(self, feeds, rows):
                {remark}
                if rows % feeds != 0:
                    return
                self.assertEqual(feed(feeds, rows), rows)
    """
    assert certainties("early-return-test", code) == [expected]


@pytest.mark.parametrize(
    ("import_", "requirements", "expected"),
    [
        ("from servers.crates import app", "servers/boats/requirements.txt", "question"),
        ("from servers.crates import app", "requirements.txt", "likely"),
        ("from servers.boats import app", "servers/boats/requirements.txt", "likely"),
    ],
)
def test_what_is_installed_alone_needs_its_own(import_, requirements, expected):
    files = {"servers/boats/dump.py": _DUMP, requirements: ""}
    path = "servers/crates/tests/recorder.py"
    assert certainties("reimplements-existing", f"{import_}\n{_DUMP}", files, path) == [expected]


@pytest.mark.parametrize(("decorator", "expected"), [("", ["likely"]), ("@kernel(fast=True)", [])])
def test_what_a_decorator_made_of_a_function_is_no_helper(decorator, expected):
    body = """
    rows, width = size(freight)
    out = empty([rows, width], freight.kind)
    for place in tiles([rows, width]):
        total = zeros(place, kind=float)
        for part in tiles(freight.parts):
            total = add(total, freight[part, place])
        out[place] = total.to(freight.kind)
    return out
"""
    names = ("stow", "stow_evenly", "stow_twice")
    code = "\n".join(f"{decorator}\ndef {name}(freight):{body}" for name in names)
    assert certainties("repeated-idiom", code) == expected


@pytest.mark.parametrize(
    ("limit", "divisor", "expected"),
    [
        ("< 1.0", "crate.abs() + 1e-6", ["likely"]),
        ("< 1.0", "crate.abs()", []),
        ("<= 1.0", "crate.abs()", ["likely"]),
        ("< 1.5", "crate.abs()", ["likely"]),
        ("< 0.5", "crate.abs() + 1e-6", []),
        ("> 1.5", "crate.abs()", []),
        ("< 1.5", "elapsed.abs()", []),
    ],
)
def test_zeros_pass_a_relative_error_that_reaches_one(limit, divisor, expected):
    code = f"""
        def test_packed(pack, crate, elapsed):
            off = (pack(crate) - crate).abs() / ({divisor})
            assert off.mean() {limit}
    """
    assert certainties("huge-tolerance", code) == expected


@pytest.mark.parametrize(("measured", "expected"), [("weight", ["likely"]), ("seconds", []), ("base_ms", [])])
def test_how_far_times_are_apart_is_no_error(measured, expected):
    code = f"""
        def test_packed(run, {measured}):
            off = abs(run(1) - {measured}) / abs({measured})
            assert off <= 2
    """
    assert certainties("huge-tolerance", code) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("got = unpack(crate)", ["likely"]),
        ("got = move(crate)", []),
        ("got = sail(crate)", ["question"]),
        ("got = sail.wind(other)", ["likely"]),
        ("got = sail(other); new_crate = got", ["likely"]),
    ],
)
def test_what_is_made_of_the_other_may_be_a_step(made, expected):
    code = f"""
        def test_step(unpack, move, sail, crate, other):
            {made}
            assert (got - crate).norm() / crate.norm() < 1.5
    """
    assert certainties("huge-tolerance", code) == expected


_LARGE = "0x" + "f" * 257


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (f"abs(run() - 3) < {_LARGE}", ["likely"]),
        (f"abs(run() - 3) < -{_LARGE}", []),
        (f"abs(run() - {_LARGE}) < 3", []),
        (f"abs(run() - w) / abs(w) < {_LARGE}", ["likely"]),
    ],
)
def test_a_number_that_is_larger_than_any_float_is_read(asked, expected):
    code = f"""
        def test_a(run, w):
            assert {asked}
    """
    assert certainties("huge-tolerance", code) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("test_items", "test_iteritems", "question"),
        ("testFromText", "testFromUnicode", "question"),
        ("test_unicode", "test_unicode_again", "likely"),
        ("test_items", "test_values", "likely"),
    ],
)
def test_a_test_that_only_python_2_told_apart_is_asked_about(first, second, expected):
    body = """(sail):
            chart = sail("north")
            assert chart.ports == ["dover", "calais"]
            assert chart.length == 12
    """
    code = f"""
        def {first}{body}
        def {second}{body}
    """
    assert certainties("duplicate-test", code) == [expected]


@pytest.mark.parametrize(
    ("folder", "settings", "expected"),
    [
        ("benchmarks", "testpaths = tests", []),
        ("benchmarks", "", ["question"]),
        ("tests", "", ["likely"]),
        ("tests", "testpaths = tests", ["likely"]),
        ("tests/slow", "testpaths = tests/", ["likely"]),
    ],
)
def test_a_benchmark_that_is_run_by_hand_is_no_test(folder, settings, expected):
    code = """
        from sails import hoist

        def test_hoisting():
            took = hoist()
            print(took)

        if __name__ == "__main__":
            test_hoisting()
    """
    files = {"setup.cfg": f"[tool:pytest]\n{settings}\n"}
    assert certainties("test-without-check", code, files, f"{folder}/test_hoisting.py") == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Inputs beside what a solver has made of them.
        (
            "for day, state in zip(days, solve(days)):\n    assert state.overlap(boat.on(day)) > 0.9",
            "question",
        ),
        ("for day, state in zip(days, solve(days)):\n    assert state.day == day", "likely"),
        ("for day, state in zip(days, solve(days)):\n    assert state.after(day)", "question"),
        ("for day, state in zip(days, solve(days)):\n    assert_close(state, tide(day))", "likely"),
        # The channels of a color, held to be close.
        ("assert all(abs(a - b) < 3 for a, b in zip(draw(boat), (9, 9, 0)))", "question"),
        ("assert all(a == b for a, b in zip(draw(boat), (9, 9, 0)))", "likely"),
        ("assert all(isclose(a, b) for a, b in zip(one.short, other.short))", "question"),
        ("assert all(isclose(a, b) for a, b in zip(one.short(), other.short()))", "likely"),
        # The same call, twice.
        (
            "ask = make(old)\none = ask(boat)\nask = make(new)\nother = ask(boat)\n"
            "for a, b in zip(one, other):\n    assert a == b",
            "question",
        ),
        (
            "one = old.ask(boat)\nother = new.ask(boat)\nfor a, b in zip(one, other):\n    assert a == b",
            "likely",
        ),
        # The weights of a model beside a list of the test.
        (
            "for a, b in zip(model.parameters(), [one * 2, other * 2]):\n    assert_close(a.grad, b)",
            "question",
        ),
        ("for a, b in zip(model.layers(), [one * 2, other * 2]):\n    assert_close(a.grad, b)", "likely"),
        # In the order of what has been compared as a whole.
        (
            "mine, theirs = argsort(one), argsort(other)\nassert_allclose(one[mine], other[theirs])\n"
            "left = [boats(1)[at] for at in mine]\nright = [boats(2)[at] for at in theirs]\n"
            "for a, b in zip(left, right):\n    assert a == b",
            "question",
        ),
        (
            "mine, theirs = argsort(one), argsort(other)\n"
            "left = [boats(1)[at] for at in mine]\nright = [boats(2)[at] for at in theirs]\n"
            "for a, b in zip(left, right):\n    assert a == b",
            "likely",
        ),
        # Two calls that are asked for the same by its names.
        (
            "one = run(old, row_names)\nother = run(new, row_names)\n"
            "for a, b in zip(one, other):\n    assert a == b",
            "question",
        ),
        (
            "one = run(old, rows)\nother = run(new, rows)\nfor a, b in zip(one, other):\n    assert a == b",
            "likely",
        ),
        # The leaves of trees of which a condition beside compares the structure.
        (
            "assert tree_structure(one) == tree_structure(other) and all("
            "a == b for a, b in zip(tree_leaves(one), tree_leaves(other)))",
            "question",
        ),
        (
            "assert type(one) == type(other) and all("
            "a == b for a, b in zip(tree_leaves(one), tree_leaves(other)))",
            "likely",
        ),
        # What a loop around the walk is given, drawn anew each time.
        ("for deck in drawn():\n    for a, b in zip(deck, tally(boat)):\n        assert a == b", "question"),
        ("for a, b in zip(next(drawn()), tally(boat)):\n    assert a == b", "likely"),
    ],
)
def test_sides_that_are_alike_by_nature(lines, expected):
    body = indent(lines, "    ")
    code = f"def test_boats(boat, days, one, other, old, new, model, boats):\n{body}\n"
    assert certainties("zip-truncates", code) == [expected]


@pytest.mark.parametrize(
    ("compare", "says"),
    [
        ("np.allclose({}, rtol=1)", "zeros as the first of the two pass"),
        ("math.isclose({}, rel_tol=1)", "a result of zeros passes"),
        ("np.testing.assert_allclose({}, rtol=1) is None", "a result of zeros passes"),
    ],
)
def test_what_a_relative_tolerance_is_multiplied_with(compare, says):
    code = f"""
        import math

        import numpy as np

        def test_packed(pack, crate):
            assert {compare.format("crate, pack(crate)")}
    """
    (one,) = found("huge-tolerance", code)
    assert says in one.message


@pytest.mark.parametrize(
    ("asked", "expected"), [("scheduler is None", "question"), ("planned() is None", "likely")]
)
def test_what_one_case_imports_the_others_do_not_need(asked, expected):
    code = f"""
        from harbour import plan, planned

        def test_plan(scheduler=None):
            if {asked}:
                made = plan
            else:
                try:
                    from fleet import made
                except ImportError:
                    return
            assert made(3) == [1, 2, 3]
    """
    assert certainties("early-return-test", code) == [expected]


_PARTLY = """
def same_rows(left, right, baseline, restored):
    assert len(baseline) == len(restored)
    assert left == right

{}
"""
_GIVES = """
def test_{}(run):
    baseline, restored = run(1), run(1, resume=True)
    same_rows({}, baseline, restored)
"""
_MADE = "dict(baseline), dict(restored)"


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ([("rows", _MADE)], []),
        ([("rows", "1, 1")], ["likely"]),
        # One of two callers shows the rest; a caller that hands on a collection; no caller.
        ([("rows", _MADE), ("more", "1, 1")], ["question"]),
        ([("rows", "*pair")], ["question"]),
        ([], ["question"]),
    ],
)
def test_parameters_that_are_compared_in_part_beside_others_are_what_the_callers_give(callers, expected):
    code = _PARTLY.format("".join(_GIVES.format(*one) for one in callers))
    assert certainties("projection-before-compare", code) == expected


def test_callers_in_another_file_show_the_rest_too():
    files = {"tests/test_ships.py": "from tests.shared import same_rows\n" + _GIVES.format("ships", _MADE)}
    apart = {"tests/test_ships.py": "from tests.shared import same_rows\n" + _GIVES.format("ships", "1, 1")}
    path = "tests/shared.py"
    assert certainties("projection-before-compare", _PARTLY.format(""), files, path) == []
    assert certainties("projection-before-compare", _PARTLY.format(""), apart, path) == ["likely"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ship = restored", "assert ship.log() == restored.log()"], ["likely"]),
        (["assert ship.log() == ship.log()"], ["likely"]),
        (["assert ship.log() == ship.log()", "assert restored.log()"], ["question"]),
        (["ship = load()", "assert ship.log() == restored.log()"], []),
    ],
)
def test_a_method_that_is_asked_of_one_object_twice_may_not_repeat_itself(lines, expected):
    body = "".join(f"    {line}\n" for line in ["ship, restored = Ship(4), load()", *lines])
    assert certainties("self-compare", f"def test_log(Ship, load):\n{body}") == expected


@pytest.mark.parametrize(
    ("method", "made", "expected"),
    [
        ("def equal(self, other):\n        return self.x == other.x", "Row(1)", ["likely"]),
        ("@property\n    def equal(self):\n        return self.x", "Row(1)", []),
        ("def equal(self):\n        return self.x\n    equal = property(equal)", "Row(1)", []),
        ("def equal(self, other):\n        return self.x == other.x", "make(1)", []),
    ],
)
def test_a_method_of_another_file_that_is_not_called_is_true_where_it_is_never_a_value(
    method, made, expected
):
    files = {"fleet/rows.py": f"class Row:\n    {method}\n\n\ndef make(x):\n    return Row(x)\n"}
    code = f"from fleet.rows import Row, make\n\n\ndef test_rows():\n    row = {made}\n    assert row.equal\n"
    assert certainties("constant-verdict", code, files) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('first is not None and first < restored["cut"]', "likely"),
        ('restored["cut"] is not None and first_difference(baseline["ids"], restored["ids"]) < 3', "likely"),
        # What another field comes to says where the check applies.
        ('baseline["weight"] < restored["weight"]', "unexplained"),
        ('first_difference(baseline["draft"], restored["draft"]) < restored["cut"]', "unexplained"),
    ],
)
def test_an_excuse_by_where_two_runs_differ_is_claimed(condition, expected):
    code = f"""
        from sails import first_difference

        def compare(baselines, restoreds):
            for baseline, restored in zip(baselines, restoreds, strict=True):
                first = first_difference(baseline["ids"], restored["ids"])
                if {condition}:
                    continue
                assert baseline["ids"] == restored["ids"]
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("number in noisy", "proved"),
        ('number in noisy and baseline["mask"] == restored["mask"]', "likely"),
        ('number in noisy or baseline["mask"] == restored["mask"]', "unexplained"),
    ],
)
def test_a_set_that_excuses_is_claimed_under_one_more_condition_too(condition, expected):
    code = f"""
        def differing(baselines, restoreds):
            return {{
                number
                for number, (baseline, restored) in enumerate(zip(baselines, restoreds, strict=True))
                if baseline["ids"][:3] != restored["ids"][:3]
            }}

        def compare(baselines, restoreds, noisy):
            for number, (baseline, restored) in enumerate(zip(baselines, restoreds, strict=True)):
                if {condition}:
                    continue
                assert baseline["ids"] == restored["ids"]

        def test_rows(baselines, restoreds):
            compare(baselines, restoreds, differing(baselines, restoreds))
    """
    assert reasons("excuse-branch", code) == [expected]


@pytest.mark.parametrize(
    ("fixture", "mark", "expected"),
    [
        ("@pytest.fixture(autouse=True)", "", "question"),
        ("@pytest.fixture", '@pytest.mark.usefixtures("sailed")', "question"),
        ("@pytest.fixture(autouse=False)", "", "likely"),
        ("@pytest.fixture", "@pytest.mark.slow", "likely"),
    ],
)
def test_a_fixture_that_no_parameter_names_may_check_for_an_empty_test(fixture, mark, expected):
    code = f"""
        import pytest

        class TestSails:
            {fixture}
            def sailed(self, sail):
                yield
                assert sail.log == ["up", "down"]

            {mark or "# As it is."}
            def test_up_and_down(self):
                pass
    """
    assert certainties("test-without-check", code) == [expected]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('reason="old and broken"', ["likely"]),
        ('run=False, reason="old and broken"', ["question"]),
        ("run=False", ["likely"]),
        ('run=True, reason="old and broken"', ["likely"]),
    ],
)
def test_an_expected_failure_that_is_not_to_be_run_for_a_reason_is_a_skip(given, expected):
    code = f"""
        import pytest

        @pytest.mark.xfail({given})
        def test_sails(sail):
            assert sail(3) == 4
    """
    assert certainties("xfail-not-strict", code) == expected
    fixes = [finding.fix for finding in found("xfail-not-strict", code)]
    assert all((fix is None) is ("run=False" in given) for fix in fixes)


@pytest.mark.parametrize(
    ("path", "end", "expected"),
    [
        ("playground/test_sails.py", "test_sails()", "question"),
        # One of them is run, and the others were.
        ("playground/test_sails.py", "test_masts()", "question"),
        ("playground/test_sails.py", "unittest.main()", "likely"),
        ("playground/test_sails.py", "", "likely"),
        ("boat/tests/test_sails.py", "test_sails()", "likely"),
    ],
)
def test_a_file_that_runs_its_own_tests_tries_things_out(path, end, expected):
    code = """
        import unittest
        from boat import sail

        def test_sails():
            result = sail(3)
            print(result)

        def test_masts():
            assert sail(4).masts == 2
    """
    code = dedent(code) + (f"\nif __name__ == '__main__':\n    {end}\n" if end else "")
    assert certainties("test-without-check", code, {}, path) == [expected]


@pytest.mark.parametrize(("note", "expected"), [("", "likely"), ("# run('lit_at_dawn')", "question")])
def test_a_check_that_is_commented_out_of_a_suite_is_asked_about(note, expected):
    code = f"""
        import unittest

        class TestLamp(unittest.TestCase):
            def test_lit(self):
                self.assertTrue(lit())

            def lit_at_dawn(self):
                self.assertTrue(lit("dawn"))

        {note}
    """
    assert certainties("never-collected-test", code) == [expected]


def test_a_class_that_is_not_collected_is_told_the_names_that_are():
    code = """
        class testLamp:
            def test_lit(self):
                assert lit()
    """
    (one,) = found(
        "never-collected-test", code, {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ''\n"}
    )
    assert one.message.endswith("pytest collects classes named Test")
    settings = "[tool.pytest.ini_options]\npython_classes = ['Check', 'Spec*']\n"
    (one,) = found("never-collected-test", code, {"pyproject.toml": settings})
    assert one.message.endswith("pytest collects classes named Check, Spec*")


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("# disabled for now, see #1440\n            return", "question"),
        ("return  # bug 77", "question"),
        ("# Ada will look at it\n            return", "proved"),
        ("return", "proved"),
        ("# disabled for now\n            raise ValueError", "proved"),
    ],
)
def test_a_test_that_is_said_to_be_switched_off_by_a_return_is_asked_about(note, expected):
    code = f"""
        def test_redirected(page):
            {note}
            assert page.status == 303
    """
    assert certainties("unreachable-check", code) == [expected]


_TEXT_SHOWN = """
class TestShip(TestCase):
    def test_shown(self):
        self.assertIsNotNone({}(build()))
"""
_EMPTY = """
class TestWindow(TestCase):
    def {}(self):
        self.window = Window()

    def test_opens(self):
        pass
"""
_HIDDEN = """
import unittest

class TestWindow(unittest.TestCase):
    @{}
    def test_opens(self):
        pass
"""
_NEIGHBOURS = """
class TestCrew(TestCase):
    def test_crew(self):
        self.assertEqual(self.crew, self.mates)
        self.assertEqual(self.{}, self.{})
"""
_LENIENT = """
class Ports:
    def alike(self, listed, seen):
        if listed == seen:
            return True
        return not set(listed).isdisjoint(seen)

    def assert_ports(self, reference, resumed):
        listed = self.tidy(reference)
        seen = self.tidy(resumed)
        if self.alike(listed, seen){}:
            return
        assert listed == seen
"""
_GIVEN_UP = """
import pytest

def test_sails(ship):
    try:
        assert ship.sails == 3
    except AssertionError:
        pytest.skip("{}")
"""
_OF_ITSELF = """
def test_sorted(ships):
    first, last, other = ships
    assert first == first
    assert last {} other
"""
_TURNS = """
def test_all_end(crew):
    finished = 0
    for one in crew:
        finished += 1
        try:
            one.row()
        except ValueError as error:
            {}
    assert finished == 4
"""
_FAULTS = """
import pytest

def test_faults(ship, log):
    assert ship.{} == pytest.approx(log.seen, abs=500)
"""


@pytest.mark.parametrize(
    ("rule_id", "code", "claimed", "asked"),
    [
        ("constant-verdict", _TEXT_SHOWN, ["len"], ["str"]),
        ("test-without-check", _EMPTY, ["open_window"], ["setUp"]),
        ("test-without-check", _HIDDEN, ["pytest.mark.slow"], ["unittest.SkipTest"]),
        ("implied-check", _NEIGHBOURS, ["crew", "mates"], ["mates", "crew"]),
        # What follows may only show where the two differ.
        ("excuse-branch", _LENIENT, [" == 1"], [""]),
        ("swallowed-failure", _GIVEN_UP, ["no wind"], ["a bug of the yard"]),
        ("self-compare", _OF_ITSELF, ["=="], ["!="]),
        ("counter-left-advanced", _TURNS, ["pass"], ["assert error.args == (2,)"]),
        ("huge-tolerance", _FAULTS, ["drift"], ["num_faults"]),
    ],
)
def test_what_may_be_meant_otherwise_is_asked(
    rule_id: str, code: str, claimed: list[str], asked: list[str]
) -> None:
    """What goes through, is set up, is put off or is counted may be what the test is about."""
    (claim,) = certainties(rule_id, code.format(*claimed))
    (question,) = certainties(rule_id, code.format(*asked))
    assert claim != "question"
    assert question == "question"
