"""A check over each item of a collection that may hold nothing.

## Why
A loop over nothing checks nothing, and `all(...)` of nothing is true. When the collection is filtered, read
from disk, looked up with an empty default, or what two sides have in common, a fault that empties it passes
the test that was written to find it.

## Instead
Require the collection to hold something, better yet how much: `assert len(rows) == 8` before the loop.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.asides import is_aside, raises_again
from reviewbot.flow.checks import call_of, comparisons
from reviewbot.flow.checks import checks as all_checks
from reviewbot.flow.cuts import is_cut
from reviewbot.flow.emptiness import may_be_empty
from reviewbot.flow.iteration import Iterable, iterable, may_say, yields_batches
from reviewbot.flow.judging import judges, may_check
from reviewbot.flow.kept import is_kept, is_of_kept
from reviewbot.flow.keyed import compares_by_key
from reviewbot.flow.left import Left, left, lists_own
from reviewbot.flow.loops import (
    CheckedLoop,
    Quantified,
    checked_loops,
    counted,
    is_forced,
    may_quantify,
    quantified,
)
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.own_input import is_own_input
from reviewbot.flow.patterns import pattern
from reviewbot.flow.reached import refuses_input
from reviewbot.flow.suspects import COMPARING, may_check_in
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, same
from reviewbot.flow.values import Binding, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Edit, Example, File, Finding, Fix, Rule, Step, Unit, once, step
from reviewbot.model import Certainty

_KEEPS = "keeps only what satisfies `"
# What leaves out the exceptions: `not bad(x)`, `x not in KNOWN`, `x != own`, `x is not None`.
_LEAVES_OUT = pattern(rf"{_KEEPS}(not |.* (not in|!=|is not) )")
# What asks only that a line is not blank: `line`, `line.strip()`.
_BLANK = pattern(r"(?:satisfies|only under) `[A-Za-z_]\w*(?:\.strip\(\))?`$")
_MODEL_PARTS = frozenset({
    "parameters", "named_parameters", "modules", "named_modules", "buffers", "named_buffers", "children",
    "named_children", "state_dict",
})  # fmt: skip
_OF_NAMES = frozenset({"startswith", "endswith", "match", "search", "fullmatch"})
_REMOVED = pattern(r"(?i)(^|[_-])(delet|remov|clean|purg|prun|unlink|rmtree)")
_SIZED = (cst.ListComp, cst.SetComp, cst.DictComp)


class LoopMayBeEmpty(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            def test_rows(run):
                for row in [row for row in run(1) if row.done]:
                    assert row.reward == 1  # <- here
        """),
        Example("""
            def test_rows(run):
                assert all(row.reward == 1 for row in run(1) if row.done)  # <- here
        """),
        Example("""
            def test_weights(tmp_path, run):
                (tmp_path / "config.json").touch()
                run(tmp_path)
                for path in tmp_path.glob("*.safetensors"):
                    assert path.stat().st_size > 0  # <- here
        """),
        Example("""
            def test_dumps(tmp_path, run):
                run(tmp_path)
                for dump in sorted(tmp_path.glob("step*.jsonl")):
                    for line in dump.read_text().splitlines():
                        assert line.startswith("{")  # <- here
        """),
        Example("""
            def test_common(run):
                for name in set(run(1)) & set(run(2)):
                    assert name.startswith("row")  # <- here
        """),
        Example("""
            def test_calls(self, log):
                for call in log.get("calls", []):
                    self.assertEqual(call["status"], "done")  # <- here
        """),
        Example("""
            def test_twice(run):
                rows = zip(run(1), run(2), strict=True)
                print(list(rows))
                for left, right in rows:
                    assert left == right  # <- here
        """),
        Example("""
            def test_filled(run):
                restored = []
                for row in run(1):
                    if row.restored:
                        restored.append(row)
                for row in restored:
                    assert row.prefix  # <- here
        """),
        # One remark for all tests of a file that ask the same.
        Example("""
            def test_open(page):
                for door in page.query("door"):
                    assert door.open()  # <- here

            def test_closed(page):
                for door in page.query("door"):
                    assert door.close()
        """),
        # What is made of nothing is close to what is made of nothing.
        Example("""
            import unittest
            import numpy as np

            class TestKettle(unittest.TestCase):
                def test_saved(self):
                    self.kettle.save("kettle.bin")
                    other = load("kettle.bin")
                    words = []
                    self.assertTrue(np.allclose(self.kettle[words], other[words]))  # <- here
        """),
        # A text that is made of a written one is not written itself.
        Example("""
            def test_table(render):
                lines = render("rows").split("|")
                for line in [line for line in lines if line.strip() != line]:
                    assert len(line) == 8  # <- here
        """),
        # The loader is what is tested, and may yield nothing.
        Example("""
            from loading import RowLoader

            def test_batches(rows):
                loader = RowLoader(rows, batch_size=2)
                for batch in loader:
                    assert batch.size() == 2  # <- here

            def test_samples(rows, names):
                sampler = RowSampler(rows)
                for index, row in enumerate(sampler):
                    name = names[index]
                    assert row == name  # <- here
                sampler = RowSampler(rows, shuffle=True)
                for index, row in enumerate(sampler):
                    name = names[-index]
                    assert row == name
        """),
        # What has been read to its end holds nothing more, whoever read it.
        Example("""
            def lines_of(path):
                with open(path) as lines:
                    for line in lines:
                        yield line.strip()

            def test_lines(path, sail):
                lines = lines_of(path)
                assert sum(1 for _ in lines) == 3
                for line in lines:
                    assert line in sail  # <- here

            def test_pairs(path, sail):
                lines = lines_of(path)
                names = [line.split()[0] for line in lines]
                assert len(names) == 2
                for line, other in zip(lines, sail):
                    assert line == other  # <- here

            def test_file(path, sail):
                with open(path) as lines:
                    text = lines.read()
                    assert text
                    for line in lines:
                        assert line in sail  # <- here
        """),
        # Run to its end by `list(...)`, by `read()`, by a length that is compared.
        Example("""
            import csv
            from pathlib import Path

            def test_rows(load):
                rows = (row for row in load("log") if row.kind == "sale")
                assert len(list(rows)) == 12
                for row in rows:
                    assert row.price > 0  # <- here

            def test_report(report):
                with open(report) as lines:
                    table = csv.reader(lines)
                    assert len(list(table)) == 5
                    for line in table:
                        assert line[1] == "ok"  # <- here

            def test_level(log):
                with open(log) as lines:
                    assert lines.read()
                    for line in lines:
                        assert "error" not in line  # <- here

            def test_written(tmp_path, dump):
                dump(tmp_path)
                pages = tmp_path.glob("*.html")
                assert len(list(pages)) == 2
                for page in pages:
                    assert page.read_text()  # <- here
        """),
        Example(
            """
            import json
            import sys

            def rows(path):
                with open(path) as lines:
                    for line in lines:
                        yield json.loads(line)

            def main():
                base, other = rows(sys.argv[1]), rows(sys.argv[2])
                if len(list(base)) != len(list(other)):
                    sys.exit("another number of rows")
                for one, two in zip(base, other):
                    if one != two:
                        sys.exit("rows differ")  # <- here
            """,
            path="tools/compare_rows.py",
        ),
    )
    good = (
        # Back to the start; a list; a file system that lists; only the head was read.
        Example("""
            import csv

            def test_report(report):
                with open(report) as lines:
                    table = list(csv.reader(lines))
                    assert len(table) == 5
                    for line in table:
                        assert line[1] == "ok"

            def test_written(store, dump):
                pages = store.glob("*.html")
                assert len(list(pages)) == 2
                for page in pages:
                    assert page.read_text()

            def test_head(load):
                rows = iter(load("log"))
                assert next(rows) == "head"
                for row in rows:
                    assert row.price > 0
        """),
        # What has a length is no generator, and has not been run to its end by that.
        Example("""
            def test_steps(loader):
                steps = iter(loader)
                assert len(steps) == 3
                rows = list(steps)
                assert len([row for row in rows if row.late]) == 0
        """),
        Example("""
            def lines_of(path):
                with open(path) as lines:
                    for line in lines:
                        yield line.strip()

            def test_again(path, sail):
                with open(path) as lines:
                    assert lines.read()
                    lines.seek(0)
                    for line in lines:
                        assert line in sail

            def test_kept(path, sail):
                lines = list(lines_of(path))
                assert sum(1 for _ in lines) == 3
                for line in lines:
                    assert line in sail
        """),
        # Who reads them fails where there are none.
        Example("""
            import re

            SAILED = re.compile(r"sailed (?P<ferry>\\w+)")

            def read(path):
                found = [match.groupdict() for match in SAILED.finditer(path.read_text())]
                if not found:
                    raise AssertionError("no ferry has sailed")
                return found

            def test_sailed(path, planned):
                for one in read(path):
                    assert one["ferry"] in planned
        """),
        Example("""
            def test_listing(run):
                graph = run(1)
                assert {key for key in graph if "row" in key}
                assert all(value.done for key, value in graph.items() if "row" in key)

            def test_lines(path):
                wanted = ["a", "b"]
                for word, line in zip(wanted, path.read_text().splitlines(), strict=True):
                    assert word in line
        """),
        Example("""
            from loading import RowLoader

            def test_counted(rows):
                loader = RowLoader(rows, batch_size=2)
                seen = 0
                for batch in loader:
                    assert batch.size() == 2
                    seen += 1
                assert seen == 3

            def test_last(rows):
                for index, row in enumerate(RowSampler(rows)):
                    assert row == index
                assert index == 7

            def test_known(rows):
                loader = RowLoader(rows, batch_size=2)
                assert len(loader) == 3
                for batch in loader:
                    assert batch.size() == 2
        """),
        # Lines of a text that is written out; a walk down a tree; values that are chosen from a table.
        Example("""
            from itertools import combinations
            from textwrap import dedent

            BLOCKS = ["a = 1", "b = 2"]

            def test_typed(shell):
                block = dedent(\'\'\'
                    a = 1
                    b = 2
                \'\'\')
                for line in block.splitlines():
                    assert shell.echo(line)
                for text in [dedent(one).strip() for one in BLOCKS]:
                    for line in text.splitlines():
                        assert shell.echo(line)

            def test_folder(folder):
                for inner in folder.iterdir():
                    if inner.is_dir():
                        test_folder(inner)

            def walk(folder):
                for inner in folder.iterdir():
                    if inner.is_dir():
                        yield from walk(inner)
                    else:
                        assert inner.is_file()
                        yield inner

            def test_pairs(run):
                for pair in combinations([1, 2, 3], 2):
                    assert run(*pair)
        """),
        # Pairs of what the test has filled, a walk down a tree, what a test may have left over.
        Example("""
            import pytest
            from pathlib import Path

            def test_desks(office, wanted):
                desks = [office.desk("a"), office.desk("b")]
                for one in wanted:
                    desks.append(office.desk(one))
                assert all(
                    one is not two
                    for i, one in enumerate(desks)
                    for j, two in enumerate(desks)
                    if i != j
                )

            def assert_named(folder):
                if "label" in folder:
                    for one in folder["label"].get("names", []):
                        assert one.strip()
                for inner in folder.get("folders", []):
                    assert_named(inner)

            @pytest.fixture(autouse=True)
            def nothing_left():
                yield
                for path in Path("recipes").iterdir():
                    if path.name.startswith("left_over"):
                        raise AssertionError(path)
        """),
        # A helper that makes something refuses what it cannot work on.
        Example("""
            import re

            def squashed(text):
                lines, at = [""], 0
                for part in filter(None, re.split("(UP)", text)):
                    if part == "UP":
                        if at == 0:
                            raise ValueError("no further up")
                        at -= 1
                    else:
                        lines[at] += part
                return lines
        """),
        # The product finds what to change; what it calls may refuse.
        Example(
            """
            def compare_shelves(planned, found, changes):
                def removed(name):
                    if name is None:
                        raise ValueError(name)
                    changes.append(name)

                for name in sorted(set(found).difference(planned)):
                    removed(name)
            """,
            path="library/compare/shelves.py",
        ),
        # A setting that may be left out, whose values are refused if they are wrong.
        Example(
            """
            from pathlib import Path

            def find_charts(loaded_route, base_path):
                for leg in loaded_route["legs"]:
                    for name, chart in leg.get("charts", {}).items():
                        if Path(chart).is_absolute():
                            raise ValueError(f"{name} stands outside the folder")
                        leg["charts"][name] = base_path / chart
            """,
            path="ferry/route.py",
        ),
        # What the loop has seen is demanded after it; the list is demanded under half of the condition.
        Example("""
            import re

            TOLLS = {"north": 3, "south": 4}

            def test_tolls(page, harbour):
                seen = {}
                for line in re.findall(r"toll: (.*)", page):
                    name, toll = line.split()
                    assert name in harbour
                    seen[name] = toll
                assert seen.keys() == TOLLS.keys()

            def test_horns(ferry, harbour, fog, night):
                horns = [horn for horn in ferry.horns if horn.loud]
                if fog:
                    assert horns
                if fog and night:
                    assert all(horn.lit for horn in horns)
        """),
        # What is filled under a condition is asked for under the same one.
        Example("""
            def test_bells(ferry, fog, clear):
                rung = []
                for bell in ferry.bells:
                    if fog != clear:
                        rung.append(bell.stub())
                ferry.sail()
                if fog != clear:
                    assert all(one.called for one in rung)
        """),
        # The folder holds this very file.
        Example("""
            from pathlib import Path

            def test_names_are_plain():
                root = Path(__file__).resolve().parent
                for path in root.glob("**/*"):
                    assert path.name.isascii()
        """),
        # The loop's `else` says that there was none.
        Example("""
            import os, pytest

            def test_device(look):
                for entry in os.scandir("/dev"):
                    if entry.name.startswith("sd"):
                        assert look(entry.path)
                        break
                else:
                    pytest.skip("no such device")
        """),
        # What fills the list is handed to something else.
        Example("""
            def test_observed(bell, ring):
                heard = []
                bell.observe(heard.append)
                ring(bell)
                for sound in heard:
                    assert sound is not None
        """),
        Example("""
            def test_rows(run):
                rows = [row for row in run(1) if row.done]
                assert len(rows) == 2
                for row in rows:
                    assert row.reward == 1
        """),
        Example("""
            def test_after(run):
                seen = 0
                for row in filter(None, run(1)):
                    assert row.reward == 1
                    seen += 1
                assert seen == 2
        """),
        Example("""
            CASES = [(1, 2), (3, 4)]

            def test_table(run):
                for given, wanted in CASES:
                    assert run(given) == wanted
                for n in range(3):
                    assert run(n)
                assert all(run(x) for x in (1, 2))
        """),
        Example("""
            def test_some(run):
                rows = run(1)
                assert any(row.done for row in rows)
                assert all(row.reward for row in rows if row.done)
        """),
        Example("""
            import re

            def test_names(text, documented):
                names = re.findall("name: (.*)", text)
                assert len(names) > 5
                assert [name for name in names if name not in documented] == []
        """),
        Example("""
            def test_none_left_over(run):
                for name in set(run(1)) - set(run(2)):
                    raise AssertionError(name)
        """),
        Example("""
            def test_common(run):
                left, right = run(1), run(2)
                assert left.keys() == right.keys()
                for key in left.keys() & right.keys():
                    assert key.startswith("row")
        """),
        Example("""
            def some(rows):
                if not rows:
                    raise AssertionError("no rows")

            def test_guard_in_a_helper(run):
                rows = [row for row in run(1) if row.done]
                some(rows)
                for row in rows:
                    assert row.reward == 1
        """),
        Example("""
            def test_first(tmp_path):
                files = sorted(tmp_path.glob("*.json"))
                print(files[0].name)
                for file in files:
                    assert file.stat().st_size
        """),
        Example("""
            def test_runs(run, rows):
                for row in filter(None, rows):
                    try:
                        run(row)
                    except ValueError:
                        if not row.broken:
                            raise
        """),
        # What the check is over is shown by another check, or by an index, to hold something.
        Example("""
            def test_events(run):
                events = run(1)
                assert [event[0] for event in events[1:]] == ["scale", "step"]
                assert all(event[1] for event in events if event[0] == "step")

            def test_norms(run):
                data = run(1)
                assert data["norm/grad/global"]
                for name, norm in [(k, v) for k, v in data.items() if "norm/grad" in k]:
                    assert norm > 0

            def test_kinds(run):
                keys = run(1)
                assert {"sum", "mean"}.issubset({kind(key) for key in keys})
                for key in {key for key in keys if kind(key) == "sum"}:
                    assert key.done

            def test_pairs(run):
                cell = run(1)
                assert len(cell) == 3
                assert all(v in run(u) for u in cell for v in cell if u != v)

            def test_parts(run):
                parts = [part for part in run(1) if part]
                assert all(part.endswith("}") for part in parts)
                assert "".join(parts) == run(2)
        """),
        Example("""
            def sizes(text):
                return [int(part) for part in text.split(",") if part.strip()]

            def test_sizes(run, options):
                for size in sizes(options.sizes):
                    assert run(size) == size

            class TestQueries:
                def test_lazy(self):
                    def go():
                        for one in self.session.query(Row):
                            self.assertEqual(len(one.parts), 3)

                    self.assert_sql_count(self.engine, go, 4)
        """),
        Example(
            """
            class Average:
                def match(self, event, state):
                    for saver in [one for one in state.callbacks if isinstance(one, Saver)]:
                        assert callable(saver.interval)
                        if saver.interval(event):
                            return True
                    return False

            def verify_options(cls):
                for name, value in [(k, v) for k, v in cls.__dict__.items() if k.startswith("SUPPORTS")]:
                    if value is None:
                        raise ValueError(name)
            """,
            path="trainer/average.py",
        ),
        Example(
            """
            def check_upper(value):
                return all(c.isupper() for c in value if c.isalpha())
            """,
            path="robot/checks.py",
        ),
        Example(
            """
            def total(rows):
                for row in [row for row in rows if row.done]:
                    assert row.reward is not None
                    yield row.reward
            """,
            path="robot/reward.py",
        ),
        # Nothing is to be left of a folder, which may be gone as well.
        Example("""
            import fnmatch
            import os

            def test_removed(config, run, folder):
                config["delete_originals"] = True
                run(folder)
                for root, _, names in os.walk(folder):
                    assert len(fnmatch.filter(names, "*.mp3")) == 0, root
        """),
        # A page that the pattern finds is demanded.
        Example("""
            def test_pages(tmp_path, build, parse):
                build(tmp_path)
                assert tmp_path.joinpath("start.html").exists()
                for page in tmp_path.rglob("*.html"):
                    assert parse(page)
        """),
        # A program that fails where it has found nothing.
        Example(
            """
            def lines_until_equals(path):
                found = False
                with open(path) as lines:
                    for line in lines:
                        if line.startswith("=" * 8):
                            if found:
                                exit(1)
                            found = True
                if not found:
                    print("no end")
                    exit(1)
            """,
            path="tools/lines.py",
        ),
        # What a division after the loop needs.
        Example(
            """
            def check_words(path, slow, fast):
                same = other = 0
                with open(path) as file:
                    for line in file:
                        if slow(line) == fast(line):
                            same += 1
                        else:
                            other += 1
                        assert len(fast(line)) <= len(line)
                total = same + other
                print(f"{same * 100 / total} per cent")
            """,
            path="tools/compare_words.py",
        ),
        # The test has put the files there itself; a loop fills a table and refuses doubles.
        Example("""
            def test_upload(tmp_path, upload, exists):
                (tmp_path / "one").mkdir()
                (tmp_path / "one" / "a.json").touch()
                for path in tmp_path.glob("**/*.json"):
                    upload(path)
                    assert exists(path.name)
        """),
        Example("""
            def test_words(path, run):
                known = {}
                with open(path) as lines:
                    for line in lines:
                        key, value = line.split()
                        assert key not in known
                        known[key] = value
                assert run(known) == 1

            def test_settings(path, yaml, run):
                known = {}
                with open(path) as file:
                    given = yaml.load(file)
                for key, value in given.items():
                    if key in known:
                        raise ValueError(f"{key} is there twice")
                    known[key.lower()] = value
                assert run(known) == 1
        """),
        # What was caught is raised again, under its name.
        Example("""
            import os

            def test_charts(folder, draw, log, forgive):
                for name in os.listdir(folder):
                    try:
                        draw(name)
                    except OSError as torn:
                        if not forgive:
                            log(name)
                            raise torn
        """),
        # A docstring; what is grouped of them, and looked for until it is found.
        Example("""
            def test_help(run, ferry):
                shown = run("help ferry")
                for line in ferry.__doc__.splitlines():
                    assert line.strip() in shown

            def test_berths(harbour):
                boats = [boat for boat in harbour.boats if boat.moored]
                assert all(boat.berth for boat in boats)
                berths = {}
                for boat in boats:
                    berths.setdefault(boat.berth, []).append(boat.length)
                for wanted in ([4, 6], [9]):
                    for lengths in berths.values():
                        if lengths == wanted:
                            break
                    else:
                        raise ValueError(f"no berth for {wanted}")
        """),
        # The one or the other is filled.
        Example("""
            def test_sold_out(ferry):
                refused, taken = [], []
                late = []
                for seat in range(8):
                    (late if ferry.sell(seat) else refused).append(seat)
                    (taken, refused)[seat % 2].append(seat)
                for seat in late:
                    assert ferry.holds(seat)
                for seat in refused:
                    assert not ferry.holds(seat)
        """),
        # The very item is asserted to be there; the text holds something; none is refused after the loop.
        Example("""
            def test_bells(ferry):
                sounds = [sound.kind for sound in ferry.sounds]
                assert "bell" in sounds
                places = [place for place, sound in enumerate(sounds) if sound == "bell"]
                assert all(place > 2 for place in places)

            def test_log(ferry):
                log = ferry.log(200)
                assert 0 < len(log) <= 200
                for line in log.splitlines():
                    assert line.startswith("ferry")

            def test_charts(folder, draw):
                drawn = 0
                for path in folder.glob("*.chart"):
                    if "torn" in draw(path):
                        raise RuntimeError(path)
                    drawn += 1
                if drawn == 0:
                    raise RuntimeError("no chart was drawn")
        """),
        # What is left in each turn is gathered, and compared as a whole after the loop.
        Example("""
            def test_berths(harbours):
                gathered = []
                for harbour in harbours():
                    boats = [boat for boat in harbour.boats() if boat.moored]
                    assert all([boat.lights == "on" for boat in boats])
                    gathered.append(boats)
                lengths = [[boat.length for boat in boats] for boats in gathered]
                assert lengths == [[4, 6], [9]]
        """),
    )

    told_by = (
        ("unreachable-check", "place"),
        ("pair-keys-intersect", "place"),
        ("excuse-branch", "place"),
        ("loosened-check", "place"),
    )

    def suspect(self, unit: Unit) -> bool:
        if not may_check(unit) or not judges(unit):
            return False
        if unit.is_test and _may_say_close(unit) and any(map(_is_nothing, unit.asts(ast.Assign))):
            return True
        if not unit.has(ast.For, ast.AsyncFor, ast.comprehension):
            return False
        if any(one.ifs or may_say(unit, one.iter) for one in may_quantify(unit)):
            return True
        loops: list[ast.For | ast.AsyncFor] = [*unit.asts(ast.For), *unit.asts(ast.AsyncFor)]
        return any(may_say(unit, loop.iter) and may_check_in(unit, loop.body) for loop in loops)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit):
            return
        reported: set[int] = set()
        for loop in checked_loops(unit):
            checks = [check for check in loop.checks if not is_forced(unit, check, loop.node)]
            checks = [one for one in checks if not raises_again(unit, one.node) and not is_aside(unit, one)]
            if not checks or id(checks[0].node) in reported:
                continue
            found = iterable(unit, loop.node.iter)
            if _is_to_be_removed(unit, loop) or _fails_after(unit, loop.node):
                continue
            if _is_all_there_is(unit, loop, found):
                reported.add(id(checks[0].node))
                yield self._batches(unit, repo, loop, checks[0].node, found)
                continue
            if found.made == "used-up" and _fails_for_each(unit, loop):
                continue  # that nothing is left is what it asks
            if not may_be_empty(unit, loop.node, loop.node.iter, found) or counted(unit, loop.node):
                continue
            cut = found.made != "used-up" and is_cut(unit, loop.node)
            if compares_by_key(unit, loop.node) or cut:
                continue
            if found.made == "lookup" and refuses_input(unit):
                continue  # the default says that there need be none
            some = left(unit, loop.node, found)
            if some == "shown":
                continue
            reported.add(id(checks[0].node))
            again = _same_query(unit, loop.node.iter) if _is_shared(unit, found) else []
            if all(where.line > unit.line for where, _ in again):
                yield self._loop(unit, repo, loop, checks[0].node, found, some, again)
        for part in quantified(unit):
            found = _of_quantified(unit, part)
            over = part.node if part.form == "all" else part.node.for_in.iter
            if id(part.check) in reported or not may_be_empty(unit, part.node, over, found):
                continue
            some = left(unit, part.node, found)
            if some == "shown":
                continue
            reported.add(id(part.check))
            again = _same_query(unit, part.node.for_in.iter) if _is_shared(unit, found) else []
            if all(where.line > unit.line for where, _ in again):
                yield self._quantified(unit, repo, part, found, some, again)

        yield from self._of_nothing(unit, repo)

    def _of_nothing(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        """Two results that must be close, of which each is what something makes of an empty list."""
        for one in comparisons(unit) if unit.is_test else ():
            if one.relation != "close" or same(one.left, one.right):
                continue
            given = [_given_nothing(unit, side) for side in (one.left, one.right)]
            left, right = given
            if left is None or right is None or left != right:
                continue
            yield self.finding(
                unit,
                one.check.node,
                f"both sides are what is made of `{left.name}`, which holds nothing: if nothing comes of it,"
                " they are close whatever made them",
                certainty="question",
                steps=(step(unit, left.node, "empty"),),
                still_catches=still_catches(
                    unit, one.left, one.right, but=(one.check.node,), fault="empty", repo=repo
                ),
            )

    def _loop(
        self,
        unit: Unit,
        repo: Repo,
        loop: CheckedLoop,
        check: cst.CSTNode,
        found: Iterable,
        some: Left | None,
        again: list[tuple[Unit, cst.BaseExpression]],
    ) -> Finding:
        name = unit.text(loop.node.iter)
        doubt = _HINTED if some else _doubt(unit, found)
        if _forbids(check, found):
            doubt = doubt or "what it forbids, no item at all does as well"
        if _is_copied(unit, check, found):
            doubt = doubt or "what is listed is the original"
        if _fails_for_each(unit, loop) and not found.empty:
            doubt = doubt or "what it forbids, no item at all does as well"
        caught = still_catches(unit, loop.node.iter, but=(loop.node,), fault="empty", repo=repo)
        doubt = doubt or _doubt_around(unit, loop.node, found, caught)
        return self.finding(
            unit,
            check,
            f"this check never runs, and the test passes, where `{_short(name)}` is empty; it {found.says}"
            + ("" if found.empty else ", and nothing requires that there is something")
            + _and_more(again)
            + _wondering(doubt),
            certainty=_certainty(found, doubt),
            steps=(
                step(unit, loop.node.iter, "the loop runs over this"),
                step(found.unit, found.node, f"which {found.says}"),
                *_asking_too(again),
            ),
            still_catches=caught,
            fix=_require(unit, loop),
        )

    def _batches(
        self, unit: Unit, repo: Repo, loop: CheckedLoop, check: cst.CSTNode, found: Iterable
    ) -> Finding:
        name = _short(unit.text(loop.node.iter))
        return self.finding(
            unit,
            check,
            f"all checks of this test run once for each batch that `{name}` yields: if it yields none, the"
            " test passes",
            certainty="question",
            steps=(
                step(unit, found.node, "this is what is tested"),
                step(unit, loop.node.iter, "nothing counts its batches"),
            ),
            still_catches=still_catches(unit, loop.node.iter, but=(loop.node,), fault="empty", repo=repo),
        )

    def _quantified(
        self,
        unit: Unit,
        repo: Repo,
        part: Quantified,
        found: Iterable,
        some: Left | None,
        again: list[tuple[Unit, cst.BaseExpression]],
    ) -> Finding:
        over = _short(unit.text(part.node.for_in.iter))
        holds = "all(...) of nothing is true" if part.form == "all" else "nothing is found in nothing"
        doubt = _HINTED if some else _doubt(unit, found)
        if (part.form == "none" or _forbids_each(part)) and not found.empty:
            doubt = doubt or "what it forbids, no item at all does as well"
        caught = still_catches(unit, part.node.for_in.iter, but=(part.check,), fault="empty", repo=repo)
        doubt = doubt or _doubt_around(unit, part.check, found, caught)
        if not doubt and part.node.for_in.ifs and not found.empty:
            doubt = "it asks something of those alone, whether there are any or not"
        return self.finding(
            unit,
            part.check,
            f"this check passes where nothing is left of `{over}`; what it asks about {found.says}, and"
            f" {holds}{_and_more(again)}{_wondering(doubt)}",
            certainty=_certainty(found, doubt),
            steps=(step(found.unit, found.node, f"this {found.says}"), *_asking_too(again)),
            still_catches=caught,
        )


def _may_say_close(unit: Unit) -> bool:
    return not _saying_close(unit.file).isdisjoint(unit.facts.calls)


@once
def _saying_close(file: File) -> frozenset[str]:
    """The names by which a file may ask whether values are close: an import may give one of its own."""
    return _CLOSE.union(filter(_says_close, file.imports))


def _says_close(name: str) -> bool:
    return "close" in name or "almost_equal" in name


_CLOSE = frozenset(filter(_says_close, COMPARING))


def _is_nothing(node: ast.Assign) -> bool:
    return isinstance(node.value, (ast.List, ast.Tuple)) and not node.value.elts


def _given_nothing(unit: Unit, node: cst.BaseExpression) -> Binding | None:
    """The empty list that is all that a call or a subscript is given: `model[words]` after `words = []`."""
    node = values(unit).resolve(node)
    if (
        isinstance(node, cst.Subscript)
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
    ):
        given = node.slice[0].slice.value
    elif isinstance(node, cst.Call) and len(node.args) == 1 and not node.args[0].star:
        given = node.args[0].value
    else:
        return None
    bound = values(unit).reaching(given) if isinstance(given, cst.Name) else frozenset()
    if len(bound) != 1 or not isinstance(given, cst.Name) or values(unit).mutations(given.value):
        return None
    (binding,) = bound
    empty = isinstance(binding.value, (cst.List, cst.Tuple)) and not binding.value.elements
    return binding if empty and binding.role == "whole" else None


def _is_shared(unit: Unit, found: Iterable) -> bool:
    """Whether other tests that loop over the same can be empty by the same fault: a query, or a helper of the
    file that puts it together."""
    return found.made == "query" or found.unit is not unit or last_name(found.node) == "findall"


def _same_query(unit: Unit, over: cst.BaseExpression) -> list[tuple[Unit, cst.BaseExpression]]:
    """Where the file's other tests check each of what the same query or helper finds, in source order."""
    if not unit.is_test:
        return []
    asked = canonical(over)
    written = ast.unparse(ast.parse(asked, mode="eval"))
    found = []
    for at in _asking(unit.file).get(written, ()):
        other = unit.file.units[at]
        if other is unit:
            continue
        loops = [(loop.node, loop.node.iter) for loop in checked_loops(other)]
        loops += [(part.node, part.node.for_in.iter) for part in quantified(other) if part.form == "all"]
        alike = [(node, its) for node, its in loops if canonical(its) == asked]
        if alike and left(other, alike[0][0], iterable(other, alike[0][1])) != "shown":
            found.append((other, alike[0][1]))
    return found


@once
def _asking(file: File) -> dict[str, list[int]]:
    """The tests of a file, as places in its units, by what they loop over."""
    found: dict[str, list[int]] = {}
    for at, unit in enumerate(file.units):
        if unit.is_test:
            for written in {
                ast.unparse(loop.iter) for loop in (*unit.asts(ast.For), *unit.asts(ast.comprehension))
            }:
                found.setdefault(written, []).append(at)
    return found


def _and_more(again: list[tuple[Unit, cst.BaseExpression]]) -> str:
    tests = f"{len(again)} more test{'s' if len(again) > 1 else ''}"
    return f", here and in {tests} of this file" if again else ""


def _asking_too(again: list[tuple[Unit, cst.BaseExpression]]) -> list[Step]:
    return [step(where, over, f"`{where.name}` asks the same") for where, over in again]


def _is_all_there_is(unit: Unit, loop: CheckedLoop, found: Iterable) -> bool:
    """Whether a test loops over the batches of a loader or a sampler that it makes, checks nothing but what
    such loops yield, does not count them, and this loop is the first."""
    if not unit.is_test or not _is_of_batches(unit, found):
        return False
    ours = [one for one in checked_loops(unit) if _is_of_batches(unit, iterable(unit, one.node.iter))]
    loops = [one.node for one in ours]
    if not ours or ours[0] is not loop or any(counted(unit, one, loops) for one in loops):
        return False
    inside = {id(check.node) for one in ours for check in one.checks}
    return all(id(check.node) in inside for check in all_checks(unit))


def _is_of_batches(unit: Unit, found: Iterable) -> bool:
    return found.made == "call" and found.unit is unit and yields_batches(last_name(found.node))


def _is_to_be_removed(unit: Unit, loop: CheckedLoop) -> bool:
    """Whether a folder is walked after a removal, and each check of the walk demands that nothing, or
    nothing of a kind, is left in it: that the folder is gone too is as good."""
    over = loop.node.iter
    if not isinstance(over, cst.Call) or dotted(over.func) not in ("os.walk", "walk"):
        return False
    words = [name.value for name in unit.find(cst.Name)]
    words += [str(literal(node)) for node in unit.find(cst.SimpleString)]
    return any(map(_REMOVED.search, words)) and all(_wants_none(one.node) for one in loop.checks)


def _fails_after(unit: Unit, loop: cst.For) -> bool:
    """Whether the line after a loop fails, so that only an item that the loop returns for passes."""
    lines: list[cst.CSTNode] = list(loop.orelse.body.body) if loop.orelse is not None else []
    node: cst.CSTNode | None = loop
    while not lines and isinstance(node, (cst.For, cst.With)):
        block = unit.parent(node)
        if not isinstance(block, (cst.IndentedBlock, cst.Module)):
            return False
        around = list(block.body)
        lines, node = around[around.index(node) + 1 :], unit.parent(block)
        if isinstance(node, cst.For):
            break
    if not lines or not isinstance(lines[0], cst.SimpleStatementLine):
        return False
    first = lines[0].body[0]
    call = call_of(first)
    return isinstance(first, cst.Raise) or (call is not None and last_name(call) == "fail")


def _wants_none(check: cst.CSTNode) -> bool:
    """`assert not names`, `assert len(names) == 0`, `assert False`, `self.fail(...)`."""
    call = call_of(check)
    if call is not None:
        given = [arg.value for arg in call.args]
        if last_name(call) in ("fail", "assertFalse", "assertNotIn"):
            return last_name(call) != "assertFalse" or (bool(given) and isinstance(given[0], cst.Name))
        return last_name(call) == "assertEqual" and any(_is_none_left(one) for one in given[:2])
    if not isinstance(check, cst.Assert):
        return False
    asked = check.test
    if isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not):
        return isinstance(asked.expression, cst.Name)
    if isinstance(asked, cst.Comparison) and len(asked.comparisons) == 1:
        one = asked.comparisons[0]
        return isinstance(one.operator, cst.NotIn) or (
            isinstance(one.operator, cst.Equal) and _is_none_left(one.comparator)
        )
    return isinstance(asked, cst.Name) and asked.value == "False"


