"""Markdown looked at as GitHub does it."""

from rendered import hostile, page

__all__ = ["hostile", "page"]
