"""A probe's result as the JSON that scripts rely on. `reviewbot probe replay` reads it back."""

from __future__ import annotations

import json
import math
import shlex
from typing import Any

from reviewbot.probe.evidence import Dead, Kill, Place, Result, Strip, Witness
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.plain import Array, Instance, Plain
from reviewbot.probe.verdict import never_fails

SCHEMA = 1


def encode(result: Result, saved: str = "evidence.json") -> str:
    """The document, ending in a newline. `saved` is the file that a replay would be given."""
    return json.dumps(document(result, saved), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(result: Result, saved: str = "evidence.json") -> dict[str, Any]:
    """The result as JSON data."""
    return {
        "target": result.target,
        "sha256": result.sha256,
        "layers": list(result.layers),
        "edits_tried": result.edits_tried,
        "witnesses": [of_witness(one, saved) for one in result.witnesses],
        "dead": [_dead(one) for one in result.dead],
        "kills": [_kill(one) for one in result.kills],
        "not_run": list(result.not_run),
        "schema": SCHEMA,
        "passed": result.passed,
        "inputs": result.inputs,
        "module": result.module,
        "labels": {name: list(part) for name, part in result.labels.items()},
        "files": {name: list(part) for name, part in result.files.items()},
        "loaded": result.loaded,
        "verdict_by": result.verdict_by,
        "never_compared": list(result.never_compared),
        "never_fails": never_fails(result),
        "unread_values": list(result.unread_values),
        "excuses_taken": [{**_place(one), "times": times} for one, times in result.excuses_taken],
        "sufficient": [_place(one) for one in result.sufficient],
        "all_checks": result.all_checks,
        "joint": result.joint,
        "joint_survive": list(result.joint_survive),
        "checks": [
            {
                **_place(one.place),
                "text": one.place.text,
                "reached": one.reached,
                "fires": one.fires,
                "alone": one.alone,
            }
            for one in result.checks
        ],
        "reduced": _reduced(result),
        "dropped": [
            {
                "class": one.cls,
                "parameter": one.parameter,
                "fields": list(one.fields),
                "given": readable(dict(one.given)),
                "returned": readable(dict(one.returned)),
            }
            for one in result.dropped
        ],
        "unmissed": [{**_place(one), "text": one.text} for one in result.unmissed],
        "twins": list(result.twins),
        "noticed_in_code": result.noticed_in_code,
        "let_through": [{"edit": one.edit, "side": one.side} for one in result.let_through],
        "set_aside": [{"edit": one.edit, "side": one.side, "why": one.why} for one in result.set_aside],
        "judges": list(result.judges),
        "complete": result.complete,
        "questions": list(result.questions),
        "derivations": list(result.derivations),
        "seconds": round(result.seconds, 3),
    }


def _place(place: Place) -> dict[str, Any]:
    return {"path": place.path, "line": place.line}


def replay(saved: str) -> str:
    """The command that runs the witnesses of a file again."""
    return shlex.join(("reviewbot", "probe", "replay", saved))


def of_witness(witness: Witness, saved: str = "evidence.json") -> dict[str, Any]:
    """One witness as JSON data."""
    return {
        "changes": [
            {
                "where": change.where,
                "before": readable(change.before),
                "after": readable(change.after),
                "says": change.says,
                "edit": edits.encode(change.edit),
            }
            for change in witness.changes
        ],
        "passed": True,
        "why": witness.why,
        "escapes": [{**_place(one), "text": one.text} for one in witness.escapes],
        "values": {name: readable(dict(seen)) for name, seen in witness.values.items()},
        "caught_elsewhere": witness.caught_elsewhere,
        "passed_elsewhere": witness.passed_elsewhere,
        "numbers_caught": witness.numbers_caught,
        "like": list(witness.like),
        "what_if": witness.what_if,
        "input": plain.encode(dict(witness.input)),
        "replay": replay(saved),
        "role": witness.role,
        "shrink_calls": witness.calls,
        "strip": _strip(witness.strip),
    }


def _strip(strip: Strip | None) -> dict[str, Any] | None:
    if strip is None:
        return None
    return {
        "field": strip.field,
        "baseline": readable(list(strip.baseline)),
        "other": readable(list(strip.other)),
        "sides": list(strip.sides),
        "mask": list(strip.mask),
        "roles": list(strip.roles),
        "at": strip.at,
        "let_through": list(strip.let_through) if strip.let_through else None,
        "restored": list(strip.restored) if strip.restored else None,
    }


def _dead(dead: Dead) -> dict[str, Any]:
    return {**_place(dead.place), "tier": dead.tier, "says": dead.says, "key": list(dead.key)}


def _kill(kill: Kill) -> dict[str, Any]:
    crash = {"crash": kill.crash} if kill.crash else {}
    caught_by = [_place(one) for one in kill.caught_by]
    return {"edit": kill.edit, "side": kill.side, "caught_by": caught_by, **crash}


def _reduced(result: Result) -> dict[str, Any] | None:
    if result.reduced is None:
        return None
    reduced = result.reduced
    return {
        "what": reduced.what,
        "caught_before": reduced.caught_before,
        "survive": list(reduced.survive),
        "unchanged_passes": reduced.unchanged_passes,
        "now_noticed": list(reduced.now_noticed),
    }


def readable(value: Plain) -> Any:
    """Plain data as the JSON that a person would write for it: numbers stay numbers, NaN becomes "nan"."""
    if type(value) is float and not math.isfinite(value):
        return repr(value)
    if type(value) in (list, tuple):
        return [readable(item) for item in value]
    if type(value) in (set, frozenset):
        return sorted((readable(item) for item in value), key=repr)
    if type(value) is dict:
        return {str(key): readable(item) for key, item in value.items()}
    if type(value) is Array:
        return readable(value.data)
    if type(value) is Instance:
        return readable(value.fields)
    if type(value) is bytes:
        return value.hex()
    return value
