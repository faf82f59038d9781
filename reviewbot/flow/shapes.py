"""The shapes of functions, for rules: see `reviewbot.source.shape`."""

from reviewbot.source.shape import body_words as body_words
from reviewbot.source.shape import own_body as own_body
from reviewbot.source.shape import shape_of as shape_of
