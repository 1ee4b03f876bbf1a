#!/usr/bin/env bash
# Runs a command with a Rust that has the standard library of a target: scripts/cross.sh TARGET COMMAND...
#
#   scripts/cross.sh wasm32-unknown-unknown cargo check --target wasm32-unknown-unknown ...
#
# Uses the installed Rust if it has the target. Otherwise it uses the Rust of Debian's packages, which include the
# source of the library: they are unpacked into target/debian-rust without being installed, and cargo builds the library
# for the target. If there are no such packages, it asks rustup to add the target. Exit code 77 if all of these fail.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
shift
least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
home=${CARGO_TARGET_DIR:-$PWD/target}/debian-rust
say() { printf '%s\n' "cross.sh: $*" >&2; }

# Whether version $1 is $2 or later.
reaches() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# Unpacks Debian's Rust, once per version.
unpack() {
    local version upstream package
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    version=$(apt-cache policy rustc-web 2>/dev/null | sed -n 's/^ *Candidate: //p')
    upstream=${version%%+*}
    case $upstream in "" | "(none)") return 1 ;; esac
    reaches "$upstream" "$least" || return 1
    [ ! -e "$home/$version" ] || return 0
    say "unpacking Debian's Rust $upstream into $home"
    rm -rf "$home"
    mkdir -p "$home/packages" "$home/root"
    # The libraries that the compiler is linked to are also needed.
    local library=libstd-rust-web-${upstream%.*} llvm
    llvm=$(apt-cache depends "$library=$version" | sed -n 's/^ *Depends: \(libllvm[0-9.]*\)$/\1/p' | head -n 1)
    (cd "$home/packages" && apt-get download "rustc-web=$version" "rust-web-src=$version" "libstd-rust-web-dev=$version" \
        "$library=$version" "$llvm" >&2) || return 1
    for package in "$home"/packages/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$home/root" --exclude './usr/share' \
            --no-wildcards-match-slash --exclude './usr/src/*/compiler' --exclude './usr/src/*/src' || return 1
    done
    rm -r "$home/packages"
    touch "$home/$version"
}

if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    exec "$@"
fi
# Building the library for Windows needs dlltool, for the import libraries.
dlltool=${target%%-*}-w64-mingw32-dlltool
if [[ $target = *-windows-gnu* ]] && [ "${2-}" != zigbuild ] && ! command -v "$dlltool" >/dev/null; then
    say "no $dlltool to compile the library for $target with: Debian has it in binutils-mingw-w64-x86-64"
    exit 77
fi
if unpack; then
    # Debian's Rust has no linker for WebAssembly, and rustup's has it.
    linker=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
    [[ $target != wasm32-* ]] || [ ! -x "$linker" ] || export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
    libraries=$(echo "$home"/root/usr/lib/*-linux-gnu)
    export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # Stable cargo builds a standard library only with the features of nightly versions.
    export RUSTC=$home/root/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_abort
    exec "$@"
fi
if command -v rustup >/dev/null && timeout 60 rustup target add "$target" >&2; then
    exec "$@"
fi
say "no standard library for $target: neither 'rustup target add $target' nor Debian's rustc-web and rust-web-src bring it"
exit 77
