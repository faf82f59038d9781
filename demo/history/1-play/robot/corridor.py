"""A corridor with a parcel in it. What the robot does and what it sees are both tokens."""

from dataclasses import dataclass

LEFT, STAY, RIGHT = 1, 2, 3
SIGHT = 10
CELLS = 8


@dataclass
class Corridor:
    """Where the parcel lies and where the robot stands."""

    parcel: int
    cell: int = 0

    def move(self, token: int) -> None:
        """One move; walls stop the robot."""
        self.cell = min(CELLS - 1, max(0, self.cell + token - STAY))

    def look(self) -> int:
        """The token of what the robot sees."""
        return SIGHT + self.cell

    def score(self) -> float:
        """1 when the robot stands at the parcel, 0 otherwise."""
        return float(self.cell == self.parcel)
