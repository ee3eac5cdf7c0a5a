#!/usr/bin/env bash
# Set up a Pi (or any Debian machine) as the controller of a table. May be run again: that is the upgrade.
#
#   install.sh [--root DIR] [--no-program] [--offline WHEELS]
#
#   --root DIR        install into a folder (an image that is being built) instead of this machine
#   --no-program      leave the program in /opt as it is; units, rules, users and folders only
#   --offline WHEELS  take the Python packages from a folder instead of the network; on a machine of the same kind:
#                    PYPI=1 pip wheel --constraint constraints.txt --wheel-dir WHEELS '.[gpio,metrics]'
set -euo pipefail

root= program=yes wheels=
while [ $# -gt 0 ]; do
    case $1 in
        --root) root=${2:?--root needs a folder}; shift 2 ;;
        --no-program) program=no; shift ;;
        --offline) wheels=$(realpath "${2:?--offline needs a folder}"); shift 2 ;;
        *) echo "install.sh: unknown argument: $1 (see the first lines of this script)" >&2; exit 2 ;;
    esac
done
root=${root%/}
[ -z "$root" ] || { mkdir -p "$root"; root=$(realpath "$root"); }
source=$(cd "$(dirname "$0")" && pwd)
project=$(dirname "$source")
home=/opt/shoe-controller

say() { echo "==> $*"; }
stop() { echo "install.sh: $*" >&2; exit 1; }

if [ "$(id -u)" -ne 0 ] && [ -z "$root" ]; then
    stop "this sets up the machine: run it as root (sudo make install)"
fi
# The system's Python: one in somebody's home folder cannot be reached by the daemon.
python=${PYTHON:-/usr/bin/python3}
[ -n "$(command -v "$python")" ] || stop "$python is not here: apt install python3 python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || stop "Python 3.11 or newer is needed"
"$python" -c 'import sys; sys.exit(sys.maxsize < 2**32)' || stop "a 64-bit system is needed (Raspberry Pi OS 64-bit)"

put() { # put MODE FILE TARGET: a file of ours, replaced only if it differs, there whole or not at all
    if ! cmp -s "$2" "$root$3"; then
        mkdir -p "$(dirname "$root$3")"
        install -m "$1" "$2" "$root$3.new"
        mv "$root$3.new" "$root$3"
        echo "    $3"
    fi
}

say "units, rules, users and folders"
put 0644 "$source/shoe-controller.service" /etc/systemd/system/shoe-controller.service
put 0644 "$source/shoe-controller-kiosk.service" /etc/systemd/system/shoe-controller-kiosk.service
put 0644 "$source/99-shoe-controller.rules" /etc/udev/rules.d/99-shoe-controller.rules
put 0644 "$source/shoe-controller.sysusers" /etc/sysusers.d/shoe-controller.conf
put 0644 "$source/shoe-controller.tmpfiles" /etc/tmpfiles.d/shoe-controller.conf
put 0755 "$source/kiosk.sh" $home/kiosk
systemd-sysusers ${root:+--root="$root"} shoe-controller.conf
# As a user who is not root (an image is being built), folders cannot be given away: they are made when it boots.
if [ "$(id -u)" -eq 0 ]; then
    systemd-tmpfiles ${root:+--root="$root"} --create shoe-controller.conf
fi

config=/etc/shoe-controller/shoe-controller.toml
put 0644 "$source/shoe-controller.toml" $config.sample
if [ -e "$root$config" ]; then
    fresh=no
    say "your configuration $config stays as it is"
else
    fresh=yes
    say "sample configuration in $config"
    install -m 0640 "$source/shoe-controller.toml" "$root$config"
    if [ "$(id -u)" -eq 0 ]; then
        # By number: in a root that is not this machine the group has a number of its own.
        chown "0:$(awk -F: '$1 == "shoe-controller" {print $3}' "$root/etc/group")" "$root$config"
    fi
fi