def _is_none_left(side: cst.BaseExpression) -> bool:
    value = literal(side)
    return value == [] or (value == 0 and not isinstance(value, bool))


def _forbids(check: cst.CSTNode, found: Iterable) -> bool:
    """`for word in words: assert word not in BANNED`, `for name in names: assert not name.endswith(".tmp")`:
    that there is no such word at all is as good."""
    if found.empty:
        return False
    asked: cst.BaseExpression | None = check.test if isinstance(check, cst.Assert) else None
    call = call_of(check)
    if call is not None and call.args:
        if last_name(call) == "assertNotIn":
            return True
        asked = call.args[0].value if last_name(call) == "assertFalse" else None
    if isinstance(check, cst.Assert):
        if isinstance(asked, cst.Comparison):
            return _denies(asked)
        if isinstance(asked, cst.Call) and last_name(asked) in ("is_dir", "isdir"):
            return True  # nothing but folders
        denied = isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not)
        asked = asked.expression if denied and isinstance(asked, cst.UnaryOperation) else None
    # Of a name, or that there is a file: a row that failed, or a file that is empty, is wrong in another way.
    return isinstance(asked, cst.Call) and last_name(asked) in _OF_NAMES | _EXIST


def _fails_for_each(unit: Unit, loop: CheckedLoop) -> bool:
    """Whether a loop fails for each item that there is: `for left in folder.glob("*.lock"): raise`."""
    for check in loop.checks:
        if check.kind not in ("raise", "fail"):
            return False
        for above in unit.ancestors(check.node):
            if above is loop.node:
                break
            there = isinstance(above, cst.If) and last_name(above.test) in _EXIST
            if not there and isinstance(above, (cst.If, cst.For, cst.While, cst.Try, cst.FunctionDef)):
                return False
    return True


