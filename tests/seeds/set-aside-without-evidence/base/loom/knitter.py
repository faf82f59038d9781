"""Knits panels, and goes on with one that was interrupted."""

import logging

log = logging.getLogger(__name__)


def go_on(call, kept, knitted):
    """The whole panel: what was on the needles, and what came after."""
    log.info("went on call=%s kept=%d knitted=%d total=%d", call, len(kept), len(knitted), len(kept) + len(knitted))
    return [*kept, *knitted]
