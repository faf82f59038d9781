"""One side of a comparison: its files in order, read row by row."""

from __future__ import annotations

import glob
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from reviewbot.errors import NeedsExtra, UnreadableFile, UsageError
from reviewbot.parity.dumps import mapped
from reviewbot.parity.dumps.format import Format, Where, step_of
from reviewbot.parity.dumps.lines import cut_off, lines
from reviewbot.parity.dumps.nemo_rl import NemoRL
from reviewbot.parity.dumps.plain import Plain
from reviewbot.parity.rows import Row

FORMATS = ("plain", "nemo-rl", "verl", "trl", "mapping")
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
PICKLES = (".pt", ".pth", ".pkl", ".pickle")
# What lies beside rows in a run's folder and holds none.
NOT_ROWS = frozenset({"restores.jsonl", "journal.jsonl", "requests.jsonl", "keys.jsonl", "progress.jsonl"})


@dataclass(frozen=True, slots=True)
class Line:
    """One record as it stands in its file."""

    data: bytes
    where: Where


@dataclass
class Dump:
    """The rows of one run. Reading it fills `torn`, `unused`, `assumed`, `beside` and `read`, in bytes.

    `assumed` counts, for step, prompt and sample, the rows that do not say theirs, `beside` the lines between
    the rows that are none.
    """

    name: str
    files: tuple[Path, ...]
    format: Format
    torn: list[tuple[str, int]] = field(default_factory=list)
    unused: set[str] = field(default_factory=set)
    assumed: Counter[str] = field(default_factory=Counter)
    added: tuple[Path, ...] = ()
    beside: int = 0
    read: int = 0
    _samples: Counter[tuple[int, int | str]] = field(default_factory=Counter)

    def lines(self) -> Iterator[Line]:
        """Records in the order of the files. A last line torn by a killed writer is noted and left out, one
        that has no field of a row but a step is counted and left out; in a file of such lines alone the first
        is given, for whoever reads it to say what it lacks."""
        for path in self.files:
            step, index = step_of(path), 0
            aside: Line | None = None
            for number, data, complete in _records(path):
                where = Where(path, number, index, step)
                if not complete and self._torn(data):
                    self.torn.append((str(path), number))
                    continue
                if complete and not self._is_row(data):
                    self.beside += 1
                    aside = aside or Line(data, where)
                    continue
                if index == 0:
                    self._note(data)
                self.read += len(data)
                index += 1
                yield Line(data, where)
            if index == 0 and aside is not None:
                yield aside

    def add(self, files: Sequence[Path]) -> None:
        """Takes further files in, each at its step: those of the killed run, whose rows count too."""
        self.added = (*self.added, *files)
        self.files = tuple(
            sorted({*self.files, *files}, key=lambda path: (step_of(path) or 0, _by_number(path)))
        )

    def row(self, line: Line) -> Row:
        """A record as a row; its step, prompt and sample may be open."""
        return self._read(self.format.row, line)

    def key(self, line: Line) -> Row:
        """A record's step, prompt and sample as far as it says them, without decoding the rest of it."""
        return self._read(self.format.key, line)

    def numbered(self, row: Row, where: Where) -> Row:
        """The row with its step, prompt and sample. Ask once a record.

        An open step is the file's, or 0, an open prompt the row's place in its file, an open sample the next
        of its prompt.
        """
        step, prompt, sample = row.step, row.prompt, row.sample
        if step is not None and prompt is not None and sample is not None:
            return row
        self.assumed.update(unsaid(row, where))
        step = step if step is not None else where.step or 0
        prompt = prompt if prompt is not None else where.index
        if sample is None:
            sample = self._samples[step, prompt]
            self._samples[step, prompt] += 1
        return msgspec.structs.replace(row, step=step, prompt=prompt, sample=sample)

    def _read(self, read, line: Line) -> Row:  # type: ignore[no-untyped-def]
        try:
            row: Row = read(line.data)
        except ValueError as error:
            why = f"not a row of format {self.format.name}: {str(error)[:200]}"
            if line.where.index == 0 and line.where.path != self.files[0]:
                why += "; if this file holds no rows, name those that do, as in 'DIR/train_*.jsonl'"
            raise UnreadableFile(str(line.where.path), why, line.where.line) from None
        return row

    def _torn(self, data: bytes) -> bool:
        """Whether a last line without its newline is the beginning of a row. Damage is for the reader."""
        try:
            self.format.row(data)
        except ValueError:
            return cut_off(data)
        return False

    def _is_row(self, data: bytes) -> bool:
        """Whether a line has a field of a row, and is not what a log says of a step between its rows."""
        marks = self.format.marks
        # Damage, and what is no object, is for whoever reads the row.
        return not marks or data[:1] != b"{" or any(mark in data for mark in marks) or not _is_object(data)

    def _note(self, data: bytes) -> None:
        try:
            record = mapped.load(data)
        except ValueError:
            return  # whoever reads the row says so, with its line
        self.unused |= self.format.unused(record)


def _is_object(data: bytes) -> bool:
    try:
        return bool(mapped.load(data))
    except ValueError:
        return False


def unsaid(row: Row, where: Where) -> tuple[str, ...]:
    """What of step, prompt and sample neither a row, as its reader gives it, nor its file's name says."""
    if row.step is not None and row.prompt is not None and row.sample is not None:
        return ()
    said = {"step": where.step if row.step is None else row.step, "prompt": row.prompt, "sample": row.sample}
    return tuple(name for name, value in said.items() if value is None)


