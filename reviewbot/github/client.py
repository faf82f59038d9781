"""One repository on GitHub, as a token sees it: each method is one request, or the pages of one list.

Reads are tried again by themselves. Writes never are: whoever asks for one looks first whether it has been
stored (`github.patience`). What comes back is data written by others, whatever it holds.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import github
import httpx
import requests
from github.GithubRetry import GithubRetry
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)

from reviewbot.errors import Absent, Busy, Denied, GitHubError, Refused, Unreachable, Unsure, UsageError
from reviewbot.github import unreachable
from reviewbot.github.patience import PACE, Pace, gone, once
from reviewbot.github.waiting import say, waiting

API = "https://api.github.com"
PAGE = 100  # items of a list for each request, the most that GitHub gives
TIMEOUT = 30  # seconds

_T = TypeVar("_T")
Reaction = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]
Status = Literal["queued", "in_progress", "completed"]
Conclusion = Literal["success", "failure", "neutral", "cancelled", "timed_out", "action_required", "skipped"]


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `base` and `head` are full commit ids; `head_repository` is `OWNER/REPO`, None where
    it is deleted."""

    number: int
    open: bool
    merged: bool
    draft: bool
    author: str
    title: str
    base: str
    base_ref: str
    head: str
    head_ref: str
    head_repository: str | None
    changed_files: int


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a pull request's diff; `patch` is None where GitHub shows none."""

    path: str
    previous_path: str | None
    status: str
    patch: str | None


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in the conversation of pull request or issue `number`. `by_bot`: its author is an account of
    kind Bot. Times are as GitHub writes them, such as `2026-11-29T20:00:00Z`."""

    id: int
    number: int
    node_id: str
    author: str
    by_bot: bool
    body: str
    url: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A comment on lines or on a file. `reply_to` is the id of the comment that its thread starts with."""

    id: int
    node_id: str
    author: str
    by_bot: bool
    body: str
    url: str
    path: str
    line: int | None
    reply_to: int | None
    review: int | None
    commit: str


@dataclass(frozen=True, slots=True)
class SentReview:
    """A review. `state` is GitHub's: `PENDING` for a draft, which only its author sees."""

    id: int
    author: str
    body: str
    state: str
    commit: str


@dataclass(frozen=True, slots=True)
class ReviewThread:
    """A conversation on lines or on a file. `comment` is the id of its first comment, `resolved_by` a login,
    without the suffix of a bot's, "" where it is open."""

    id: str
    resolved: bool
    comment: int | None
    resolved_by: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check run. `annotations` counts those that it has. `app` is the slug of the app that made it.
    `started_at` is as GitHub writes times, `details_url` the address of the run behind it."""

    id: int
    name: str
    head: str
    external_id: str
    status: str
    conclusion: str | None
    text: str
    annotations: int
    app: str
    started_at: str = ""
    details_url: str = ""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check run shows. Of `annotations`, dictionaries as the API takes them, at most 50 a request."""

    title: str
    summary: str
    text: str = ""
    annotations: Sequence[Mapping[str, object]] = ()

    def fields(self) -> dict[str, object]:
        """The fields of the request."""
        given: dict[str, object] = {"title": self.title, "summary": self.summary}
        if self.text:
            given["text"] = self.text
        if self.annotations:
            given["annotations"] = [dict(one) for one in self.annotations]
        return given


