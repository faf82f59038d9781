"""The oven: a batch that was interrupted goes on with the loaves that were in it."""

import logging

log = logging.getLogger(__name__)


def finish(order, kept, baked):
    """The loaves of an order: those that were in the oven before, and those baked since."""
    total = len(kept)
    if kept:
        total += len(baked)
        log.info("went on order=%s kept=%d new=%d total=%d", order, len(kept), len(baked), total)
    return [*kept, *baked]
