# shellcheck shell=bash
# Functions for the other scripts of this folder, which source this file.

say() { printf '\n=== %s\n' "$*" >&2; }
loud() { printf '\n!!! %s\n' "$*" >&2; }
has() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null; }

# Installs Debian packages, as root or with sudo. Fails if that is impossible.
install_packages() {
    local as_root=()
    [ $# -gt 0 ] || return 0
    say "installing $*"
    if ! has apt-get; then
        loud "no apt-get here: install $* by hand"
        return 1
    fi
    if [ "$(id -u)" -ne 0 ] && has sudo; then as_root=(sudo); fi
    export DEBIAN_FRONTEND=noninteractive
    if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "$@"; }; then
        loud "could not install $*"
        return 1
    fi
}

# Runs a command, and prints a warning if its code is 77, because a requirement is missing. Another failure ends the script.
unless_missing() {
    local warning=$1 status=0
    shift
    "$@" || status=$?
    [ $status -ne 77 ] || loud "$warning"
    [ $status -eq 0 ] || [ $status -eq 77 ] || exit $status
}

can_make_venv() { python3 -c 'import ensurepip, venv, sys; assert sys.version_info >= (3, 9)' 2>/dev/null; }

# Makes a virtual environment FOLDER with PACKAGES, or keeps it if it has this Python and these packages. Exits with code 77
# if there is no Python, pip or package index.
make_venv() {
    local venv=$1 stamp
    shift
    if ! can_make_venv; then
        echo "no Python 3.9 with venv and pip here" >&2
        exit 77
    fi
    stamp="$(python3 --version) $*"
    if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ]; then
        say "installing $*"
        rm -rf "$venv"
        if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --only-binary :all: "$@"; }; then
            rm -rf "$venv"
            exit 77
        fi
        echo "$stamp" >"$venv/stamp"
    fi
}
