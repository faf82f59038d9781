"""A test skips itself where the repository's own module cannot be imported.

## Why
`importorskip` and `except ImportError: skip` are for what may not be installed. The code under test is always
there: if importing it fails, it is broken, by a renamed module or a missing name. Then every test of it is
skipped, and the run is green.

## Instead
Import it plainly, so that broken code fails its tests. If it needs a library that may be missing, ask for
that library: `pytest.importorskip("pandas")`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.own_modules import needs, own_module
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, once, tree_span

_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException", ""})
_IMPORT_OR_SKIP = frozenset({"importorskip"})
_SKIPS = frozenset({"skip", "SkipTest", "skipTest", "xfail", "exit"})
_MARKS = frozenset({"skipif", "skipIf", "skipUnless", "skip", "skipTest"})
_FILES = {
    "trainer/__init__.py": "",
    "trainer/rows.py": "import json\n\ndef read(path):\n    return json.loads(path.read_text())\n",
    "trainer/frames.py": "import pandas\n\ndef frame(rows):\n    return pandas.DataFrame(rows)\n",
}


class ImportSkipOfOwnCode(Rule):
    kinds = ("module",)
    bad = (
        Example(
            """
            import pytest

            rows = pytest.importorskip("trainer.rows")  # <- here

            def test_read(tmp_path):
                assert rows.read(tmp_path / "rows.json") == []
            """,
            files=_FILES,
        ),
        Example(
            """
            import pytest

            try:
                from trainer.rows import read
                HAVE_ROWS = True
            except ImportError:
                HAVE_ROWS = False  # <- here

            @pytest.mark.skipif(not HAVE_ROWS, reason="trainer is not installed")
            def test_read(tmp_path):
                assert read(tmp_path / "rows.json") == []
            """,
            files=_FILES,
        ),
        Example(
            """
            import pytest

            def test_frame():
                try:
                    from trainer.frames import frame
                except ImportError:
                    pytest.skip("no frames")  # <- here
                assert frame([]).empty
            """,
            files=_FILES,
        ),
    )
    good = (
        Example(
            """
            import pytest

            pandas = pytest.importorskip("pandas")

            try:
                import torch
            except ImportError:
                pytest.skip("torch is not installed", allow_module_level=True)

            def test_frame():
                from trainer.frames import frame
                assert frame([]).empty
            """,
            files=_FILES,
        ),
        # What it needs is compiled, and a build may leave it out.
        Example(
            """
            import pytest

            charts = pytest.importorskip("trainer.charts")
            winds = pytest.importorskip("trainer.winds")

            def test_read(tmp_path):
                assert charts.read(tmp_path / "chart") == winds.read(tmp_path / "winds")
            """,
            files={
                **_FILES,
                "trainer/charts.py": "from trainer._charts import read\n",
                "trainer/winds/__init__.py": "from trainer.winds.rows import read\n",
                "trainer/winds/rows.py": "from ._rows import read\n",
            },
        ),
        # Outside of tests pytest takes it for an error.
        Example(
            """
            import pytest

            try:
                from trainer.rows import read
            except ImportError as why:
                raise pytest.skip(str(why))

            def test_read(tmp_path):
                assert read(tmp_path / "rows.json") == []
            """,
            files=_FILES,
        ),
        Example(
            """
            import pytest

            try:
                from trainer.rows import read
            except ImportError:
                try:
                    from rows import read
                except ImportError:
                    pytest.skip("no rows", allow_module_level=True)

            kernels = pytest.importorskip("trainer._kernels")  # compiled: not a file of the repository
            try:
                from trainer import _kernels
            except ImportError:
                _kernels = None
            jax = pytest.importorskip("jax")

            @pytest.mark.skipif(_kernels is None, reason="not compiled")
            def test_fast():
                assert _kernels.add(1, 2) == 3
            """,
            files={**_FILES, "trainer/backends/__init__.py": "", "trainer/backends/jax.py": ""},
        ),
        Example(
            """
            try:
                from trainer.rows import read
            except ImportError:
                read = None

            def test_read(tmp_path):
                assert read(tmp_path / "rows.json") == []
            """,
            files=_FILES,
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return in_test_file(unit.file.path) and any(
            one.calls("importorskip") or one.has(ast.Try) for one in unit.file.units
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        skips: dict[tuple[str, str], list[tuple[Unit, ast.stmt | ast.expr]]] = {}
        for one in unit.file.units:
            for place, targets in sorted(_skipping(one), key=lambda found: found[0].lineno):
                own = [_own(target, unit.file.path, repo) for target in targets]
                if own and own[0] is not None and None not in own:  # else a library is asked for too
                    skips.setdefault(own[0], []).append((one, place))
        for (target, path), places in skips.items():
            if repo.once(_needs_compiled, path):
                continue  # a build may leave that out, as it may the module itself
            if target in _modules(unit):
                continue  # imported without asking as well: what is asked for is one name of it
            yield self._say(unit, target, path, places, repo)

    def _say(
        self,
        unit: Unit,
        target: str,
        path: str,
        places: list[tuple[Unit, ast.stmt | ast.expr]],
        repo: Repo,
    ) -> Finding:
        libraries = sorted(needs(path, repo) - _plainly(unit))
        steps = [Step(path, 1, 1, f"`{target}` is the repository's own module")]
        if libraries:
            listed = ", ".join(f"`{name}`" for name in libraries[:3])
            steps.append(Step(path, 1, 1, f"importing it imports {listed}, which can be asked for by name"))
        for _, place in places[1:]:
            steps.append(Step(unit.file.path, place.lineno, place.lineno, "and so here"))
        # A whole package may need a device, and who writes a `try` has thought of a reason.
        sure = isinstance(places[0][1], ast.Call) and "." in target and not libraries
        whole = any(one.kind == "module" for one, _ in places)
        tests = sum(one.is_test for one in unit.file.units) if whole else len(places)
        what = f"{tests} tests are" if tests > 1 else "its test is"
        return self.finding_at(
            unit,
            tree_span(unit, places[0][1]),
            f"where `{target}`, the repository's own code, cannot be imported, {what} skipped, not failed"
            + ("" if sure else ": is that meant?"),
            certainty="likely" if sure and not _is_built_apart(unit, places[0][1]) else "question",
            steps=steps,
            still_catches=(f"only a test elsewhere that imports `{target}` plainly",),
        )


def _is_built_apart(unit: Unit, place: ast.stmt | ast.expr) -> bool:
    """Whether the reason of a skip says that the module has to be compiled or built first."""
    said = (below.value for below in ast.walk(place) if isinstance(below, ast.Constant))
    return any(isinstance(text, str) and _BUILT.search(text) for text in said)


_BUILT = pattern(r"(?i)\b(not|un)[ -]?(built|compiled)|\bcompiled\b|\bextension\b|\bnative\b")


def _skipping(unit: Unit) -> Iterator[tuple[ast.stmt | ast.expr, list[str]]]:
    """The places in a unit that skip for want of a module, and which modules these are."""
    for call in unit.calls_of(_IMPORT_OR_SKIP):
        name = call.args[0] if call.args else None
        if dotted_name(call.func) and isinstance(name, ast.Constant):
            yield call, [str(name.value)]
    for block in unit.asts(ast.Try):
        for handler in block.handlers:
            place = _skip(handler, unit) if _catches(handler) else None
            if place is not None:
                yield place, _targets([*block.body, *handler.body])


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or dotted_name(kind) in _ERRORS for kind in kinds)


def _targets(body: list[ast.stmt]) -> list[str]:
    """The modules that a block tries to import, and what its handler tries instead; a name that may be a
    module of a package with a colon before it."""
    found = []
    for node in (below for statement in body for below in ast.walk(statement)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found += [f"{base}:{alias.name}" for alias in node.names if alias.name != "*"] or [base]
    return found


def _own(target: str, importer: str, repo: Repo) -> tuple[str, str] | None:
    """The name and path of the repository's own module that has what is imported; None for a library's, and
    for what no file of the package is or names, as a compiled module."""
    base, _, name = target.partition(":")
    path = own_module(base, importer, repo)
    if path is None:
        return None
    if not name or not path.endswith("__init__.py"):
        return base, path
    inner = f"{base}{'' if base.endswith('.') else '.'}{name}"
    module = repo.index.module(inner, importer)
    if module in (f"{path.removesuffix('__init__.py')}{name}{end}" for end in (".py", "/__init__.py")):
        return inner, module
    named = re.search(rb"\b%s\b|import \*" % name.encode(), repo.read(path) or b"")
    return (base, path) if named else None


def _needs_compiled(repo: Repo, path: str) -> bool:
    """Whether importing a module, or a package with what it is made of, imports a module of the repository
    that no file in Python is: one that is compiled."""
    file = repo.file(path)
    inside = path.removesuffix("__init__.py") if path.endswith("/__init__.py") else None
    for one in file.units if file is not None else ():
        for node in one.asts(ast.ImportFrom) if one.kind == "module" else ():
            base = "." * node.level + (node.module or "")
            if not base.strip(".") or not (node.level or repo.index.module(base.partition(".")[0], path)):
                continue
            near = repo.index.module(base, path)
            if near is None:
                return True
            part = inside is not None and near != path and near.startswith(inside)
            if part and repo.once(_needs_compiled, near):
                return True
    return False


def _skip(handler: ast.ExceptHandler, unit: Unit) -> ast.stmt | None:
    """The statement of a handler that skips, or that sets what a skip in the file asks for."""
    for statement in handler.body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Call, ast.Raise)):
                called = node.func if isinstance(node, ast.Call) else node.exc
                if called is None or dotted_name(called).rpartition(".")[2] not in _SKIPS:
                    continue
                if unit.kind != "module" or not _fails_at_module_level(node):
                    return statement
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
            if not statement.value.value and names & _asked(unit.file):
                return statement
    return None


def _fails_at_module_level(node: ast.Call | ast.Raise) -> bool:
    """Whether a skip outside of tests is an error to pytest, which wants `allow_module_level`."""
    call = node if isinstance(node, ast.Call) else node.exc
    return (
        isinstance(call, ast.Call)
        and dotted_name(call.func) == "pytest.skip"
        and not any(keyword.arg in ("allow_module_level", None) for keyword in call.keywords)
    )


@once
def _asked(file: File) -> set[str]:
    """The names that the file's skips depend on."""
    found: set[str] = set()
    for one in file.units:
        for call in one.asts(ast.Call):
            if dotted_name(call.func).rpartition(".")[2] in _MARKS and call.args:
                found |= {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
        for branch in one.asts(ast.If):
            skips = (node for statement in branch.body for node in ast.walk(statement))
            if any(
                isinstance(n, ast.Call) and dotted_name(n.func).rpartition(".")[2] in _MARKS for n in skips
            ):
                found |= {node.id for node in ast.walk(branch.test) if isinstance(node, ast.Name)}
    return found


def _plainly(unit: Unit) -> set[str]:
    """The libraries that the test file imports without asking."""
    return {name.partition(".")[0] for name in _modules(unit)}


def _modules(unit: Unit) -> set[str]:
    """The modules that the test file imports without asking."""
    found: set[str] = set()
    for node in unit.file.tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
    return found
