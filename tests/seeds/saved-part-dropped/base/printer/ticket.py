"""What a printer gets to know about a job."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ticket:
    """One job. `sheets` asks for a booklet; `printed` are the pages that came out before the power went."""

    job: str
    pages: int
    paper: str
    sheets: bool = False
    order: tuple[int, ...] | None = None
    printed: tuple[int, ...] | None = None
