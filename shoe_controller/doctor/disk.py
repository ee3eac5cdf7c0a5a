"""The disk below the journal: room on it, permission to write, and whether it keeps what was synced."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, warn
from shoe_controller.doctor.machine import Machine

MEGABYTE = 1_000_000
# Below this a shoe may not fit any more: eight decks with their facts are 2-3 MB, and SQLite's log doubles it.
TOO_LITTLE_MB = 16
FORGETFUL = {"tmpfs", "ramfs", "overlay", "aufs", "squashfs"}
UNSAFE = {"vfat", "exfat", "msdos", "ntfs", "ntfs3", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "9p", "sshfs"}
# Without barriers the disk may tell us that something is safe while it is in its own memory.
NO_BARRIERS = {"nobarrier", "barrier=0"}
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """A mounted file system."""

    point: Path
    kind: str
    device: str
    options: frozenset[str]


def check_disk(config: Config, machine: Machine) -> Iterator[Finding]:
    """Check space, mount options and write permission where the journal is kept."""
    folder = Path(config.journal.directory)
    existing = _existing(folder)
    yield _space(existing, config.journal.min_free_megabytes)
    yield from _mount(existing, mounted_at(existing, machine.mountinfo))
    yield _writable(folder, existing)
    if not folder.is_relative_to(machine.state):
        yield warn(
            "disk",
            f"{folder} is not below {machine.state}, and the service may write nowhere else",
            f"sudo systemctl edit shoe-controller, and there: [Service] ReadWritePaths={folder}",
        )


def _existing(folder: Path) -> Path:
    """Return the folder, or the one in which it will be made."""
    try:
        return folder if folder.exists() else _existing(folder.parent)
    except PermissionError:
        return _existing(folder.parent)


def _space(folder: Path, wanted_mb: int) -> Finding:
    space = os.statvfs(folder)
    free_mb = space.f_bavail * space.f_frsize // MEGABYTE
    rest = f"{free_mb:,} MB free at {folder}"
    mend = (
        "move sealed journal volumes (all but the newest journal-*.db) to another medium; 'verify' reads them there",
        "sudo journalctl --vacuum-size=100M; sudo apt clean",
    )
    if free_mb < TOO_LITTLE_MB:
        return fail("disk", f"only {rest}: the next shoe may not fit", *mend)
    if free_mb < wanted_mb:
        return warn("disk", f"only {rest}, less than journal.min_free_megabytes = {wanted_mb}", *mend)
    if space.f_files and not space.f_favail:
        return fail("disk", f"no file can be made at {folder}: the file system has no inodes left", *mend)
    return ok("disk", rest)


def _mount(folder: Path, mount: Mount | None) -> Iterator[Finding]:
    if mount is None:
        return
    name = f"{folder} is on {mount.kind} ({mount.device})"
    if "ro" in mount.options:
        yield fail(
            "mount",
            f"{name}, which is mounted read-only",
            f"sudo mount -o remount,rw {mount.point}",
            "if it became read-only by itself, the disk has errors: see 'dmesg', and replace the SD card",
        )
    elif mount.kind in FORGETFUL:
        yield fail(
            "mount",
            f"{name}, which forgets everything when the power goes",
            "put the journal on a disk of its own, or switch the overlay file system off (raspi-config)",
        )
    elif mount.kind in UNSAFE:
        yield fail(
            "mount", f"{name}, which does not keep what was synced, or not the locks", "use ext4 for the journal"
        )
    elif bad := NO_BARRIERS & mount.options:
        yield fail(
            "mount",
            f"{name} with the option {', '.join(sorted(bad))}: a power cut can destroy what was acknowledged",
            f"remove the option in /etc/fstab, then: sudo mount -o remount,barrier=1 {mount.point}",
        )
    elif "data=writeback" in mount.options:
        yield warn(
            "mount", f"{name} with data=writeback", "remove the option in /etc/fstab: data=ordered is the safe default"
        )
    else:
        yield ok("mount", f"{name}, writable, with safe options")


def _writable(folder: Path, existing: Path) -> Finding:
    if os.access(existing, os.W_OK | os.X_OK, effective_ids=True):
        return ok("permissions", f"{folder} can be written" if folder == existing else f"{folder} can be made")
    return fail(
        "permissions",
        f"{existing} cannot be written by this user",
        "as the daemon's user:  sudo shoe-controller doctor",
        f"sudo chown -R shoe-controller:shoe-controller {existing}",
    )


def mounted_at(folder: Path, mountinfo: Path) -> Mount | None:
    """Return the file system that a folder is on, as proc(5) tells it; None where it does not."""
    try:
        lines = mountinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    place = folder.resolve()
    best: Mount | None = None
    for line in lines:
        left, _, right = line.partition(" - ")
        point = Path(_ESCAPE.sub(lambda found: chr(int(found[1], 8)), left.split()[4]))
        # Of two mounts on one point the later one is on top.
        if place.is_relative_to(point) and (best is None or len(point.parts) >= len(best.point.parts)):
            kind, device, super_options = right.split()[:3]
            options = frozenset(left.split()[5].split(",")) | frozenset(super_options.split(","))
            best = Mount(point, kind, device, options)
    return best
