"""Cuts what the fake answers out of GitHub's own published descriptions.

    npm pack @octokit/openapi @octokit/graphql-schema      (and unpack both)
    python tests/fakegithub/cut.py OPENAPI_PACKAGE GRAPHQL_PACKAGE [--check]

Both packages are under the MIT licence. Of the REST description the operations below are kept with all that
they refer to, without words and examples; of the GraphQL schema the fields below with the types of their
arguments. `--check` writes nothing, and fails where the cut at hand is another.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphql import parse, print_ast
from graphql.language import ast as g

HERE = Path(__file__).parent
REST = HERE / "description.json.gz"
GRAPHQL = HERE / "schema.graphql"

R = "/repos/{owner}/{repo}"
OPERATIONS = {
    "/rate_limit": "get",
    R: "get",
    f"{R}/pulls": "get",
    f"{R}/pulls/{{pull_number}}": "get",
    f"{R}/pulls/{{pull_number}}/files": "get",
    f"{R}/pulls/{{pull_number}}/commits": "get",
    f"{R}/pulls/{{pull_number}}/reviews": "get post",
    f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}": "get put delete",
    f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}/events": "post",
    f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}/comments": "get",
    f"{R}/pulls/{{pull_number}}/comments": "get post",
    f"{R}/pulls/{{pull_number}}/comments/{{comment_id}}/replies": "post",
    f"{R}/pulls/comments/{{comment_id}}": "get patch delete",
    f"{R}/pulls/comments/{{comment_id}}/reactions": "get post",
    f"{R}/issues/{{issue_number}}": "get",
    f"{R}/issues/{{issue_number}}/comments": "get post",
    f"{R}/issues/comments": "get",
    f"{R}/issues/comments/{{comment_id}}": "get patch delete",
    f"{R}/issues/comments/{{comment_id}}/reactions": "get post",
    f"{R}/issues/{{issue_number}}/labels": "get post",
    f"{R}/issues/{{issue_number}}/labels/{{name}}": "delete",
    f"{R}/collaborators/{{username}}/permission": "get",
    f"{R}/check-runs": "post",
    f"{R}/check-runs/{{check_run_id}}": "get patch",
    f"{R}/check-runs/{{check_run_id}}/annotations": "get",
    f"{R}/commits/{{ref}}": "get",
    f"{R}/commits/{{ref}}/check-runs": "get",
    f"{R}/commits/{{commit_sha}}/pulls": "get",
    f"{R}/compare/{{basehead}}": "get",
    f"{R}/contents/{{path}}": "get",
    f"{R}/git/blobs/{{file_sha}}": "get",
    f"{R}/git/trees/{{tree_sha}}": "get",
    f"{R}/actions/runs/{{run_id}}": "get",
    f"{R}/actions/runs/{{run_id}}/artifacts": "get",
    f"{R}/actions/artifacts/{{artifact_id}}/{{archive_format}}": "get",
}
WORDS = {"description", "summary", "example", "examples", "externalDocs", "x-github", "tags", "title"}

FIELDS = {
    "Query": "viewer repository",
    "User": "login",
    "Repository": "pullRequest",
    "PullRequest": "reviewThreads comments",
    "PullRequestReviewThreadConnection": "nodes pageInfo totalCount",
    "PullRequestReviewThread": "id isResolved isOutdated path line resolvedBy comments",
    "PullRequestReviewCommentConnection": "nodes pageInfo totalCount",
    "PullRequestReviewComment": "id databaseId body isMinimized minimizedReason author",
    "IssueCommentConnection": "nodes pageInfo totalCount",
    "IssueComment": "id databaseId body isMinimized minimizedReason author",
    "PageInfo": "hasNextPage endCursor",
    "Actor": "login",
    "Bot": "login",
    "Minimizable": "isMinimized minimizedReason",
    "Mutation": "resolveReviewThread unresolveReviewThread minimizeComment",
    "ResolveReviewThreadPayload": "thread clientMutationId",
    "UnresolveReviewThreadPayload": "thread clientMutationId",
    "MinimizeCommentPayload": "minimizedComment clientMutationId",
}


def rest(package: Path) -> bytes:
    """The cut of the REST description, compressed, the same bytes each time."""
    whole = json.loads((package / "generated" / "api.github.com.json").read_bytes())
    paths = {
        path: {
            "parameters": whole["paths"][path].get("parameters", []),
            **{verb: _plain(whole["paths"][path][verb]) for verb in verbs.split()},
        }
        for path, verbs in OPERATIONS.items()
    }
    components: dict[str, dict[str, Any]] = {}
    todo: list[Any] = [paths]
    while todo:
        for reference in _references(todo.pop()):
            _, _, section, name = reference.split("/")
            if name not in components.setdefault(section, {}):
                components[section][name] = _plain(whole["components"][section][name])
                todo.append(components[section][name])
    version = json.loads((package / "package.json").read_bytes())["version"]
    cut = {"from": f"@octokit/openapi {version}", "paths": paths, "components": components}
    text = json.dumps(cut, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), 9, mtime=0)


def _plain(node: Any, names: bool = False) -> Any:
    """Without words for people. `names`: the keys are names of the API's own, whatever they are."""
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if names or key not in WORDS}
        return {key: _plain(value, key == "properties" and not names) for key, value in kept.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def graphql(package: Path) -> bytes:
    """The cut of the GraphQL schema."""
    document = parse((package / "schema.graphql").read_text(encoding="utf-8"), no_location=True)
    named = [node for node in document.definitions if hasattr(node, "name")]
    types = {node.name.value: node for node in named}
    assert len(types) == len(named)
    kept: dict[str, Any] = {}
    todo = list(FIELDS)
    while todo:
        name = todo.pop()
        if name in kept or name not in types:
            continue
        node = types[name]
        if isinstance(node, g.ObjectTypeDefinitionNode | g.InterfaceTypeDefinitionNode):
            wanted = FIELDS[name].split() if name in FIELDS else []
            fields = tuple(field for field in node.fields if field.name.value in wanted)
            missing = set(wanted) - {field.name.value for field in fields}
            assert not missing, f"{name} has no {missing}"
            interfaces = tuple(i for i in node.interfaces or () if i.name.value in FIELDS)
            node = replace(node, fields=fields, interfaces=interfaces)
            for field in fields:
                todo += [_named(field.type), *(_named(argument.type) for argument in field.arguments or ())]
        elif isinstance(node, g.InputObjectTypeDefinitionNode):
            todo += [_named(field.type) for field in node.fields]
        kept[name] = node
    lacking = [n for n, node in kept.items() if hasattr(node, "fields") and not node.fields]
    assert not lacking, f"name the fields of {lacking}"
    version = json.loads((package / "package.json").read_bytes())["version"]
    made = [print_ast(_wordless(kept[name])) for name in sorted(kept)]
    return (f"# From @octokit/graphql-schema {version}.\n\n" + "\n\n".join(made) + "\n").encode()


def _named(kind: Any) -> str:
    while not isinstance(kind, g.NamedTypeNode):
        kind = kind.type
    return str(kind.name.value)


def _wordless(node: Any) -> Any:
    below = {
        part: tuple(_wordless(one) for one in getattr(node, part))
        for part in ("fields", "values", "arguments")
        if getattr(node, part, None)
    }
    return replace(node, description=None, directives=(), **below)


def main() -> int:
    """Writes both cuts, or checks them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("openapi", type=Path, help="the unpacked package @octokit/openapi")
    parser.add_argument("schema", type=Path, help="the unpacked package @octokit/graphql-schema")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    code = 0
    for path, made in ((REST, rest(options.openapi)), (GRAPHQL, graphql(options.schema))):
        if not options.check:
            path.write_bytes(made)
        elif path.read_bytes() != made:
            print(f"{path.name} is not what this script makes", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
