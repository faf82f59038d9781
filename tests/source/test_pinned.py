"""Places in submodules and pinned dependencies lead into the repository that they are from, or nowhere."""

from __future__ import annotations

import pytest

from reviewbot.source.git import Repository
from reviewbot.source.permalink import Remote
from reviewbot.source.pinned import linked

HOME = Remote("github.com", "acme", "trainer")
SHA = "5911d628aa" * 4
OTHER = "0123456789abcdef" * 2 + "01234567"


def modules(path: str, url: str) -> str:
    return f'[submodule "gym"]\n\tpath = {path}\n\turl = {url}\n\tbranch = main\n'


@pytest.fixture
def place(repository):
    """Commits files and gitlinks; gives the address of a place in that commit."""

    def make(files, links=(), home=HOME):
        repository.commit(files)
        for path, sha in dict(links).items():
            repository.git("update-index", "--add", "--cacheinfo", f"160000,{sha},{path}")
        repository.git("commit", "--quiet", "--allow-empty", "--message", "pins")
        commit = repository.git("rev-parse", "HEAD")
        remote = linked(home, Repository(repository.folder))
        return lambda path, line=3, end_line=5: remote.permalink(commit, path, line, end_line)

    return make


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/gym.git",
        "https://github.com/acme/gym",
        "git@github.com:acme/gym.git",
        "ssh://git@github.com/acme/gym.git",
        "https://token:secret@github.com/acme/gym.git",
        "../gym.git",
        '"https://github.com/acme/gym"',
    ],
)
def test_a_place_in_a_submodule_is_linked_at_the_commit_that_it_is_at(place, url):
    at = place({".gitmodules": modules("third/gym", url), "a.py": "x = 1\n"}, {"third/gym": SHA})
    assert at("third/gym/gym/a b.py") == f"https://github.com/acme/gym/blob/{SHA}/gym/a%20b.py#L3-L5"
    assert at("a.py").startswith("https://github.com/acme/trainer/blob/")
    assert at("third/gymnasium/a.py").startswith("https://github.com/acme/trainer/blob/")


def test_a_submodule_of_the_same_enterprise_host_is_linked_and_that_of_another_is_not(place):
    home = Remote("ghe.example:8443", "acme", "trainer")
    files = {".gitmodules": modules("gym", "../../tools/gym") + modules("far", "https://ghe.other/a/b")}
    files[".gitmodules"] = files[".gitmodules"].replace('"gym"]', '"far"]', 2).replace('"far"]', '"gym"]', 1)
    at = place(files, {"gym": SHA, "far": OTHER}, home)
    assert at("gym/a.py") == f"https://ghe.example:8443/tools/gym/blob/{SHA}/a.py#L3-L5"
    assert at("far/a.py") == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/acme/gym.git",
        "https://github.com.evil.example/acme/gym",
        "https://github.com@evil.example/acme/gym",
        "https://github.com:8443/acme/gym",
        "https://github.com/acme/gym/../../evil",
        "https://github.com/acme",
        "https://github.com/acme/gym)](https://evil.example",
        "https://github.com/acme/gym?x=y",
        "https://github.com/a%2fb/gym",
        "https://github.com/../gym",
        "../../../../evil",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "/srv/git/gym",
        "ext::sh -c id",
        "",
    ],
)
def test_a_hostile_address_is_linked_nowhere(place, url):
    at = place({".gitmodules": modules("gym", url)}, {"gym": SHA})
    assert at("gym/a.py") in ("", f"https://github.com/acme/gym/blob/{SHA}/a.py#L3-L5")
    if url != "https://github.com/acme/gym?x=y":
        assert at("gym/a.py") == ""