def _forbids_each(part: Quantified) -> bool:
    """`all("draft" not in name for name in names)`."""
    asked = part.node.elt if isinstance(part.node, (cst.GeneratorExp, cst.ListComp, cst.SetComp)) else None
    if isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not):
        return isinstance(asked.expression, cst.Call) and last_name(asked.expression) in _OF_NAMES
    if not isinstance(asked, cst.Comparison) or not _denies(asked):
        return False
    target = asked.comparisons[0]
    return isinstance(literal(asked.left), str) or isinstance(target.operator, cst.NotEqual)


def _denies(asked: cst.Comparison) -> bool:
    """`"draft" not in name`, `name != "draft"`."""
    target = asked.comparisons[0]
    if isinstance(target.operator, cst.NotEqual):
        return isinstance(literal(target.comparator), str) and bool(literal(target.comparator))
    return isinstance(target.operator, cst.NotIn)


def _of_quantified(unit: Unit, part: Quantified) -> Iterable:
    if part.form == "all":
        return iterable(unit, part.node)
    return iterable(unit, part.node.for_in.iter)


_HINTED = "other lines suggest that there are some"


def _certainty(found: Iterable, doubt: str) -> Certainty:
    if doubt:
        return "question"
    return "proved" if found.empty else "likely"


def _wondering(doubt: str) -> str:
    return f"; is that meant? {doubt}" if doubt else ""


