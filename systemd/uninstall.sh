#!/usr/bin/env bash
# Take the controller off a machine. What proves past rounds (journal, keys, decks) and the configuration stay.
#
#   uninstall.sh [--root DIR]
set -euo pipefail

root=
source=$(cd "$(dirname "$0")" && pwd)
while [ $# -gt 0 ]; do
    case $1 in
        --root) root=${2:?--root needs a folder}; shift 2 ;;
        *) echo "uninstall.sh: unknown argument: $1 (see the first lines of this script)" >&2; exit 2 ;;
    esac
done
root=${root%/}
if [ "$(id -u)" -ne 0 ] && [ -z "$root" ]; then
    echo "uninstall.sh: this changes the machine: run it as root (sudo make uninstall)" >&2
    exit 1
fi

units=(shoe-controller-kiosk.service shoe-controller.service)
live=no
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
    live=yes
    for unit in "${units[@]}"; do
        if [ -e "/etc/systemd/system/$unit" ]; then
            echo "==> stopping $unit"
            systemctl disable --quiet --now "$unit"
        fi
    done
fi

echo "==> removing units, rules and the program"
for unit in "${units[@]}"; do
    rm -f "$root/etc/systemd/system/$unit"
done
rm -f "$root/etc/udev/rules.d/99-shoe-controller.rules" "$root/etc/sysusers.d/shoe-controller.conf" \
    "$root/etc/tmpfiles.d/shoe-controller.conf" "$root/etc/shoe-controller/shoe-controller.toml.sample"
for path in bin/shoe-controller $(awk '{print $2}' "$source/shared-files"); do # only links that are ours
    [ "$(readlink "$root/usr/local/$path" || true)" != "/opt/shoe-controller/current/$path" ] ||
        rm -f "$root/usr/local/$path"
done
rm -rf "$root/opt/shoe-controller"
if [ "$live" = yes ]; then
    systemctl daemon-reload
    udevadm control --reload 2>/dev/null || true # in a container no udev runs
fi

cat <<KEPT

Kept, because it proves past rounds or was made by you:
  $root/var/lib/shoe-controller   the journal, the signing key, the registered decks
  $root/etc/shoe-controller       the configuration and its secrets
  the users shoe-controller and shoe-kiosk and the group shoe-supervisors, which own these files
Copy the journal to where your records are kept before you remove any of it.
KEPT
