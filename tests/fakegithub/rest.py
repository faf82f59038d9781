"""The operations of the REST API: what each one checks, stores and answers."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fakegithub.diffs import MOST_FILES, FileDiff
from fakegithub.world import Pull, Token, World

LONGEST = 65_536  # characters of a body
REVIEW_KEYS = {"path", "position", "body", "line", "side", "start_line", "start_side"}
MARKER = "Pull request review thread"


class Problem(Exception):
    """An answer other than the asked for one."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors


@dataclass(frozen=True)
class Asked:
    """One request, and the world it is about. `api` and `pages` are the addresses of both."""

    world: World
    token: Token
    parts: dict[str, str]
    query: dict[str, str]
    body: Any
    api: str
    pages: str

    @property
    def repository(self) -> str:
        return f"{self.api}/repos/{self.world.slug}"

    @property
    def pull(self) -> Pull:
        number = self.parts.get("pull_number") or self.parts["issue_number"]
        found = self.world.pulls.get(int(number)) if number.isdigit() else None
        if found is None:
            raise Problem(404, "Not Found")
        return found

    def need(self, level: str, *kinds: str) -> None:
        """Refuses a token that may not."""
        if not self.token.may(level, *kinds):
            raise Problem(403, "Resource not accessible by integration")

    def stored(self, where: dict[int, dict[str, Any]], name: str = "comment_id") -> dict[str, Any]:
        number = self.parts[name]
        found = where.get(int(number)) if number.isdigit() else None
        if found is None:
            raise Problem(404, "Not Found")
        return found

    def text(self) -> str:
        body = self.body["body"]
        if len(body) > LONGEST:
            raise Problem(422, "Validation Failed", [_long("IssueComment")])
        if not body.strip():
            raise Problem(422, "Validation Failed", [{"resource": "IssueComment", "code": "missing_field"}])
        return str(body)


def _long(resource: str) -> dict[str, str]:
    says = f"Body is too long (maximum is {LONGEST} characters)"
    return {"resource": resource, "code": "unprocessable", "field": "data", "message": says}


Handler = Callable[[Asked], Any]
OPERATIONS: dict[tuple[str, str], tuple[Handler, int]] = {}
R = "/repos/{owner}/{repo}"


def operation(verb: str, template: str, status: int = 200) -> Callable[[Handler], Handler]:
    def keep(handler: Handler) -> Handler:
        OPERATIONS[verb, template] = (handler, status)
        return handler

    return keep


# What an answer says of each kind of thing


def user(asked: Asked, login: str) -> dict[str, Any]:
    number = int(hashlib.sha256(login.encode()).hexdigest()[:6], 16)
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"login": login, "id": number, "type": kind, "node_id": f"U_{number}", "site_admin": False}


def repository(asked: Asked, slug: str) -> dict[str, Any]:
    owner, _, name = slug.partition("/")
    return {
        "id": 1,
        "name": name,
        "full_name": slug,
        "owner": user(asked, owner),
        "url": f"{asked.api}/repos/{slug}",
        "html_url": f"{asked.pages}/{slug}",
        "private": False,
        "default_branch": "main",
        "fork": slug != asked.world.slug,
    }