def _doubt(unit: Unit, found: Iterable) -> str:
    """Why nothing may be meant to be left, or why something surely is; nothing where neither can be said."""
    if found.empty:
        return ""
    if found.unit is unit and isinstance(found.node, cst.BaseExpression) and is_own_input(unit, found.node):
        return "the test itself writes what is filtered"
    if found.made in _OFTEN_EMPTY:
        return _OFTEN_EMPTY[found.made]
    if _is_source(found):
        return "the source of a program is kept beside its tests"
    if _BLANK.search(found.says):
        return "only blank lines are left out"
    source = found.source
    if source is None:
        return "the filter leaves out exceptions" if _leaves_out(found, gradients=False) else ""
    if source.empty is False:
        return "the table that is filtered holds something"
    own = source.made == "loaded" and lists_own(source.unit, source.node)
    if own and re.search(r"`\w+\.is_(file|dir)\(\)", found.says) is not None:
        return "the repository keeps that folder"
    gradients = ".grad " in found.says
    if _leaves_out(found, gradients=gradients):
        return "the filter leaves out exceptions"
    # A filter over a model's own parts is as a rule written to leave some; whether there are gradients is
    # what such a test is about.
    parts = last_name(source.node) in _MODEL_PARTS
    return "a model may have none of them" if parts and not gradients else ""


