"""What is written down when the power goes."""


class Snapshot:
    """The loaves of one order that were in the oven."""

    def __init__(self, order, loaves):
        self.order, self.loaves = order, tuple(loaves)

    def check(self, count):
        """Refuses a snapshot of another size."""
        if len(self.loaves) != count:
            raise ValueError(f"{self.order}: holds {len(self.loaves)} loaves, not {count}")
