"""The outcome of a parity comparison in a terminal. Text out of dumps comes out visible."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reviewbot.parity.result import DIGEST_OF, Context, Failure, Mismatch, Result, Run, SetAside
from reviewbot.parity.rows import Identity
from reviewbot.render.inert import one_line

SHOWN = 10  # failures, and rows set aside
ALIKE = 3  # rows of one step that are shown missing, or there twice
STYLES = {"pass": "bold green", "fail": "bold red", "set_aside": "bold yellow", "inconclusive": "bold yellow"}
NAMES = {"pass": "pass", "fail": "fail", "set_aside": "set aside", "inconclusive": "inconclusive"}


def show(result: Result, console: Console) -> None:
    """Prints a result; the first difference with its surroundings."""
    console.print(
        Text.assemble((NAMES[result.verdict], STYLES[result.verdict]), "  ", ", ".join(counts(result)))
    )
    if result.verdict != "fail":
        for why in result.why:
            console.print(Text(f"  {one_line(why)}"))
    for hint in result.hints:
        console.print(Text.assemble("  ", ("hint: ", "bold"), one_line(hint)))
    shown_failures = telling(result.failures, SHOWN)
    drawn = first_drawn(shown_failures)
    for index, failure in enumerate(shown_failures):
        _failure(failure, console, result.sides if index == drawn else None)
    if (left := result.failures_total - len(shown_failures)) > 0:
        console.print(Text(f"  and {_counted(left, 'more failure')}"))
    for index, row in enumerate(result.set_aside[:SHOWN]):
        _set_aside(row, console, result.sides if index == 0 and drawn is None else None)
    if len(result.set_aside) > SHOWN:
        console.print(Text(f"  and {len(result.set_aside) - SHOWN} more rows set aside"))
    for path, line in result.torn_lines:
        console.print(Text(f"  {one_line(path)}:{line}: torn by a killed writer, left out"))
    if result.planted:
        _planted(result, console)
    if result.mismatch:
        _mismatch(result.mismatch, console)
    if result.run:
        console.print(Text(figures(result.run)))
    if result.profile:
        console.print(Text(stages(result.profile)))
    console.print(Text("could not have noticed:"))
    for says in result.could_not_notice:
        console.print(Text(f"  - {one_line(says)}"))
    console.print(Text(f"environment {result.environment['digest'][:12]}: {DIGEST_OF}", style="dim"))


def counts(result: Result) -> Iterator[str]:
    """What was compared, in figures."""
    yield _counted(result.rows, "row")
    if result.restored_calls is not None:
        yield _counted(result.restored_calls, "restored call")
    if result.failures_total:
        yield _counted(result.failures_total, "failure")
    if result.set_aside:
        yield f"{len(result.set_aside)} set aside (of {result.set_aside_allowed} allowed)"
    found = result.logprobs
    if found and not found.tokens:
        yield "no log-prob compared"
    elif found:
        share = found.bit_identical / found.tokens
        share = math.floor(1000 * share) / 1000  # all of them, and no one less, are 100 %
        gap = f"largest gap {found.max_difference:.3g}"
        if not found.dtype_known:
            gap += f" of {found.noise:g} that the coarsest dtype allows, as rows do not say theirs (--dtype)"
        yield f"log-probs {share:.1%} bit-identical, {gap}"


def telling(failures: Sequence[Failure], most: int) -> list[Failure]:
    """The failures to show: of rows that one run alone has, or has twice, only the first few of a step."""
    found: list[Failure] = []
    rows: Counter[tuple[object, str]] = Counter()
    for failure in failures:
        if failure.field == "row" and failure.row is not None:
            kind = failure.row[0], failure.why.partition(" (")[0]
            rows[kind] += 1
            if rows[kind] > ALIKE:
                continue
        found.append(failure)
        if len(found) == most:
            break
    return found


def first_drawn(failures: Sequence[Failure]) -> int | None:
    """Which failure is shown with the tokens around it: the first that lies at a token."""
    return next((index for index, failure in enumerate(failures) if failure.context), None)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def row_name(row: Identity | None) -> str:
    """`step 1, prompt 2, sample 0`."""
    return "the run" if row is None else f"step {row[0]}, prompt {one_line(str(row[1]))}, sample {row[2]}"


def _failure(failure: Failure, console: Console, sides: tuple[str, str] | None) -> None:
    """One failure; with `sides`, what the runs are called, also the tokens around it."""
    line = Text("  ")
    line.append(row_name(failure.row), style="bold").append(f": {failure.field}", style="red")
    if failure.first_difference is not None:
        line.append(f"[{failure.first_difference}]", style="red")
    values = (failure.reference, failure.restored)
    if any(value is not None for value in values):
        line.append(" " + " → ".join("nothing" if v is None else one_line(str(v)) for v in values))
    console.print(line.append(f"  {one_line(failure.why)}"))
    if failure.context:
        _context(failure.context, failure.first_difference, console, sides)


def _set_aside(row: SetAside, console: Console, sides: tuple[str, str] | None) -> None:
    line = Text("  ").append(row_name(row.row), style="bold")
    line.append(f": set aside at {row.first_difference}: {row.reference} → {row.restored}", style="yellow")
    line.append(f"  gaps {row.gap_reference:.4g} and {row.gap_restored:.4g}, at most {row.tolerance:.4g}")
    if row.gap_prefill is not None:
        line.append(f"; {row.gap_prefill:.4g} in a clean pass")
    if row.also_differs:
        line.append(f"; also differs: {', '.join(row.also_differs)}")
    console.print(line)
    if row.context:
        _context(row.context, row.first_difference, console, sides)


def part(context: Context) -> str:
    """Where in its row a difference lies."""
    if not context.restored_prefix:
        return context.part
    start, end = context.restored_prefix
    where = "in" if context.in_restored_prefix else "outside"
    return f"{context.part}; {where} the restored prefix (tokens {start} to {end - 1})"


def _context(context: Context, at: int | None, console: Console, sides: tuple[str, str] | None) -> None:
    console.print(Text(f"    {part(context)}"))
    if sides is None:
        return
    table = Table.grid(padding=(0, 1))
    labels = zip(("index", "trained", "reference", "restored"), ("index", "trained", *sides), strict=True)
    rows = {name: Text(says, style="dim") for name, says in labels}
    cells: dict[str, list[Text]] = {name: [Text("    "), label] for name, label in rows.items()}
    for token in context.tokens:
        style = "bold red" if token.index == at else "" if token.reference == token.restored else "red"
        trained = "·" if token.trained is None else "1" if token.trained else "0"
        cells["index"].append(Text(str(token.index), style=style or "dim"))
        cells["trained"].append(Text(trained, style="dim"))
        cells["reference"].append(Text(shown(token.reference, token.reference_text), style=style))
        cells["restored"].append(Text(shown(token.restored, token.restored_text), style=style))
    for row in cells.values():
        table.add_row(*row)
    console.print(table)


def _planted(result: Result, console: Console) -> None:
    caught = sum(fault.caught for fault in result.planted)
    console.print(Text(f"planted faults: {caught} of {len(result.planted)} caught"))
    table = Table.grid(padding=(0, 2))
    for fault in result.planted:
        outcome = "caught" if fault.caught else "not caught" if fault.planted else "no occasion"
        by = f"by {', '.join(fault.caught_by)}" if fault.caught_by else fault.says
        style = "green" if fault.caught else "red" if fault.planted else "yellow"
        table.add_row("", fault.fault, Text(outcome, style=style), Text(one_line(by)))
    console.print(table)


def _mismatch(found: Mismatch, console: Console) -> None:
    console.print(Text(mismatch(found)))
    worst = found.worst[0]
    console.print(Text(f"  most in {row_name(worst.row)}: {worst.max_difference:.3g}"))


def mismatch(found: Mismatch) -> str:
    """How far the trainer is from the engine, on one line."""
    line = f"trainer against engine ({found.dtype}, {found.tokens} tokens): "
    line += f"largest gap {found.max_difference:.3g}, mean {found.mean_difference:.3g}"
    line += f", {found.ratios_outside:.1%} of ratios outside 0.9 to 1.1"
    return f"{line}, KL {found.kl:.3g}"


def figures(run: Run) -> str:
    """A run's seconds and tokens, as far as its workload has them."""
    said = [f"{run.seconds:.0f} s"]
    if run.tokens_per_second is not None:
        said[0] += f", {run.tokens_per_second:,.0f} tokens a second"
    if run.cut_calls is not None:
        said.append(f"{run.cut_calls} calls cut")
    if run.saved_share is not None:
        said.append(f"the restore saved {run.saved_share:.0%} of decoding")
    return "; ".join(said)


def stages(profile: Mapping[str, float]) -> str:
    """Seconds by stage."""
    return "seconds: " + ", ".join(f"{stage} {seconds:g}" for stage, seconds in profile.items())


def shown(value: int | None, text: str | None) -> str:
    """A token's text where it is known, else its id."""
    if value is None:
        return "-"
    return str(value) if text is None else one_line(repr(text)[1:-1]) or "''"
