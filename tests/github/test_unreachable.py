"""A GitHub that cannot be reached or takes its time: what is waited for, how long, and what to check."""

from __future__ import annotations

import socket
import threading
import time

import pytest

WORDS = ("review", "--post", "--repo", "acme/trainer", "--pull", "7")


@pytest.fixture
def post(reviewbot, repository):
    def run(address: str):
        repository.commit({"a.py": "x = 1\n"})
        env = {"GITHUB_API_URL": address, "GITHUB_TOKEN": "x", "NO_PROXY": "*"}
        return reviewbot(*WORDS, cwd=repository.folder, env=env)

    return run


def unused() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "why"),
    [("127.0.0.1:{port}", "it refuses the connection"), ("github.invalid", "there is no host of that name")],
)
def test_no_connection_is_said_at_once_and_given_up_soon(post, host, why):
    host = host.format(port=unused())
    began = time.monotonic()
    ran = post(f"http://{host}")
    assert time.monotonic() - began < 45  # of which Python and a busy machine take their share
    says = f"GitHub cannot be reached at {host} ({why})"
    first, last = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, "")
    assert first == f"reviewbot: {says}; trying again for some seconds"
    assert last.startswith(f"reviewbot: {says}: check the network")
    assert "GITHUB_API_URL" in last


def test_a_slow_answer_is_waited_for_aloud(post):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            one, _ = server.accept()
            with one:
                one.recv(65536)
                time.sleep(3)
                body = b'{"message": "Not Found"}'
                head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nConnection: close\r\n"
                one.sendall(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

        thread = threading.Thread(target=answer)
        thread.start()
        ran = post(f"http://127.0.0.1:{port}")
        thread.join()
    assert ran.code == 2
    assert ran.err.splitlines()[0] == f"reviewbot: waiting for 127.0.0.1:{port}"
    assert "404" in ran.err
