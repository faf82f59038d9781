"""The queue: what was printed before goes with the job's next ticket, once."""

from printer.ticket import Ticket


class Spool:
    """Jobs that wait, and what earlier runs have printed of them."""

    def __init__(self, printed: dict[str, tuple[int, ...]], *, booklet: bool):
        self._printed = printed
        self._booklet = booklet

    def admit(self, job: str, pages: int, paper: str) -> Ticket:
        """The ticket of a job."""
        return Ticket(
            job=job,
            pages=pages,
            paper=paper,
            sheets=self._booklet,
            printed=self._printed.pop(job, None),
        )
