"""GraphQL on a cut of GitHub's own schema."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema, graphql_sync

from fakegithub.world import Token, World

HERE = Path(__file__).parent


class Forbidden(Exception):
    """The token may not."""


class NotFound(Exception):
    """There is no such thing."""


@cache
def schema() -> GraphQLSchema:
    """GitHub's own, cut; its deprecated parts do not pass the library's checks."""
    return build_schema((HERE / "schema.graphql").read_text(), assume_valid=True)


def answer(world: World, token: Token, asked: dict[str, Any]) -> dict[str, Any]:
    """What GitHub's GraphQL endpoint answers."""
    root = _Root(world, token)
    names, query = asked.get("variables"), asked["query"]
    got = graphql_sync(
        schema(), query, root, variable_values=names, operation_name=asked.get("operationName")
    )
    made: dict[str, Any] = {"data": got.data}
    kinds = {Forbidden: "FORBIDDEN", NotFound: "NOT_FOUND"}
    if got.errors:
        made["errors"] = [
            {**error.formatted, "type": kinds.get(type(error.original_error), "INTERNAL")}
            for error in got.errors
        ]
    return made


class _Root:
    def __init__(self, world: World, token: Token) -> None:
        self.world, self.token = world, token

    def viewer(self, info: Any) -> dict[str, str]:
        return {"login": self.token.login}

    def repository(self, info: Any, owner: str, name: str, **_: Any) -> dict[str, Any] | None:
        if f"{owner}/{name}".lower() != self.world.slug.lower():
            raise NotFound(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return {"pullRequest": self._pull}

    def _pull(self, info: Any, number: int) -> dict[str, Any]:
        if number not in self.world.pulls:
            raise NotFound(f"Could not resolve to a PullRequest with the number of {number}.")
        threads = [self._thread(one) for one in self.world.threads.values() if one["pull"] == number]
        comments = [self._comment(one) for one in self.world.comments.values() if one["pull"] == number]
        return {"reviewThreads": _pages(threads), "comments": _pages(comments)}

    def _thread(self, thread: dict[str, Any]) -> dict[str, Any]:
        world = self.world
        first = world.review_comments[thread["comments"][0]]
        head = world.pulls[thread["pull"]].head
        line = first["line"] and world.git.line_now(
            first["path"], first["line"], first["original_commit_id"], head
        )
        kept = [self._comment(world.review_comments[number]) for number in thread["comments"]]
        return {
            "id": thread["id"],
            "isResolved": thread["resolved_by"] is not None,
            "isOutdated": bool(first["line"]) and line is None,
            "path": first["path"],
            "line": line,
            "resolvedBy": {"login": by.removesuffix("[bot]")} if (by := thread["resolved_by"]) else None,
            "comments": _pages(kept),
        }

    def _comment(self, kept: dict[str, Any]) -> dict[str, Any]:
        # A bot's name has no suffix here.
        login = kept["by"].removesuffix("[bot]")
        kind = "Bot" if kept["by"].endswith("[bot]") else "User"
        reason = self.world.minimized.get(kept["node_id"])
        return {
            "id": kept["node_id"],
            "databaseId": kept["id"],
            "body": kept["body"],
            "isMinimized": reason is not None,
            "minimizedReason": reason,
            "author": {"__typename": kind, "login": login},
        }

    def _resolved(self, thread: str, by: str | None) -> dict[str, Any]:
        if not self.token.may("write", "contents"):
            raise Forbidden("Resource not accessible by integration")
        if thread not in self.world.threads:
            raise NotFound(f"Could not resolve to a node with the global id of '{thread}'.")
        self.world.threads[thread]["resolved_by"] = by
        return {"thread": self._thread(self.world.threads[thread])}

    def resolveReviewThread(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:
        return self._resolved(input["threadId"], self.token.login)

    def unresolveReviewThread(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:
        return self._resolved(input["threadId"], None)

    def minimizeComment(self, info: Any, input: dict[str, Any]) -> dict[str, Any]:
        if not self.token.may("write", "pull_requests"):
            raise Forbidden("Resource not accessible by integration")
        world = self.world
        kept = [*world.comments.values(), *world.review_comments.values()]
        one = next((one for one in kept if one["node_id"] == input["subjectId"]), None)
        if one is None:
            raise NotFound("Could not resolve to a node with that global id.")
        world.minimized[one["node_id"]] = input["classifier"].lower()
        kind = "IssueComment" if one["node_id"].startswith("IC") else "PullRequestReviewComment"
        return {"minimizedComment": {"__typename": kind, **self._comment(one)}}


def _pages(nodes: list[Any]) -> Any:
    def page(info: Any, first: int = 100, after: str | None = None, **_: Any) -> dict[str, Any]:
        start = int(after) if after else 0
        end = min(len(nodes), start + min(first, 100))
        return {
            "nodes": nodes[start:end],
            "totalCount": len(nodes),
            "pageInfo": {"hasNextPage": end < len(nodes), "endCursor": str(end)},
        }

    return page
