"""What an extra brings and is not installed is named in one line, with the words that install it."""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from pathlib import Path

import pytest

from reviewbot.extras import EXTRAS

ROOT = Path(__file__).parent.parent.parent
POST = ("review", "--post", "--repo", "acme/trainer", "--pull", "7")


@pytest.fixture
def without(tmp_path):
    """Makes an environment in which modules are not installed, whether or not they are in ours."""

    def environment(*modules: str) -> dict[str, str]:
        folder = tmp_path / "without"
        folder.mkdir(exist_ok=True)
        for name in modules:
            text = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
            (folder / f"{name}.py").write_text(text)
        return {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "GITHUB_TOKEN": "x"}

    return environment


@pytest.mark.parametrize("module", EXTRAS["github"])
def test_posting_names_what_it_lacks(reviewbot, without, repository, module):
    repository.commit({"a.py": "x = 1\n"})
    ran = reviewbot(*POST, cwd=repository.folder, env=without(module))
    package = EXTRAS["github"][module]
    says = f"needs the package {package}; install it from reviewbot's checkout: pip install '.[github]'\n"
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.endswith(says)


def test_a_step_of_a_workflow_names_what_it_lacks(reviewbot, without, tmp_path):
    event = tmp_path / "event.json"
    event.write_text("{}")
    env = {**without("github"), "GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "acme/trainer"}
    ran = reviewbot("action", "--mode", "post", env=env)
    assert (ran.code, "needs the package PyGithub" in ran.err, "pip install '.[github]'" in ran.err) == (
        2,
        True,
        True,
    )


def test_a_chart_is_refused_before_the_change_is_counted(reviewbot, tmp_path):
    folder = tmp_path / "off"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['matplotlib'] = None\n")
    env = {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    ran = reviewbot("size", "--chart", "a.svg", env=env)  # and this folder is no repository
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "reviewbot: --chart needs the package matplotlib; "
        "install it from reviewbot's checkout: pip install '.[pages]'\n"
    )


def third_party() -> set[str]:
    """The modules that the package imports and that neither Python nor we have."""
    found = set()
    for path in (ROOT / "reviewbot").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"reviewbot"}


def test_every_module_that_is_imported_comes_with_a_core_dependency_or_an_extra():
    core = {"libcst", "pygit2", "msgspec", "yaml", "jinja2", "markupsafe", "pygments", "rich", "shtab"}
    own = {"triton", "vllm", "_pytest"}  # an engine on a GPU says itself what it lacks; pytest has its own
    extra = {module for modules in EXTRAS.values() for module in modules}
    assert third_party() - core - own <= extra


def test_the_extras_are_those_of_the_project():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    listed = {name: {one.partition(">")[0] for one in wants} for name, wants in declared.items()}
    assert {name: set(modules.values()) for name, modules in EXTRAS.items()} == listed


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_readme_says_what_each_extra_is_for(extra):
    assert f"| `{extra}` |" in (ROOT / "README.md").read_text()