def pull_request(asked: Asked, pull: Pull, whole: bool = True) -> dict[str, Any]:
    at = f"{asked.repository}/pulls/{pull.number}"
    head_slug = pull.fork if pull.fork is not None else asked.world.slug
    made = {
        "id": pull.number,
        "node_id": f"PR_{pull.number}",
        "number": pull.number,
        "url": at,
        "html_url": f"{asked.pages}/{asked.world.slug}/pull/{pull.number}",
        "issue_url": f"{asked.repository}/issues/{pull.number}",
        "state": pull.state,
        "draft": pull.draft,
        "title": pull.title,
        "user": user(asked, pull.author),
        "merged_at": "2026-03-01T00:00:00Z" if pull.merged else None,
        "labels": [label(asked, name) for name in pull.labels],
        "base": {
            "label": f"acme:{pull.base_ref}",
            "ref": pull.base_ref,
            "sha": pull.base,
            "repo": repository(asked, asked.world.slug),
            "user": user(asked, asked.world.slug.partition("/")[0]),
        },
        "head": {
            "label": f"{head_slug.partition('/')[0] or 'unknown'}:{pull.head_ref}",
            "ref": pull.head_ref,
            "sha": pull.head,
            "repo": repository(asked, head_slug) if head_slug else None,
            "user": user(asked, head_slug.partition("/")[0]) if head_slug else None,
        },
        "author_association": "NONE",
    }
    if whole:
        files = asked.world.git.files(pull.base, pull.head)
        made |= {"changed_files": len(files), "merged": pull.merged, "mergeable": True, "comments": 0}
        made |= {"commits": len(asked.world.git.commits(pull.base, pull.head)), "mergeable_state": "clean"}
    return made


def file(asked: Asked, pull: Pull, diff: FileDiff) -> dict[str, Any]:
    lines = (diff.patch or "").split("\n")
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    made = {
        "sha": diff.blob if set(diff.blob) != {"0"} else None,
        "filename": diff.path,
        "status": diff.status,
        "additions": added,
        "deletions": removed,
        "changes": added + removed,
        "contents_url": f"{asked.repository}/contents/x?ref={pull.head}",
    }
    if diff.patch is not None:
        made["patch"] = diff.patch
    if diff.previous is not None:
        made["previous_filename"] = diff.previous
    return made


def review(asked: Asked, kept: dict[str, Any]) -> dict[str, Any]:
    made = {key: kept[key] for key in ("id", "node_id", "body", "state", "commit_id")}
    made |= {"user": user(asked, kept["by"]), "author_association": "NONE"}
    made["html_url"] = f"{asked.pages}/{asked.world.slug}/pull/{kept['pull']}#pullrequestreview-{kept['id']}"
    if kept["state"] != "PENDING":
        made["submitted_at"] = kept["at"]
    return made


def review_comment(asked: Asked, kept: dict[str, Any]) -> dict[str, Any]:
    pull = asked.world.pulls[kept["pull"]]
    names = ("id", "node_id", "path", "body", "side", "subject_type", "original_commit_id", "start_side")
    made = {key: kept[key] for key in names}
    line = kept["line"] and asked.world.git.line_now(
        kept["path"], kept["line"], kept["original_commit_id"], pull.head
    )
    start = kept["start_line"] and line and line - (kept["line"] - kept["start_line"])
    made |= {
        "url": f"{asked.repository}/pulls/comments/{kept['id']}",
        "html_url": f"{asked.pages}/{asked.world.slug}/pull/{pull.number}#discussion_r{kept['id']}",
        "user": user(asked, kept["by"]),
        "pull_request_review_id": kept["review"],
        "commit_id": pull.head,
        "line": line,
        "start_line": start,
        "original_line": kept["line"] or 1,
        "original_start_line": kept["start_line"],
        "created_at": kept["at"],
        "updated_at": kept["edited"],
        "diff_hunk": "@@",
        "author_association": "NONE",
    }
    if kept["reply_to"]:
        made["in_reply_to_id"] = kept["reply_to"]
    # GitHub gives null for the line of an outdated comment, and describes only that it can be left out.
    return {name: value for name, value in made.items() if value is not None}


def comment(asked: Asked, kept: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": kept["id"],
        "node_id": kept["node_id"],
        "body": kept["body"],
        "user": user(asked, kept["by"]),
        "url": f"{asked.repository}/issues/comments/{kept['id']}",
        "html_url": f"{asked.pages}/{asked.world.slug}/pull/{kept['pull']}#issuecomment-{kept['id']}",
        "issue_url": f"{asked.repository}/issues/{kept['pull']}",
        "created_at": kept["at"],
        "updated_at": kept["edited"],
        "author_association": "NONE",
    }


