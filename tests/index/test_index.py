"""The repository's facts: what is found, and that an unchanged file costs nothing."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest

from reviewbot.index import gather, templates
from reviewbot.index.facts import Value
from reviewbot.index.gather import At
from reviewbot.index.index import Index
from reviewbot.index.memory import Memory
from reviewbot.index.store import Store
from reviewbot.source.files import Source, of_content

BODY = """\
def {name}(rows):
    out = []
    for row in rows:
        out.append(row["{key}"] + 1)
    return out
"""


def index(files: dict[str, str]) -> Index:
    """The facts of files in memory. What is asked is asked of a database too, which must say the same."""
    sources = [of_content(path, text.encode()) for path, text in files.items()]
    memory = Memory(sources)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kept = Store(Path(folder) / "index.sqlite")
        kept.update(sources)

    def look(kind: str, name: str) -> tuple[At, ...]:
        found = memory.look(kind, name)
        assert kept.look(kind, name) == found
        return found

    return Index(look)


def test_callers_are_found_across_files_and_other_names_are_not():
    found = index(
        {
            "worker/run.py": "def finish(x):\n    return x\n\ndef other():\n    return finish(1)\n",
            "tests/test_run.py": "from worker.run import finish\n\ndef test_it():\n    finish(2)\n",
            "tools/else.py": "def finish(x):\n    pass\n\nfinish(3)\n",
        }
    )
    ((path, definition),) = [d for d in found.definitions("finish") if d[0] == "worker/run.py"]
    calls = [(where, call.caller, call.line) for where, call in found.callers(path, definition)]
    assert calls == [("tests/test_run.py", "test_it", 4), ("worker/run.py", "other", 5)]


@pytest.mark.parametrize(
    ("target", "importer", "wanted"),
    [
        ("worker.run", "tests/test_a.py", "src/worker/run.py"),
        ("run", "src/worker/other.py", "src/worker/run.py"),
        (".run", "src/worker/other.py", "src/worker/run.py"),
        ("..worker.run", "src/worker/deep/a.py", None),
        ("...worker", "src/worker/deep/a.py", "src/worker/__init__.py"),
        ("json", "src/worker/run.py", None),
    ],
)
def test_a_module_is_found_where_python_would(target, importer, wanted):
    found = index({"src/worker/run.py": "", "src/worker/__init__.py": "", "src/worker/deep/a.py": ""})
    assert found.module(target, importer) == wanted


def test_a_definition_is_followed_through_an_import_and_a_re_export():
    found = index(
        {
            "pkg/__init__.py": "from pkg.inner import make\n",
            "pkg/inner.py": "class Maker:\n    def go(self):\n        pass\n\ndef make():\n    pass\n",
            "use.py": "from pkg import make\nfrom pkg.inner import Maker\n",
        }
    )
    imports = {"make": "pkg.make", "Maker": "pkg.inner.Maker"}
    made = found.definition("make", "use.py", imports)
    assert made is not None
    assert (made[0], made[1].line) == ("pkg/inner.py", 5)
    method = found.definition("Maker.go", "use.py", imports)
    assert method is not None
    assert method[1].name == "Maker.go"
    assert found.definition("absent", "use.py", imports) is None


def test_a_definition_is_followed_through_a_module_that_is_taken_in_whole():
    found = index(
        {
            "pkg/__init__.py": "from .early import *\nfrom .late import *\nfrom json import *\n",
            "pkg/early.py": "def make():\n    pass\n\ndef only():\n    pass\n\ndef _hidden():\n    pass\n",
            "pkg/late.py": "from .later import *\n\nclass Maker:\n    def go(self):\n        pass\n",
            "pkg/later.py": "def make():\n    pass\n",
            "use.py": "import pkg as p\n",
        }
    )
    imports = {"p": "pkg"}

    def where(name: str) -> str | None:
        made = found.definition(name, "use.py", imports)
        return None if made is None else made[0]

    # The last one counts, and what starts with an underscore does not come along.
    assert where("p.make") == "pkg/later.py"
    assert where("p.only") == "pkg/early.py"
    assert where("p.Maker.go") == "pkg/late.py"
    assert where("p._hidden") is None
    assert where("p.absent") is None


EARLY = "from .early import *\n"
LATE = "from .late import *\n"


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        (EARLY + LATE, "late"),
        (LATE + EARLY, "early"),
        ("from .early import make\n" + LATE, "late"),
        (LATE + "from .early import make\n", "early"),
        ("def make():\n    pass\n\n" + LATE, "late"),
        (LATE + "def make():\n    pass\n", "__init__"),
        (LATE + "class make:\n    pass\n", "__init__"),
        # Only what `__all__` lists comes along, and what cannot be read of it is not known.
        (EARLY + "from .listed import *\n", "early"),
        (EARLY + "from .listing import *\n", "listing"),
        (EARLY + "from .added import *\n", "added"),
        (EARLY + "from .extended import *\n", None),
        (EARLY + "from .gathered import *\n", None),
        (EARLY + "from .absent import *\n", None),
        (EARLY + "from .empty import *\n", None),
        # What is bound in another way, more than once, or under a condition is not known.
        (LATE + "make = print\n", None),
        (LATE + "make: object = print\n", None),
        (LATE + "del make\n", None),
        (LATE + "for make in ():\n    pass\n", None),
        (LATE + "from json import dumps as make\n", None),
        (LATE + "import make\n", None),
        (LATE + "from json import make\n", None),
        (LATE + "globals().update(made)\n", None),
        (LATE + "def again():\n    global make\n    make = print\n", None),
        (EARLY + "if False:\n    from .late import *\n", None),
        ("try:\n    from .early import *\nexcept ImportError:\n    from .late import *\n", None),
        (EARLY + "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .late import *\n", None),
        (EARLY + "from .twice import *\n", None),
        (EARLY + "from .either import *\n", None),
        # A name of a function's own is none of the module's, and a module that takes itself is no end.
        (LATE + "def run():\n    make = 1\n    return make\n", "late"),
        (EARLY + "from .round import *\n", "early"),
    ],
)
def test_of_what_binds_a_name_in_a_module_the_last_counts(module, wanted):
    made = "def make():\n    pass\n"
    found = index(
        {
            "pkg/__init__.py": module,
            "pkg/early.py": made,
            "pkg/late.py": made,
            "pkg/listed.py": f"__all__ = ['other']\n{made}",
            "pkg/listing.py": f"__all__ = ['make']\n{made}",
            "pkg/added.py": f"__all__ = ['other'] + ['more']\n__all__ += ('make',)\n{made}",
            "pkg/extended.py": f"__all__ = ['other']\n__all__.extend(names())\n{made}",
            "pkg/gathered.py": f"from .late import *\n__all__ = [*late.__all__]\n{made}",
            "pkg/empty.py": "__all__ = ['make']\n",
            "pkg/twice.py": made + made,
            "pkg/either.py": "if 1:\n    def make():\n        pass\n",
            "pkg/round.py": "from . import *\nfrom .round import *\n",
        }
    )
    here = found.definition("p.make", "use.py", {"p": "pkg"})
    assert (here and here[0]) == (wanted and f"pkg/{wanted}.py")


def test_a_module_that_is_reached_by_many_ways_is_asked_once():
    many = 30
    modules = {
        f"pkg/m{one}.py": "".join(f"from .m{other} import *\n" for other in range(many))
        for one in range(many)
    }
    files = {**modules, "pkg/__init__.py": "from .m0 import *\n", "pkg/m7.py": "def make():\n    pass\n"}
    memory = Memory([of_content(path, text.encode()) for path, text in files.items()])
    asked: list[tuple[str, str]] = []

    def look(kind: str, name: str) -> tuple[At, ...]:
        asked.append((kind, name))
        return memory.look(kind, name)

    found = Index(look)
    assert found.definition("p.absent", "use.py", {"p": "pkg"}) is None
    here = found.definition("p.make", "use.py", {"p": "pkg"})
    assert here is not None
    assert here[0] == "pkg/m7.py"
    # Each of them once for its names and its imports, and once for either name; and the line of each import.
    assert len([kind for kind, _ in asked if not kind.startswith("path")]) <= 8 * many
    assert len(asked) <= 8 * many + 6 * many * many


@pytest.mark.parametrize(
    ("code", "kind", "fields"),
    [
        (
            "@dataclass(frozen=True)\nclass A:\n    x: int\n    y: int = 3\n"
            "    z: list = field(default_factory=list)\n"
            "    t: float = field(default=0.0, compare=False)\n    N: ClassVar[int] = 1\n",
            "dataclass",
            [("x", None, True), ("y", "3", True), ("z", "list", True), ("t", "0.0", False)],
        ),
        (
            "@attrs.define\nclass A:\n    x: int\n    y: int = 3\n",
            "attrs",
            [("x", None, True), ("y", "3", True)],
        ),
        (
            "@attr.s\nclass A:\n    x = attr.ib()\n    y = attr.ib(default=2)\n",
            "attrs",
            [("x", None, True), ("y", "2", True)],
        ),
        (
            "class A(NamedTuple):\n    x: int\n    y: int = 1\n",
            "namedtuple",
            [("x", None, True), ("y", "1", True)],
        ),
        ("class A(typing.TypedDict):\n    x: int\n", "typeddict", [("x", None, True)]),
        (
            "class A(BaseModel):\n    x: int\n    y: int = Field(...)\n    z: int = Field(2)\n",
            "pydantic",
            [("x", None, True), ("y", None, True), ("z", "2", True)],
        ),
        (
            "class A:\n    def __init__(self, x, y=None, *, z=2, unused=1):\n"
            "        self.x = x\n        self._y = y\n"
            "        self.z = z\n",
            "plain",
            [("x", None, True), ("y", "None", True), ("z", "2", True)],
        ),
    ],
)
def test_the_fields_of_a_class(code, kind, fields):
    ((_, found),) = index({"a.py": code}).classes("A")
    assert found.kind == kind
    assert [(field.name, field.default, field.compared) for field in found.fields] == fields


@pytest.mark.parametrize(
    ("call", "template", "values", "extra"),
    [
        ('log.info("a=%s b=%5.2f 100%%", x, y.z)', "a=\0 b=\0 100%", [("a", "x"), ("b", "y.z")], []),
        ('print(f"a={x!r:>4}, n: {len(y)}")', "a=\0, n: \0", [("a", "x"), ("n", "len(y)")], []),
        ('print("took", seconds, "s")', "took \0 s", [("", "seconds")], []),
        ('print("took: {} {n}".format(x, n=2))', "took: \0 \0", [("took", "x"), ("n", "2")], []),
        ('log.debug("a=%(k)d" % {"k": x})', "a=\0", [("k", "x")], []),
        ('log.info("done", extra={"rows": n})', "done", [], [("rows", "n")]),
        ('log.info("done", rows=n, exc_info=True)', "done", [], [("rows", "n")]),
        ('log.log(10, "a=%s", x)', "a=\0", [("a", "x")], []),
    ],
)
def test_what_a_log_call_writes(call, template, values, extra):
    ((_, found),) = index({"a.py": call + "\n"}).logs()
    assert found.template == template
    assert [tuple(value) for value in map(_pair, found.values)] == values
    assert [tuple(value) for value in map(_pair, found.extra)] == extra


def _pair(value: Value) -> tuple[str, str]:
    return value.name, value.source


def test_a_pattern_reads_the_values_of_the_log_line_that_it_matches():
    found = index(
        {
            "w.py": 'log.info("done: id=%s prefix=%d tail=%d", i, len(p), len(t))\n'
            'log.info("start: id=%s", i)\n',
            "t.py": 'import re\nDONE = re.compile(r"done: id=(\\S+) prefix=(\\d+) " r"tail=(\\d+)")\n',
        }
    )
    ((_, regex),) = found.regexes()
    assert regex.name == "DONE"
    (reading,) = found.read_by(regex.pattern)
    assert (reading.path, reading.log.line) == ("w.py", 1)
    assert [reading.log.values[g].source for g in reading.groups if g is not None] == [
        "i",
        "len(p)",
        "len(t)",
    ]


@pytest.mark.parametrize("pattern", ["(", "(a+)+$", "[z-a]", "x" * 10_000])
def test_a_pattern_that_is_broken_or_matches_nothing_reads_nothing(pattern):
    assert templates.groups_of(pattern, "a=\0", (Value("a", "x"),)) is None


def test_bodies_that_differ_in_local_names_alone_have_one_shape():
    found = index(
        {
            "a.py": BODY.format(name="f", key="x"),
            "b.py": '"""Doc."""\ndef g(items: list) -> list:\n    """Doc."""\n    got = []\n'
            "    for item in items:\n"
            "        got.append(item['x'] + 1)\n    return got\n",
            "c.py": BODY.format(name="h", key="y"),
        }
    )
    shapes = {name: found.definitions(name)[0][1].shape for name in "fgh"}
    assert shapes["f"]
    assert shapes["f"] == shapes["g"] != shapes["h"]
    assert [path for path, _ in found.same_shape(shapes["f"])] == ["a.py", "b.py"]


def test_scripts_name_what_they_run_and_comments_do_not():
    found = index(
        {
            ".ci/run.sh": "#!/bin/bash\n# tests/old.sh\nrun_test bash tests/functional/resume.sh\n"
            "python -m tools.check\n",
            ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: pytest tests/unit\n",
        }
    )
    assert [(path, m.line) for path, m in found.mentions("resume.sh")] == [(".ci/run.sh", 3)]
    assert [(path, m.line) for path, m in found.mentions("check.py")] == [(".ci/run.sh", 4)]
    assert found.mentions("old.sh") == ()
    assert [(path, m.word) for path, m in found.mentions("unit")] == [
        (".github/workflows/ci.yml", "tests/unit")
    ]


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(tmp_path):
    file = tmp_path / "deep" / "index.sqlite"
    first = Store(file)
    assert first.update([of_content("a.py", b"def f(): pass\n"), of_content("b.py", b"f()\n")]) == 2
    first.close()

    def never() -> bytes:
        raise AssertionError("read again")

    second = Store(file)
    kept = of_content("b.py", b"f()\n")
    again = Source("moved/b.py", kept.key, never)
    assert second.update([of_content("a.py", b"def g(): pass\n"), again]) == 1
    assert [at.path for at in second.look("call", "f")] == ["moved/b.py"]
    assert second.look("definition", "f") == ()
    assert [at.fact.name for at in second.look("definition", "g")] == ["g"]


def test_a_broken_database_is_replaced_by_memory(tmp_path):
    file = tmp_path / "index.sqlite"
    file.write_bytes(b"not a database, but long enough to be taken for one " * 100)
    known = Store(file)
    assert known.update([of_content("a.py", b"f()\n")]) == 1
    assert len(known.look("call", "f")) == 1


def damaged_index(whole: bytes, how: str) -> bytes:
    pages = [whole[start : start + 4096] for start in range(0, len(whole), 4096)]
    if how == "cut off":
        return whole[:-1678]
    if how == "no page of facts":
        # The first page holds the schema; from the second on it says where the tables begin.
        return b"".join([pages[0], *(bytes(4096) for _ in pages[1:])])
    if how == "a schema that is no text":
        return whole.replace(b"payload", b"\xff\xfe\x97\x80\x80\x80\x80")
    return b"".join([pages[0], *pages[1:-1], b"\x0a" + b"\xa5" * 4095])


DAMAGES = ["cut off", "no page of facts", "a schema that is no text", "a last page of noise"]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_index_changes_nothing(reviewbot, tmp_path, how):
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "helper.py").write_text("def same(a, b):\n    return a == b\n")
    (project / "test_a.py").write_text(
        "from helper import same\n\n\ndef test_a():\n    same(load(1), run(2))\n"
    )
    env = {"XDG_CACHE_HOME": str(tmp_path / "caches")}
    first = reviewbot("lint", "--select", "check-result-dropped", cwd=project, env=env)
    assert "[check-result-dropped]" in first.out
    (index,) = tmp_path.glob("caches/reviewbot/index-*.sqlite")
    damaged = damaged_index(index.read_bytes(), how)
    for other in (tmp_path / "caches/reviewbot").iterdir():
        shutil.rmtree(other) if other.is_dir() else other.unlink()
    index.write_bytes(damaged)
    for _ in range(2):
        assert reviewbot("lint", "--select", "check-result-dropped", cwd=project, env=env) == first


def test_the_facts_of_a_repository_are_gathered_where_a_selected_rule_asks_for_them(reviewbot, tmp_path):
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "helper.py").write_text("def same(a, b):\n    return a == b\n")
    (project / "test_a.py").write_text(
        "from helper import same\n\n\ndef test_a():\n    assert x == x\n    same(load(1), run(2))\n"
    )
    env = {"XDG_CACHE_HOME": str(tmp_path / "caches")}
    alone = "self-compare,constant-verdict,raises-too-broad,swallowed-failure,or-escape,zip-truncates"
    assert "[self-compare]" in reviewbot("lint", "--select", alone, cwd=project, env=env).out
    assert not list(tmp_path.glob("caches/reviewbot/index-*.sqlite"))
    found = reviewbot("lint", "--select", f"{alone},check-result-dropped", cwd=project, env=env)
    assert "[check-result-dropped]" in found.out
    assert list(tmp_path.glob("caches/reviewbot/index-*.sqlite"))


def test_an_index_that_can_only_be_read_is_left_alone(tmp_path, monkeypatch):
    file = tmp_path / "index.sqlite"
    Store(file).close()
    connect = sqlite3.connect

    def reading(database, **options):
        return connect(f"file:{database}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", reading)
    known = Store(file)
    assert known.update([of_content("a.py", b"f()\n")]) == 1
    assert len(known.look("call", "f")) == 1
    assert file.exists()


def test_a_file_that_is_not_python_says_nothing():
    assert gather.facts_of("a.py", b"def f(:\n") == gather.Facts()
    assert gather.facts_of("a.py", b"#" * gather.MAX_BYTES + b"\nf()\n") == gather.Facts()


def test_every_fact_survives_the_store(tmp_path):
    text = Path(templates.__file__).read_text(encoding="utf-8")
    known = gather.facts_of("a.py", text.encode())
    kept = Store(tmp_path / "i.sqlite")
    kept.update([of_content("a.py", text.encode())])
    looked = [
        at.fact for name in {c.name.rpartition(".")[2] for c in known.calls} for at in kept.look("call", name)
    ]
    assert sorted(looked, key=repr) == sorted(known.calls, key=repr)
    assert len(looked) > 50


def test_literals_that_are_no_text_can_be_stored_and_looked_up():
    code = r"""