@pytest.mark.parametrize(
    "content",
    [
        "[submodule",
        "path = gym\n",
        '[submodule "gym"]\n\tpath = /gym\n\turl = https://github.com/acme/gym\n',
        '[submodule "gym"]\n\tpath = ../gym\n\turl = https://github.com/acme/gym\n',
        '[submodule "gym"]\n\tpath = .\n\turl = https://github.com/acme/gym\n',
        '[include]\n\tpath = /etc/passwd\n[submodule "gym"]\n\tpath\n\turl\n',
        b"\xff\xfe\0",
    ],
)
def test_a_broken_list_of_submodules_names_none(place, content):
    at = place({".gitmodules": content})
    assert at("gym/a.py").startswith("https://github.com/acme/trainer/blob/")


def test_a_listed_folder_that_is_no_submodule_is_linked_nowhere(place):
    at = place({".gitmodules": modules("gym", "../gym.git")})
    assert at("gym/a.py") == ""


UV = f"""\
[[package]]
name = "nemo-gym"
version = "0.1"
source = {{ git = "https://github.com/acme/gym?subdirectory=python&rev={OTHER}#{SHA}" }}

[[package]]
name = "evil"
source = {{ git = "https://evil.example/acme/evil?rev=main#{SHA}" }}

[[package]]
name = "moving"
source = {{ git = "https://github.com/acme/moving?branch=main" }}
"""
POETRY = f"""\
[[package]]
name = "nemo-gym"
[package.source]
type = "git"
url = "https://github.com/acme/gym.git"
reference = "main"
resolved_reference = "{SHA}"
subdirectory = "python"
"""
PROJECT = f"""\
[project]
dependencies = [
    "numpy",
    "nemo-gym[all] @ git+https://github.com/acme/gym.git@{SHA}#subdirectory=python ; python_version > '3'",
]
"""
GROUPS = (
    f'[dependency-groups]\ndev = ["Nemo.Gym @ git+ssh://git@github.com/acme/gym@{SHA}#subdirectory=python"]\n'
)
PLAIN = f"numpy\nnemo_gym @ git+https://github.com/acme/gym@{SHA}#egg=gym&subdirectory=python  # as of May\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("uv.lock", UV),
        ("poetry.lock", POETRY),
        ("pyproject.toml", PROJECT),
        ("pyproject.toml", GROUPS),
        ("requirements.txt", PLAIN),
        ("requirements/dev.txt", PLAIN),
        ("requirements-gpu.in", PLAIN),
    ],
)
def test_a_place_in_a_dependency_from_git_is_linked_at_the_commit_that_is_pinned(place, name, content):
    at = place({name: content})
    # A wheel does not tell where its files stood in the repository; a clone does.
    installed = "/venv/lib/python3.12/site-packages/nemo_gym/model.py"
    assert at(installed) == f"https://github.com/acme/gym/tree/{SHA}/python"
    assert at("venv/src/nemo-gym/gym/a.py") == f"https://github.com/acme/gym/blob/{SHA}/gym/a.py#L3-L5"
    assert at("venv/lib/python3.12/site-packages/numpy/core.py") == ""


def test_a_lock_counts_before_what_asks_for_it_and_a_branch_is_no_pin(place):
    asks = f"nemo-gym @ git+https://github.com/acme/gym@{OTHER}\nmoving @ git+https://github.com/acme/moving@main\n"
    at = place({"requirements.txt": asks, "uv.lock": UV})
    assert f"/tree/{SHA}/" in at("site-packages/nemo_gym/a.py")
    assert at("site-packages/evil/a.py") == at("site-packages/moving/a.py") == ""


@pytest.mark.parametrize(
    "content", ["[", "package = 3\n", "[[package]]\nsource = 'x'\n", "a = " + "[" * 3_000]
)
def test_a_broken_lock_pins_nothing(place, content):
    at = place({"uv.lock": content})
    assert at("site-packages/nemo_gym/a.py") == ""


def test_a_file_of_the_repository_itself_is_linked_here(place):
    at = place({"requirements.txt": PLAIN, "src/nemo_gym/a.py": "x = 1\n"})
    assert at("src/nemo_gym/a.py").startswith("https://github.com/acme/trainer/blob/")