def label(asked: Asked, name: str) -> dict[str, Any]:
    return {"id": 1, "name": name, "url": f"{asked.repository}/labels/x", "color": "ededed", "default": False}


def check(asked: Asked, kept: dict[str, Any]) -> dict[str, Any]:
    output = kept["output"]
    return {
        **{key: kept[key] for key in ("id", "name", "head_sha", "status", "conclusion", "external_id")},
        "node_id": f"CR_{kept['id']}",
        "url": f"{asked.repository}/check-runs/{kept['id']}",
        "html_url": f"{asked.pages}/{asked.world.slug}/runs/{kept['id']}",
        "details_url": kept.get("details_url") or asked.pages,
        "started_at": kept["at"],
        "completed_at": kept["edited"] if kept["status"] == "completed" else None,
        "output": {
            "title": output.get("title"),
            "summary": output.get("summary"),
            "text": output.get("text"),
            "annotations_count": len(kept["annotations"]),
            "annotations_url": f"{asked.repository}/check-runs/{kept['id']}/annotations",
        },
        "app": {"slug": kept["by"], "name": kept["by"]},
        "pull_requests": [],
        "check_suite": None,
    }


# Reading


@operation("get", R)
def get_repository(asked: Asked) -> Any:
    return repository(asked, asked.world.slug)


@operation("get", f"{R}/pulls")
def get_pulls(asked: Asked) -> Any:
    wanted = asked.query.get("state", "open")
    pulls = asked.world.pulls.values()
    found = [pull_request(asked, pull, False) for pull in pulls if wanted in ("all", pull.state)]
    return [one for one in found if asked.query.get("head") in (None, one["head"]["label"])]


@operation("get", f"{R}/pulls/{{pull_number}}")
def get_pull(asked: Asked) -> Any:
    return pull_request(asked, asked.pull)


@operation("get", f"{R}/pulls/{{pull_number}}/files")
def get_files(asked: Asked) -> Any:
    pull = asked.pull
    return [file(asked, pull, diff) for diff in asked.world.git.files(pull.base, pull.head)[:MOST_FILES]]


@operation("get", f"{R}/pulls/{{pull_number}}/commits")
def get_pull_commits(asked: Asked) -> Any:
    pull = asked.pull
    return [_commit(asked, sha) for sha in asked.world.git.commits(pull.base, pull.head)[:250]]


def _commit(asked: Asked, sha: str) -> dict[str, Any]:
    tree = asked.world.git.ask("rev-parse", f"{sha}^{{tree}}").strip()
    return {
        "sha": sha,
        "url": f"{asked.repository}/commits/{sha}",
        "commit": {"message": "", "tree": {"sha": tree, "url": asked.repository}, "url": asked.repository},
        "parents": [],
        "author": None,
        "committer": None,
    }


@operation("get", f"{R}/commits/{{ref}}")
def get_commit(asked: Asked) -> Any:
    return _commit(asked, _sha(asked, asked.parts["ref"]))


@operation("get", f"{R}/commits/{{commit_sha}}/pulls")
def get_commit_pulls(asked: Asked) -> Any:
    sha, git = asked.parts["commit_sha"], asked.world.git
    pulls = asked.world.pulls.values()
    return [pull_request(asked, pull, False) for pull in pulls if sha in git.commits(pull.base, pull.head)]


@operation("get", f"{R}/commits/{{ref}}/check-runs")
def get_checks(asked: Asked) -> Any:
    name, ref = asked.query.get("check_name"), _sha(asked, asked.parts["ref"])
    found = [kept for kept in asked.world.checks.values() if kept["head_sha"] == ref]
    found = [kept for kept in reversed(found) if name in (None, kept["name"])]
    if asked.query.get("filter", "latest") == "latest":
        found = list({kept["name"]: kept for kept in reversed(found)}.values())
    return {"total_count": len(found), "check_runs": [check(asked, kept) for kept in found]}


def _sha(asked: Asked, ref: str) -> str:
    found = asked.world.git.ask("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", fails=False)
    if not found:
        raise Problem(422, f"No commit found for SHA: {ref}")
    return found.strip()