x["\ud800"] = {"\udc80": 1}
log.info("a\x00b \udfff=%s", x.get("\ud800"), extra={"\ud801": 2})
re.compile("\ud800(.)")
"""
    found = index({"a.py": code})
    ((_, log),) = found.logs()
    assert log.template == "a b ?=\0"
    assert [key.line for _, key in found.writers("?")] == [2, 2, 3]
    assert [regex.pattern for _, regex in found.regexes()] == ["?(.)"]


@pytest.mark.parametrize(
    "pattern", ["Row(done=True)", "None", "True | False", "{'a': 1, **rest}", "[1, *rest]"]
)
def test_calls_below_a_pattern_are_facts_like_any_other(pattern):
    found = gather.facts_of(
        "a.py", f"match read():\n    case {pattern} if ready():\n        act()\n".encode()
    )
    assert {call.name for call in found.calls} == {"read", "ready", "act"}


def test_what_was_broken_off_while_it_was_gathered_is_gathered_again(monkeypatch):
    memory = Memory([of_content(path, b"finish()\n") for path in ("a.py", "b.py")])
    with monkeypatch.context() as broken:
        broken.setattr("reviewbot.index.memory.facts_of", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            memory.look("call", "finish")
    assert [at.path for at in memory.look("call", "finish")] == ["a.py", "b.py"]


@pytest.mark.parametrize("kind", ["definition", "class", "call", "import", "attribute", "field", "log"])
def test_a_question_about_some_files_is_answered_from_these_alone(kind):
    says = "class Row:\n    def __init__(self, Row):\n        self.Row = Row\nfrom a import Row\nx.Row\n"
    texts = dict.fromkeys(("a.py", "b.py", "tests/test_a.py"), says + 'Row(1)\nprint("Row")\n')
    look = index({**texts, "c.py": "dataclass\nclass Other: pass\n"}).look
    word = "" if kind == "log" else "Row"
    for scope, paths in {
        "": ["a.py", "b.py", "tests/test_a.py"],
        f" {gather.OUTSIDE_TESTS}": ["a.py", "b.py"],
        f" {gather.within('b.py')}": ["b.py"],
        f" {gather.within('none.py')}": [],
    }.items():
        assert sorted({at.path for at in look(kind + scope, word)}) == paths


@pytest.mark.parametrize(
    "text",
    [
        "def \\\n  run(): pass\n",
        "class X: pass\ndataclass\nclass run: pass\n",
        "# def class\nasync  def\trun(): pass\n",
        "def \N{LATIN SMALL LETTER R}\N{MATHEMATICAL ITALIC SMALL U}n(): pass\n",
        "# coding: utf-7\ndef r+AHU-n(): pass\n",
        "# coding: utf-7\n# coding: utf-8\ndef r+AHU-n(): pass\n",
        "# coding: utf-8\n# é\ndef run(): pass\n",
    ],
)
def test_a_definition_is_found_however_it_is_written(text):
    called = text + "self.𝑒nd(run)\n" if "utf-7" not in text else text + "end()\n"
    memory = Memory([of_content("a.py", called.encode())])
    assert [at.fact.name for at in memory.look("call", "end")] in (["self.end"], ["end"])
    assert [at.fact.name for at in memory.look("definition", "run")] == ["run"]


@pytest.mark.parametrize("name", ["end", "énd"])
def test_a_file_is_read_for_a_name_that_stands_in_it_and_not_for_longer_ones(name):
    texts = {"a.py": f"{name}()\n", "b.py": f"{name}s()\nun{name}()\nx._{name}()\n# {name}9\n"}
    asked: list[int] = []

    def watch(places, count):
        asked.extend(places)
        return places

    memory = Memory([of_content(path, text.encode()) for path, text in texts.items()], watch=watch)
    assert [at.path for at in memory.look("call", name)] == ["a.py"]
    assert asked == [0]


def test_of_two_modules_of_one_name_the_nearer_is_meant():
    found = index({"one/serving/a.py": "", "two/serving/a.py": "", "one/serving/b.py": "", "c.py": ""})
    assert found.module("serving.a", "one/serving/b.py") == "one/serving/a.py"
    assert found.module("serving.a", "c.py") is None
