"""Which unchanged files are looked at is found out within a time, whatever patterns a change brings."""

from __future__ import annotations

from reviewbot.lint.against import Against
from reviewbot.lint.beside import beside
from reviewbot.lint.repo import Repo
from reviewbot.source.diff import FileDiff
from reviewbot.source.files import InMemory

ENDLESS = "import re\n\n\ndef read(text):\n    return re.search(r'(x+x+)+y', text)\n"
LOGS = "import logging\n\n\ndef write(step):\n    logging.info('" + "x" * 60 + " step=%d', step)\n"


def test_a_pattern_without_end_is_given_up():
    files = InMemory({"run.py": LOGS.encode(), "tests/read.py": ENDLESS.encode()})
    against = Against(InMemory({}), (FileDiff("run.py", None, ((1, 9),)),))
    paths, unread = beside(Repo(files=files, against=against), against, files.read, seconds=0.2)
    assert paths == []
    (one,) = unread
    assert "was not found out in 0.2 s" in one.why


def test_of_many_files_that_use_a_name_the_nearest_are_looked_at_and_the_rest_is_said():
    code = b"def price(row):\n    return row\n"
    uses = b"from shop.price import price\n\n\ndef look(row):\n    return price(row)\n"
    near = {f"shop/near_{n}.py": uses for n in range(40)}
    far = {f"else/far_{n}.py": uses for n in range(40)}
    files = InMemory({"shop/price.py": code, **near, **far})
    against = Against(
        InMemory({"shop/price.py": code}), (FileDiff("shop/price.py", "shop/price.py", ((2, 2),)),)
    )
    paths, unread = beside(Repo(files=files, against=against), against, files.read)
    assert len(paths) == 60
    assert set(near) <= set(paths)
    (one,) = unread
    assert one.path == "20 files that use `price`"
    assert "80 files use that name" in one.why
    assert one.line is None


def test_readers_of_a_key_that_too_many_read_are_passed_over_and_that_is_said():
    code = b"def save(row):\n    return {'price': row.price}\n"
    uses = b"def look(row):\n    return row['price']\n"
    files = InMemory({"shop/save.py": code, **{f"shop/look_{n}.py": uses for n in range(70)}})
    against = Against(
        InMemory({"shop/save.py": code}), (FileDiff("shop/save.py", "shop/save.py", ((2, 2),)),)
    )
    paths, unread = beside(Repo(files=files, against=against), against, files.read)
    assert paths == []
    (one,) = unread
    assert one.path == "70 files that read the key `price`"
    assert "too many to look at" in one.why
