"""The fake as a server: tokens, faults, a log, and checks against the description."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fakegithub import description, graph, rest
from fakegithub.diffs import Git
from fakegithub.world import POSTER, Pull, Token, World

# GitHub answers null where a fork is deleted, and does not describe it.
_UNDESCRIBED = re.compile(r"head/(repo|user): null is not of type")


@dataclass(frozen=True)
class Call:
    """A request and the status of its answer, 0 where the connection was cut."""

    verb: str
    path: str
    query: str
    token: str
    body: Any
    status: int

    @property
    def writes(self) -> bool:
        """Whether it is one that changes something."""
        return self.verb != "GET" and not (
            self.path.endswith("/graphql") and "mutation" not in str(self.body)
        )


@dataclass
class Fault:
    """What goes wrong with the next `times` requests of `verb` to a path that `path` is found in.

    `after`: the request is carried out all the same. `status` 0 cuts the connection, None gives the right
    answer. `then` is called at the end, or before the request is carried out: to kill somebody for instance,
    or to do what somebody else does meanwhile.
    """

    verb: str
    path: str
    status: int | None = 502
    after: bool = False
    times: int = 1
    skip: int = 0
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    errors: list[Any] | None = None
    then: Callable[[], object] | None = None
    before: bool = False

    def hits(self, verb: str, path: str) -> bool:
        """Whether this request is one of them; counts it."""
        if self.times <= 0 or not re.fullmatch(self.verb, verb) or not re.search(self.path, path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class FakeGitHub:
    """A GitHub with one repository, at an address of this machine, while the `with` block lasts.

    `git` is the folder of the repository. `drift` names what broke GitHub's description: answers of the
    fake, and addresses that it does not know. `prefix` is `/api/v3` for one that is GitHub Enterprise.
    """

    def __init__(self, git: Path, slug: str = "acme/trainer", prefix: str = "") -> None:
        self.world = World(Git(git), slug)
        self.slug, self.prefix = slug, prefix
        self.tokens: dict[str, Token] = {"poster": POSTER}
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.drift: list[str] = []
        self.pages = ""
        self._lock = threading.Lock()
        self._routes = Starlette(
            routes=[
                Route("/graphql", self._graphql, methods=["POST"]),
                Route("/api/graphql", self._graphql, methods=["POST"]),
                Route("/{owner}/{name}.git/{path:path}", self._git, methods=["GET", "POST"]),
                Route("/{path:path}", self._rest, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
            ]
        )

    @property
    def api(self) -> str:
        """The address of the REST API."""
        return self.pages + self.prefix

    @property
    def writes(self) -> list[Call]:
        """The requests so far that change something, also those that failed."""
        return [call for call in self.calls if call.writes]

    def environ(self, token: str = "poster") -> dict[str, str]:
        """What a runner's environment says of this GitHub."""
        graphql = f"{self.pages}/api/graphql" if self.prefix else f"{self.pages}/graphql"
        return {
            "GITHUB_TOKEN": token,
            "GITHUB_API_URL": self.api,
            "GITHUB_GRAPHQL_URL": graphql,
            "GITHUB_SERVER_URL": self.pages,
            "GITHUB_REPOSITORY": self.slug,
        }

    # What people do

    def open_pull(self, base: str, head: str, number: int = 7, **more: Any) -> Pull:
        """A new pull request; commits are named by their full ids."""
        pull = self.world.pulls[number] = Pull(number, base, head, **more)
        self._follow(pull)
        return pull

    def push(self, head: str, number: int = 7) -> None:
        """Moves a pull request's head, by force where it has to be."""
        self.world.pulls[number].head = head
        self._follow(self.world.pulls[number])

    def _follow(self, pull: Pull) -> None:
        self.world.git.ask("update-ref", f"refs/pull/{pull.number}/head", pull.head)

    def say(self, body: str, by: str = "ada", number: int = 7) -> int:
        """A person's comment in the conversation; its id."""
        asked = self._asked(
            Token(by, {"pull_requests": "write"}), {"issue_number": str(number)}, {"body": body}
        )
        return int(rest.post_comment(asked)["id"])

    def reply(self, comment: int, body: str, by: str = "ada") -> int:
        """A person's reply under a comment on a line or a file; its id."""
        number = str(self.world.review_comments[comment]["pull"])
        first = self.world.review_comments[comment]
        given = {"body": body, "in_reply_to": comment, "commit_id": first["original_commit_id"], "path": ""}
        asked = self._asked(Token(by, {"pull_requests": "write"}), {"pull_number": number}, given)
        return int(rest.post_review_comment(asked)["id"])

    def payload(self, action: str, number: int = 7, sender: str = "mallory", **more: Any) -> dict[str, Any]:
        """The event of something that happened to a pull request, as a workflow reads it."""
        asked = self._asked(POSTER, {"pull_number": str(number)}, None)
        return {
            "action": action,
            "number": number,
            "pull_request": rest.pull_request(asked, asked.pull),
            "repository": rest.repository(asked, self.slug),
            "sender": rest.user(asked, sender),
            **more,
        }

    def _asked(self, token: Token, parts: dict[str, str], body: Any) -> rest.Asked:
        return rest.Asked(self.world, token, parts, {}, body, self.api, self.pages)

    # How it answers

    async def _rest(self, request: Request) -> Response:
        raw = await request.body()
        path = request.scope["raw_path"].decode().partition("?")[0]
        if not path.startswith(self.prefix):
            return self._failed(request, path, None, 404, "Not Found")
        path = path.removeprefix(self.prefix)
        body = json.loads(raw) if raw else None
        given = (request.headers.get("authorization") or "").split(" ")[-1]
        token = self.tokens.get(given)
        if token is None:
            return self._failed(request, path, body, 401, "Bad credentials")
        fault = next((fault for fault in self.faults if fault.hits(request.method, path)), None)
        if fault and fault.then and fault.before:
            await asyncio.to_thread(fault.then)
        if fault and fault.status is not None and not fault.after:
            return await self._fault(request, path, body, fault)
        answer = await asyncio.to_thread(self._one_at_a_time, request, path, body, token)
        if fault:
            return await self._fault(request, path, body, fault, answer)
        self._log(request, path, body, answer.status_code)
        return answer

    def _one_at_a_time(self, request: Request, path: str, body: Any, token: Token) -> Response:
        with self._lock:
            return self._answer(request, path, body, token)

    def _answer(self, request: Request, path: str, body: Any, token: Token) -> Response:
        verb = request.method.lower()
        found, parts = description.operation(verb, path)
        if found is None or (verb, found.template) not in rest.OPERATIONS:
            self.drift.append(f"{request.method} {path}: the fake does not know it")
            return self._error(404, "Not Found")
        if "repo" in parts and f"{parts['owner']}/{parts['repo']}".lower() != self.slug.lower():
            return self._error(404, "Not Found")
        wrong = self._wrong_request(found, request, body)
        if wrong:
            return self._error(422, "Invalid request.", wrong)
        query = dict(request.query_params)
        asked = rest.Asked(self.world, token, parts, query, body, self.api, self.pages)
        handler, status = rest.OPERATIONS[verb, found.template]
        try:
            made = handler(asked)
        except rest.Problem as problem:
            return self._checked(found, path, self._error(problem.status, problem.message, problem.errors))
        if status == 204:
            return Response(status_code=204)
        headers = {}
        if isinstance(made, list):
            made, headers = self._page(request, made)
        schema = found.response(status)
        whole = description.filled(schema, made, self.pages) if schema else made
        return self._checked(found, path, JSONResponse(whole, status, headers))

    def _wrong_request(self, found: description.Operation, request: Request, body: Any) -> list[str]:
        known = found.queries()
        for name in request.query_params:
            if name not in known:
                self.drift.append(f"{request.method} {request.url.path}: no parameter {name!r} is described")
        schema = found.request
        if schema is None:
            return []
        wrong = description.wrong_with(body, schema)
        unknown = description.unknown_keys(body, schema)
        return [*wrong, *(f'"{name}" is not a permitted key.' for name in unknown)]

    def _checked(self, found: description.Operation, path: str, answer: Response) -> Response:
        schema = found.response(answer.status_code)
        wrong = description.wrong_with(json.loads(bytes(answer.body)), schema) if schema else []
        if answer.status_code < 400 and answer.status_code not in found.statuses():
            wrong.append(f"{answer.status_code} is not described")
        wrong = [error for error in wrong if not _UNDESCRIBED.search(error)]
        self.drift += [f"{found.verb} {path} {answer.status_code}: {error}" for error in wrong]
        return answer

    def _page(self, request: Request, items: list[Any]) -> tuple[list[Any], dict[str, str]]:
        size = min(int(request.query_params.get("per_page", 30)), 100)
        page = int(request.query_params.get("page", 1))
        last = max(1, -(-len(items) // size))
        headers = {}
        if page < last:
            at = f"{self.pages}{request.url.path}?per_page={size}&page="
            headers["link"] = f'<{at}{page + 1}>; rel="next", <{at}{last}>; rel="last"'
        return items[(page - 1) * size : page * size], headers

    def _failed(self, request: Request, path: str, body: Any, status: int, message: str) -> Response:
        self._log(request, path, body, status)
        return self._error(status, message)

    def _error(self, status: int, message: str, errors: list[Any] | None = None) -> JSONResponse:
        told: dict[str, Any] = {
            "message": message,
            "documentation_url": f"{self.pages}/docs",
            "status": str(status),
        }
        if errors:
            told["errors"] = errors
        return JSONResponse(told, status)

    async def _fault(
        self, request: Request, path: str, body: Any, fault: Fault, answer: Response | None = None
    ) -> Response:
        status = answer.status_code if answer is not None and fault.status is None else fault.status or 0
        self._log(request, path, body, status)
        if fault.then and not fault.before:
            await asyncio.to_thread(fault.then)
        if answer is not None and fault.status is None:
            return answer
        if not status:
            return _Cut()
        made = self._error(status, fault.message, fault.errors)
        made.headers.update(fault.headers)
        return made

    def _log(self, request: Request, path: str, body: Any, status: int) -> None:
        token = (request.headers.get("authorization") or "").split(" ")[-1]
        self.calls.append(Call(request.method, path, request.url.query, token, body, status))

    async def _graphql(self, request: Request) -> Response:
        body = await request.json()
        path = "/graphql"
        token = self.tokens.get((request.headers.get("authorization") or "").split(" ")[-1])
        if token is None:
            return self._failed(request, path, body, 401, "Bad credentials")
        fault = next((fault for fault in self.faults if fault.hits(request.method, path)), None)
        if fault and fault.status is not None and not fault.after:
            return await self._fault(request, path, body, fault)
        made = await asyncio.to_thread(graph.answer, self.world, token, body)
        self.drift += [f"graphql: {e['message']}" for e in made.get("errors", ()) if e["type"] == "INTERNAL"]
        if fault:
            return await self._fault(request, path, body, fault, JSONResponse(made))
        self._log(request, path, body, 200)
        return JSONResponse(made)

    async def _git(self, request: Request) -> Response:
        """git's own server, for those who fetch."""
        folder = self.world.git.ask("rev-parse", "--absolute-git-dir").strip()
        environ = {
            **os.environ,
            "GIT_PROJECT_ROOT": folder,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": "/" + request.path_params["path"],
            "REQUEST_METHOD": request.method,
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            # What a pull request's own commits are reached by: any commit can be asked for, as on GitHub.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "uploadpack.allowAnySHA1InWant",
            "GIT_CONFIG_VALUE_0": "true",
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "git", "http-backend", stdin=pipe, stdout=pipe, env=environ
        )
        out, _ = await process.communicate(await request.body())
        head, _, content = out.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(headers.pop("Status", "200").split(" ")[0])
        self._log(request, request.url.path, None, status)
        return Response(content, status, headers)

    # While it runs

    def __enter__(self) -> FakeGitHub:
        # With the protocol named, the event loop does not hold small answers back for 40 ms.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        self.pages = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(self._routes, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.002)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)


class _Cut(Response):
    """Half an answer: the connection is closed before the rest."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        promised = [(b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": promised})
        await send({"type": "http.response.body", "body": b"{"})
