"""GitHub's published description of its REST API, cut to what the fake answers, and checks against it."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Operation:
    """One verb at one address. `template` is the address as GitHub writes it."""

    verb: str
    template: str

    @property
    def described(self) -> dict[str, Any]:
        """What the description says of it."""
        found: dict[str, Any] = document()["paths"][self.template][self.verb]
        return found

    @property
    def request(self) -> dict[str, Any] | None:
        """The schema of its body."""
        content = _resolved(self.described.get("requestBody", {})).get("content", {})
        found: dict[str, Any] | None = content.get("application/json", {}).get("schema")
        return found

    def response(self, status: int) -> dict[str, Any] | None:
        """The schema of an answer; None where it has no body."""
        answers = self.described["responses"]
        if str(status) not in answers:
            return {"$ref": "#/components/schemas/basic-error"} if status >= 400 else None
        content = _resolved(answers[str(status)]).get("content", {})
        found: dict[str, Any] | None = content.get("application/json", {}).get("schema")
        return found

    def statuses(self) -> set[int]:
        """The answers that are described."""
        return {int(status) for status in self.described["responses"] if status.isdigit()}

    def queries(self) -> dict[str, dict[str, Any]]:
        """The parameters that may stand in the query, with their schemas."""
        whole = [
            *document()["paths"][self.template].get("parameters", []),
            *self.described.get("parameters", []),
        ]
        named = [_resolved(one) for one in whole]
        return {one["name"]: one["schema"] for one in named if one["in"] == "query"}


@cache
def document() -> dict[str, Any]:
    """The cut, in JSON Schema's own terms."""
    with gzip.open(HERE / "description.json.gz") as file:
        found: dict[str, Any] = _converted(json.load(file))
    return found


def operation(verb: str, path: str) -> tuple[Operation | None, dict[str, str]]:
    """The operation that a request asks for, and the parts of its address by their names."""
    for pattern, template in _patterns():
        match = pattern.fullmatch(path)
        if match and verb in document()["paths"][template]:
            return Operation(verb, template), {
                name: unquote(part) for name, part in match.groupdict().items()
            }
    return None, {}


def wrong_with(value: object, schema: dict[str, Any]) -> list[str]:
    """What breaks a schema, in words."""
    errors = _validator(json.dumps(schema, sort_keys=True)).iter_errors(value)
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message[:200]}" for error in errors]


def unknown_keys(value: object, schema: dict[str, Any]) -> list[str]:
    """Keys that the schema does not name. GitHub refuses them here and there; the fake always does."""
    schema = _resolved(schema)
    if isinstance(value, list):
        return [key for item in value for key in unknown_keys(item, schema.get("items", {}))]
    known: dict[str, Any] = dict(schema.get("properties", {}))
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        known |= _resolved(part).get("properties", {})
    if not isinstance(value, dict) or not known:
        return []
    below = [key for name, item in value.items() if name in known for key in unknown_keys(item, known[name])]
    return [*(name for name in value if name not in known), *below]


def filled(schema: dict[str, Any], values: Any, url: str) -> Any:
    """`values` with whatever else the schema requires, each in its plainest form."""
    schema = _resolved(schema)
    if "anyOf" in schema or "oneOf" in schema:
        options = [_resolved(one) for one in schema.get("anyOf") or schema["oneOf"]]
        if values is None and any(one.get("type") == "null" for one in options):
            return None
        schema = next((o for o in options if o.get("type") == _kind(values) or "properties" in o), options[0])
    for part in schema.get("allOf", ()):
        schema = {**schema, **_resolved(part)}
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(values, dict) and "properties" in schema:
        wanted = dict.fromkeys([*schema.get("required", ()), *values])
        return {
            name: filled(schema["properties"][name], values.get(name, ...), url)
            if name in schema["properties"]
            else values[name]
            for name in wanted
        }
    if isinstance(values, list) and "items" in schema:
        return [filled(schema["items"], one, url) for one in values]
    if values is not ...:
        return values
    kinds = [kind] if isinstance(kind, str) else kind or ["object"]
    if "null" in kinds:
        return None
    if schema.get("enum"):
        return schema["enum"][0]
    plain: dict[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": []}
    if kinds[0] in plain:
        return plain[kinds[0]]
    if kinds[0] == "string":
        return {"uri": url, "date-time": "2026-01-01T00:00:00Z"}.get(schema.get("format", ""), "")
    return filled({**schema, "properties": schema.get("properties", {})}, {}, url)


def _kind(value: object) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer"}
    return kinds.get(type(value), "object")


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        _, _, section, name = node["$ref"].split("/")
        node = document()["components"][section][name]
    return node


def _converted(node: Any) -> Any:
    """OpenAPI 3.0 says `nullable`, JSON Schema a type of its own."""
    if isinstance(node, list):
        return [_converted(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _converted(value) for key, value in node.items()}
    if made.get("nullable") is not True:
        return made
    del made["nullable"]
    if isinstance(made.get("type"), str) and not {"anyOf", "oneOf", "allOf"} & made.keys():
        made["type"] = [made["type"], "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        return made
    return {"anyOf": [made, {"type": "null"}]}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    def pattern(template: str) -> str:
        parts = re.split(r"\{(\w+)\}", template)
        long = ("path", "basehead")
        named = (f"(?P<{part}>{'.+' if part in long else '[^/]+'})" for part in parts[1::2])
        return "".join(
            piece for pair in zip(map(re.escape, parts[::2]), [*named, ""], strict=True) for piece in pair
        )

    templates = sorted(document()["paths"], key=lambda template: template.count("{"))
    return [(re.compile(pattern(template)), template) for template in templates]


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    whole = {**json.loads(schema), "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
