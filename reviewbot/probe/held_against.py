"""Which values of a test's calls the test holds against each other, item by item.

A function that compares has its two sides among its parameters. A test has the values of its calls, most of
which it never compares: only those where one change is noticed on either side, and passes made on both.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from reviewbot.probe import changes, shape
from reviewbot.probe.changes import Change
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Path, Plain
from reviewbot.probe.session import Session
from reviewbot.probe.written_out import written_out

MOST_ITEMS = 16
MOST_CHANGES = 6  # of one item
MOST_PARTNERS = 4
OF_AN_ITEM = ("remove", "double", "swap", "insert")


class HeldAgainst:
    """Asks the test itself, once for each list or table. `cut`: the time was up before it had answered.

    `noticed`: the fields in which some change was noticed, the others need not be asked about.
    """

    def __init__(
        self, session: Session, number: int, world: World, noticed: Collection[str], *, until: float
    ) -> None:
        self._session, self._number, self._world, self._until = session, number, world, until
        self._fields = noticed
        self._known: dict[Path, bool] = {}
        self._lists = written_out(session.target)
        self.cut = False

    def __call__(self, edit: Edit) -> bool:
        """Whether every item of the list or table that an edit makes longer, shorter or another one is held
        against an item of another value."""
        whole = edit.path[:-1] if edit.operation in OF_AN_ITEM else edit.path
        if not whole or (len(whole) == 1 and self._session.calls.get(str(whole[0]), (0, False))[1]):
            return False  # what is lost there is a whole value of several calls
        if whole not in self._known:
            self._known[whole] = any(
                self._compared(whole, other, places) for other, places in self._partners(whole)
            ) or self._written_out(whole)
        return self._known[whole]

    def _written_out(self, whole: Path) -> bool:
        """Whether it is zipped with a list that the test writes out, and a change of any item is noticed."""
        value = plain.at(dict(self._world), whole)
        parts = list(itertools.islice(plain.items(value), MOST_ITEMS))
        label = str(whole[0])
        lengths = next((found for call, found in self._lists.items() if _names(label, call)), frozenset())
        return len(whole) == 1 and len(value) in lengths and all(self._noticed((*whole, k)) for k, _ in parts)

    def _noticed(self, item: Path) -> bool:
        listed = [[edit] for edit in self._real(item)]
        runs = self._session.judge(self._number, listed, until=self._until)
        self.cut |= len(runs) < len(listed)
        return any(run is not None and run.noticed for run in runs)

    def _real(self, item: Path) -> list[Edit]:
        """A few changes of one item that matter."""
        listed = changes.of_row(plain.at(dict(self._world), item), item)
        real = [one for one in listed if one.size == "real" and not one.edit.along]
        # Where nothing was noticed in a field of the test's values, nothing will be in this one.
        real = [one for one in real if one.field in self._fields] or real
        return _of_each_field(real)[:MOST_CHANGES]

    def _partners(self, whole: Path) -> Iterator[tuple[Path, Mapping[object, object]]]:
        """Where else the same value stands, or its items in another order, with the place there of each item
        that is in another one."""
        value = plain.at(dict(self._world), whole)
        if not plain.items(value):
            return iter(())
        parts = ((path, part) for path, part in shape.walk(dict(self._world)) if path and path != whole)
        found = [(path, at) for path, part in parts if (at := _places(value, part)) is not None]
        # What stands in the same place of the other side comes before what happens to be equal.
        return iter(sorted(found, key=lambda one: _apart(one[0], whole))[:MOST_PARTNERS])

    def _compared(self, whole: Path, other: Path, places: Mapping[object, object]) -> bool:
        value = plain.at(dict(self._world), whole)
        return all(
            self._item(whole, (*other, places.get(key, key)), key)
            for key, _ in itertools.islice(plain.items(value), MOST_ITEMS)
        )

    def _item(self, whole: Path, other: Path, key: object) -> bool:
        """Whether a change of one item is noticed in either value, and passes in both; `other` is the item in
        the other value."""
        for edit in self._real((*whole, key)):
            across = Edit(edit.operation, (*other, *edit.path[len(whole) + 1 :]), edit.value)
            runs = self._session.judge(self._number, [[edit], [across], [edit, across]], until=self._until)
            if len(runs) < 3:
                self.cut = True
                return False
            alone, there, both = runs
            if alone and there and both and alone.noticed and there.noticed and both.passes:
                return True
        return False


def _places(value: Plain, part: Plain) -> Mapping[object, object] | None:
    """Where the items of a value stand in another one of the same items, none twice; None if they differ."""
    if plain.same(part, value):
        return {}
    if type(value) is not list or type(part) is not list or len(part) != len(value):
        return None
    mine = [plain.dumps(item) for item in value]
    there = {plain.dumps(item): at for at, item in enumerate(part)}
    if len(set(mine)) < len(mine) or there.keys() != set(mine):
        return None
    return {at: there[item] for at, item in enumerate(mine)}


def _names(label: str, call: str) -> bool:
    """Whether a value is that of a call: a long one is cut short, and one of several says its line."""
    said = label.partition(" at L")[0]
    return said == call or (said.endswith("...") and call.startswith(said[:-3]))


def _apart(path: Path, whole: Path) -> tuple[int, int]:
    """In how many parts two paths differ: by their length, then part for part."""
    return abs(len(path) - len(whole)), sum(a != b for a, b in zip(path, whole, strict=False))


def _of_each_field(listed: Iterable[Change]) -> list[Edit]:
    """The edits, the first of each field before the second of any."""
    seen: Counter[str] = Counter()
    ranked = []
    for one in listed:
        ranked.append((seen[one.field], one.edit))
        seen[one.field] += 1
    return [edit for _, edit in sorted(ranked, key=lambda pair: pair[0])]
