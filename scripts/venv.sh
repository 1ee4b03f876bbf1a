# Sourced by scripts that need a Python with extra packages. `make_venv FOLDER PACKAGES...` makes a virtual environment,
# or keeps it if it has this Python and these packages. Exits with code 77 if there is no Python, pip or package index.
make_venv() {
    local venv=$1 stamp
    shift
    if ! python3 -c 'import ensurepip, venv, sys; assert sys.version_info >= (3, 9)' 2>/dev/null; then
        echo "no Python 3.9 with venv and pip here" >&2
        exit 77
    fi
    stamp="$(python3 --version) $*"
    if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ]; then
        printf '\n=== installing %s\n' "$*" >&2
        rm -rf "$venv"
        if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --only-binary :all: "$@"; }; then
            rm -rf "$venv"
            exit 77
        fi
        echo "$stamp" >"$venv/stamp"
    fi
}
