"""Two runs that are compared write into one folder, so that one's files can pass for the other's.

## Why
The second run finds what the first has left. If it writes less, or nothing, the comparison reads the first
run's files twice and finds them equal: a restored run that restored nothing passes.

## Instead
Give each run a folder of its own (`tmp_path / "restored"`), or empty the folder in between. A checkpoint may
be handed over; what is compared may not.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.fixtures import is_fixture
from reviewbot.flow.leg_results import SharedByResults, may_share_results, shared_by_results
from reviewbot.flow.legs import may_share, shared, shared_by_script
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import is_comparer
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Span, Step, Unit, step

# Tests that run twice in one folder because that is what they are about.
_ON_PURPOSE = pattern(
    r"(?i)determin|idempot|cach|again|twice|overwrit|append|exist|reuse|repeat|same_(dir|folder)"
)
_MEANT = pattern(
    r"(?i)overw?rit|replac|displac|keep|kept|stale|preexist|exist|clean|discard|prun|rotat|reuse|again|twice|append"
)
_MEET = "the tests get what the two return as a pair"
_LEFT = ("nothing: files of the first run that the second does not write stay as they are",)


class LegsShareFolder(Rule):
    kinds = ("function", "method", "module", "script")
    bad = (
        Example("""
            def test_restore(train, read_rows, out_dir):
                train(steps=4, out_dir=out_dir)
                reference = read_rows(out_dir)
                train(steps=4, out_dir=out_dir, resume=True)  # <- here
                restored = read_rows(out_dir)
                assert reference == restored
        """),
        Example(
            """
            import subprocess

            def main(log_dir, reference):
                subprocess.run(["train", "--kill-at", "3", "--log-dir", str(log_dir)])
                subprocess.run(["train", "--resume", "--log-dir", str(log_dir)])  # <- here
                rows = [load_row(path) for path in sorted(log_dir.glob("*.json"))]
                if rows != reference:
                    raise AssertionError("rows differ")
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            #!/bin/bash
            OUT=/tmp/out
            COMMON=(
                model=tiny
            )
            python train.py "${COMMON[@]}" phase=reference logger.log_dir="$OUT/reference"
            python train.py "${COMMON[@]}" phase=killed logger.log_dir="$OUT/restored"
            python train.py "${COMMON[@]}" phase=restored logger.log_dir="$OUT/restored"  # <- here
            python tests/parity.py "$OUT/reference" "$OUT/restored"
            """,
            path="tests/functional/restore.sh",
        ),
        Example(
            """
            from ferry import sail, read_rows

            def test_resume(tmp_path):
                sail(days=4, output_dir=tmp_path)
                baseline = read_rows(tmp_path)
                sail(days=4, output_dir=tmp_path, resume_from=2)  # <- here
                resumed = read_rows(tmp_path)
                assert baseline == resumed
            """,
            path="tests/test_resume.py",
        ),
        # What the option is called says nothing; that the folder is compared does.
        Example(
            """
            #!/bin/bash
            python -m ferry.sail --days 4 --rows "$SEA/rows"
            python -m ferry.sail --days 4 --rows "$SEA/rows" --resume --log "$SEA/log.txt"  # <- here
            python "$ROOT/tests/parity.py" --planned "$SEA/planned" --sailed "$SEA/rows"
            """,
            path="tests/functional/sink.sh",
        ),
        # The folder is in the configuration of both.
        Example("""
            from ferry import Config, read_rows, sail

            def test_resume(tmp_path):
                whole = Config(output_dir=tmp_path, days=4)
                sail(whole)
                baseline = read_rows(tmp_path)
                rest = Config(output_dir=tmp_path, days=4, resume=True)
                sail(rest)  # <- here
                assert baseline == read_rows(tmp_path)
        """),
        # The second leg is to be a run of its own, and works where the first has left its state.
        Example("""
            from ferry import Ferry, run_days

            def test_resume(tmp_path):
                baseline = Ferry(tmp_path / "a", days=4).run()
                Ferry(tmp_path / "b", days=2).run()
                restored = Ferry(tmp_path / "a", days=4).run()  # <- here
                assert baseline.rows == restored.rows

            def test_compiled(tmp_path, boat):
                plain = Ferry(boat, output_dir=str(tmp_path / "run"))
                fast = Ferry(boat, output_dir=str(tmp_path / "run"), compiled=True)
                expected, actual = plain.train(days=4), fast.train(days=4)  # <- here
                assert expected == actual

            def test_restarted(tmp_path):
                reference = run_days(steps=4, out_dir=tmp_path / "days")
                resumed = run_days(steps=4, out_dir=tmp_path / "days", resume=True)  # <- here
                assert reference == resumed
        """),
        Example("""
            from ferry import read_rows, sail

            def test_resume(tmp_path):
                sail(days=4, output_dir=tmp_path / "a")
                baseline = read_rows(tmp_path / "a")
                sail(days=4, output_dir=tmp_path / "a", tides=True)  # <- here
                assert baseline == read_rows(tmp_path / "a")
        """),
        Example("""
            from ferry import Config, Ferry, read_rows

            def run(config, days):
                Ferry(config).sail(days)

            def test_resume(days, tmp_path):
                whole = Config(work_dir=tmp_path, threads=1)
                run(whole, days)
                expected = read_rows(tmp_path / "rows.jsonl")
                again = Config(work_dir=tmp_path, threads=1, restart=True)
                run(again, days)  # <- here
                restarted = read_rows(tmp_path / "rows.jsonl")
                assert expected == restarted
        """),
        Example("""
            from ferry import Config, read_rows, run

            def test_resume(out_dir):
                config = Config(out=out_dir, days=4)
                run(config)
                baseline = read_rows(config.out)
                run(config, resume_from=2)  # <- here
                assert baseline == read_rows(config.out)
        """),
        # A fixture makes both runs, and its tests hold them against each other.
        Example(
            """
            import pytest
            from ferry import run

            @pytest.fixture
            def legs(tmp_path):
                reference = run(3, tmp_path, seed=1)
                first = run(3, tmp_path, seed=1, stop_after=1)
                resumed = run(3, tmp_path, seed=1)  # <- here
                return reference, first + resumed

            def test_rows(legs):
                reference, resumed = legs
                assert reference == resumed
            """,
            path="tests/test_resume.py",
        ),
    )
    good = (
        Example(
            """
            import pytest
            from ferry import run

            @pytest.fixture
            def legs(tmp_path):
                reference = run(3, tmp_path / "a", seed=1)
                first = run(3, tmp_path / "b", seed=1, stop_after=1)
                resumed = run(3, tmp_path / "b", seed=1)
                return reference, first + resumed
            """,
            path="tests/test_resume.py",
        ),
        # Both runs and the comparison are told the same of the same thing: what they start from.
        Example(
            """
            #!/bin/bash
            python -m ferry.sail --days 4 --charts "$SEA/charts" --rows "$SEA/planned"
            python -m ferry.sail --days 4 --charts "$SEA/charts" --rows "$SEA/sailed" --resume
            python tests/parity.py --charts "$SEA/charts" --planned "$SEA/planned" --sailed "$SEA/sailed"
            """,
            path="tests/functional/sink.sh",
        ),
        # The second run adds to what the first has left, and is asked for both.
        Example("""
            import os

            def test_shards(env, out_dir):
                env.play(0, out_dir)
                env.generate_data(out_dir, epoch=0)
                count = len(os.listdir(out_dir))
                env.play(1, out_dir)
                env.generate_data(out_dir, epoch=1)
                names = os.listdir(out_dir)
                assert len(names) == 2 * count
        """),
        # Two runs fill one folder together, and what is in it is compared with what is written out.
        Example("""
            import os

            def test_two_boats_unload(unload, pier_dir):
                unload(boat=0, out_dir=pier_dir)
                first = ["crate-0-0", "crate-0-1"]
                assert sorted(os.listdir(pier_dir)) == first
                unload(boat=1, out_dir=pier_dir)
                second = ["crate-1-0"]
                wanted = sorted(first + second + ["manifest"])
                assert sorted(os.listdir(pier_dir)) == wanted
        """),
        # Another folder; the state that is to be taken is named; the runs are no two sides; on purpose.
        Example("""
            from ferry import Ferry

            def test_resume(tmp_path):
                baseline = Ferry(tmp_path / "a", days=4).run()
                restored = Ferry(tmp_path / "b", days=4).run()
                assert baseline == restored

            def test_resume_from(tmp_path):
                baseline = Ferry(tmp_path / "a", days=4).run()
                restored = Ferry(tmp_path / "a", days=4, resume_from=tmp_path / "a" / "day2").run()
                assert baseline == restored

            def test_two(tmp_path):
                short = Ferry(tmp_path, days=2).run()
                long = Ferry(tmp_path, days=4).run()
                assert short == long

            def test_run_is_deterministic(tmp_path):
                expected = Ferry(tmp_path, days=4).run()
                actual = Ferry(tmp_path, days=4).run()
                assert expected == actual
        """),
        # Whether the second run leaves alone what the first has written.
        Example("""
            def test_kept(generate, out_dir):
                generate(out_dir=out_dir)
                written = (out_dir / "rows.rst").stat().st_mtime_ns
                generate(out_dir=out_dir, tidy=True)
                assert set(out_dir.iterdir()) == {out_dir / "rows.rst"}
                assert (out_dir / "rows.rst").stat().st_mtime_ns == written
        """),
        Example("""
            from ferry import Config, read_rows, sail

            def test_resume(tmp_path):
                whole = Config(output_dir=tmp_path / "a", days=4)
                sail(whole)
                baseline = read_rows(whole.output_dir)
                rest = Config(output_dir=tmp_path / "b", days=4, resume=True)
                sail(rest)
                assert baseline == read_rows(rest.output_dir)
        """),
        Example("""
            import shutil

            def test_restore(train, read_rows, tmp_path, out_dir):
                train(steps=4, out_dir=tmp_path / "a")
                reference = read_rows(tmp_path / "a")
                train(steps=4, out_dir=tmp_path / "b", resume=True)
                assert reference == read_rows(tmp_path / "b")

            def test_again(train, read_rows, out_dir):
                train(steps=4, out_dir=out_dir)
                reference = read_rows(out_dir)
                shutil.rmtree(out_dir)
                train(steps=4, out_dir=out_dir, resume=True)
                assert reference == read_rows(out_dir)

            def test_checkpoint(train, checkpoint_dir):
                first = train(steps=4, checkpoint_dir=checkpoint_dir)
                second = train(steps=4, checkpoint_dir=checkpoint_dir, resume=True)
                assert first == second
        """),
        Example(
            """
            #!/bin/bash
            OUT=/tmp/out
            python train.py phase=killed checkpoint_dir="$OUT/checkpoint" log_dir="$OUT/killed"
            python train.py phase=restored checkpoint_dir="$OUT/checkpoint" log_dir="$OUT/restored"
            python tests/parity.py "$OUT/killed" "$OUT/restored"
            """,
            path="tests/functional/restore.sh",
        ),
        Example(
            """
            from ferry import sail, read_rows

            def test_resume(tmp_path):
                sail(days=4, output_dir=tmp_path / "a")
                sail(days=4, output_dir=tmp_path / "b", resume_from=2)
                assert read_rows(tmp_path / "a") == read_rows(tmp_path / "b")
            """,
            path="tests/test_resume.py",
        ),
        # Each run has a name of its own, and is read by it.
        Example(
            """
            import json
            import os

            from ferry import sail

            def test_same_seed(tmp_path):
                sail(days=4, output_dir=tmp_path, name="run1", seed=1)
                sail(days=4, output_dir=tmp_path, name="run2", seed=1)
                with open(os.path.join(tmp_path, "ferry_run1", "rows.json")) as rows:
                    first = json.load(rows)
                with open(os.path.join(tmp_path, "ferry_run2", "rows.json")) as rows:
                    second = json.load(rows)
                assert first == second
            """,
            path="tests/test_seed.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if unit.kind == "script":
            return "python" in unit.file.text or "dir" in unit.file.text or "out" in unit.file.text
        return is_comparer(unit) and (may_share(unit) or may_share_results(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if unit.kind == "script":
            yield from self._of_script(unit)
            return
        if not self.suspect(unit):
            return
        if not _ON_PURPOSE.search(unit.name):
            yield from (self._by_results(unit, one) for one in shared_by_results(unit))
        for one in shared(unit) if may_share(unit) else ():
            again = [] if one.before is None else [step(unit, one.before, "what the first left is read here")]
            yield self.finding(
                unit,
                one.second,
                f"this run writes into `{one.folder}`, where an earlier run has left its files, and what is "
                "compared is read from there: is that meant?",
                # What a run makes of what it finds in its folder may be what is tested.
                certainty="question",
                steps=[
                    step(unit, one.first, f"the first run writes into `{one.folder}`"),
                    *again,
                    step(unit, one.second, "and so does the second"),
                    step(unit, one.read, "what is compared is read from there: whose it is, nothing says"),
                ],
                still_catches=_LEFT,
            )

    def _by_results(self, unit: Unit, one: SharedByResults) -> Finding:
        """That it does find the first run's state depends on what is run, so this asks."""
        return self.finding(
            unit,
            one.second,
            f"this run works in `{one.folder}`, as did the one that it is held against: does it take over"
            " what that has left there?",
            certainty="question",
            steps=[
                step(unit, one.first, f"the first run works in `{one.folder}`"),
                step(unit, one.second, "and so does the second"),
                step(
                    unit, one.compared, _MEET if is_fixture(unit) else "what the two return is compared here"
                ),
            ],
            still_catches=("nothing: a run that goes on from the end of the first returns what that did",),
        )

    def _of_script(self, unit: Unit) -> Iterator[Finding]:
        path, lines = unit.file.path, unit.file.lines
        for one in shared_by_script(unit.file.text):
            first, second, after = one.first, one.second, one.compares
            width = len(lines[second.end_line - 1].rstrip("\n")) + 1
            yield self.finding_at(
                unit,
                Span(path, second.line, 1, second.end_line, width),
                f"this run writes into `{one.folder}` ({one.option}), where an earlier run has left files: is"
                " that meant?",
                certainty="question",
                steps=[
                    Step(path, first.line, first.end_line, f"the first run writes into `{one.folder}`"),
                    Step(path, second.line, second.end_line, "and so does the second"),
                    Step(path, after.line, after.end_line, "the runs are compared here"),
                ],
                still_catches=_LEFT,
            )