if [ "$program" = yes ]; then
    # A new release is made complete beside the old one and takes its place in one step: a power cut in the middle
    # of an upgrade leaves the old program, and a running daemon keeps its own files.
    mkdir -p "$root$home"
    release=$(mktemp -d "$root$home/release.XXXXXX")
    trap 'rm -rf "$release"' EXIT
    chmod 0755 "$release"
    say "program in ${release#"$root"} (this takes a few minutes on a Pi)"
    "$python" -m venv "$release" || stop "Python's venv is missing: apt install python3-venv"
    [ -n "$wheels" ] || "$project/.ci/lgpio-tools" "$python" || stop "lgpio, the library for the panel, cannot be built"
    export PYPI=1 # lgpio, where pip builds it, brings its own C library
    pip=("$release/bin/pip" --quiet --disable-pip-version-check install)
    what=$project
    if [ -n "$wheels" ]; then
        pip+=(--no-index --find-links "$wheels")
        # To build the program takes packages that no folder of wheels holds: the program is one of the wheels.
        what=$(ls -t "$wheels"/shoe_controller-*.whl 2>/dev/null | head -n 1) || true
        [ -n "$what" ] || stop "$wheels does not hold the program: PYPI=1 pip wheel --wheel-dir $wheels '$project[gpio,metrics]'"
    fi
    "${pip[@]}" --constraint "$project/constraints.txt" "${what}[gpio,metrics]"
    "$release/bin/shoe-controller" --version >/dev/null
    while read -r words target; do # what the shells and man look for is made by the release, and lies in it
        mkdir -p "$release/$(dirname "$target")"
        "$release/bin/shoe-controller" ${words//-/ } >"$release/$target"
    done <"$source/shared-files"
    if [ -n "$root" ]; then # scripts name their interpreter by its path, which is another one once it runs
        grep -lIF "$root$home" -r "$release/bin" "$release/pyvenv.cfg" | xargs sed -i "s|$root$home|$home|g"
    fi
    sync -f "$release"
    old=$(readlink "$root$home/current" || true)
    ln -s "${release##*/}" "$root$home/current.new"
    mv -T "$root$home/current.new" "$root$home/current"
    trap - EXIT
    for other in "$root$home"/release.*; do # the last one stays, for the way back
        [ "$other" = "$release" ] || [ "${other##*/}" = "$old" ] || rm -rf "$other"
    done
    mkdir -p "$root/usr/local/bin"
    ln -sfn $home/current/bin/shoe-controller "$root/usr/local/bin/shoe-controller"
    while read -r _ target; do
        mkdir -p "$root/usr/local/$(dirname "$target")"
        ln -sfn "$home/current/$target" "$root/usr/local/$target"
    done <"$source/shared-files"
    if [ -z "$root" ] && ! ldconfig -p | grep -q 'libusb-1\.0\.so\.0'; then
        say "libusb is not here; only shoes on raw USB (usb-raw:) need it: apt install libusb-1.0-0"
    fi
fi

running=no
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if udevadm control --reload 2>/dev/null; then
        udevadm trigger --subsystem-match=tty --subsystem-match=usb --subsystem-match=gpio
    else # in a container
        say "udev does not run here: the rules for ports come into force when it does"
    fi
    ! systemctl --quiet is-active shoe-controller.service || running=yes
fi

echo
if [ "$running" = yes ]; then
    cat <<NEXT
The controller is running and still the old one. Between two shoes:
  1. sudo shoe-controller check-config       does the new program accept your configuration?
  2. sudo systemctl restart shoe-controller
To go back: ln -sfn ${old:-release.OLD} $home/current && systemctl restart shoe-controller
NEXT
else
    step=1
    echo "What to do next${root:+ (once $root is a running machine)}:"
    if [ "$fresh" = yes ]; then
        echo "  $step. edit $config           which table, which game, which shoe"
        step=$((step + 1))
    fi
    cat <<NEXT
  $step. sudo shoe-controller check-config       is the configuration right?
  $((step + 1)). sudo shoe-controller devices            what is plugged in
  $((step + 2)). sudo shoe-controller doctor             is the machine fit for play?
  $((step + 3)). sudo systemctl enable --now shoe-controller
  $((step + 4)). with a screen:  sudo apt install cage chromium fonts-noto-cjk
                    sudo systemctl enable --now shoe-controller-kiosk
  $((step + 5)). who may decide irregularities here:  sudo usermod -aG shoe-supervisors NAME
NEXT
fi