@operation("get", f"{R}/compare/{{basehead}}")
def get_compare(asked: Asked) -> Any:
    base, _, head = asked.parts["basehead"].partition("...")
    git = asked.world.git
    if not (git.has(base) and git.has(head)):
        raise Problem(404, "Not Found")
    pull = Pull(0, _sha(asked, base), _sha(asked, head))
    commits = git.commits(pull.base, pull.head)
    behind = len(git.commits(pull.head, pull.base))
    both = "diverged" if commits else "behind"
    return {
        "status": both if behind else ("ahead" if commits else "identical"),
        "ahead_by": len(commits),
        "behind_by": behind,
        "total_commits": len(commits),
        "base_commit": _commit(asked, pull.base),
        "merge_base_commit": _commit(asked, git.merge_base(pull.base, pull.head)),
        "commits": [_commit(asked, sha) for sha in commits[:250]],
        "files": [file(asked, pull, diff) for diff in git.files(pull.base, pull.head)[:300]],
    }


@operation("get", f"{R}/contents/{{path}}")
def get_contents(asked: Asked) -> Any:
    asked.need("read", "contents")
    git, path, ref = asked.world.git, asked.parts["path"], asked.query.get("ref", "HEAD")
    entry = git.ask("ls-tree", ref, "--", path, fails=False)
    if not entry:
        raise Problem(404, "Not Found")
    mode, kind, sha = entry.split("\t")[0].split(" ")
    if kind != "blob" or mode == "120000":
        raise Problem(404, "Not Found")
    raw = git.raw("cat-file", "blob", sha)
    big = len(raw) > 1_000_000
    return {
        "type": "file",
        "encoding": "none" if big else "base64",
        "size": len(raw),
        "name": path.split("/")[-1],
        "path": path,
        "content": "" if big else base64.encodebytes(raw).decode(),
        "sha": sha,
        "url": f"{asked.repository}/contents/x",
        "_links": {"git": None, "html": None, "self": asked.repository},
    }


@operation("get", f"{R}/git/blobs/{{file_sha}}")
def get_blob(asked: Asked) -> Any:
    asked.need("read", "contents")
    sha = asked.parts["file_sha"]
    if asked.world.git.ask("cat-file", "-t", sha, fails=False).strip() != "blob":
        raise Problem(404, "Not Found")
    raw = asked.world.git.raw("cat-file", "blob", sha)
    content = base64.encodebytes(raw).decode()
    return {"sha": sha, "size": len(raw), "encoding": "base64", "content": content, "node_id": f"B_{sha}"}


@operation("get", f"{R}/git/trees/{{tree_sha}}")
def get_tree(asked: Asked) -> Any:
    asked.need("read", "contents")
    deep = ("-r", "-t") if asked.query.get("recursive") else ()
    listed = asked.world.git.ask("ls-tree", "-z", *deep, asked.parts["tree_sha"], fails=False)
    entries = [line.split("\t") for line in listed.split("\0") if line]
    tree = [
        dict(zip(("mode", "type", "sha"), meta.split(" "), strict=True), path=path) for meta, path in entries
    ]
    return {"sha": asked.parts["tree_sha"], "url": asked.repository, "tree": tree, "truncated": False}


@operation("get", f"{R}/collaborators/{{username}}/permission")
def get_permission(asked: Asked) -> Any:
    login = asked.parts["username"]
    role = asked.world.roles.get(login)
    if role is None:
        raise Problem(404, f"{login} is not a user")
    plain = {"maintain": "write", "triage": "read"}.get(role, role)
    who = {**user(asked, login), "role_name": role}
    return {"permission": plain, "role_name": role, "user": who}


@operation("get", "/rate_limit")
def get_rate_limit(asked: Asked) -> Any:
    rate = {"limit": 5000, "remaining": 4999, "reset": 0, "used": 1}
    return {"resources": {"core": rate, "search": rate}, "rate": rate}


# Reviews


