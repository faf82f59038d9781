"""`reviewbot report` writes pages that say what the review said, with nothing of the code acting in them."""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

WEAK = """\
def rows_of(run):
    return {row["id"]: row for row in run}


def test_rows(run):
    rows = run(3)
    assert (rows == [1, 2, 3], "other rows")
"""
DUPLICATE = """\
import pytest

from rows import Rows


def test_refuses_a_short_row():
    rows = Rows(3)
    with pytest.raises(ValueError, match="short"):
        rows.check([1, 2])


def test_refuses_a_row_that_is_short():
    read = Rows(3)
    with pytest.raises(ValueError, match="short"):
        read.check([1, 2])
"""
BEFORE = """\
def test_rows(run):
    rows = run(3)
    assert rows == [1, 2, 3]
"""
VOID = {"meta", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """A page that is checked while it is read: every element closed in its place, every id used once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == [], self.open
        assert len(self.ids) == len(set(self.ids))
        inside = [link[1:] for link in self.links if link.startswith("#")]
        assert set(inside) <= set(self.ids)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        values = dict(attrs)
        assert not any(name.startswith("on") for name in values)
        # What a plotting library draws is styled in place.
        assert "style" not in values or "svg" in self.open
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def pages(folder: Path) -> dict[str, Page]:
    """Every page of a folder; what they link to beside them is there."""
    read = {path.name: Page(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}
    for page in read.values():
        for link in page.links:
            if not link.startswith(("#", "https://")):
                name, _, anchor = link.partition("#")
                assert (folder / name).exists(), link
                assert not anchor or anchor in read[name].ids, link
    return read


def text(folder: Path, name: str) -> str:
    return re.sub(
        r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", "", (folder / name).read_text(), flags=re.S)
    )


@pytest.fixture
def changed(repository):
    """A repository with a remote, in which a branch makes a check vacuous."""
    repository.git("remote", "add", "origin", "https://github.com/example/rows.git")
    repository.commit({"tests/test_rows.py": BEFORE})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.commit({"tests/test_rows.py": WEAK})
    return repository


def test_a_finding_has_a_page_with_claim_status_fix_and_what_is_left(changed, reviewbot):
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=changed.folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{Path('pages') / 'index.html'}\n"
    folder = changed.folder / "pages"
    read = pages(folder)
    assert set(read) == {"index.html", "round-1.html", "C1.html"}
    assert all("script" not in page.tags for page in read.values())
    said = text(folder, "C1.html")
    assert "This check can never fail" in said
    assert "The lines were other ones: tests/test_rows.py:3, shown below" in said
    assert "assert rows == [1, 2, 3]" in said and "Open: not fixed in" in said
    for heading in ("Before", "This PR", "Status", "What still catches it", "So what"):
        assert heading in said
    head = changed.git("rev-parse", "HEAD")
    base = changed.git("rev-parse", "main")
    links = read["C1.html"].links
    assert f"https://github.com/example/rows/blob/{head}/tests/test_rows.py#L7" in links
    assert f"https://github.com/example/rows/blob/{base}/tests/test_rows.py#L3" in links
    changed.git("apply", "--check", "pages/C1.diff")


@pytest.mark.slow
def test_what_was_not_there_before_is_said(changed, reviewbot):
    changed.commit(
        {
            "tests/test_more.py": WEAK,
            "tests/test_rows.py": BEFORE
            + "\n\n"
            + WEAK[WEAK.index("def test_rows") :].replace("test_rows", "test_others"),
        }
    )
    reviewbot("report", "--base", "main", "--out", "pages", cwd=changed.folder)
    folder = changed.folder / "pages"
    said = {text(folder, name)[:2000] for name in ("C1.html", "C2.html")}
    assert any("Not there: the change adds tests/test_more.py" in one for one in said)
    assert any("tests/test_rows.py had no test_others: the change adds it" in one for one in said)


@pytest.mark.slow
def test_the_page_of_a_deleted_test_shows_it_as_what_was_before(repository, reviewbot):
    repository.commit(
        {
            "rows.py": "def wide(rows):\n    return rows\n\n\ndef tall(rows):\n    return len(rows)\n",
            "tests/test_rows.py": "from rows import wide\n\n\ndef test_wide():\n    assert wide(1) == 1\n",
        }
    )
    repository.git("switch", "--quiet", "--create", "topic")
    repository.git("rm", "--quiet", "tests/test_rows.py")
    repository.commit(
        {"rows.py": "def tall(rows):\n    return len(rows)\n\n\ndef wide(rows):\n    return list(rows)\n"}
    )
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=repository.folder)
    assert ran.code == 0, ran.err
    said = text(repository.folder / "pages", "C1.html")
    assert "which it checked, stays" in said
    assert "The lines were other ones: tests/test_rows.py:4-5, shown below" in said
    assert "assert wide(1) == 1" in said


def test_pages_of_a_saved_review_are_the_same_and_without_the_commits_go_without_code(
    changed, reviewbot, tmp_path
):
    review = reviewbot("review", "--base", "main", "--output-format", "json", cwd=changed.folder).out
    (tmp_path / "r.json").write_text(review)
    reviewbot("report", "--base", "main", "--out", tmp_path / "now", cwd=changed.folder)
    reviewbot("report", tmp_path / "r.json", "--out", tmp_path / "saved", cwd=changed.folder)
    for name in ("index.html", "C1.html"):
        assert (tmp_path / "now" / name).read_text() == (tmp_path / "saved" / name).read_text()
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = reviewbot("report", tmp_path / "r.json", "--out", "pages", cwd=empty)
    assert ran.code == 0
    pages(empty / "pages")
    said = text(empty / "pages", "C1.html")
    assert "Not worked out: the base commit is not at hand here" in said
    assert "This check can never fail" in said


TWO = WEAK.replace("rows == [1, 2, 3]", "rows == [3, 2, 1]").replace("test_rows", "test_reversed")
SILENCED = TWO.replace('rows")', 'rows")  # reviewbot: ignore[constant-verdict] it is here to be seen')


@pytest.mark.slow
def test_each_round_says_what_it_changed_and_an_older_one_that_it_is_older(repository, reviewbot, tmp_path):
    """C1 is fixed and comes back; C2 is silenced; C3 is new in the second round and goes with its file."""
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    first = repository.commit({"tests/test_a.py": WEAK, "tests/test_b.py": TWO})
    second = repository.commit(
        {
            "tests/test_a.py": BEFORE,
            "tests/test_b.py": SILENCED,
            "tests/test_c.py": WEAK.replace("test_rows", "test_more"),
        }
    )
    third = repository.commit({"tests/test_a.py": WEAK, "tests/test_c.py": None})
    words = ("--base", "main", "--round", first, "--round", second)
    assert reviewbot("report", *words, "--out", tmp_path / "out", cwd=repository.folder).code == 0
    read = pages(tmp_path / "out")
    assert {f"round-{n}.html" for n in (1, 2, 3)} | {f"C{n}.html" for n in (1, 2, 3)} <= set(read)
    one, two, three = (text(tmp_path / "out", f"round-{n}.html") for n in (1, 2, 3))
    assert "2 findings stand in round 1" in one and "everything is new" in one
    assert f"This page is about an older head. The newest one looked at is {third[:12]}, round 3." in one
    assert "Since round 1: fixed 1 of 2 (C1), 1 dismissed (C2), 1 new (C3)." in two
    assert "fixed in this round" in two and "This page is about an older head" in two
    assert "Since round 2: fixed 0 of 1, 1 gone with the code (C3), 1 back (C1)." in three
    assert "back in this round" in three and "dismissed in round 2" in three
    assert "This page is about an older head" not in three
    index = text(tmp_path / "out", "index.html")
    assert "1 finding in what this changes" in index and "1 gone with the code (C3)" in index
    gone = text(tmp_path / "out", "C3.html")
    assert f"This page is about an older head, that of round 2 ({second[:12]})." in gone
    assert "Gone: what it was about is no longer there; last seen in round 2" in gone
    dismissed = text(tmp_path / "out", "C2.html")
    assert "Dismissed; not fixed. The reason given: a comment in the code silences it." in dismissed
    assert "Back: it was fixed, and is there again." in text(tmp_path / "out", "C1.html")
    # The same from a saved review, and ids that stay when it is the third round's turn alone.
    made = reviewbot("review", *words, "--output-format", "json", cwd=repository.folder).out
    (tmp_path / "r.json").write_text(made)
    reviewbot("report", tmp_path / "r.json", "--out", tmp_path / "again", cwd=repository.folder)
    assert text(tmp_path / "again", "round-2.html") == two
    assert [one["id"] for one in json.loads(made)["threads"]] == ["C1"]


@pytest.mark.slow
def test_a_review_without_a_record_of_its_rounds_tells_what_it_can(changed, reviewbot, tmp_path):
    review = json.loads(
        reviewbot("review", "--base", "main", "--output-format", "json", cwd=changed.folder).out
    )
    first = review["rounds"][0]
    del first["standing"]
    head = changed.commit({"tests/test_rows.py": BEFORE})
    review["rounds"].append({**first, "number": 2, "head": head})
    review["threads"][0]["state"] = "fixed"
    (tmp_path / "r.json").write_text(json.dumps(review))
    assert reviewbot("report", tmp_path / "r.json", "--out", tmp_path / "out", cwd=changed.folder).code == 0
    pages(tmp_path / "out")
    assert "This page is about an older head, that of round 1" in text(tmp_path / "out", "C1.html")
    assert "Fixed, last seen in round 1" in text(tmp_path / "out", "C1.html")
    assert "1 fixed" in text(tmp_path / "out", "round-2.html")
    assert "1 new" in text(tmp_path / "out", "round-1.html")
    assert "0 findings in what this changes" in text(tmp_path / "out", "index.html")


@pytest.mark.slow
def test_the_index_names_the_files_that_could_not_be_read(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.commit(
        {"tests/test_a.py": "def broken(:\n", "tests/test_b.py": b"x = '\xff\xfe'\n", "a.md": "x"}
    )
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=repository.folder)
    assert ran.code == 0, ran.err
    index = text(repository.folder / "pages", "index.html")
    _, _, listed = index.partition("Could not be read")
    assert "tests/test_a.py" in listed and "tests/test_b.py" in listed and "a.md" not in listed
    _, _, listed = text(repository.folder / "pages", "round-1.html").partition("Not looked through")
    assert "tests/test_a.py" in listed and "a.md" in listed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["none.json"], "none.json: cannot be read (No such file or directory)"),
        (["bad.json"], "bad.json: not a review of version 1"),
        (["--probe", "bad.json"], "bad.json: not evidence of `reviewbot probe --save`"),
        (["--parity", "bad.json"], "bad.json: not a result of `reviewbot parity` as JSON"),
        (["--size", "bad.json"], "bad.json: not a size of version 1"),
        (["--base", "nowhere"], "nowhere: no such commit here"),
        (["--base", "HEAD~20"], "HEAD~20: no such commit here; the first that there is is HEAD~1"),
        (["bad.json", "--base", "main"], "give a review, or --base, --head and --round, not both"),
        (["bad.json", "--probe"], "--probe without a file runs what a review finds now"),
        (["--base", ""], "--base has an empty value; name one, or leave the option out"),
        (["--base", "main", "--head="], "--head has an empty value"),
    ],
)
def test_bad_input_is_one_line(changed, reviewbot, words, says):
    (changed.folder / "bad.json").write_text('{"target": [')
    ran = reviewbot("report", *words, "--out", "pages", cwd=changed.folder)
    assert ran.code == 2
    assert ran.err.startswith(f"reviewbot: {says}") and ran.err.count("\n") == 1
    assert not (changed.folder / "pages").exists()


@pytest.mark.slow
def test_a_folder_of_other_files_is_left_alone_and_old_pages_go(changed, reviewbot):
    ran = reviewbot("report", "--base", "main", "--out", "tests", cwd=changed.folder)
    assert ran.code == 2 and "holds files that are no pages" in ran.err
    assert reviewbot("report", "--base", "main", "--out", "pages", cwd=changed.folder).code == 0
    assert (
        reviewbot("report", "--base", "main", "--head", "main", "--out", "pages", cwd=changed.folder).code
        == 0
    )
    assert {path.name for path in (changed.folder / "pages").iterdir()} == {
        "index.html",
        "round-1.html",
        "pages.json",
    }


@pytest.mark.slow
def test_nothing_that_is_not_of_reviewbot_is_written_over(changed, reviewbot):
    words = ("report", "--base", "main", "--out", "pages")
    pages = changed.folder / "pages"
    pages.mkdir()
    # Another program's list of pages, which has the name of ours.
    (pages / "pages.json").write_text('{"pages": ["index.html"]}')
    (pages / "index.html").write_text("mine")
    ran = reviewbot(*words, cwd=changed.folder)
    assert ran.code == 2 and "holds files that are no pages" in ran.err
    (pages / "pages.json").write_text('{"of": "reviewbot", "pages": []}')
    ran = reviewbot(*words, cwd=changed.folder)
    assert ran.code == 2 and "its index.html is no page of reviewbot" in ran.err
    assert (pages / "index.html").read_text() == "mine"
    # What that run has written is written anew where nothing stands in its way any more.
    (pages / "index.html").unlink()
    assert reviewbot(*words, cwd=changed.folder).code == 0


@pytest.mark.slow
def test_a_review_whose_findings_have_no_ids_of_their_own_is_refused(changed, reviewbot):
    review = json.loads(reviewbot("review", "--base", "main", "--output-format=json", cwd=changed.folder).out)
    (one,) = review["threads"]
    for name, says in (("C1", "two findings are called C1"), ("../C1", "a finding is called '../C1'")):
        review["threads"] = [one, {**one, "id": name}]
        (changed.folder / "r.json").write_text(json.dumps(review))
        ran = reviewbot("report", "r.json", "--out", "pages", cwd=changed.folder)
        assert ran.code == 2 and says in ran.err, ran.err
        assert not (changed.folder / "pages").exists()


HOSTILE = '"><script>alert(1)</script><img src=//x.example/y onerror=z><style>*{}</style>'


def test_nothing_of_a_pull_request_acts(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    name = "tests/test_<b onclick=x>\u202e'&.py"
    doc = HOSTILE.replace('"', "'")
    repository.commit(
        {
            name: f'def test_rows(run):\n    """{doc}"""\n    # </pre></code>\n'
            f"    assert (run(1) == '{HOSTILE}', '</title>{HOSTILE}')\n"
        }
    )
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=repository.folder)
    assert ran.code == 0
    written = pages(repository.folder / "pages")
    assert "C1.html" in written
    for page in written.values():
        assert page.tags.isdisjoint({"script", "img", "b onclick", "iframe", "object"})
    raw = (repository.folder / "pages" / "C1.html").read_text()
    assert raw.count("<style>") == 1 and "\u202e" not in raw and "x.example" in raw
    assert (
        subprocess.run(
            ["grep", "-c", "default-src 'none'", repository.folder / "pages" / "C1.html"]
        ).returncode
        == 0
    )


@pytest.mark.slow
def test_evidence_of_a_probe_shows_the_finding_whose_branch_it_passes(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    case = Path(__file__).parent.parent / "cases" / "excuse-branch" / "repo" / "tests"
    files = {f"tests/{path.name}": path.read_text() for path in case.glob("*.py")}
    repository.commit(files)
    evidence = repository.folder.parent / "evidence.json"
    target = "tests/parity.py::main"
    assert reviewbot("probe", target, "--save", evidence, cwd=repository.folder).code == 1
    words = ("report", "--base", "main", "--probe", evidence, "--out", "pages")
    assert reviewbot(*words, cwd=repository.folder).code == 0
    pages(repository.folder / "pages")
    shown = text(repository.folder / "pages", "C1.html")
    assert "A restored row can differ outside its restored prefix and still pass main" in shown
    assert "first difference: index 4 (30 → 77)" in shown
    assert "really restored: 2 tokens, index 5 to 6" in shown
    # Another file than the one that was probed: its evidence shows nothing of it.
    repository.commit({"tests/parity.py": files["tests/parity.py"] + "\n\nMORE = 1\n"})
    assert reviewbot(*words, cwd=repository.folder).code == 0
    assert "A restored row can differ" not in text(repository.folder / "pages", "C1.html")


@pytest.mark.slow
def test_a_size_has_a_page_and_says_of_each_fix_how_it_was_tried(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.commit({"tests/test_rows.py": DUPLICATE})
    words = ("size", "--base", "main", "--output-format", "json", "--quiet")
    size = json.loads(reviewbot(*words, cwd=repository.folder).out)
    saved = repository.folder.parent / "size.json"
    saved.write_text(json.dumps(size))
    words = ("report", "--base", "main", "--size", saved, "--out", "pages")
    assert reviewbot(*words, cwd=repository.folder).code == 0
    folder = repository.folder / "pages"
    read = pages(folder)
    counted = (
        f'all, as git counts</th><td class="num">{len(DUPLICATE.splitlines())}</td><td class="num">0</td>'
    )
    assert counted in (folder / "size.html").read_text()
    assert "C1.html" in read["size.html"].links and "size.html" in read["round-1.html"].links
    assert "Tried: applies, and the files parse" in text(folder, "C1.html")
    assert (folder / "C1.diff").read_text() == size["cuts"][0]["diff"]
    size["cuts"][0] |= {"state": "withdrawn", "says": "without it a changed row would pass"}
    saved.write_text(json.dumps(size))
    assert reviewbot(*words, cwd=repository.folder).code == 0
    withheld = "A change was worked out and is withheld: delete "
    assert withheld in text(folder, "C1.html")
    assert "Why: without it a changed row would pass." in text(folder, "C1.html")
    assert not (folder / "C1.diff").exists()


@pytest.mark.slow
def test_however_much_there_is_to_say_a_page_is_not_large(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    long = "    total = total + rows[0]['value'] * 2  # " + "<&>" * 60 + "\n"
    head = repository.commit({"tests/test_rows.py": WEAK + "    total = 0\n" + long * 900})
    review = json.loads(
        reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder).out
    )
    (thread, *_) = review["threads"]
    finding = thread["finding"]
    path = finding["span"]["path"]
    finding["message"] = "`<&>` " * 200
    finding["steps"] = [
        {"path": path, "line": 30 * n, "end_line": 30 * n + 24, "says": "`<&>` " * 100} for n in range(1, 30)
    ]
    finding["still_catches"] = ["`<&>` " * 100] * 200
    finding["fix"] = {
        "says": "all of it",
        "edits": [{"path": path, "line": 10, "end_line": 900, "text": long.replace("2", "3") * 890}],
        "safe": False,
    }
    thread["proposal"] = {"form": "diff", "says": "all of it", "text": ""}
    review["threads"] = [{**thread, "id": f"C{n}"} for n in range(1, 21)]
    (repository.folder.parent / "r.json").write_text(json.dumps(review))
    ran = reviewbot("report", repository.folder.parent / "r.json", "--out", "pages", cwd=repository.folder)
    assert ran.code == 0 and head
    folder = repository.folder / "pages"
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.html")}
    assert {name: size for name, size in sizes.items() if size >= 200_000} == {}
    assert len([name for name in sizes if name.startswith("C")]) == 20
    pages(folder)


@pytest.mark.slow
def test_many_findings_are_listed_by_file_on_pages_that_are_not_large(repository, reviewbot):
    repository.commit({"README": "x"})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.commit({f"tests/part{n // 40}/test_{n}.py": WEAK for n in range(260)})
    assert reviewbot("report", "--base", "main", "--out", "pages", "-q", cwd=repository.folder).code == 0
    folder = repository.folder / "pages"
    read = pages(folder)
    assert {f"C{n}.html" for n in range(1, 261)} < set(read)
    assert max(path.stat().st_size for path in folder.iterdir()) < 200_000
    listed = [
        link for name in ("round-1.html", "round-1-2.html") for link in read[name].links if link[0] == "C"
    ]
    assert sorted(listed) == sorted(f"C{n}.html" for n in range(1, 261))
    anchors = [link for link in read["index.html"].links if link.startswith("round-1") and "#f" in link]
    assert len(anchors) == 260
    assert "tests/part0/test_0.py:" in text(folder, "index.html")
    parts = [text(folder, name) for name in ("round-1.html", "round-1-2.html")]
    told = [re.search(r"New in this round: (\d+) of 260", part) for part in parts]
    assert sum(int(found[1]) for found in told if found) == 260


def test_the_page_of_a_probe_says_what_passes_and_is_no_witness(reviewbot, tmp_path):
    why = "`compare` refuses it in a caller"
    document = {
        "target": "tests/parity.py::compare",
        "edits_tried": 12,
        "passed": 2,
        "witnesses": [],
        "let_through": [{"edit": "reward changed", "side": "resumed"}],
        "set_aside": [{"edit": "reward changed", "side": "resumed", "why": why}],
    }
    (tmp_path / "evidence.json").write_text(json.dumps(document))
    assert reviewbot("report", "--probe", "evidence.json", "--out", "pages").code == 0
    page = (tmp_path / "pages" / "probe-1.html").read_text()
    assert "What passes and is no witness" in page
    assert "refuses it in a caller" in page
    assert "What it lets through" not in page
