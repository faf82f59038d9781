"""What the rewritten code calls: it counts checks and branches, and can switch each one off."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

# What an operation does, and what stands in for it where it is changed.
OPERATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "Add": (operator.add, operator.sub),
    "Sub": (operator.sub, operator.add),
    "Mult": (operator.mul, operator.add),
    "Div": (operator.truediv, operator.mul),
    "FloorDiv": (operator.floordiv, operator.mul),
    "Mod": (operator.mod, operator.add),
    "Lt": (operator.lt, operator.le),
    "LtE": (operator.le, operator.lt),
    "Gt": (operator.gt, operator.ge),
    "GtE": (operator.ge, operator.gt),
    "Eq": (operator.eq, operator.ne),
    "NotEq": (operator.ne, operator.eq),
}

# A check, told apart by the names of fields that the variables of the loops around it hold.
Key = tuple[Any, ...]


class Switchboard:
    """One run's counters and switches.

    observing: no check fails, so that one run shows every check that would. off: checks (numbers or
    keys) that never fail. forced: branches whose outcome is given.
    """

    def __init__(self) -> None:
        # What an assertion call or `pytest.raises` fails with; pytest's own class joins once it is loaded.
        self.failures: tuple[type[BaseException], ...] = (AssertionError,)
        # How often each check ran, over all runs of this process.
        self.ever: Counter[Key] = Counter()
        # The values of a test's calls, one for each time: given ones stand in for calling.
        self.given: dict[int, list[Any]] = {}
        # Those of them that run all the same, because what they are given was changed.
        self.afresh: frozenset[int] = frozenset()
        self.seen: dict[int, list[Any]] | None = None
        self.reached: Counter[Key] = Counter()
        # Names of fields and keys in the arguments: other text, as a row's id, tells no checks apart.
        self.names: set[str] = set()
        self.reset()

    def reset(
        self,
        *,
        observing: bool = False,
        off: frozenset[int | Key] = frozenset(),
        forced: dict[int, bool] | None = None,
    ) -> None:
        """Starts a run."""
        self.observing, self.off, self.forced = observing, off, forced or {}
        self.ever.update(self.reached)
        self.reached.clear()
        self.fired: list[Key] = []
        self.outcomes: dict[tuple[int, bool], int] = {}
        self._calls: Counter[int] = Counter()

    def check(self, number: int, failing: Any, around: tuple[Any, ...] = ()) -> bool:
        """Whether the check may fail now."""
        key = self._key(number, around)
        self.reached[key] += 1
        return bool(failing) and self._fails(number, key)

    def caught(self, number: int, _: object, around: tuple[Any, ...] = ()) -> bool:
        """Whether a failure that was already counted as reached may go on."""
        return self._fails(number, self._key(number, around))

    def _key(self, number: int, around: tuple[Any, ...]) -> Key:
        return (number, *(part for part in around if type(part) is str and part in self.names))

    def _fails(self, number: int, key: Key) -> bool:
        if number in self.off or key in self.off:
            return False
        self.fired.append(key)
        return not self.observing

    def verdict(self, number: int, value: Any, around: tuple[Any, ...] = ()) -> Any:
        """The truth value that the function under probe returns."""
        failing = not value
        return value if self.check(number, failing, around) or not failing else True

    def reach(self, number: int, _: object, around: tuple[Any, ...] = ()) -> None:
        """Counts an assertion call that is about to run."""
        self.reached[self._key(number, around)] += 1

    def branch(self, number: int, condition: Any) -> bool:
        """The truth of a condition."""
        outcome = bool(condition)
        if number in self.forced:
            outcome = self.forced[number]
        key = (number, outcome)
        self.outcomes[key] = self.outcomes.get(key, 0) + 1
        return outcome

    def constant(self, number: int, value: Any) -> Any:
        """A constant, another one where it is changed."""
        self.outcomes[number, False] = self.outcomes.get((number, False), 0) + 1
        if number not in self.forced:
            return value
        return value + "~" if type(value) is str else value + 1

    def operation(self, number: int, name: str, left: Any, right: Any) -> Any:
        """What an operation comes to, or another one where it is changed."""
        self.outcomes[number, False] = self.outcomes.get((number, False), 0) + 1
        return OPERATIONS[name][number in self.forced](left, right)

    def lookup(self, number: int, table: Any, key: Any) -> Any:
        """An entry of a table, another one where it is changed. Counted as reached under its key."""
        self.outcomes[number, False] = self.outcomes.get((number, False), 0) + 1
        self.reached[(number, repr(key)[:200])] += 1
        value = table[key]
        if number not in self.forced:
            return value
        if type(value) in (int, float):
            return value + 1
        return value + "~" if type(value) is str else None

    def value(self, number: int, call: Callable[[], Any]) -> Any:
        """The value of a test's call: the given one if there is one, else what calling it returns."""
        time = self._calls[number]
        self._calls[number] += 1
        given = self.given.get(number) if number not in self.afresh else None
        if given is not None and time < len(given):
            return given[time]
        value = call()
        if self.seen is not None:
            self.seen.setdefault(number, []).append(value)
        return value

    def held(self, number: int, read: Callable[[], Any]) -> Any:
        """What a name holds, the given value if there is one: the same each time that it is read."""
        given = self.given.get(number) if number not in self.afresh else None
        if given:
            return given[0]
        value = read()
        if self.seen is not None:
            self.seen[number] = [value]
        return value

    async def awaited(self, number: int, call: Callable[[], Any]) -> Any:
        """The same for a call that is awaited."""
        time = self._calls[number]
        self._calls[number] += 1
        given = self.given.get(number) if number not in self.afresh else None
        if given is not None and time < len(given):
            return given[time]
        value = await call()
        if self.seen is not None:
            self.seen.setdefault(number, []).append(value)
        return value