def _anchor(files: dict[str, FileDiff], given: dict[str, Any]) -> list[str]:
    diff = files.get(given["path"])
    if diff is None:
        return [f"{MARKER} path is invalid", f"{MARKER} diff hunk can't be blank"]
    if given.get("subject_type") == "file":
        return []
    side, line = given.get("side", "RIGHT"), given.get("line")
    hunks = diff.sides
    if (side, line) not in hunks:
        return [f"{MARKER} line must be part of the diff", f"{MARKER} diff hunk can't be blank"]
    if given.get("start_line") is None:
        return []
    start, start_side = given["start_line"], given.get("start_side", side)
    if start >= line:
        return [f"{MARKER} start line must precede the end line."]
    if hunks.get((start_side, start)) != hunks[side, line]:
        return [f"{MARKER} start line must be part of the same hunk as the line."]
    return []


def _diff_at(asked: Asked, commit: str | None) -> dict[str, FileDiff]:
    pull, git = asked.pull, asked.world.git
    if commit not in (None, pull.head, *git.commits(pull.base, pull.head)):
        raise Problem(422, "Unprocessable Entity", ["The commit_id is not part of the pull request"])
    return {diff.path: diff for diff in git.files(pull.base, commit or pull.head)}


def _keep_comment(
    asked: Asked, given: dict[str, Any], review: int | None, reply_to: int | None = None
) -> dict[str, Any]:
    world, pull = asked.world, asked.pull
    at = world.now()
    kept = {
        "id": (number := world.next_id()),
        "node_id": f"PRRC_{number}",
        "pull": pull.number,
        "path": given["path"],
        "body": given["body"],
        "line": given.get("line"),
        "side": given.get("side") or "RIGHT",
        "start_line": given.get("start_line"),
        "start_side": given.get("start_side") or ("RIGHT" if given.get("start_line") else None),
        "subject_type": given.get("subject_type") or "line",
        "original_commit_id": given.get("commit_id") or pull.head,
        "by": asked.token.login,
        "review": review,
        "reply_to": reply_to,
        "at": at,
        "edited": at,
    }
    world.review_comments[number] = kept
    if reply_to is None:
        name = f"PRRT_{number}"
        world.threads[name] = {"id": name, "pull": pull.number, "comments": [number], "resolved_by": None}
    else:
        next(t for t in world.threads.values() if reply_to == t["comments"][0])["comments"].append(number)
    return kept


