"""What a rule may know beyond its own file."""

from __future__ import annotations

from dataclasses import dataclass, field

from reviewbot.config import Config


@dataclass(frozen=True)
class Repo:
    """The repository around the file under review: its configuration and settings."""

    config: Config = field(default_factory=Config)