def _doubt_around(unit: Unit, node: cst.CSTNode, found: Iterable, caught: tuple[str, ...]) -> str:
    """Why nothing may be meant by what stands around a check, or how it would tell; else nothing."""
    if found.empty:
        return ""
    if not caught[0].startswith("nothing"):
        return "another check looks at what it is taken from"
    if found.made == "loaded" and is_kept(unit, node, found):
        return "the repository keeps what is read"
    if found.made == "filtered":
        if "isinstance(" in found.says:
            return "there may rightly be none of that kind"
        if isinstance(found.node, cst.BaseExpression) and is_of_kept(found.unit, found.node):
            return "the repository keeps what is read"
    if any(_COUNTS.search(last_name(call)) for call in unit.find(cst.Call) if not unit.holds(node, call)):
        return "another check counts"
    if unit.is_function and unit.has(ast.Yield, ast.YieldFrom) and not unit.is_test:
        return "a helper hands on what there is"
    taken = None if found.source is None else found.source.made
    if not unit.is_test and (taken == "parameter" or (found.made == "loaded" and _reads_a_parameter(found))):
        return "the helper may be given none"
    if _OF_SURROUNDINGS.search(found.says):
        return "where it runs decides what there is"
    if found.source is not None and found.source.made == "range":
        return "numbers stand for rows that the test itself may have written"
    if unit.is_test and _FORBIDDING.search(unit.name.rpartition(".")[2]):
        return "what the test forbids, no item at all does as well"
    if _NONE_IS_FINE.search(_comments_at(unit, node)):
        return "a comment speaks of none"
    if not unit.is_test:
        return "its callers may know that there is some"
    return "" if found.made == "filtered" else "other code may have put something there"


