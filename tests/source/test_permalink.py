"""Where a remote's pages are, and links into them."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.errors import UsageError
from reviewbot.source.permalink import GITHUB, Remote, from_address, from_remotes, from_slug

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("git@github.com:acme/trainer.git", "github.com/acme/trainer"),
        ("github.com:acme/trainer", "github.com/acme/trainer"),
        ("ssh://git@github.com/acme/trainer.git", "github.com/acme/trainer"),
        ("ssh://git@ssh.github.com:443/acme/trainer.git", "github.com/acme/trainer"),
        ("git+ssh://git@github.com/acme/trainer.git", "github.com/acme/trainer"),
        ("https://github.com/acme/trainer", "github.com/acme/trainer"),
        ("https://github.com/acme/trainer.git/", "github.com/acme/trainer"),
        ("https://ada:secret@GitHub.com/acme/trainer.v2.git", "github.com/acme/trainer.v2"),
        ("git://github.com/acme/trainer.git", "github.com/acme/trainer"),
        ("https://git.acme.example:8443/research/trainer.git", "git.acme.example:8443/research/trainer"),
        ("ssh://git@git.acme.example:2222/research/trainer.git", "git.acme.example/research/trainer"),
        ("git@git.acme.example:research/trainer.git", "git.acme.example/research/trainer"),
        ("http://localhost:3000/acme/trainer", "localhost:3000/acme/trainer"),
        ("/srv/git/acme/trainer.git", None),
        ("../acme/trainer", None),
        ("file:///srv/acme/trainer.git", None),
        ("file://host.example/acme/trainer.git", None),
        ("C:/acme/trainer", None),
        ("C:\\acme\\trainer", None),
        ("work:acme/trainer.git", None),
        ("https://github.com/trainer", None),
        ("https://github.com/a/b/c", None),
        ("https://github.com/../trainer", None),
        ("https://github.com/acme/..", None),
        ("https://github.com/acme/tr)ainer", None),
        ("https://[github.com/acme/trainer", None),
        ("https://github.com:port/acme/trainer", None),
        ("git@git example:acme/trainer", None),
        ("https://evil)(.example/acme/trainer", None),
        ("", None),
    ],
)
def test_an_address_names_a_repository(address, remote):
    found = from_address(address)
    assert (str(found) if found else None) == remote


@given(
    st.text(max_size=60) | st.from_regex(r"(https://|git@)[^/:]{0,20}[:/][^/]{0,9}/[^/]{0,9}", fullmatch=True)
)
def test_no_address_makes_a_link_that_leaves_its_place_in_markdown(address):
    found = from_address(address)
    if found is not None:
        link = found.permalink(SHA, "a (b).py", 1)
        assert not set(link) & set("()<>[]\"'`\\ \n\t"), link


@pytest.mark.parametrize(
    ("slug", "remote"),
    [
        ("acme/trainer", "github.com/acme/trainer"),
        ("git.acme.example/acme/trainer", "git.acme.example/acme/trainer"),
        ("localhost:3000/acme/trainer", "localhost:3000/acme/trainer"),
    ],
)
def test_a_slug_names_a_repository(slug, remote):
    assert str(from_slug(slug, GITHUB)) == remote


@pytest.mark.parametrize(
    "slug", ["", "acme", "acme/", "/trainer", "a/b/c/d", "acme/..", "acme/a b", "acme/a\n"]
)
def test_a_slug_that_names_none(slug):
    with pytest.raises(UsageError, match="write OWNER/REPO or HOST/OWNER/REPO"):
        from_slug(slug, GITHUB)


def test_origin_comes_first_and_others_help_out():
    fork, main = "git@github.com:ada/trainer.git", "https://github.com/acme/trainer"
    assert from_remotes({"a": main, "origin": fork}) == Remote("github.com", "ada", "trainer")
    assert from_remotes({"origin": "/srv/trainer", "upstream": main}) == Remote(
        "github.com", "acme", "trainer"
    )
    assert from_remotes({"origin": "/srv/trainer"}) is None


@pytest.mark.parametrize(
    ("path", "lines", "end"),
    [
        ("tests/test_rows.py", (10, 20), "tests/test_rows.py#L10-L20"),
        ("tests/test_rows.py", (10, 10), "tests/test_rows.py#L10"),
        ("tests/test_rows.py", (), "tests/test_rows.py"),
        ("a b/c#d?e%f.py", (1,), "a%20b/c%23d%3Fe%25f.py#L1"),
        ('new\nline "quoted" (x).py', (1,), "new%0Aline%20%22quoted%22%20%28x%29.py#L1"),
        ("caf\u00e9.py", (1,), "caf%C3%A9.py#L1"),
        (os.fsdecode(b"caf\xe9.py"), (1,), "caf%E9.py#L1"),
    ],
)
def test_a_permalink_is_pinned_to_the_full_commit(path, lines, end):
    remote = Remote("github.com", "acme", "trainer")
    assert remote.permalink(SHA, path, *lines) == f"https://github.com/acme/trainer/blob/{SHA}/{end}"
