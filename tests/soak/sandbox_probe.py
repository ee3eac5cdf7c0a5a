"""Tries, inside the sandbox of the service, what it must not be able to do, and writes down what was refused.

Run by systemd as ExecStartPre of the unit, with a plain Python: nothing but the standard library is there.
"""

import ctypes
import json
import mmap
import os
import socket
import sys
from pathlib import Path

RESULT = "sandbox.json"
LIBC = ctypes.CDLL(None, use_errno=True)
PACKET = socket.AddressFamily(17)
CLONE_NEWUSER = 0x10000000


def write(path):
    Path(path).write_text("x")
    Path(path).unlink()


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def set_user_id():
    path = Path("own-program")
    path.touch()
    try:
        path.chmod(0o4755)
    finally:
        path.unlink()


FORBIDDEN = {
    "write in /etc": lambda: write("/etc/probe"),
    "write in /usr": lambda: write("/usr/probe"),
    "write in its own program": lambda: write("/opt/shoe-controller/probe"),
    "write in its configuration": lambda: write("/etc/shoe-controller/probe"),
    "write in /var/lib of others": lambda: write("/var/lib/probe"),
    "look into /home": lambda: Path("/home/guest/letter").read_text(),
    "see processes of others": lambda: Path("/proc/1/status").read_text(),
    "have memory that is written and run": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC),
    "send raw packets": lambda: socket.socket(PACKET, socket.SOCK_RAW).close(),
    "open another kind of socket": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close(),
    "make a namespace": lambda: call("unshare", CLONE_NEWUSER),
    "mount": lambda: call("mount", b"none", b"/run", b"tmpfs", 0, None),
    "make a set-user-id program": set_user_id,
    "run at real-time priority": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "set the host's name": lambda: call("sethostname", b"x", 1),
    "become another user": lambda: os.setuid(0),
    "change the kernel's settings": lambda: write("/proc/sys/kernel/probe"),
}
ALLOWED = {
    "write its state": lambda: write("/var/lib/shoe-controller/probe"),
    "write its run folder": lambda: write("/run/shoe-controller/probe"),
    "write a temporary file": lambda: write("/tmp/probe"),
    "open the shoe's port": lambda: os.close(os.open("/dev/ttyV0", os.O_RDWR | os.O_NOCTTY)),
    "talk over a network socket": lambda: socket.socket().close(),
}


def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def main():
    found = {
        "forbidden": {name: outcome(attempt) for name, attempt in FORBIDDEN.items()},
        "allowed": {name: outcome(attempt) for name, attempt in ALLOWED.items()},
        "user": os.getuid(),
        "groups": os.getgroups(),
        "status": Path("/proc/self/status").read_text(),
    }
    Path(os.environ["RUNTIME_DIRECTORY"], RESULT).write_text(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
