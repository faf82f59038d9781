"""Why no connection came about, in words that say what to look at."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

CHECK = "check the network, the host's name, and GITHUB_API_URL and HTTPS_PROXY where they are set"


def host(address: str) -> str:
    """The host of an address, with its port where one is named."""
    return urlsplit(address).netloc.rpartition("@")[2] or address


def why(error: BaseException) -> str:
    """What lies behind an error of a library for HTTP, in a few words."""
    for one in _behind(error):
        if isinstance(one, ConnectionRefusedError):
            return "it refuses the connection"
        if isinstance(one, socket.gaierror):
            return "there is no host of that name"
        if isinstance(one, ssl.SSLError):
            return f"its certificate is not trusted: {one.reason or 'TLS failed'}"
    if any(isinstance(one, TimeoutError) or "Timeout" in type(one).__name__ for one in _behind(error)):
        return "no connection in time"
    told = next((one.strerror for one in _behind(error) if isinstance(one, OSError) and one.strerror), "")
    return told.lower() or type(error).__name__


def cut_off(error: BaseException) -> bool:
    """Whether a connection had come about, and broke before the answer was there."""
    names = {type(one).__name__ for one in _behind(error)}
    return bool(names & {"ProtocolError", "RemoteDisconnected", "ReadTimeout", "ReadTimeoutError"})


def _behind(error: BaseException) -> list[BaseException]:
    """The error, and those that it was made from."""
    found: list[BaseException] = []
    left: list[object] = [error]
    while left:
        one = left.pop(0)
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            left += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
    return found
