"""The device: prints the pages of a ticket that have not come out yet."""

from printer.ticket import Ticket


def fold(ticket: Ticket) -> Ticket:
    """The ticket of a booklet, its pages in the order in which sheets are folded; any other as it is."""
    if not ticket.sheets:
        return ticket
    half = (ticket.pages + 1) // 2
    folded = tuple(page for at in range(half) for page in (at, ticket.pages - 1 - at))
    return Ticket(job=ticket.job, pages=ticket.pages, paper=ticket.paper, sheets=True, order=folded)


def run(ticket: Ticket, put) -> int:
    """Prints, and returns how many pages were put on paper."""
    ticket = fold(ticket)
    left = [page for page in ticket.order or range(ticket.pages) if page not in (ticket.printed or ())]
    for page in left:
        put(page)
    return len(left)
