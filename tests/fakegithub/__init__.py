"""A GitHub of our own for tests: it keeps what is written, computes diffs from a real git repository, and
checks each request and each answer against GitHub's published description of its API."""

from fakegithub.server import Call, FakeGitHub, Fault
from fakegithub.world import POSTER, READER, RESOLVER, Pull, Token

__all__ = ["POSTER", "READER", "RESOLVER", "Call", "FakeGitHub", "Fault", "Pull", "Token"]