def _reads_a_parameter(found: Iterable) -> bool:
    """`os.walk(folder)` of what a function was given."""
    read = found.node
    given = read.args[0].value if isinstance(read, cst.Call) and read.args else None
    if (
        isinstance(read, cst.Call)
        and isinstance(read.func, cst.Attribute)
        and dotted(read.func.value) != "os"
    ):
        given = read.func.value
    bound = values(found.unit).reaching(given) if isinstance(given, cst.Name) else frozenset()
    return bool(bound) and all(one.kind == "parameter" for one in bound)


_COUNTS = pattern(r"(?i)^_*(verify|check|assert)_?(\w*_)?(file_?)?(count|number|total)")
_FORBIDDING = pattern(
    r"(?i)(^|_)(no|never|not|without|only|cannot|prevent\w*|forbid\w*|disallow\w*|reject\w*|exclud\w*)(_|$)"
)
_OF_SURROUNDINGS = pattern(
    r"(?i)(^|[\W_])(valid|available|supports?|supported|enabled|installed|backends?|platforms?|devices?)([\W_]|$)"
)
_NONE_IS_FINE = pattern(
    r"(?i)\b(ok(ay)?|fine|allowed|may|might|could)\b.*\b(none|no|empty|nothing|missing)\b|\bif any\b"
)


