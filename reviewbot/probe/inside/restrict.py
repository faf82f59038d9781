"""Shuts this process in: rlimits, namespaces where the kernel allows them, Landlock, seccomp.

All by system calls through ctypes, because the child has the standard library alone. The numbers are those
of Linux on x86-64 (`asm/unistd_64.h`, `linux/landlock.h`, `linux/seccomp.h`, `linux/bpf_common.h`).
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import socket
import struct
from dataclasses import dataclass, field

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWUSER, _CLONE_NEWIPC, _CLONE_NEWNET, _CLONE_THREAD = 0x10000000, 0x08000000, 0x40000000, 0x10000
_CLONE_NAMESPACES = 0x7E020080
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_CAPSET = 126
# Processes and threads that a child which may start some can have beside what its user runs already.
MORE_TASKS = 512

# What a read-only rule grants: execute, read a file, list a folder.
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_DIR
# File rights that each version of Landlock's interface knows.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_FOR_FILES = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)

# System calls that no check needs, with their numbers.
_DENIED = {
    "socket": 41, "connect": 42, "bind": 49, "ptrace": 101, "syslog": 103, "setpgid": 109, "setsid": 112,
    "personality": 135, "pivot_root": 155, "acct": 163, "chroot": 161, "settimeofday": 164, "mount": 165,
    "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "iopl": 172,
    "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
    "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308,
    "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "bpf": 321,
    "userfaultfd": 323, "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "pidfd_open": 434, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442,
}  # fmt: skip
_NO_FORK = {"fork": 57, "vfork": 58, "execve": 59, "execveat": 322}
_CLONE, _CLONE3, _KILL, _TKILL, _TGKILL, _PRLIMIT = 56, 435, 62, 200, 234, 302
_SIGQUEUE = {"rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297}


@dataclass(frozen=True)
class Policy:
    """What the process may still do.

    `read` and `write`: files and folders; `list`: folders whose names may be listed but not read.
    `cpu` seconds; `memory`, `file_size` bytes. `fork`: it may start processes, which stay in its group.
    """

    read: tuple[str, ...]
    write: tuple[str, ...]
    list: tuple[str, ...] = ()
    cpu: int = 20
    memory: int = 1 << 30
    file_size: int = 8 << 20
    files: int = 64
    fork: bool = False


@dataclass(frozen=True)
class Held:
    """Which layers hold in this process. `landlock`: the version of its interface, 0 if it does not."""

    landlock: int = 0
    seccomp: bool = False
    rlimits: bool = False
    namespaces: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """The layers in words."""
        said = [f"landlock {self.landlock}"] if self.landlock else []
        said += ["seccomp"] if self.seccomp else []
        said += ["rlimits"] if self.rlimits else []
        return said + (["namespaces"] if self.namespaces else [])


def restrict(policy: Policy) -> Held:
    """Applies every layer that this kernel has, for good, and says which ones hold."""
    _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    limited = _limit(policy)
    namespaces = _unshare()
    _drop_capabilities()
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = _landlock(policy)
    filtered = _seccomp(policy, signals_scoped=version >= 6) and _socket_denied()
    return Held(version, filtered, limited, namespaces)


def _limit(policy: Policy) -> bool:
    limits = {
        resource.RLIMIT_CPU: policy.cpu,
        resource.RLIMIT_AS: policy.memory,
        resource.RLIMIT_FSIZE: policy.file_size,
        resource.RLIMIT_NOFILE: policy.files,
        resource.RLIMIT_CORE: 0,
    }
    try:
        if policy.fork:
            # Counted over all of a user's tasks, so what runs already is added. It does not hold for root.
            limits[resource.RLIMIT_NPROC] = tasks() + MORE_TASKS
        for kind, value in limits.items():
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
    except (OSError, ValueError):
        return False
    return True


def tasks() -> int:
    """How many tasks the machine has, threads among them: `0.1 0.2 0.3 1/234 567` in /proc/loadavg."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].partition("/")[2])