@operation("post", f"{R}/pulls/{{pull_number}}/reviews")
def post_review(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    world, pull, given = asked.world, asked.pull, asked.body
    files = _diff_at(asked, given.get("commit_id"))
    wrong: list[str] = []
    for one in given.get("comments", []):
        if one.keys() - REVIEW_KEYS:
            wrong += [f'"{sorted(one.keys() - REVIEW_KEYS)[0]}" is not a permitted key.']
        elif len(one["body"]) > LONGEST:
            wrong += [_long("")["message"]]
        else:
            wrong += _anchor(files, one)
    event = given.get("event")
    if event in ("COMMENT", "REQUEST_CHANGES") and not given.get("body"):
        wrong += ["Body can't be blank"]
    if len(given.get("body") or "") > LONGEST:
        wrong += [_long("")["message"]]
    if event in ("APPROVE", "REQUEST_CHANGES") and asked.token.login == pull.author:
        wrong += ["Can not request changes on your own pull request"]
    mine = [
        one for one in world.reviews.values() if one["pull"] == pull.number and one["by"] == asked.token.login
    ]
    if any(one["state"] == "PENDING" for one in mine):
        wrong += ["User can only have one pending review per pull request"]
    if wrong:  # all of it, and none of the comments is named
        raise Problem(422, "Unprocessable Entity", [", ".join(dict.fromkeys(wrong))])
    states = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
    number = world.next_id()
    kept = {
        "id": number,
        "node_id": f"PRR_{number}",
        "pull": pull.number,
        "body": given.get("body") or "",
        "state": states.get(event, "PENDING"),
        "commit_id": given.get("commit_id") or pull.head,
        "by": asked.token.login,
        "at": world.now(),
    }
    world.reviews[number] = kept
    for one in given.get("comments", []):
        _keep_comment(asked, {**one, "commit_id": kept["commit_id"]}, number)
    return review(asked, kept)


def _visible(asked: Asked, kept: dict[str, Any]) -> bool:
    return bool(kept["state"] != "PENDING" or kept["by"] == asked.token.login)


@operation("get", f"{R}/pulls/{{pull_number}}/reviews")
def get_reviews(asked: Asked) -> Any:
    number = asked.pull.number
    found = [
        kept for kept in asked.world.reviews.values() if kept["pull"] == number and _visible(asked, kept)
    ]
    return [review(asked, kept) for kept in found]


@operation("get", f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}")
def get_review(asked: Asked) -> Any:
    return review(asked, asked.stored(asked.world.reviews, "review_id"))


@operation("put", f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}")
def put_review(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    kept = asked.stored(asked.world.reviews, "review_id")
    kept["body"] = asked.text()
    return review(asked, kept)


@operation("delete", f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}")
def delete_review(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    kept = asked.stored(asked.world.reviews, "review_id")
    if kept["state"] != "PENDING":
        raise Problem(422, "Can not delete a non-pending pull request review")
    for number in [n for n, one in asked.world.review_comments.items() if one["review"] == kept["id"]]:
        _drop_comment(asked.world, number)
    return review(asked, asked.world.reviews.pop(kept["id"]))


@operation("post", f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}/events")
def submit_review(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    kept = asked.stored(asked.world.reviews, "review_id")
    kept["state"] = "COMMENTED"
    return review(asked, kept)


# Comments on lines and files


@operation("get", f"{R}/pulls/{{pull_number}}/comments")
def get_review_comments(asked: Asked) -> Any:
    number, world = asked.pull.number, asked.world
    drafts = {one["id"] for one in world.reviews.values() if one["state"] == "PENDING"}
    found = [kept for kept in world.review_comments.values() if kept["pull"] == number]
    return [review_comment(asked, kept) for kept in found if kept["review"] not in drafts]


@operation("get", f"{R}/pulls/{{pull_number}}/reviews/{{review_id}}/comments")
def get_comments_of_review(asked: Asked) -> Any:
    number = asked.stored(asked.world.reviews, "review_id")["id"]
    found = [one for one in asked.world.review_comments.values() if one["review"] == number]
    return [review_comment(asked, one) for one in found]


@operation("post", f"{R}/pulls/{{pull_number}}/comments", 201)
def post_review_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    given = asked.body
    if len(given["body"]) > LONGEST:
        raise Problem(422, "Validation Failed", [_long("PullRequestReviewComment")])
    if given.get("in_reply_to") is not None:
        return _reply(asked, given["in_reply_to"])
    if not {"commit_id", "path"} <= given.keys():
        raise Problem(422, "Invalid request.", ['"commit_id", "path" weren\'t supplied.'])
    wrong = _anchor(_diff_at(asked, given["commit_id"]), given)
    if wrong:
        named = {
            "resource": "PullRequestReviewComment",
            "code": "custom",
            "field": "pull_request_review_thread.line",
        }
        raise Problem(422, "Validation Failed", [{**named, "message": says} for says in wrong])
    world = asked.world
    number = world.next_id()
    world.reviews[number] = {
        "id": number,
        "node_id": f"PRR_{number}",
        "pull": asked.pull.number,
        "body": "",
        "state": "COMMENTED",
        "commit_id": given["commit_id"],
        "by": asked.token.login,
        "at": world.now(),
    }
    return review_comment(asked, _keep_comment(asked, given, number))


def _reply(asked: Asked, to: int) -> Any:
    first = asked.world.review_comments.get(to)
    if first is None or first["pull"] != asked.pull.number or first["reply_to"]:
        raise Problem(404, "Not Found")
    given = {**first, "body": asked.body["body"], "commit_id": first["original_commit_id"]}
    return review_comment(asked, _keep_comment(asked, given, first["review"], to))


@operation("post", f"{R}/pulls/{{pull_number}}/comments/{{comment_id}}/replies", 201)
def post_reply(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    if asked.token.login.endswith("[bot]"):
        raise Problem(403, "Resource not accessible by integration")
    return _reply(asked, int(asked.parts["comment_id"]))


@operation("get", f"{R}/pulls/comments/{{comment_id}}")
def get_review_comment(asked: Asked) -> Any:
    return review_comment(asked, asked.stored(asked.world.review_comments))


@operation("patch", f"{R}/pulls/comments/{{comment_id}}")
def patch_review_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    kept = asked.stored(asked.world.review_comments)
    kept |= {"body": asked.text(), "edited": asked.world.now()}
    return review_comment(asked, kept)


@operation("delete", f"{R}/pulls/comments/{{comment_id}}", 204)
def delete_review_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    _drop_comment(asked.world, asked.stored(asked.world.review_comments)["id"])


def _drop_comment(world: World, number: int) -> None:
    del world.review_comments[number]
    for name, thread in list(world.threads.items()):
        thread["comments"] = [one for one in thread["comments"] if one != number]
        if not thread["comments"]:
            del world.threads[name]


# The conversation


@operation("get", f"{R}/issues/{{issue_number}}")
def get_issue(asked: Asked) -> Any:
    pull = asked.pull
    at = f"{asked.repository}/pulls/{pull.number}"
    return {
        "number": pull.number,
        "title": pull.title,
        "state": pull.state,
        "user": user(asked, pull.author),
        "labels": [label(asked, name) for name in pull.labels],
        "pull_request": {"url": at, "html_url": at, "diff_url": at, "patch_url": at},
        "author_association": "NONE",
    }


@operation("get", f"{R}/issues/{{issue_number}}/comments")
def get_comments(asked: Asked) -> Any:
    number = asked.pull.number
    return [comment(asked, kept) for kept in asked.world.comments.values() if kept["pull"] == number]


@operation("post", f"{R}/issues/{{issue_number}}/comments", 201)
def post_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    at = asked.world.now()
    kept = {
        "id": (number := asked.world.next_id()),
        "node_id": f"IC_{number}",
        "pull": asked.pull.number,
        "body": asked.text(),
        "by": asked.token.login,
        "at": at,
        "edited": at,
    }
    asked.world.comments[number] = kept
    return comment(asked, kept)


@operation("get", f"{R}/issues/comments")
def get_all_comments(asked: Asked) -> Any:
    since, down = asked.query.get("since", ""), asked.query.get("direction", "desc") == "desc"
    found = [kept for kept in asked.world.comments.values() if kept["edited"] >= since]
    key = {"created": "at", "updated": "edited"}[asked.query.get("sort", "created")]
    return [comment(asked, kept) for kept in sorted(found, key=lambda one: one[key], reverse=down)]


@operation("get", f"{R}/issues/comments/{{comment_id}}")
def get_comment(asked: Asked) -> Any:
    return comment(asked, asked.stored(asked.world.comments))


@operation("patch", f"{R}/issues/comments/{{comment_id}}")
def patch_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    kept = asked.stored(asked.world.comments)
    kept |= {"body": asked.text(), "edited": asked.world.now()}
    return comment(asked, kept)


@operation("delete", f"{R}/issues/comments/{{comment_id}}", 204)
def delete_comment(asked: Asked) -> Any:
    asked.need("write", "pull_requests")
    del asked.world.comments[asked.stored(asked.world.comments)["id"]]


def _react(asked: Asked, kind: str, kept: dict[str, Any]) -> Any:
    asked.need("write", "pull_requests")
    content = asked.body["content"]
    same = {"kind": kind, "comment": kept["id"], "by": asked.token.login, "content": content}
    if same not in asked.world.reactions:
        asked.world.reactions.append(same)
    return _reaction(asked, same)


def _reaction(asked: Asked, kept: dict[str, Any]) -> dict[str, Any]:
    return {"content": kept["content"], "user": user(asked, kept["by"])}


@operation("post", f"{R}/issues/comments/{{comment_id}}/reactions", 201)
def post_reaction(asked: Asked) -> Any:
    return _react(asked, "issues", asked.stored(asked.world.comments))


@operation("post", f"{R}/pulls/comments/{{comment_id}}/reactions", 201)
def post_review_reaction(asked: Asked) -> Any:
    return _react(asked, "pulls", asked.stored(asked.world.review_comments))


@operation("get", f"{R}/issues/comments/{{comment_id}}/reactions")
def get_reactions(asked: Asked) -> Any:
    number = asked.stored(asked.world.comments)["id"]
    found = [one for one in asked.world.reactions if (one["kind"], one["comment"]) == ("issues", number)]
    return [_reaction(asked, one) for one in found]


@operation("get", f"{R}/issues/{{issue_number}}/labels")
def get_labels(asked: Asked) -> Any:
    return [label(asked, name) for name in asked.pull.labels]


@operation("post", f"{R}/issues/{{issue_number}}/labels")
def post_labels(asked: Asked) -> Any:
    asked.need("write", "pull_requests", "issues")
    given = asked.body if isinstance(asked.body, list) else asked.body["labels"]
    asked.pull.labels[:] = dict.fromkeys([*asked.pull.labels, *given])
    return get_labels(asked)


@operation("delete", f"{R}/issues/{{issue_number}}/labels/{{name}}")
def delete_label(asked: Asked) -> Any:
    asked.need("write", "pull_requests", "issues")
    name = asked.parts["name"]
    if name not in asked.pull.labels:
        raise Problem(404, "Label does not exist")
    asked.pull.labels.remove(name)
    return get_labels(asked)


# Check runs


def _output(kept: dict[str, Any], given: dict[str, Any], world: World) -> None:
    output = given.get("output") or {}
    for name in ("summary", "text"):
        if len(output.get(name) or "") > 65_535:
            raise Problem(422, "Invalid request.", [f"Only 65535 characters are allowed in {name}"])
    if len(output.get("annotations") or ()) > 50:
        raise Problem(422, "Invalid request.", ["No more than 50 annotations are allowed"])
    kept["annotations"] += output.get("annotations") or []
    kept["output"] |= {name: output[name] for name in ("title", "summary", "text") if name in output}
    kept |= {
        name: given[name] for name in ("status", "conclusion", "details_url", "external_id") if name in given
    }
    if kept["conclusion"]:
        kept["status"] = "completed"
    kept["edited"] = world.now()


@operation("post", f"{R}/check-runs", 201)
def post_check(asked: Asked) -> Any:
    asked.need("write", "checks")
    given, world = asked.body, asked.world
    _sha(asked, given["head_sha"])
    kept: dict[str, Any] = {
        "id": world.next_id(),
        "name": given["name"],
        "head_sha": given["head_sha"],
        "status": "queued",
        "conclusion": None,
        "external_id": "",
        "output": {},
        "annotations": [],
        "at": world.now(),
        "by": asked.token.login.removesuffix("[bot]"),
    }
    _output(kept, given, world)
    world.checks[kept["id"]] = kept
    return check(asked, kept)


@operation("get", f"{R}/check-runs/{{check_run_id}}")
def get_check(asked: Asked) -> Any:
    return check(asked, asked.stored(asked.world.checks, "check_run_id"))


@operation("patch", f"{R}/check-runs/{{check_run_id}}")
def patch_check(asked: Asked) -> Any:
    asked.need("write", "checks")
    kept = asked.stored(asked.world.checks, "check_run_id")
    _output(kept, asked.body, asked.world)
    return check(asked, kept)


@operation("get", f"{R}/check-runs/{{check_run_id}}/annotations")
def get_annotations(asked: Asked) -> Any:
    kept = asked.stored(asked.world.checks, "check_run_id")
    return kept["annotations"]