def opened(name: str, given: str, chosen: str | None, columns: dict[str, str]) -> Dump:
    """A dump from a folder, a glob or a file, its format as named, mapped, or seen in its first record.

    Raises `UsageError` where there is nothing to read or the format cannot be told, `UnreadableFile` for
    what is not an ordinary file.
    """
    files = found(given)
    if chosen == "mapping" and not columns:
        raise UsageError(
            "the format `mapping` needs a mapping: [tool.reviewbot.parity.mapping] or --map FIELD=COLUMN"
        )
    if columns and chosen in (None, "mapping"):
        return Dump(name, files, mapped.Mapped("mapping", columns, own=True))
    return Dump(name, files, _format(chosen) if chosen else _detected(files))


def check_columns(columns: Collection[str], dumps: Sequence[Dump]) -> None:
    """Raises `UsageError` for a column that was asked for and that no row of any dump has.

    It reads on only until every column was seen. Without any row nothing is said: there is none to lack it.
    """
    missing, read = list(columns), ""
    for path in (path for dump in dumps for path in dump.files):
        for _, data, complete in _records(path):
            try:
                values = mapped.load(data)
            except ValueError:
                if complete or not cut_off(data):
                    return  # whoever reads the row says so, with its line
                continue
            read = read or str(path)
            missing = [column for column in missing if not mapped.holds(values, column)]
            if not missing:
                return
    if read:
        raise UsageError(
            f"{read}: no row has a column {missing[0]!r}, nor has any of the other files; "
            "FIELD=COLUMN names a column of the rows"
        )


def rows_in(folder: Path, like: Sequence[Path]) -> tuple[Path, ...]:
    """The rows of a killed run, which may have left none: files named for a step, or as one of `like`.

    Raises `UsageError` for no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    names = {file.name for file in like}
    return tuple(file for file in _rows_below(folder) if step_of(file) is not None or file.name in names)


def found(given: str) -> tuple[Path, ...]:
    """The files that hold rows, in the order of their steps."""
    path = Path(given)
    if path.is_dir():
        files = _rows_below(path)
        if not files:
            why = f"no rows in this folder (files that end in {', '.join(SUFFIXES)})"
            if pickle := next((file for file in sorted(path.rglob("*")) if file.suffix in PICKLES), None):
                why += f"; {pickle.name} is a pickle, which is not read, for reading one may run code"
            raise UsageError(f"{given}: {why}")
    elif path.exists() or path.is_symlink():
        files = [path]
    else:
        files = [Path(name) for name in glob.glob(given, recursive=True) if not Path(name).is_dir()]
        if not files:
            raise UsageError(f"{given}: no such file or folder")
    for file in files:
        _ordinary(file)
    return tuple(sorted(files, key=_by_number))


def _rows_below(folder: Path) -> list[Path]:
    every = [
        file
        for file in folder.rglob("*")
        if file.name.endswith(SUFFIXES) and file.name not in NOT_ROWS and not file.name.startswith(".")
    ]
    return [file for file in every if file.name.startswith("train_data_step")] or every


def _ordinary(path: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise UnreadableFile(str(path), "a symbolic link is not followed; name the file it leads to")
    if not stat.S_ISREG(mode):
        raise UnreadableFile(str(path), "not an ordinary file")


def _by_number(path: Path) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d{1,18})", str(path))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]


def _records(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    if path.suffix != ".parquet":
        yield from lines(path)
        return
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise NeedsExtra(f"{path}: reading Parquet", "pyarrow", "parity") from None
    try:
        number = 0
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=64):
                for values in batch.to_pylist():
                    number += 1
                    yield number, mapped.PARQUET + msgspec.msgpack.encode(values), True
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableFile(str(path), f"cannot be read as Parquet: {str(error)[:200]}") from None


def _format(name: str) -> Format:
    makers: dict[str, Callable[[], Format]] = {
        "plain": Plain,
        "nemo-rl": NemoRL,
        "verl": mapped.verl,
        "trl": mapped.trl,
    }
    return makers[name]()


def _detected(files: Sequence[Path]) -> Format:
    for path in files:
        for number, data, complete in _records(path):
            try:
                keys = set(mapped.load(data))
            except mapped.NoObject as error:
                raise UnreadableFile(str(path), str(error), number) from None
            except ValueError as error:
                if not complete and cut_off(data):
                    break
                raise UnreadableFile(str(path), f"not JSON: {str(error)[:200]}", number) from None
            if keys & {"token_loss_mask", "generation_logprobs", "sample_loss_mask"}:
                return NemoRL()
            if {"input", "output", "score"} <= keys:
                return mapped.verl()
            if {"prompt", "completion"} <= keys:
                return mapped.trl()
            if keys & {"token_ids", "text"}:
                return mapped.Mapped("plain", {}, own=True) if path.suffix == ".parquet" else Plain()
            raise UnreadableFile(
                str(path),
                f"no known format has the fields {', '.join(sorted(map(str, keys))[:12])}; name one of "
                f"{', '.join(FORMATS)} with --format, or say which column is which with --map FIELD=COLUMN, "
                f"FIELD being one of {', '.join(sorted(mapped.FIELDS))}",
                number,
            )
    return Plain()  # every file is empty: there is nothing to read in any format