def _unshare() -> bool:
    """New user, network and message-queue namespaces. Many kernels refuse these to ordinary users."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) != 0:
        return False
    try:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        return False
    return True


def _drop_capabilities() -> None:
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    nothing = ctypes.create_string_buffer(bytes(24))
    _libc.syscall(_CAPSET, header, nothing)


def _landlock(policy: Policy) -> int:
    version = int(_libc.syscall(_LANDLOCK_CREATE, None, 0, 1))
    if version < 1:
        return 0
    rights = _RIGHTS.get(version, (1 << 16) - 1)
    # handled_access_fs, handled_access_net (TCP bind and connect), scoped (abstract sockets and signals)
    sizes = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}
    attributes = struct.pack("QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    attributes = attributes[: sizes.get(version, 24)]
    ruleset = _libc.syscall(_LANDLOCK_CREATE, ctypes.c_char_p(attributes), len(attributes), 0)
    if ruleset < 0:
        return 0
    for paths, access in ((policy.read, _READ), (policy.list, _READ_DIR), (policy.write, rights)):
        for path in paths:
            _allow(ruleset, path, access & rights)
    held = _libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return version if held else 0


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        access &= _FOR_FILES
    if access:
        rule = struct.pack("=Qi", access, place)
        _libc.syscall(_LANDLOCK_ADD, ruleset, 1, ctypes.c_char_p(rule), 0)
    os.close(place)


def _statement(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38
_X86_64 = 0xC000003E
# Offsets into struct seccomp_data: number, architecture, the low halves of the first and second argument.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24


def _only_when(number: int, test: bytes, argument: int = _FIRST) -> list[bytes]:
    """Allows the call only when `test`, a jump over one statement if true, holds for its argument."""
    return [
        _statement(_EQUAL, 0, 4, number),
        _statement(_LOAD, 0, 0, argument),
        test,
        _statement(_RETURN, 0, 0, _EPERM),
        _statement(_RETURN, 0, 0, _ALLOW),
    ]


def program(policy: Policy, own: int, *, signals_scoped: bool) -> list[bytes]:
    """The filter's statements. `own` is the process id, the only one that it may send signals to."""
    is_own = _statement(_EQUAL, 1, 0, own)
    lines = [
        _statement(_LOAD, 0, 0, _ARCHITECTURE),
        _statement(_EQUAL, 1, 0, _X86_64),
        _statement(_RETURN, 0, 0, _KILL_PROCESS),
        _statement(_LOAD, 0, 0, _NUMBER),
        _statement(_AT_LEAST, 0, 1, 0x40000000),  # the x32 numbers, which would go around the list
        _statement(_RETURN, 0, 0, _KILL_PROCESS),
        # glibc falls back from clone3, whose flags lie in memory where no filter can read them, to clone.
        _statement(_EQUAL, 0, 1, _CLONE3),
        _statement(_RETURN, 0, 0, _ENOSYS),
    ]
    denied = dict(_DENIED)
    if policy.fork:
        lines += _only_when(_CLONE, _statement(_ANY_BIT, 0, 1, _CLONE_NAMESPACES))
    else:
        lines += _only_when(_CLONE, _statement(_ANY_BIT, 1, 0, _CLONE_THREAD))
        denied |= _NO_FORK
    if not (policy.fork and signals_scoped):
        lines += _only_when(_KILL, is_own)
        lines += _only_when(_TGKILL, is_own)
        denied |= {"tkill": _TKILL, **_SIGQUEUE}
    # prlimit64 of another process; 0 is this one
    lines += [
        _statement(_EQUAL, 0, 5, _PRLIMIT),
        _statement(_LOAD, 0, 0, _FIRST),
        _statement(_EQUAL, 2, 0, 0),
        _statement(_EQUAL, 1, 0, own),
        _statement(_RETURN, 0, 0, _EPERM),
        _statement(_RETURN, 0, 0, _ALLOW),
    ]
    numbers = sorted(denied.values())
    lines += [_statement(_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    return [*lines, _statement(_RETURN, 0, 0, _ALLOW), _statement(_RETURN, 0, 0, _EPERM)]


def install(lines: list[bytes]) -> bool:
    """Puts a filter in force for this process and all that it starts."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    buffer = ctypes.create_string_buffer(b"".join(lines))
    described = Program(len(lines), ctypes.cast(buffer, ctypes.c_void_p))
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0) == 0)


def _seccomp(policy: Policy, *, signals_scoped: bool) -> bool:
    if platform.machine() != "x86_64":
        return False
    return install(program(policy, os.getpid(), signals_scoped=signals_scoped))


def _socket_denied() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    except OSError:
        return True
    return False