class GitHub:
    """The repository `slug` (`OWNER/REPO`) on the GitHub at `api`.

    Raises `Denied`, `Absent`, `Refused`, `Busy`, `Unsure`, or `GitHubError` for any other answer.
    Proxies are taken from the environment (HTTPS_PROXY, NO_PROXY).
    """

    def __init__(self, slug: str, token: str, api: str = API, graphql: str = "", pace: Pace = PACE) -> None:
        self.slug, self.api, self.pace = slug, api.rstrip("/"), pace
        self._graphql = graphql or _graphql_beside(self.api)
        self._token = token
        self._github = github.Github(
            auth=github.Auth.Token(token),
            base_url=self.api,
            timeout=TIMEOUT,
            per_page=PAGE,
            lazy=True,
            user_agent="reviewbot",
            seconds_between_requests=pace.between_requests,
            seconds_between_writes=pace.between_writes,
            # A write that was answered by an error may have been stored: only reads are tried again.
            retry=GithubRetry(
                total=pace.tries,
                # A connection that does not come about, or brings no answer, is tried again below.
                connect=0,
                read=0,
                allowed_methods={"GET"},
                backoff_factor=pace.backoff,
                secondary_rate_wait=pace.secondary_wait,
            ),
        )

    @classmethod
    def of_environment(cls, slug: str, environ: Mapping[str, str] = os.environ, pace: Pace = PACE) -> GitHub:
        """The repository with the token in GITHUB_TOKEN, at GITHUB_API_URL if that is set (as it is on a
        runner, also for GitHub Enterprise). Raises `UsageError` without a token."""
        token = environ.get("GITHUB_TOKEN", "")
        if not token:
            raise UsageError("no token: set GITHUB_TOKEN to one that may write to pull requests")
        api = environ.get("GITHUB_API_URL") or API
        return cls(slug, token, api, environ.get("GITHUB_GRAPHQL_URL", ""), pace)

    # What is there

    @cached_property
    def viewer(self) -> str:
        """The login that the token writes as, such as `github-actions[bot]`."""
        return str(self._query("query { viewer { login } }")["viewer"]["login"])

    def pull(self, number: int) -> Pull:
        """One pull request as it is now."""
        return _pull(self._get(f"/pulls/{number}"))

    def files(self, number: int) -> list[ChangedFile]:
        """The files of a pull request's diff; GitHub names at most 3,000."""
        return [
            ChangedFile(
                str(one["filename"]), one.get("previous_filename"), str(one.get("status")), one.get("patch")
            )
            for one in self._list(f"/pulls/{number}/files")
        ]

    def commits(self, number: int) -> list[str]:
        """The ids of a pull request's commits, the oldest first; GitHub names at most 250."""
        return [str(one["sha"]) for one in self._list(f"/pulls/{number}/commits")]

    def comments(self, number: int) -> list[Comment]:
        """The comments of a pull request's or an issue's conversation, the oldest first."""
        return [_comment(one) for one in self._list(f"/issues/{number}/comments")]

    def comments_since(self, when: str) -> Iterator[Comment]:
        """The comments of all conversations that were written since a time, the latest first."""
        # GitHub's `since` is about when a comment was last edited.
        for one in self._list("/issues/comments", sort="created", direction="desc", since=when):
            made = _comment(one)
            if made.created_at < when:
                return
            yield made

    def comment(self, comment: int) -> Comment:
        """One comment of a conversation."""
        return _comment(self._get(f"/issues/comments/{comment}"))

    def reviews(self, number: int) -> list[SentReview]:
        """The reviews of a pull request that the token may see, the oldest first."""
        return [_review(one) for one in self._list(f"/pulls/{number}/reviews")]

    def review_comments(self, number: int) -> list[ReviewComment]:
        """The comments on lines and files, replies among them, the oldest first."""
        return [_review_comment(one) for one in self._list(f"/pulls/{number}/comments")]

    def labels(self, number: int) -> list[str]:
        """The names of a pull request's labels."""
        return [str(one["name"]) for one in self._list(f"/issues/{number}/labels")]

    def role(self, login: str) -> str:
        """What a person may do here: `admin`, `maintain`, `write`, `triage`, `read`, or `none`.

        An organisation's own roles come under their own names; then `permission`, the plain level that
        GitHub gives beside it, is what counts: `admin`, `write`, `read` or `none`.
        """
        try:
            got = self._get(f"/collaborators/{_segment(login)}/permission")
        except Absent:
            return "none"
        role, level = str(got.get("role_name") or ""), str(got.get("permission") or "none")
        return role if role in ("admin", "maintain", "write", "triage", "read", "none") else level

    def pulls_of(self, commit: str) -> list[Pull]:
        """The pull requests that a commit belongs to, also those from forks."""
        return [_pull(one) for one in self._list(f"/commits/{_segment(commit)}/pulls")]

    def pulls_from(self, owner: str, branch: str) -> list[Pull]:
        """The open pull requests from a branch of `owner`'s, here or in a fork."""
        return [_pull(one) for one in self._list("/pulls", state="open", head=f"{owner}:{branch}")]

    def checks(self, commit: str, name: str) -> list[Check]:
        """The check runs of one name on a commit that the token's own app made, the latest first."""
        query = f"check_name={_segment(name)}&filter=all&per_page={PAGE}"
        found = self._get(f"/commits/{_segment(commit)}/check-runs?{query}").get("check_runs", [])
        # An app's login is its slug with a suffix. Other apps may write what they like under any name.
        mine = [one for one in map(_check, found) if f"{one.app}[bot]" == self.viewer]
        return sorted(mine, key=lambda one: -one.id)

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's content at a commit; None where there is no file of that name."""
        where = "/".join(_segment(part) for part in path.split("/"))
        try:
            got = self._get(f"/contents/{where}?ref={_segment(commit)}")
            if not isinstance(got, dict) or got.get("type") != "file":
                return None
            if got.get("encoding") != "base64":  # larger than a megabyte: the blob has it
                got = self._get(f"/git/blobs/{_segment(str(got['sha']))}")
        except Absent:
            return None
        return base64.b64decode(str(got["content"]))

    def threads(self, number: int) -> list[ReviewThread]:
        """The conversations on lines and files, with their state."""
        owner, _, name = self.slug.partition("/")
        found: list[ReviewThread] = []
        cursor: str | None = None
        while True:
            got = self._query(_THREADS, owner=owner, name=name, number=number, after=cursor)
            page = got["repository"]["pullRequest"]["reviewThreads"]
            for node in page["nodes"]:
                first = node["comments"]["nodes"]
                comment = first[0]["databaseId"] if first else None
                by = str((node["resolvedBy"] or {}).get("login") or "")
                found.append(ReviewThread(node["id"], bool(node["isResolved"]), comment, by))
            if not page["pageInfo"]["hasNextPage"]:
                return found
            cursor = page["pageInfo"]["endCursor"]

    # What is written

    def add_comment(self, number: int, body: str) -> Comment:
        """A new comment in a conversation."""
        return _comment(self._send("POST", f"/issues/{number}/comments", {"body": body}))

    def edit_comment(self, comment: int, body: str) -> Comment:
        """A comment's text anew."""
        return _comment(self._send("PATCH", f"/issues/comments/{comment}", {"body": body}))

    def delete_comment(self, comment: int) -> None:
        """Takes a comment of a conversation away. It is an error to do this to what others wrote."""
        self._send("DELETE", f"/issues/comments/{comment}")

    def add_review(
        self,
        number: int,
        commit: str,
        body: str,
        comments: Sequence[Mapping[str, object]],
        *,
        pending: bool = False,
    ) -> SentReview:
        """A review with comments on lines, each a dictionary as the API takes it: all of them, or none.

        `pending` leaves it as a draft, which its author sends.
        """
        given: dict[str, object] = {
            "commit_id": commit,
            "body": body,
            "comments": [dict(c) for c in comments],
        }
        if not pending:
            given["event"] = "COMMENT"
        return _review(self._send("POST", f"/pulls/{number}/reviews", given))

    def add_file_comment(self, number: int, commit: str, path: str, body: str) -> ReviewComment:
        """A new comment on a file of the diff as a whole."""
        given = {"commit_id": commit, "path": path, "body": body, "subject_type": "file"}
        return _review_comment(self._send("POST", f"/pulls/{number}/comments", given))

    def reply(self, number: int, first: ReviewComment, body: str) -> ReviewComment:
        """A reply in the thread that starts with the comment `first`."""
        # Apps may not use the address that is made for replies; this one asks for more than it looks at.
        given = {"body": body, "in_reply_to": first.id, "commit_id": first.commit, "path": first.path}
        return _review_comment(self._send("POST", f"/pulls/{number}/comments", given))

    def edit_review_comment(self, comment: int, body: str) -> ReviewComment:
        """The text anew of a comment on lines or on a file."""
        return _review_comment(self._send("PATCH", f"/pulls/comments/{comment}", {"body": body}))

    def react(self, comment: int, content: Reaction, *, on_review_comment: bool = False) -> None:
        """A reaction to a comment; the same one twice is one."""
        kind = "pulls" if on_review_comment else "issues"
        self._send("POST", f"/{kind}/comments/{comment}/reactions", {"content": content})

    def add_labels(self, number: int, names: Sequence[str]) -> None:
        """Puts labels on a pull request."""
        self._send("POST", f"/issues/{number}/labels", {"labels": list(names)})

    def remove_label(self, number: int, name: str) -> None:
        """Takes a label off a pull request; one that is not there is no error."""
        try:
            self._send("DELETE", f"/issues/{number}/labels/{_segment(name)}")
        except Absent:
            return

    def add_check(
        self,
        name: str,
        head: str,
        *,
        external_id: str,
        status: Status,
        conclusion: Conclusion | None = None,
        output: CheckOutput | None = None,
        details_url: str = "",
    ) -> Check:
        """A new check run on a commit."""
        given = _check_fields(status, conclusion, output, details_url)
        given |= {"name": name, "head_sha": head, "external_id": external_id}
        return _check(self._send("POST", "/check-runs", given))

    def edit_check(
        self,
        check: int,
        *,
        status: Status | None = None,
        conclusion: Conclusion | None = None,
        output: CheckOutput | None = None,
        details_url: str = "",
    ) -> Check:
        """Changes a check run; annotations are added to those that it has."""
        return _check(
            self._send(
                "PATCH", f"/check-runs/{check}", _check_fields(status, conclusion, output, details_url)
            )
        )

    def resolve(self, thread: str) -> None:
        """Marks a conversation as resolved. The token needs to be able to write contents."""
        self.graphql(_RESOLVE, thread=thread)

    def unresolve(self, thread: str) -> None:
        """Opens a resolved conversation again."""
        self.graphql(_UNRESOLVE, thread=thread)

    def minimize(self, node_id: str, classifier: Literal["OUTDATED", "RESOLVED", "DUPLICATE"]) -> None:
        """Folds a comment away; it can still be unfolded."""
        self.graphql(_MINIMIZE, subject=node_id, classifier=classifier)

    # How it is asked

    def graphql(self, query: str, **variables: object) -> dict[str, Any]:
        """The data of a GraphQL request."""
        headers = {"Authorization": f"Bearer {self._token}", "User-Agent": "reviewbot"}
        body = {"query": query, "variables": variables}
        try:
            with waiting(unreachable.host(self._graphql)):
                answer = httpx.post(self._graphql, json=body, headers=headers, timeout=TIMEOUT)
            got = answer.json()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise _unreachable(self._graphql, error) from None
        except (httpx.HTTPError, ValueError) as error:
            raise Unsure(f"{self._graphql}: no answer ({_one_line(str(error))})") from None
        if answer.status_code != 200:
            raise _error(answer.status_code, got, answer.headers)
        errors = got.get("errors") or []
        if errors:
            says = _one_line(str(errors[0].get("message", "")))
            kind = errors[0].get("type")
            if kind == "FORBIDDEN":
                raise Denied(f"GitHub: {says}", 403)
            if kind == "NOT_FOUND":
                raise Absent(f"GitHub: {says}", 404)
            if kind in ("RATE_LIMITED", "RATE_LIMIT"):
                raise Busy(f"GitHub: {says}", 403, None)
            raise GitHubError(f"GitHub: {says}", 200)
        data: dict[str, Any] = got["data"]
        return data

    def _get(self, path: str) -> Any:
        return self._read(path, {})[1]

    def _list(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        page = 1
        while True:
            headers, got = self._read(path, {**query, "per_page": PAGE, "page": page})
            yield from got
            if 'rel="next"' not in headers.get("link", ""):
                return
            page += 1

    def _read(self, path: str, query: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        def read() -> tuple[dict[str, Any], Any]:
            with _translated(self.api):
                return self._github.requester.requestJsonAndCheck("GET", self._at(path), parameters=query)

        # An answer that breaks off halfway is not tried again below.
        return self._again(read)

    def _query(self, query: str, **variables: object) -> dict[str, Any]:
        """A GraphQL request that changes nothing."""
        return once(partial(self.graphql, query, **variables), lambda: None, self.pace)

    def _again(self, read: Callable[[], _T]) -> _T:
        wait = wait_exponential(multiplier=self.pace.backoff)
        enough = stop_after_attempt(self.pace.tries)
        return Retrying(
            retry=retry_if_exception_type(Unsure),
            wait=wait,
            stop=lambda state: enough(state) or gone(state),
            before_sleep=_told,
            reraise=True,
        )(read)

    def _send(self, verb: str, path: str, body: dict[str, Any] | None = None) -> Any:
        with _translated(self.api):
            return self._github.requester.requestJsonAndCheck(verb, self._at(path), input=body)[1]

    def _at(self, path: str) -> str:
        return f"/repos/{self.slug}{path}"


def _graphql_beside(api: str) -> str:
    """On github.com both stand side by side; on GitHub Enterprise REST is at /api/v3."""
    return f"{api.removesuffix('/v3')}/graphql" if api.endswith("/api/v3") else f"{api}/graphql"


def _segment(text: str) -> str:
    """A part of an address: nothing in it can lead elsewhere."""
    return quote(text, safe="")


def _told(state: RetryCallState) -> None:
    """Says that a request is made again, where it waits for that."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Unreachable) and state.attempt_number == 1:
        say(f"{str(error).removesuffix(f': {unreachable.CHECK}')}; trying again for some seconds")


def _unreachable(address: str, error: Exception) -> Unreachable:
    where = unreachable.host(address)
    return Unreachable(f"GitHub cannot be reached at {where} ({unreachable.why(error)}): {unreachable.CHECK}")


@contextmanager
def _translated(api: str) -> Iterator[None]:
    """Errors of the library as ours, and word of what is waited for."""
    try:
        with waiting(unreachable.host(api)):
            yield
    except github.GithubException as error:
        raise _error(error.status, error.data, error.headers or {}) from None
    except (requests.exceptions.ConnectTimeout, requests.exceptions.ProxyError) as error:
        raise _unreachable(api, error) from None
    except requests.ConnectionError as error:
        if unreachable.cut_off(error):
            raise Unsure(f"GitHub did not answer ({_one_line(str(error))})") from None
        raise _unreachable(api, error) from None
    except requests.RequestException as error:
        raise Unsure(f"GitHub did not answer ({_one_line(str(error))})") from None


def _error(status: int, data: Any, headers: Mapping[str, str]) -> GitHubError:
    """What an answer means for whoever asked."""
    details = data if isinstance(data, dict) else {}
    told = [details.get("message") or "", *(_detail(one) for one in details.get("errors") or ())]
    says = f"GitHub answered {status}: {_one_line('; '.join(filter(None, map(str, told))))}"
    if status in (403, 429) and _busy(status, says, headers):
        return Busy(says, status, _wait(headers))
    if status == 422 and any(
        isinstance(e, dict) and e.get("code") == "abuse" for e in details.get("errors") or ()
    ):
        return Busy(says, status, _wait(headers))
    kinds: dict[int, Callable[[str, int], GitHubError]] = {
        401: Denied,
        403: Denied,
        404: Absent,
        410: Absent,
        422: Refused,
    }
    if status >= 500:
        return Unsure(says, status)
    return kinds.get(status, GitHubError)(says, status)


def _busy(status: int, says: str, headers: Mapping[str, str]) -> bool:
    low = {name.lower(): value for name, value in headers.items()}
    limited = (
        "rate limit" in says.lower() or "abuse" in says.lower() or low.get("x-ratelimit-remaining") == "0"
    )
    return status == 429 or limited or "retry-after" in low


def _wait(headers: Mapping[str, str]) -> float | None:
    low = {name.lower(): value for name, value in headers.items()}
    after = low.get("retry-after", "")
    return float(after) if after.isdigit() else None


def _detail(error: object) -> str:
    return str(error.get("message") or error.get("code") or "") if isinstance(error, dict) else str(error)


def _one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 300 else words[:300] + "…"


def _login(data: Mapping[str, Any]) -> str:
    # An account that is gone leaves null.
    return str((data.get("user") or {}).get("login") or "ghost")


def _by_bot(data: Mapping[str, Any]) -> bool:
    return (data.get("user") or {}).get("type") == "Bot"


def _pull(data: Mapping[str, Any]) -> Pull:
    base, head = data["base"], data["head"]
    return Pull(
        number=int(data["number"]),
        open=data.get("state") == "open",
        merged=bool(data.get("merged_at")),
        draft=bool(data.get("draft")),
        author=_login(data),
        title=str(data.get("title") or ""),
        base=str(base["sha"]),
        base_ref=str(base["ref"]),
        head=str(head["sha"]),
        head_ref=str(head["ref"]),
        head_repository=(head.get("repo") or {}).get("full_name"),
        changed_files=int(data.get("changed_files") or 0),
    )


def _comment(data: Mapping[str, Any]) -> Comment:
    number = str(data.get("issue_url") or "").rpartition("/")[2]
    return Comment(
        id=int(data["id"]),
        number=int(number) if number.isdigit() else 0,
        node_id=str(data.get("node_id") or ""),
        author=_login(data),
        by_bot=_by_bot(data),
        body=str(data.get("body") or ""),
        url=str(data.get("html_url") or ""),
        created_at=str(data.get("created_at") or ""),
        updated_at=str(data.get("updated_at") or ""),
    )


def _review_comment(data: Mapping[str, Any]) -> ReviewComment:
    return ReviewComment(
        id=int(data["id"]),
        node_id=str(data.get("node_id") or ""),
        author=_login(data),
        by_bot=_by_bot(data),
        body=str(data.get("body") or ""),
        url=str(data.get("html_url") or ""),
        path=str(data.get("path") or ""),
        line=data.get("line"),
        reply_to=data.get("in_reply_to_id"),
        review=data.get("pull_request_review_id"),
        commit=str(data.get("commit_id") or ""),
    )


def _review(data: Mapping[str, Any]) -> SentReview:
    return SentReview(
        id=int(data["id"]),
        author=_login(data),
        body=str(data.get("body") or ""),
        state=str(data.get("state") or ""),
        commit=str(data.get("commit_id") or ""),
    )


def _check(data: Mapping[str, Any]) -> Check:
    output = data.get("output") or {}
    return Check(
        id=int(data["id"]),
        name=str(data.get("name") or ""),
        head=str(data.get("head_sha") or ""),
        external_id=str(data.get("external_id") or ""),
        status=str(data.get("status") or ""),
        conclusion=data.get("conclusion"),
        text=str(output.get("text") or ""),
        annotations=int(output.get("annotations_count") or 0),
        app=str((data.get("app") or {}).get("slug") or ""),
        started_at=str(data.get("started_at") or ""),
        details_url=str(data.get("details_url") or ""),
    )


def _check_fields(
    status: Status | None, conclusion: Conclusion | None, output: CheckOutput | None, details_url: str
) -> dict[str, Any]:
    given: dict[str, Any] = {
        "status": status,
        "conclusion": conclusion,
        "details_url": details_url or None,
        "output": output.fields() if output else None,
    }
    return {name: value for name, value in given.items() if value is not None}


_THREADS = """
query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        nodes { id isResolved resolvedBy { login } comments(first: 1) { nodes { databaseId } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""
_RESOLVE = """
mutation ($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id isResolved } } }
"""
_UNRESOLVE = """
mutation ($thread: ID!) { unresolveReviewThread(input: {threadId: $thread}) { thread { id isResolved } } }
"""
_MINIMIZE = """
mutation ($subject: ID!, $classifier: ReportedContentClassifiers!) {
  minimizeComment(input: {subjectId: $subject, classifier: $classifier}) {
    minimizedComment { isMinimized }
  }
}
"""
