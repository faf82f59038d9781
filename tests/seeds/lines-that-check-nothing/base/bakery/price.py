"""Prices."""


def price(weight, rate, discount):
    """What a loaf costs."""
    whole = weight * rate
    return whole - whole * discount
