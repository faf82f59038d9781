"""Producers as people write them, and derivations that are none."""

from __future__ import annotations

import json

import pytest

CHECK = """\
def check(tanks, ledger):
    assert len(tanks) == len(ledger)
    for tank, entry in zip(tanks, ledger):
        if tank["stats"]["volume"] != sum(tank["fills"]):
            raise AssertionError("volume")
        assert tank["fills"] == entry["fills"]
        assert tank["label"] == entry["label"]


def objects(tanks, ledger):
    for tank, entry in zip(tanks, ledger, strict=True):
        if tank.volume != sum(tank.fills):
            raise AssertionError("volume")
        assert tank.fills == entry.fills
        assert tank.label == entry.label


def book(tanks, overview):
    if overview["count"] != len(tanks):
        raise AssertionError("count")
    assert overview["label"]


def doubled(tanks, ledger):
    for tank, entry in zip(tanks, ledger, strict=True):
        if tank["twice"] != 2 * tank["volume"]:
            raise AssertionError("twice")
        assert tank["fills"] == entry["fills"]
        assert tank["volume"] == entry["volume"]
"""
MAKER = """\
from dataclasses import dataclass, replace


def returned(tank):
    return {**tank, "stats": {**tank["stats"], "volume": sum(tank["fills"])}}


def in_place(tank):
    tank["stats"]["volume"] = sum(tank["fills"])


def whole_list(tanks):
    for tank in tanks:
        tank["stats"]["volume"] = sum(tank["fills"])
    return tanks


def by_keyword(*, fills, factor=1):
    return {"stats": {"volume": sum(fills) * factor}}


def gathered(**tank):
    return {**tank, "stats": {"volume": sum(tank["fills"])}}


async def awaited(tank):
    return {**tank, "stats": {"volume": sum(tank["fills"])}}


class Pump:
    factor = 1

    def __init__(self):
        self.own = 1

    @classmethod
    def of_class(cls, tank):
        return {**tank, "stats": {"volume": sum(tank["fills"]) * cls.factor}}

    def of_object(self, tank):
        tank["stats"]["volume"] = sum(tank["fills"]) * self.own


@dataclass(frozen=True)
class Tank:
    fills: list[int]
    label: str
    volume: int = 0

    def filled(self):
        return replace(self, volume=sum(self.fills))


def anew(tank):
    return Tank(tank.fills, tank.label, sum(tank.fills))


def volume(fills):
    return sum(fills)


def overview(tanks):
    return {"count": len(tanks), "label": "all"}


def add_twice(tank):
    return {**tank, "twice": 2 * tank["volume"]}


def add_volume(tank):
    return {**tank, "volume": sum(tank["fills"])}


def another(tank):
    return {**tank, "stats": {"volume": sum(tank["fills"]) + 1}}


def golden(tank):
    return {"fills": [4, 9], "label": "north", "stats": {"volume": 13}}


def clamped(tank):
    return {**tank, "stats": {"volume": min(max(tank["stats"]["volume"], 13), 13)}}


def raising(tank):
    return tank["depth"]


def wanting(tank, density):
    return {**tank, "stats": {"volume": sum(tank["fills"]) * density}}
"""
TESTS = """\
from check import objects
from maker import Tank


def tanks():
    return [Tank([4, 9], "north", 13), Tank([2, 8, 1], "south", 11)]


def test_objects():
    objects(tanks(), tanks())
"""


@pytest.fixture
def tanks(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for name, text in (("check.py", CHECK), ("maker.py", MAKER), ("test_tanks.py", TESTS)):
        (tmp_path / name).write_text(text)

    def rows():
        return [{"fills": [4, 9], "label": "north", "stats": {"volume": 13}}]

    def flat():
        return [{"fills": [4, 9], "volume": 13, "twice": 26}, {"fills": [2], "volume": 2, "twice": 4}]

    given = {
        "check": {"tanks": rows(), "ledger": rows()},
        "book": {"tanks": [*rows(), *rows()], "overview": {"count": 2, "label": "all"}},
        "doubled": {"tanks": flat(), "ledger": flat()},
    }
    for name, arguments in given.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(arguments))
    return tmp_path


def line(text):
    return CHECK.splitlines().index(text) + 1


def tiers(document):
    return {one["line"]: one["tier"] for one in document["dead"]}


KINDS = ["returned", "in_place", "whole_list", "by_keyword", "gathered", "awaited"]
METHODS = ["Pump.of_class", "Pump.of_object"]


@pytest.mark.parametrize("producer", KINDS + METHODS)
def test_what_a_producer_writes_is_written_again_after_each_change(probed, tanks, producer):
    words = ("check.py::check", "--example", "check.json", "--producer", f"maker.py::{producer}")
    _, document = probed(tanks, *words)
    assert [one.partition(":")[0] for one in document["derivations"]] == ["stats.volume"]
    found = tiers(document)
    assert found[line('        if tank["stats"]["volume"] != sum(tank["fills"]):')] == 3
    # A check of what no producer writes stays what it is.
    assert line('        assert tank["fills"] == entry["fills"]') not in found


@pytest.mark.parametrize("producer", ["Tank.filled", "anew", "volume"])
def test_a_producer_of_objects(probed, tanks, producer):
    _, document = probed(tanks, "check.py::objects", "--producer", f"maker.py::{producer}")
    assert [one.partition(":")[0] for one in document["derivations"]] == ["volume"]
    assert tiers(document)[line("        if tank.volume != sum(tank.fills):")] == 3


def test_a_count_of_rows_follows_the_rows(probed, tanks):
    words = ("check.py::book", "--example", "book.json", "--producer", "maker.py::overview")
    _, document = probed(tanks, *words)
    assert tiers(document)[line('    if overview["count"] != len(tanks):')] == 3


@pytest.mark.parametrize("order", [("add_volume", "add_twice"), ("add_twice", "add_volume")])
def test_one_producer_reads_what_another_writes(probed, tanks, order):
    producers = [word for name in order for word in ("--producer", f"maker.py::{name}")]
    _, document = probed(tanks, "check.py::doubled", "--example", "doubled.json", *producers)
    assert {one.partition(":")[0] for one in document["derivations"]} == {"volume", "twice"}
    assert tiers(document)[line('        if tank["twice"] != 2 * tank["volume"]:')] == 3


@pytest.mark.parametrize(
    ("producer", "says"),
    [
        ("another", "it writes another `stats.volume` than the arguments hold"),
        ("golden", "what it writes is the same whatever it reads here"),
        ("clamped", "what it writes is the same whatever it reads here"),
        ("raising", "it raised KeyError: 'depth'"),
        ("wanting", "nothing in the arguments gives it `density`"),
    ],
)
def test_what_derives_nothing_here_kills_no_check_and_is_said(probed, tanks, producer, says):
    words = ("check.py::check", "--example", "check.json", "--producer", f"maker.py::{producer}")
    _, document = probed(tanks, *words)
    assert document["derivations"] == []
    assert any(says in one for one in document["not_run"]), document["not_run"]
    assert max(tiers(document).values(), default=0) < 3
