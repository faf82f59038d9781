"""The size of a change: its rounds, and what the findings of the last one would take away or add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from reviewbot.model import Review, Thread
from reviewbot.review.size.along import PROSE
from reviewbot.review.size.cuts import Made, cuts
from reviewbot.review.size.joint import after_all, check_table, joint
from reviewbot.review.size.result import RoundSize, Size
from reviewbot.review.size.source import NoCut
from reviewbot.source.git import Repository
from reviewbot.source.numstat import churn

MOST_TEXT = 1 << 20  # bytes of a file in which names are looked for
MOST_TEXTS = 512 << 20  # bytes of all such files
MOST_NAMED = 20  # findings that a note names

# What running shows of the cuts: they come back tested, withdrawn, or as they were.
Try = Callable[[Sequence[Made]], Sequence[Made]]
Watch = Callable[[Iterable[Thread], int], Iterable[Thread]]


def whole(
    folder: Path,
    repository: Repository,
    review: Review,
    rounds: Sequence[RoundSize],
    tried: Try | None = None,
    watch: Watch = lambda items, total: items,
) -> Size:
    """All of it; `folder` is where git is asked, `review` that of the last round. `watch` passes the findings
    on while their diffs are made; it is for showing progress."""
    last = review.rounds[-1]
    own = {one.path: one.added for one in churn(folder, last.merge_base, last.head)}
    read = lru_cache(maxsize=512)(partial(repository.read, last.head))
    texts = _Texts(repository, last.head)
    threads = watch(review.threads, len(review.threads))
    made: Sequence[Made] = cuts(threads, read, texts, own, questions=tried is not None)
    if tried is not None:
        made = tried(made)
    together = joint(made, read, texts)
    return Size(
        repository=review.repository,
        base=last.base,
        rounds=tuple(rounds),
        cuts=tuple(one.cut for one in made),
        checks=check_table(together, made),
        after=after_all(together, own),
        notes=(*_left_out(review.threads, made), *texts.notes),
    )


def _left_out(threads: Sequence[Thread], made: Sequence[Made]) -> Iterator[str]:
    """What a question asks may be right as it stands, so that nothing is counted for it."""
    counted = {one.cut.id for one in made}
    asked = [one for one in threads if one.finding.certainty == "question"]
    ids = [one.id for one in asked if one.id not in counted]
    if ids:
        named = ", ".join(ids[:MOST_NAMED]) + (f" and {len(ids) - MOST_NAMED} more" * (len(ids) > MOST_NAMED))
        asks = "is a question and counts" if len(ids) == 1 else "are questions and count"
        yield f"{named} {asks} for no lines until somebody answers."


class _Texts:
    """Every file of a commit that is text and no larger than `MOST_TEXT`, read at the first question.

    Raises NoCut where they are more than `MOST_TEXTS` bytes: then nobody can say that a name is used nowhere.
    `notes` says so, and how many files were too large to be read.
    """

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository, self._commit = repository, commit
        self._known: list[tuple[str, bytes]] | None = None
        self._too_many = False
        self._too_large = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked through, in sentences."""
        if self._too_many:
            return (
                f"The head holds more than {MOST_TEXTS >> 20} MiB of text. Names were not looked for in it, "
                "so that no diff takes anything along that only its lines used.",
            )
        if not self._too_large:
            return ()
        files = "1 file" if self._too_large == 1 else f"{self._too_large} files"
        return (
            f"{files} of more than {MOST_TEXT >> 20} MiB {'was' if self._too_large == 1 else 'were'} not "
            "looked through for names: what goes along with a diff could still be used there.",
        )

    def __call__(self) -> list[tuple[str, bytes]]:
        if self._known is None and not self._too_many:
            self._known = self._read()
        if self._known is None:
            raise NoCut("the repository is too large to look for names in")
        return self._known

    def _read(self) -> list[tuple[str, bytes]] | None:
        found = []
        known: dict[str, bytes] = {}
        left = MOST_TEXTS
        for entry in self._repository.files(self._commit):
            if entry.kind != "file":
                continue
            if self._repository.size(entry.id) > MOST_TEXT:
                self._too_large += not entry.path.lower().endswith(PROSE)
                continue
            # One content may stand under many names.
            content = known.setdefault(entry.id, known.get(entry.id) or self._repository.blob(entry.id))
            if b"\0" not in content[:8000]:
                found.append((entry.path, content))
                left -= len(content)
            if left < 0:
                self._too_many = True
                return None
        return found