def _comments_at(unit: Unit, node: cst.CSTNode) -> str:
    """The comments beside a node and in the lines above it."""
    line, lines = unit.span(node).line, unit.file.lines
    near = lines[max(line - 4, 0) : line + 1]
    return " ".join(text.partition("#")[2].strip() for text in near if "#" in text)


def _is_source(found: Iterable) -> bool:
    """Whether it is lines or parts of a program's own source, or of a file that the module has read into a
    constant, or nodes of such a source."""
    made = found.node
    if isinstance(made, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
        over = made.for_in.iter
        walks = isinstance(over, cst.Call) and dotted(over.func) in (
            "ast.walk",
            "walk",
            "ast.iter_child_nodes",
        )
        return walks and "ast." in found.says
    if not isinstance(made, cst.Call):
        return False
    text: cst.BaseExpression | None = None
    if last_name(made) == "splitlines" and isinstance(made.func, cst.Attribute):
        text = made.func.value
    elif last_name(made) in ("findall", "finditer") and made.args:
        text = made.args[-1].value if len(made.args) < 3 else made.args[1].value
    name = last_name(text) if text is not None and not isinstance(text, cst.Call) else ""
    return _SOURCE.search(name) is not None


_SOURCE = pattern(r"(?i:(^|_)(source|src)(_text|_code)?$)|^[A-Z][A-Z0-9_]+$")


# What is empty for a reason about as often as not.
_OFTEN_EMPTY: dict[str, str] = {
    "query": "a query may rightly find nothing",
    "common": "two sides may rightly share or lack nothing",
    "lookup": "the default says that there need be none",
}


def _leaves_out(found: Iterable, *, gradients: bool) -> bool:
    """Whether a filter leaves out exceptions, and so expects the rest to be there: `x not in KNOWN`, or what
    has no name."""
    if not gradients and _LEAVES_OUT.match(found.says):
        return True
    return _keeps_the_rest(found) or _asks_whether_named(found)


def _asks_whether_named(found: Iterable) -> bool:
    """Whether a filter leaves out only what is none, or has no name: `[row for row in rows if row.name]`."""
    made = found.node
    if not isinstance(made, (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)):
        return False
    loop, tests = made.for_in, [one.test for one in made.for_in.ifs]
    if not tests or not isinstance(loop.target, cst.Name):
        return False
    item = loop.target.value
    return all(
        (isinstance(test, cst.Name) and test.value == item)
        or (isinstance(test, cst.Attribute) and dotted(test) in {f"{item}.{name}" for name in _NAMING})
        for test in tests
    )


_NAMING = ("id", "name", "key", "text", "uid", "label")


def _is_copied(unit: Unit, check: cst.CSTNode, found: Iterable) -> bool:
    """Whether a folder is listed to ask of each file whether it is somewhere else too, `assert (other /
    path.name).exists()`, `self.assertIn(name, os.listdir(other))`: what is listed is the original."""
    if found.made != "loaded" or not isinstance(found.node, cst.Call) or last_name(found.node) not in _LISTS:
        return False
    flow, call = values(unit), call_of(check)
    asked: list[cst.BaseExpression] = []
    if isinstance(check, cst.Assert):
        asked = [check.test]
    elif call is not None:
        asked = [arg.value for arg in call.args]
    if call is not None and last_name(call) == "assertIn" and len(asked) > 1:
        return _is_listing(flow.resolve(asked[1]))
    if len(asked) == 1 and isinstance(asked[0], cst.Comparison) and len(asked[0].comparisons) == 1:
        target = asked[0].comparisons[0]
        return isinstance(target.operator, cst.In) and _is_listing(flow.resolve(target.comparator))
    if not asked or not isinstance(asked[0], cst.Call) or last_name(asked[0]) not in _EXIST:
        return False
    place = asked[0].args[0].value if asked[0].args else asked[0].func
    if isinstance(place, cst.Attribute) and place is asked[0].func:
        place = place.value
    place = flow.resolve(place)
    return isinstance(place, cst.BinaryOperation) or last_name(place) in ("join", "joinpath")


def _is_listing(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and last_name(node) in _LISTS


_LISTS = frozenset({"listdir", "iterdir", "scandir", "walk", "glob", "rglob", "iglob"})
_EXIST = frozenset({"exists", "is_file", "isfile", "is_dir", "isdir"})


def _keeps_the_rest(found: Iterable) -> bool:
    """`filter(lambda name: name not in KNOWN, names)`."""
    made = found.node
    if not isinstance(made, cst.Call) or dotted(made.func) != "filter" or not made.args:
        return False
    asked = made.args[0].value
    return isinstance(asked, cst.Lambda) and bool(_LEAVES_OUT.match(f"{_KEEPS}{canonical(asked.body)} "))


def _require(unit: Unit, loop: CheckedLoop) -> Fix | None:
    """`assert rows` before the loop, where `rows` is a name for something that has a size."""
    over = loop.node.iter
    if not isinstance(over, cst.Name):
        return None
    made = values(unit).resolve(over)
    sized = isinstance(made, _SIZED) or (
        isinstance(made, cst.Call) and dotted(made.func) in ("sorted", "list", "set", "tuple")
    )
    line = unit.span(loop.node).line
    before = unit.file.lines[line - 1]
    if not sized or not before.lstrip().startswith("for "):
        return None
    indent = before[: len(before) - len(before.lstrip())]
    edit = Edit(unit.file.path, line, line - 1, f"{indent}assert {over.value}\n")
    return Fix(f"require `{over.value}` to hold something", (edit,), safe=True)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"
