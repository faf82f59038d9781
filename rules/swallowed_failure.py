"""A check whose failure a handler takes and lets go.

## Why
`except AssertionError: pass`, `except Exception: print(error)` and `contextlib.suppress` turn the failed
check into a passed test. So does a blind `except` with `continue` around the run that is compared: every
sample on which the code under test breaks is left out. A failed check in a thread ends the thread, and no
test. A hook of pytest that makes a skip of a failed test does it for all tests at once, and a run whose
checkpoint cannot be loaded and that only warns is compared as if it had resumed.

## Instead
Check outside the `try`, or catch the one exception that is meant. To require that two things differ use
`pytest.raises(AssertionError, match=...)`. Let a run that was told to resume fail where it cannot, and mark
the tests that may run out of memory one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from reviewbot.flow.calls import callee
from reviewbot.flow.checks import Check, call_of, checks, checks_in
from reviewbot.flow.control import enclosing, leaves, statements
from reviewbot.flow.handlers import BROAD, caught, expects_failure, fate, following, raised_by, takes
from reviewbot.flow.hooks import Softened, is_hook, softened
from reviewbot.flow.in_threads import InThread, in_threads, may_start
from reviewbot.flow.judging import in_test_file, judges, may_check, side
from reviewbot.flow.missing_rows import Missing, may_miss, missing_rows
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.restores import Unrestored, may_go_on, unrestored
from reviewbot.flow.suspects import may_check_in
from reviewbot.flow.syntax import UNKNOWN, dotted, last_name, literal, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, once, step
from reviewbot.model import Certainty

_VERDICTS = frozenset({"AssertionError", "Failed"})
_MISSING = frozenset({"ImportError", "ModuleNotFoundError"})
_OF_THE_MACHINE = frozenset({
    "OSError", "IOError", "EnvironmentError", "PermissionError", "FileNotFoundError", "ConnectionError",
})  # fmt: skip
_BECOMES = {"skipped": "is skipped", "passed": "passes"}
_LONGEST = 60
_SKIPS = frozenset({"pytest.skip", "pytest.xfail", "skip", "self.skipTest"})
_LEAVING = (cst.Return, cst.Break, cst.Continue)
_MUTE = (cst.Pass, cst.Expr, cst.Continue, cst.Return, cst.Ellipsis)


class SwallowedFailure(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            try:
                def test_rows(run):
                    return run(1)
                assert run is not None, "no run"  # <- here
            except AssertionError as error:
                print(error)
        """),
        Example("""
            import threading
            def test_rows(run):
                def worker():
                    assert run(1) == [2]  # <- here
                thread = threading.Thread(target=worker)
                thread.start()
                thread.join()
        """),
        Example("""
            def test_rows(run, device):
                try:
                    assert run(1) == [2]  # <- here
                finally:
                    device.close()
                    return
            def test_each(run, rows):
                for row in rows:
                    try:
                        assert run(row) == [2]  # <- here
                    finally:
                        continue
        """),
        Example("""
            def test_rows(run):
                try:
                    assert run(1) == [2]  # <- here
                except AssertionError:
                    pass
        """),
        Example("""
            def test_rows(run):
                try:
                    rows = run(1)
                    assert rows == [2]  # <- here
                    assert rows[0] == 2
                except Exception as error:
                    print(f"rows differ: {error}")
        """),
        Example("""
            def test_returned(run):
                try:
                    assert run(1) == [2]  # <- here
                    return True
                except Exception as error:
                    print(error)
                return False

            def check_either_way(run):
                try:
                    assert run(1) == [2]  # <- here
                    return True
                except AssertionError as error:
                    print(error)
                return True
        """),
        Example("""
            def test_same(run, same):
                try:
                    if not same(run(1), run(2)):
                        raise ValueError("differ")  # <- here
                except ValueError:
                    return
                try:
                    if not run(3).wait(10):
                        raise ValueError("never ends")  # <- here
                except Exception:
                    return
        """),
        Example("""
            import contextlib

            def test_rows(run):
                with contextlib.suppress(AssertionError):
                    assert run(1) == [2]  # <- here
        """),
        Example("""
            class Rows:
                def compare(self, left, right):
                    self.assertEqual(left, right)

                def test_rows(self, run):
                    try:
                        self.compare(run(1), run(2))  # <- here
                    except AssertionError as error:
                        print(error)
        """),
        Example("""
            def test_samples(run, samples):
                for sample in samples:
                    expected = run(sample, engine="eager")
                    try:
                        actual = run(sample, engine="compiled")
                    except Exception:  # <- here
                        continue
                    assert actual == expected
        """),
        Example("""
            def test_given_comparison(run, samples, comp):
                for sample in samples:
                    try:
                        actual = run(sample)
                    except Exception as error:  # <- here
                        continue
                    comp(actual, sample.expected, atol=1e-2)
        """),
        Example("""
            def test_must_fail(self, run):
                try:
                    run(-1)
                    self.fail("no error")  # <- here
                except Exception:
                    pass
        """),
        Example("""
            import pytest

            def test_skips(run):
                try:
                    assert run(1) == [2]  # <- here
                except Exception:
                    pytest.skip("no server")
        """),
        # A failure of the code is none of the machine, and what is only shown is not looked at.
        Example("""
            import pytest

            def test_listing(run, log):
                problem = None
                try:
                    if run("ls") != ["a"]:
                        raise ValueError("another listing")  # <- here
                except ValueError:
                    pytest.skip("cannot list")
                try:
                    assert run("pwd") == "/"  # <- here
                except Exception as error:
                    problem = error
                log.info(str(problem))
                print("pwd differs" if "x" in str(log) else str(problem))
        """),
        Example("""
            import unittest

            import pytest

            def test_resumed(run):
                whole = run(1)
                try:
                    assert run(2) == whole  # <- here
                except Exception as error:
                    raise unittest.SkipTest("cannot resume") from error

            def test_restored(run):
                reason = None
                try:
                    assert run(2) == run(1)  # <- here
                except Exception as error:
                    reason = str(error)
                if reason:
                    pytest.skip(reason)
        """),
        Example(
            """
            import sys

            def compare(before, after):
                for left, right in zip(before, after, strict=True):
                    if left["tokens"] != right["tokens"]:
                        raise ValueError(left["name"])

            def main(before, after):
                try:
                    compare(before, after)  # <- here
                except Exception as error:
                    print(f"cannot compare: {error}")
                    sys.exit(0)
                print("OK")
            """,
            path="tools/compare_runs.py",
        ),
        # Hooks of pytest: of one kind of failure, and of any.
        Example(
            """
            import pytest
            import torch

            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_call(item):
                outcome = yield
                if outcome.excinfo is None:
                    return
                error = outcome.excinfo[1]
                if isinstance(error, torch.OutOfMemoryError):
                    outcome.force_exception(pytest.skip.Exception(f"no room: {error}"))  # <- here

            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                if report.failed:
                    report.outcome = "skipped"  # <- here
            """,
            path="tests/conftest.py",
        ),
        Example(
            """
            import pytest

            def pytest_pyfunc_call(pyfuncitem):
                try:
                    pyfuncitem.obj()
                except RuntimeError as error:
                    pytest.skip(str(error))  # <- here
                return True
            """,
            path="tests/conftest.py",
        ),
        # What one side lacks is never compared.
        Example("""
            from contextlib import suppress

            def test_ports(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                for name, port in planned.items():
                    try:
                        other = sailed[name]
                    except KeyError:  # <- here
                        continue
                    assert other == port

            def test_winds(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                for at, wind in enumerate(planned):
                    try:
                        assert sailed[at].wind == wind
                    except IndexError:  # <- here
                        print("no wind", at)

            def test_crews(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                for name in planned:
                    with suppress(KeyError):  # <- here
                        assert sailed[name] == planned[name]
        """),
        Example(
            """
            def compare(before, after):
                off = []
                left = iter(after)
                for row in before:
                    try:
                        other = next(left)
                    except StopIteration:  # <- here
                        break
                    if row["course"] != other["course"]:
                        off.append(row["name"])
                return off
            """,
            path="tools/compare_courses.py",
        ),
        # A run that was to resume, and starts anew.
        Example(
            """
            class Trainer:
                def fit(self, args):
                    step = 0
                    try:
                        step = self.load_checkpoint(args.path)["step"]
                    except Exception as error:  # <- here
                        logger.warning(f"cannot load {args.path}: {error}")
                        step = 0
                    for step in range(step, args.steps):
                        self.train_step(step)

                def restore(self, path):
                    try:
                        self.optimizer.load_state_dict(torch.load(path))
                    except (RuntimeError, ValueError):  # <- here
                        print("starting from scratch")
            """,
            path="robot/trainer.py",
        ),
    )
    good = (
        Example(
            """
            import threading
            def test_rows(run):
                def worker():
                    assert run(1) == [2]
                thread = threading.Thread(target=worker)
                thread.start()
                thread.join()
            """,
            files={"pyproject.toml": '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n'},
        ),
        # The thread says how it went.
        Example("""
            import threading
            def test_rows(run):
                done = []
                def worker():
                    assert run(1) == [2]
                    done.append(1)
                def other():
                    nonlocal error
                    try:
                        assert run(2) == [3]
                    except AssertionError as failed:
                        error = failed
                error = None
                for target in (worker, other):
                    thread = threading.Thread(target=target)
                    thread.start()
                    thread.join()
                assert done and error is None
                again = threading.Thread(target=worker)
                again.start()
        """),
        # What leaves a `finally` does so only there, or nothing is checked before it.
        Example("""
            def test_rows(run, device):
                try:
                    assert run(1) == [2]
                finally:
                    if device is not None:
                        device.close()
            def test_closes(run, device):
                try:
                    device.open()
                finally:
                    return device.close()
            def test_all(run, devices):
                try:
                    assert run(1) == [2]
                finally:
                    for device in devices:
                        if device is None:
                            continue
                        device.close()
        """),
        # Tidying up must not hide why there is something to tidy.
        Example("""
            import contextlib

            def run_on(loop, step):
                done = loop.run(step)
                assert done.wait(3), "the loop has not run it"

            def test_message(loop, ship):
                try:
                    run_on(loop, ship.sail)
                    assert ship.at_sea
                finally:
                    with contextlib.suppress(Exception):
                        run_on(loop, ship.moor)
        """),
        # To close a thing is no comparison.
        Example(
            """
            class Hold:
                def close(self):
                    try:
                        repack(self.crates)
                    except Exception as error:
                        log.warning("repacking failed: %s", error)
                    self.open = False

            def repack(crates):
                if not crates:
                    raise ValueError("nothing to repack")
            """,
            path="harbour/hold.py",
        ),
        # What fails is written out, to be shown as it fails; a test that also runs by itself.
        Example("""
            from harbour import log

            def moor(depth, bollard):
                assert depth > 10 and bollard == 60

            try:
                moor(9, 55)
            except AssertionError:
                log.exception("")

            def show():
                try:
                    draught, depth = 4, 3
                    assert draught == depth
                except AssertionError:
                    log.exception("")
        """),
        Example("""
            import winch

            def test_winch_builds():
                assert winch.build().ready

            try:
                test_winch_builds()
            except Exception as error:
                print("the winch does not build:", error)
        """),
        # It is tried again, and fails once that was often enough.
        Example("""
            import pytest

            def test_sooner_or_later(sail):
                for _ in range(3):
                    try:
                        assert sail().hours < 5.0
                        break
                    except AssertionError:
                        pass
                else:
                    pytest.fail("never fast enough")
        """),
        # What is missing is kept, fails, or cannot be missing; a test of the error itself.
        Example("""
            def test_ports(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                missing = []
                for name, port in planned.items():
                    try:
                        other = sailed[name]
                    except KeyError:
                        missing.append(name)
                        continue
                    assert other == port
                assert not missing

            def test_same_ports(sail, plan, sea):
                sailed, planned = sail(sea), plan(sea)
                assert sailed.keys() == planned.keys()
                for name, port in planned.items():
                    try:
                        other = sailed[name]
                    except KeyError:
                        continue
                    assert other == port

            def test_unknown(sail, sea, port):
                rows = sail(sea)
                try:
                    assert rows["nowhere"] == port
                except KeyError:
                    raise AssertionError("nowhere") from None
                try:
                    rows["nowhere"]
                    raise AssertionError("nowhere is there")
                except KeyError:
                    pass
        """),
        # The failure of a check passes; what breaks before it skips, and what is kept is judged.
        Example("""
            import pytest

            def test_resumed(run):
                try:
                    rows = run(2)
                    assert rows == run(1)
                except AssertionError:
                    raise
                except Exception as error:
                    pytest.skip(str(error))

            def test_restored(run):
                reason = None
                try:
                    assert run(2) == run(1)
                except Exception as error:
                    reason = str(error)
                if reason:
                    pytest.fail(reason)
        """),
        # What goes well returns from within, and who calls hears of the rest.
        Example("""
            class Harbour:
                def check_berth(self, ship):
                    try:
                        berth = self.find(ship)
                        if berth is None:
                            raise AssertionError("no berth")
                        try:
                            assert berth.depth > ship.draught
                            return True
                        except Exception:
                            log.error("too shallow", exc_info=True)
                    except Exception:
                        log.error("not found", exc_info=True)
                    return False

            def check_crew(ship):
                try:
                    assert ship.crew == 12
                except AssertionError as error:
                    print(error)
                else:
                    return True
        """),
        # Raised in every other turn, to see it rolled back.
        Example("""
            import random

            def test_rolled_back(till):
                for turn in range(10):
                    try:
                        with till.open():
                            if turn % 2 == 0:
                                raise ValueError("back")
                            if random.random() < 0.3:
                                raise ValueError("and back")
                    except ValueError:
                        pass
                assert till.sum() == 5
        """),
        # It is tried again until it holds, and fails for good when the time is over.
        Example("""
            import contextlib
            import pytest
            import time

            def test_lamp_is_lit_in_the_end(lamp):
                end = time.time() + 3
                while time.time() < end:
                    with contextlib.suppress(AssertionError):
                        assert lamp.lit
                        break
                else:
                    pytest.fail("it stayed dark")
        """),
        # A guard in a finaliser, of which no error ever reaches anybody.
        Example(
            """
            import shutil

            class Cabin:
                def __del__(self):
                    try:
                        assert self.path.name.startswith("cabin-")
                        shutil.rmtree(self.path)
                    except Exception:
                        pass
            """,
            path="tests/cabins.py",
        ),
        # What is caught is kept, and what follows looks at its text.
        Example("""
            import unittest

            class TestAnchor(unittest.TestCase):
                def test_dragged(self):
                    caught = None
                    try:
                        drop("anchor")
                        self.fail("held")
                    except Exception as error:
                        caught = error
                    self.assertIn("mud", str(caught))

            def test_lost():
                caught = None
                try:
                    drop("anchor", chain=None)
                    assert False
                except Exception as error:
                    caught = error
                assert "chain" in str(caught)
        """),
        # The disk cannot hold what the test needs.
        Example("""
            import os

            import pytest

            def test_odd_names(tmp_path, listing):
                path = tmp_path / "a\tb"
                try:
                    path.touch()
                    if not os.path.exists(path):
                        raise OSError("not made")
                except OSError:
                    pytest.skip("no such names here")
                assert listing(tmp_path) == ["a\tb"]
        """),
        # Whether what the tests need is there, and new enough.
        Example("""
            import unittest

            class TestOven(unittest.TestCase):
                def setUp(self):
                    try:
                        import oven

                        assert oven.__version__ >= "0.23", "too old an oven"
                    except (ImportError, AssertionError):
                        raise unittest.SkipTest("no oven")
        """),
        # Whether there is a dock to test with is asked first.
        Example("""
            def test_moored(harbour, ship):
                try:
                    dock = harbour.group([{"depth": 12}])
                    if not dock.wait(timeout_seconds=10):
                        raise RuntimeError("no dock is free")
                except RuntimeError:
                    return
                assert dock.moor(ship)
        """),
        # Raised where the test is told to, to see what is closed.
        Example("""
            def test_closed(shop, empty):
                try:
                    with shop.open() as till:
                        if empty:
                            raise shop.Empty()
                        else:
                            till.close()
                except shop.Empty:
                    pass
                finally:
                    assert till.closed
        """),
        # What a test raises itself, to see what becomes of it.
        Example("""
            class Cut(Exception):
                pass

            def test_stopped(rows, limit, closed):
                seen = 0
                try:
                    for row in rows:
                        seen += 1
                        if seen >= limit:
                            raise Cut("enough")
                except Cut:
                    pass
                assert closed()
        """),
        Example("""
            def test_must_differ(run):
                try:
                    assert run(1) == run(2)
                except AssertionError:
                    return
                raise AssertionError("the two runs are equal")
        """),
        Example("""
            def test_collected(run):
                failures = []
                for n in range(3):
                    try:
                        assert run(n) == n
                    except AssertionError as error:
                        failures.append(error)
                assert not failures
        """),
        Example("""
            def test_flag(run, report):
                failed = False
                try:
                    assert run(1) == [2]
                except AssertionError:
                    failed = True
                report(not failed)
        """),
        Example("""
            def test_other_type(run):
                try:
                    assert run(1) == [2]
                except AssertionError as error:
                    raise RuntimeError("rows differ") from error
        """),
        Example("""
            def wait(run, deadline):
                while True:
                    try:
                        assert run(1) == [2]
                        return
                    except AssertionError:
                        if deadline.passed():
                            raise
        """),
        Example("""
            import pytest

            def test_pytest_fail_is_no_exception(run):
                try:
                    run(-1)
                    pytest.fail("no error")
                except Exception:
                    pass
        """),
        Example("""
            def same(left, right):
                try:
                    assert left == right
                except AssertionError:
                    return False
                return True
        """),
        Example("""
            def test_cleanup(run, path):
                try:
                    assert run(1) == [2]
                finally:
                    path.unlink()
        """),
        Example("""
            def test_other_error(run):
                try:
                    assert run(1).missing == 2
                except AttributeError:
                    pass
        """),
        Example("""
            def test_unsupported(run, samples):
                for sample in samples:
                    try:
                        actual = run(sample)
                    except NotImplementedError:
                        continue
                    assert actual == sample
        """),
        Example("""
            def test_reference_supports(run, reference, samples):
                for sample in samples:
                    try:
                        expected = reference(sample)
                    except Exception:
                        continue
                    assert run(sample) == expected
        """),
        # What the test needs is too old.
        Example("""
            def test_chart(chart, harbour):
                try:
                    import sextant

                    if sextant.version < (2, 4):
                        raise ImportError("too old")
                except ImportError:
                    print("no sextant")
                    return
                assert chart(harbour) == sextant.chart(harbour)
        """),
        Example("""
            def test_raise(self):
                try:
                    raise KeyError("caught")
                except KeyError:
                    pass
        """),
        # A hook that tells of a device that is not there, that looks at failures only, or at skips.
        Example(
            """
            import pytest

            def pytest_runtest_call(item):
                try:
                    item.runtest()
                except RuntimeError as error:
                    if "Found no NVIDIA driver" in str(error):
                        pytest.skip("no driver")
                    raise

            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                if report.failed and "poisoned" in str(call.excinfo.value):
                    item.session.shouldstop = "poisoned"
                if report.skipped and item.name in EXPECTED:
                    report.outcome = "passed"
                if report.passed and item.name in BROKEN:
                    report.outcome = "failed"

            def pytest_runtest_setup(item):
                if item.name not in CHOSEN:
                    pytest.skip("not chosen")
            """,
            path="tests/conftest.py",
        ),
        # Nothing was saved yet; another checkpoint is tried; the failure is passed on, or kept.
        Example(
            """
            class Trainer:
                def resume(self, path):
                    try:
                        self.load_checkpoint(path)
                    except FileNotFoundError:
                        logger.info("nothing saved yet: starting from scratch")

                def resume_latest(self, paths):
                    for path in paths:
                        try:
                            self.load_checkpoint(path)
                            break
                        except Exception as error:
                            logger.warning(f"{path} is broken, ignoring it: {error}")
                    else:
                        raise RuntimeError("no checkpoint can be loaded")

                def resume_or_fail(self, path):
                    try:
                        self.load_checkpoint(path)
                    except Exception as error:
                        logger.error("cannot continue")
                        raise SystemExit(1) from error

                def weights(self, path):
                    try:
                        self.model.load_state_dict(read(path))
                    except RuntimeError:
                        logger.warning("ignoring weights of another shape")
            """,
            path="robot/trainer.py",
        ),
        Example(
            """
            def load(path):
                try:
                    assert path.exists()
                    return path.read_text()
                except Exception:
                    return None
            """,
            path="robot/loader.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if is_hook(unit) or may_go_on(unit):
            return True
        if not unit.has(ast.Try, ast.ExceptHandler) and not unit.calls("suppress") and not may_start(unit):
            return False
        if not may_check(unit) or not judges(unit):
            return False
        return (
            may_miss(unit)
            or unit.calls("suppress")
            or may_start(unit)
            or any(_leaves_finally(node) and may_check_in(unit, node.body) for node in unit.asts(ast.Try))
            or any(_may_take(unit, node) for node in unit.asts(ast.Try))
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if is_hook(unit):
            yield from (self._softened(unit, one) for one in softened(unit))
        if not in_test_file(unit.file.path):
            yield from (self._unrestored(unit, one) for one in unrestored(unit))
        if not judges(unit) or unit.name.endswith("__del__"):
            return  # what a finaliser raises is dropped in any case
        yield from (self._missing(unit, repo, one) for one in missing_rows(unit))
        for thread in in_threads(unit) if may_start(unit) and not repo.pytest.threads_fail else ():
            yield from self._in_thread(unit, thread)
        for node in unit.find(cst.Try):
            yield from self._try(unit, repo, node)
            yield from self._finally(unit, repo, node)
        for block in unit.find(cst.With):
            for item in block.items:
                if isinstance(item.item, cst.Call) and last_name(item.item) == "suppress":
                    handled = frozenset(last_name(arg.value) for arg in item.item.args)
                    inside = [c for c in _own_checks(unit, block) if takes(handled, raised_by(c))]
                    if isinstance(enclosing(unit, block, cst.Finally, cst.FunctionDef), cst.Finally):
                        inside = [check for check in inside if check.kind != "helper"]
                    if inside and not (_tries_again(unit, block) and _fails_later(unit, block)):
                        sure: Certainty = "likely" if inside[0].kind == "helper" else "proved"
                        yield self._report(unit, repo, inside[0], item, handled, "lost", sure)

    def _try(self, unit: Unit, repo: Repo, node: cst.Try) -> Iterator[Finding]:
        inside = _own_checks(unit, node.body)
        earlier: list[frozenset[str]] = []
        for handler in node.handlers:
            handled = caught(handler)
            before, earlier = earlier, [*earlier, handled]
            fallen = fate(unit, handler.body)
            if fallen == "left to others" or (fallen == "lost" and _is_told_by_return(unit, node)):
                continue
            if len(statements(node.body)) == 1 and inside and _fails_outright(inside[0]):
                continue
            taken = [check for check in inside if takes(handled, raised_by(check))]
            taken = [check for check in taken if not any(takes(kinds, raised_by(check)) for kinds in before)]
            taken = [
                check
                for check in taken
                if not _is_staged(unit, check, handled) and not _is_shown(unit, check)
                if not (fallen == "skipped" and _is_of_the_machine(check, handled))
            ]
            if fallen == "skipped" and handled & _MISSING and "AssertionError" in handled:
                continue  # whether what the test needs is there, and new enough
            if isinstance(enclosing(unit, node, cst.Finally, cst.FunctionDef), cst.Finally):
                # Tidying up must not hide why there is something to tidy.
                taken = [check for check in taken if check.kind != "helper"]
            meant = [check for check in taken if not expects_failure(unit, node, check.node)]
            if taken and meant:
                certain = fallen == "lost" and _is_mute(handler) and not _tries_again(unit, node)
                certainty: Certainty = "proved" if certain and meant[0].kind != "helper" else "likely"
                if unit.kind == "module" or (fallen == "skipped" and _KNOWN.search(unit.text(handler))):
                    certainty = "question"  # outside of a test it says what is needed to find the tests
                if _is_noted_after(unit, node, meant[0].node) or _names_a_report(unit, handler):
                    certainty = "question"
                if not (_tries_again(unit, node) and _fails_later(unit, node)):
                    yield self._report(unit, repo, meant[0], handler, handled, fallen, certainty)
            elif not inside and handled & BROAD and fallen == "lost" and _leaves_out(unit, node, handler):
                yield self._left_out(unit, repo, node, handler)

    def _in_thread(self, unit: Unit, one: InThread) -> Iterator[Finding]:
        """A check in a function that runs in another thread."""
        inside = [check for check in _own_checks(unit, one.function.body) if check.kind != "helper"]
        if not inside or raised_by(inside[0]) not in _VERDICTS:
            return
        name = one.function.name.value
        yield self.finding(
            unit,
            inside[0].node,
            f"when this check fails, only the thread of `{name}` ends: the test does not hear of it",
            certainty="likely",
            steps=(
                step(unit, inside[0].node, "this fails"),
                step(unit, one.started, f"in the thread in which `{name}` runs"),
            ),
            still_catches=("pytest only where it is told to make errors of its warnings",),
        )

    def _finally(self, unit: Unit, repo: Repo, node: cst.Try) -> Iterator[Finding]:
        """What leaves at the top of a `finally` takes the place of what was raised."""
        block = statements(node.finalbody.body) if node.finalbody is not None else []
        left = next((one for one in block if isinstance(one, _LEAVING)), None)
        inside = [one for one in _own_checks(unit, node.body) if raised_by(one) in _VERDICTS]
        if left is None or not inside or expects_failure(unit, node, inside[0].node):
            return
        word = type(left).__name__.lower()
        yield self.finding(
            unit,
            inside[0].node,
            f"when this check fails, the `{word}` in `finally` takes the place of the failure",
            certainty="likely" if inside[0].kind == "helper" else "proved",
            steps=(
                step(unit, inside[0].node, "this fails"),
                step(unit, left, "and this drops what was raised"),
            ),
            still_catches=still_catches(
                unit,
                inside[0].condition or inside[0].node,
                but=[one.node for one in inside],
                cut=[node.body],
                ends=[left],
                repo=repo,
            ),
        )

    def _report(
        self,
        unit: Unit,
        repo: Repo,
        check: Check,
        taker: cst.ExceptHandler | cst.WithItem,
        handled: frozenset[str],
        fallen: str,
        certainty: Certainty,
    ) -> Finding:
        who = "this `suppress`" if isinstance(taker, cst.WithItem) else _name(handled)
        then = _then(taker) if fallen == "skipped" else "lets it go"
        finding = self.finding(
            unit,
            check.node,
            f"when this check fails, {who} takes the failure and {then}",
            certainty=certainty,
            steps=(
                step(unit, check.node, "this fails"),
                step(unit, _head(taker), f"and is taken here, where the handler {then}"),
            ),
            still_catches=still_catches(
                unit,
                check.condition or check.node,
                but=(check.node,),
                cut=_cut_off(unit, taker),
                ends=_end(taker),
                repo=repo,
            ),
        )
        if check.kind != "helper" or isinstance(taker, cst.WithItem):
            return finding
        # Nothing on the call's own lines says that it checks: the remark covers the handler's line too.
        last = unit.span(_head(taker))
        return replace(
            finding, span=replace(finding.span, end_line=last.end_line, end_column=last.end_column)
        )

    def _softened(self, unit: Unit, one: Softened) -> Finding:
        """One kind of failure may well be none of the code's; any failure at all is another matter."""
        where = (
            f" where `{_short(unit, one.asked)}` holds" if isinstance(one.asked, cst.BaseExpression) else ""
        )
        asked = [step(unit, one.asked, "this decides it")] if one.narrow and one.asked is not None else []
        return self.finding(
            unit,
            one.node,
            f"this hook makes of a test that failed one that {_BECOMES[one.becomes]}{where}",
            certainty="question" if one.narrow else "likely",
            steps=(*asked, step(unit, one.node, f"from here on the test counts as {one.becomes}")),
            still_catches=(
                "a failure of another kind"
                if one.narrow
                else f"nothing: whoever reads the run sees that the test {_BECOMES[one.becomes]}",
            ),
        )

    def _unrestored(self, unit: Unit, one: Unrestored) -> Finding:
        what, who = _short(unit, one.restores.func), _name(caught(one.handler))
        return self.finding(
            unit,
            _head(one.handler),
            f"when `{what}` fails, {who} only tells of it and the run goes on without the state that it was"
            " to restore: should it not stop?",
            certainty="question",
            steps=(
                step(unit, one.restores, "the state is restored here"),
                step(unit, _head(one.handler), "and a failure ends here, with a message"),
            ),
            still_catches=("nothing: a run that starts anew trains, logs and saves like one that resumed",),
        )

    def _missing(self, unit: Unit, repo: Repo, one: Missing) -> Finding:
        handler = isinstance(one.taker, cst.ExceptHandler)
        who = _name(caught(one.taker)) if isinstance(one.taker, cst.ExceptHandler) else "this `suppress`"
        left, right = _short(unit, one.judgement.left), _short(unit, one.judgement.right)
        return self.finding(
            unit,
            _head(one.taker),
            f"where `{_short(unit, one.lookup)}` finds nothing, {who} lets it go, and `{left}` and `{right}`"
            " are not compared: is that meant?",
            certainty="question",  # that the one side lacks it may be what is allowed
            steps=(
                step(unit, one.lookup, "this raises where one side lacks what the other has"),
                step(unit, _head(one.taker), "the error ends here, counted nowhere"),
                step(unit, one.judgement.left, "and this comparison is left out"),
            ),
            still_catches=still_catches(
                unit,
                one.judgement.left,
                one.judgement.right,
                but=(one.judgement.node,),
                cut=_cut_off(unit, one.taker) if handler else (),
                repo=repo,
            ),
        )

    def _left_out(self, unit: Unit, repo: Repo, node: cst.Try, handler: cst.ExceptHandler) -> Finding:
        return self.finding(
            unit,
            _head(handler),
            f"whatever breaks in this `try` is taken by {_name(caught(handler))}, and what would have been"
            " compared is left out",
            certainty="likely" if in_test_file(unit.file.path) else "question",
            steps=(
                step(unit, node.body.body[0], "this makes what is compared below"),
                step(unit, _head(handler), "any error in it ends here, counted nowhere"),
                step(unit, _next(handler), "and the next one is taken"),
            ),
            still_catches=still_catches(unit, node.body, but=(node,), ends=(_next(handler),), repo=repo),
        )


def _cut_off(unit: Unit, taker: cst.ExceptHandler | cst.WithItem) -> list[cst.CSTNode]:
    """What does not run once a failure is taken: the rest of the block, and the `else` of a `try`."""
    block = unit.parent(taker)
    if isinstance(block, cst.Try):
        return [block.body, *([block.orelse] if block.orelse is not None else [])]
    return [block.body] if isinstance(block, cst.With) else []


def _then(taker: cst.ExceptHandler | cst.WithItem) -> str:
    """What a handler that skips a test says of it."""
    called = {last_name(below) for below in walk(taker) if isinstance(below, cst.Call)}
    expected = "xfail" in called and called.isdisjoint(("skip", "skipTest", "SkipTest"))
    return "calls it an expected one" if expected else "skips the test"


def _end(taker: cst.ExceptHandler | cst.WithItem) -> list[cst.CSTNode]:
    """The statement with which a handler leaves, if it does: what skips the test leaves it too."""
    if isinstance(taker, cst.WithItem):
        return []
    for one in statements(taker.body):
        call = call_of(one)
        if leaves([one]) is not None or (call is not None and dotted(call.func) in _SKIPS):
            return [one]
    return []


def _is_shown(unit: Unit, check: Check) -> bool:
    """Whether a check stands there for its failure alone, as of what is written out, or runs as a test by
    itself: a module that calls `test_rig()` once more, for its log."""
    if check.kind == "assert" and check.condition is not None:
        return _is_decided(unit, check.condition)
    call = call_of(check.node)
    function = callee(unit, call) if check.kind == "helper" and call is not None else None
    if call is None or function is None:
        return False
    if function.is_test and not unit.is_test and not call.args:
        return True
    written = bool(call.args) and all(literal(arg.value) is not UNKNOWN for arg in call.args)
    return written and not function.facts.calls


def _is_decided(unit: Unit, condition: cst.BaseExpression) -> bool:
    """Whether a condition compares what is written out with what is written out, under names."""
    if not isinstance(condition, cst.Comparison):
        return False
    flow = values(unit)
    sides = (condition.left, *(target.comparator for target in condition.comparisons))
    named = any(isinstance(one, cst.Name) for one in sides)
    return named and all(literal(flow.resolve(one)) is not UNKNOWN for one in sides)


def _is_told_by_return(unit: Unit, node: cst.Try) -> bool:
    """Whether a function leaves a `try` with a verdict of its own, and another value at its end: who calls
    it is told of the failure. Nobody reads what a test returns."""
    function = enclosing(unit, node, cst.FunctionDef)
    if not isinstance(function, cst.FunctionDef) or function.name.value.startswith("test"):
        return False
    passed = [verdict for block in (node.body, node.orelse) for verdict in _verdicts(block)]
    last = statements(function.body)[-1]
    failed = literal(last.value) if isinstance(last, cst.Return) and last.value is not None else None
    return bool(passed) and failed is not UNKNOWN and all(one is not failed for one in passed)


def _verdicts(block: cst.CSTNode | None) -> list[bool]:
    """The truth values with which a block that went well is left."""
    if block is None:
        return []
    found = []
    for one in statements(block):
        if isinstance(one, cst.Return) and one.value is not None and isinstance(literal(one.value), bool):
            found.append(bool(literal(one.value)))
        if isinstance(one, cst.Try):
            found += [verdict for inner in (one.body, one.orelse) for verdict in _verdicts(inner)]
        if isinstance(one, cst.With):
            found += _verdicts(one.body)
    return found


def _is_noted_after(unit: Unit, node: cst.Try, check: cst.CSTNode) -> bool:
    """Whether what follows a check in its `try` puts down that it has passed, where others may read it:
    `failed[rank] = False`, `done.set()`."""
    rank = unit.index.rank
    # What stands in a function that a module defines there is of another unit.
    after = [one for one in walk(node.body) if one in unit.index and rank(one) > rank(check)]
    after += list(walk(node.orelse)) if node.orelse is not None else []
    stores = (one.target for one in after if isinstance(one, cst.AssignTarget))
    if any(isinstance(target, (cst.Subscript, cst.Attribute)) for target in stores):
        return True
    calls = (one for one in after if isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute))
    return any(last_name(call) in _NOTES for call in calls)


_NOTES = frozenset({"append", "add", "put", "put_nowait", "set", "set_result", "send"})
_KNOWN = pattern(r"(?i)\bknown\b|\bexpected to fail\b|\bnot yet\b|\bbug\b|\b(fix|mend) (it|me|this)\b")


# A report by its number: `#1420`, `GH-77`, `issues/1420`.
_REPORT = pattern(r"(?i)(#|\bgh-|\bissues?/|\bbug )\d{2,}")


def _names_a_report(unit: Unit, handler: cst.ExceptHandler) -> bool:
    """Whether a handler that does nothing names the report of the failure that it lets go."""
    return _is_mute(handler) and _REPORT.search(unit.text(handler)) is not None


def _is_staged(unit: Unit, check: Check, handled: frozenset[str]) -> bool:
    """Whether an exception is raised for the handler: one of the test's own, to see what becomes of it, or
    that what the test needs is not there."""
    raised = check.node.exc if isinstance(check.node, cst.Raise) else None
    name = last_name(raised.func if isinstance(raised, cst.Call) else raised) if raised is not None else ""
    if name in _MISSING and handled & _MISSING:
        return True  # what is there is too old, which is as good as not there
    if handled != {name}:
        return False
    if name in unit.file.classes:
        return True
    return name not in _VERDICTS and (
        _is_by_the_clock(unit, check) or _is_told(unit, check) or _is_what_is_there(check)
    )


def _is_of_the_machine(check: Check, handled: frozenset[str]) -> bool:
    """Whether a test raises by hand what an operating system raises, for the handler that takes just that."""
    return check.kind == "raise" and handled <= _OF_THE_MACHINE and takes(handled, raised_by(check))


def _is_what_is_there(check: Check) -> bool:
    """Whether an exception is raised for its own handler where something says no by itself, and is compared
    with nothing: `if not dock.wait(10): raise`."""
    asked = check.condition
    while type(asked) is cst.UnaryOperation and type(asked.operator) is cst.Not:
        asked = asked.expression
    return type(asked) is cst.Call and all(literal(arg.value) is not UNKNOWN for arg in asked.args)


def _is_told(unit: Unit, check: Check) -> bool:
    """Whether an exception is raised where the test's own parameter says so: `if empty: raise Empty()`."""
    asked = check.condition
    while type(asked) is cst.UnaryOperation and type(asked.operator) is cst.Not:
        asked = asked.expression
    if type(asked) is not cst.Name:
        return False
    reaching = values(unit).reaching(asked)
    return bool(reaching) and all(binding.kind == "parameter" for binding in reaching)


def _is_by_the_clock(unit: Unit, check: Check) -> bool:
    """Whether an exception is raised in every so manieth turn, or by chance: `if turn % 2 == 0: raise`, to
    see a transaction rolled back."""
    if check.condition is None:
        return False
    flow = values(unit)
    calls = [below for below in walk(check.condition) if isinstance(below, cst.Call)]
    if any(not dotted(call.func).startswith("random.") for call in calls):
        return False
    read = [name for name in flow.reads(check.condition) if flow.reaching(name)]
    counters = all(binding.role == "counter" for name in read for binding in flow.reaching(name))
    return counters and bool(read or calls)


def _short(unit: Unit, node: cst.CSTNode) -> str:
    text = " ".join(unit.text(node).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _fails_outright(check: Check) -> bool:
    """Whether a check fails whatever holds: a `try` around it alone is there for the exception."""
    return check.condition is None and check.kind in ("fail", "raise", "exit")


def _next(handler: cst.ExceptHandler) -> cst.CSTNode:
    """The `continue` of a handler."""
    return next(one for one in statements(handler.body) if isinstance(one, cst.Continue))


def _name(handled: frozenset[str]) -> str:
    names = ", ".join(sorted(handled))
    return f"`except {names}`" if names else "a bare `except`"


def _head(taker: cst.ExceptHandler | cst.WithItem) -> cst.CSTNode:
    if isinstance(taker, cst.WithItem):
        return taker.item
    return taker.type or taker.body.body[0]


def _may_be_broad(handled: ast.expr | None) -> bool:
    """Whether a handler takes every exception."""
    if isinstance(handled, ast.Tuple):
        return any(map(_may_be_broad, handled.elts))
    name = handled.attr if isinstance(handled, ast.Attribute) else getattr(handled, "id", "")
    return name in BROAD


def _leaves_finally(node: ast.Try) -> bool:
    """Whether a statement at the top of a `finally` leaves it."""
    return any(isinstance(one, (ast.Return, ast.Break, ast.Continue)) for one in node.finalbody)


def _may_take(unit: Unit, node: ast.Try) -> bool:
    """Whether a handler could take the failure of a check, or leave out what is checked later, by `ast`."""
    fails = bool(node.handlers) and may_check_in(unit, node.body)
    for handler in node.handlers:
        if _may_be_broad(handler.type):
            if fails or any(isinstance(statement, ast.Continue) for statement in handler.body):
                return True
        elif fails and handler.type is not None:
            handled = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            if not all(map(_last_name, handled)) or not _raised(unit).isdisjoint(map(_last_name, handled)):
                return True
    return False


@once
def _raised(unit: Unit) -> frozenset[str]:
    """The last names of the exceptions with which a check of the unit could fail."""
    named = (node.exc.func if isinstance(node.exc, ast.Call) else node.exc for node in unit.asts(ast.Raise))
    return frozenset({"AssertionError", "Failed", "SystemExit", *(_last_name(one) for one in named if one)})


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _own_checks(unit: Unit, body: cst.CSTNode) -> list[Check]:
    """The checks that run as part of a block, and whose failures reach its end."""
    found = []
    for check in checks_in(unit, body):
        if check.kind == "raise" and check.condition is None and raised_by(check) not in _VERDICTS:
            continue
        for above in unit.ancestors(check.node):
            if above is body:
                found.append(check)
                break
            if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
                break
            if isinstance(above, cst.Try) and _is_taken(above, check):
                break
    return found


def _is_taken(node: cst.Try, check: Check) -> bool:
    inside = any(below is check.node for below in walk(node.body))
    return inside and any(takes(caught(handler), raised_by(check)) for handler in node.handlers)


def _is_mute(handler: cst.ExceptHandler) -> bool:
    return all(isinstance(statement, _MUTE) for statement in statements(handler.body))


def _tries_again(unit: Unit, node: cst.Try | cst.With) -> bool:
    """Whether a `try`, or a `with suppress(...)`, stands in a loop that its success ends."""
    loop = next(
        (a for a in unit.ancestors(node) if isinstance(a, (cst.While, cst.For, cst.FunctionDef))), None
    )
    if not isinstance(loop, (cst.While, cst.For)):
        return False
    return any(isinstance(below, (cst.Break, cst.Return)) for below in walk(node))


def _fails_later(unit: Unit, node: cst.Try | cst.With) -> bool:
    """Whether something fails once a loop has tried often enough: a raise, or a call that fails or checks."""
    failing = {id(check.node) for check in checks(unit)}
    for above in unit.ancestors(node):
        if isinstance(above, (cst.While, cst.For)):
            rest: list[cst.CSTNode] = [*following(unit, above), *([above.orelse] if above.orelse else [])]
            return any(
                isinstance(below, (cst.Raise, cst.Assert, cst.Return)) or id(below) in failing
                for s in rest
                for below in walk(s)
            )
        if isinstance(above, cst.FunctionDef):
            return False
    return False


def _leaves_out(unit: Unit, node: cst.Try, handler: cst.ExceptHandler) -> bool:
    """Whether a handler goes on to the next item although a check after the `try` needs what it made.

    Where the baseline itself breaks there is nothing to compare with, which is no fault.
    """
    if not any(isinstance(s, cst.Continue) for s in statements(handler.body)):
        return False
    flow = values(unit)
    made = {binding.name for binding in flow.all if any(b is binding.node for b in walk(node.body))}
    if not made or all(side(name) == "baseline" for name in made):
        return False
    if not any(isinstance(above, cst.For) for above in unit.ancestors(node)):
        return False
    return any(
        made & {name.value for name in flow.reads(statement)} and _checks(unit, statement)
        for statement in following(unit, node)
    )


def _checks(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether a statement holds a check, or a call for its effect of a function that the test was given."""
    if any(below is check.node for check in checks(unit) for below in walk(statement)):
        return True
    call = call_of(statement)
    if call is None or not unit.is_test or not isinstance(call.func, cst.Name):
        return False
    reaching = values(unit).reaching(call.func)
    return any(binding.kind == "parameter" for binding in reaching)
