"""The machine that is examined: where Linux tells about it, and who the daemon is on it."""

import grp
import os
import pwd
from pathlib import Path

import msgspec

# What systemd/shoe-controller.service gives the daemon beside the groups that it is a member of.
GROUPS = ("dialout", "gpio", "plugdev", "shoe-supervisors")
STATE = Path("/var/lib/shoe-controller")


class Machine(msgspec.Struct, frozen=True):
    """Where to look. Everything but `user` is the same on every machine; tests give folders of their own."""

    user: str = "shoe-controller"
    dev: Path = Path("/dev")
    sys: Path = Path("/sys")
    mountinfo: Path = Path("/proc/self/mountinfo")
    udev: tuple[Path, ...] = (Path("/etc/udev/rules.d"), Path("/usr/lib/udev/rules.d"), Path("/lib/udev/rules.d"))
    units: tuple[Path, ...] = (Path("/etc/systemd/system"), Path("/usr/lib/systemd/system"))
    state: Path = STATE


def become(user: str) -> bool:
    """Turn this process, which is root's, into the daemon's user with its groups; False if there is no such user.

    What is then tried is what the daemon may do. There is no way back: the process must be about to end anyway.
    """
    try:
        account = pwd.getpwnam(user)
    except KeyError:
        return False
    groups = set(os.getgrouplist(user, account.pw_gid))
    for name in GROUPS:
        try:
            groups.add(grp.getgrnam(name).gr_gid)
        except KeyError:
            continue
    os.setgroups(sorted(groups))
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    return True


def current_user() -> str:
    """Return the name of the user that this process runs as."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
