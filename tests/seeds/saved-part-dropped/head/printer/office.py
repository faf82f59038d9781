"""Opens the office with the settings that are asked for."""

from printer.settings import Settings, validate
from printer.spool import Spool


def open_office(settings: Settings, saved: dict[str, tuple[int, ...]]) -> Spool:
    """The queue of a day. `saved` are the pages of interrupted jobs, by job."""
    validate(settings)
    printed = saved if settings.resume == "page" else {}
    return Spool(printed, booklet=settings.booklet)
