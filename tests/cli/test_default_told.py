"""What a field that is left behind falls back to is told as the value that it then has."""

from __future__ import annotations

CODE = """\
from dataclasses import dataclass, field


@dataclass
class Episode:
    board: str
    moves: int
    marks: list[int] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=lambda: {})
    seed: int = 0


def closed(episode: Episode) -> Episode:
    return Episode(board=episode.board, moves=episode.moves)


def played(episode: Episode) -> int:
    return episode.moves + episode.seed + len(episode.marks) + len(episode.names)
"""


def test_what_a_factory_makes_is_told(reviewbot, tmp_path):
    text = CODE.replace("    names: dict[str, int] = field(default_factory=lambda: {})\n", "")
    (tmp_path / "play.py").write_text(text.replace(" + len(episode.names)", ""))
    ran = reviewbot("lint", "play.py")
    assert "leaves `marks` and `seed` behind: they fall back to `[]` and `0`" in ran.out


def test_so_is_what_a_lambda_gives(reviewbot, tmp_path):
    text = CODE.replace("    marks: list[int] = field(default_factory=list)\n", "")
    (tmp_path / "play.py").write_text(text.replace(" + len(episode.marks)", ""))
    assert "they fall back to `{}` and `0`" in reviewbot("lint", "play.py").out
