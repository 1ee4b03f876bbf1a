#!/usr/bin/env bash
# Makes a release: scripts/release.sh [all|recipes|install|again [FOLDER]]
#
#   all       (the default) makes everything in FOLDER, by default target/swalign-VERSION: programs for Linux on x86_64
#             and aarch64 with glibc 2.17 and for Windows, the crate, Debian packages, wheels and the sdist if python/
#             exists, lists of components, licenses, and SHA256SUMS. Then it tries to install them, as below.
#   recipes   writes the crate's SHA-256 to workflow/bioconda; with CONTAINER=VERSION--BUILD also the container of
#             bioconda's package to workflow/nf-core
#   install   installs the files of FOLDER, each in an empty root, and runs the example of README.md there
#   again     makes everything again from a copy of the commit in another folder, and fails if a file differs from
#             that of FOLDER (lists of components and licenses are not compared)
#
# Two runs on one commit must give the same bytes: times are those of the commit, paths are remapped, and the versions
# of the tools are fixed, except that of Rust. Needs Rust, python3 with venv, git and a network; dpkg-deb for Debian
# packages; gcc-mingw-w64-x86-64 for Windows programs, and wine64 to try them. If something is missing, the script
# prints a warning and leaves out the file. TARGETS="TRIPLE..." makes programs for these targets only. SOURCES=yes also
# installs from the crate and the sdist, which compiles both. Programs for another machine are tried if qemu-user-static
# is installed, with the C library and the Python of Debian's packages for that machine.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
glibc=2.17
venv=target/release-venv
folder=$PWD/target/swalign-$version
read -ra targets <<<"${TARGETS:-x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu}"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
# Paths in another target folder would not be remapped.
unset CARGO_TARGET_DIR

. scripts/common.sh
end() { loud "$@"; exit 1; }

# Installs the linker, and the tools that make wheels.
tools() {
    make_venv "$venv" cargo-zigbuild==0.24.0 ziglang==0.17.0 maturin==1.16.0
    PATH=$PWD/$venv/bin:$PATH
    export PATH
}

# Remaps paths of this machine, which would be in panic messages and debug information.
flags() {
    local cargo_home=${CARGO_HOME:-$HOME/.cargo} sysroot
    sysroot=$(rustc --print sysroot)
    echo "--remap-path-prefix=$PWD=swalign --remap-path-prefix=$cargo_home/registry/src=crates" \
        "--remap-path-prefix=$PWD/target/debian-rust=rust --remap-path-prefix=$sysroot=rust"
}

# Builds the program for a target, and prints its path. Zig lacks libraries that Windows programs are linked to.
program() {
    local target=$1 linked=$1 status=0 ending="" build=zigbuild further=""
    case $target in
        *-linux-gnu) linked=$target.$glibc ;;
        *-windows-gnu)
            ending=.exe
            build=build
            local linker=${target%%-*}-w64-mingw32-gcc
            if ! command -v "$linker" >/dev/null; then
                loud "no $linker to link with: Debian has it in gcc-mingw-w64-x86-64"
                return 77
            fi
            # The linker would write the time into the program.
            further="-Clinker=$linker -Clink-arg=-Wl,--no-insert-timestamp"
            ;;
    esac
    # mimalloc would write its date of compilation into the program, which zig refuses.
    local cflags='-Wno-builtin-macro-redefined -D__DATE__="" -D__TIME__=""'
    CFLAGS=$cflags RUSTFLAGS="$(flags) $further" scripts/cross.sh "$target" cargo $build --locked --release --target "$linked" \
        --config 'profile.release.strip="symbols"' >&2 || status=$?
    [ $status -eq 0 ] || return $status
    echo "target/$target/release/swalign$ending"
}

# Fails if a program needs a later C library than $glibc.
check_symbols() {
    local newest
    newest=$(objdump -T "$1" | sed -n 's/.*[( ]GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
    [ -n "$newest" ] || end "objdump sees no symbol of glibc in $1"
    [ "$(printf '%s\n' "$newest" "$glibc" | sort -V | tail -n 1)" = "$glibc" ] ||
        end "$1 asks for glibc $newest, and $glibc was promised"
    say "$1 asks for glibc $newest at most"
}

# Makes manual pages and completions with a program that runs here.
pages() {
    local swalign=$1 into=$2 shell
    mkdir -p "$into/completions"
    "$swalign" man-pages "$into/man"
    for shell in bash elvish fish powershell zsh; do
        "$swalign" completions "$shell" >"$into/completions/swalign.$shell"
    done
}

# Sets all times in a folder to the time of the commit.
settle() { find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }

# Packs a folder into a tar archive, to stdout.
archive() {
    local made=$1
    settle "$made"
    tar --create --directory "$(dirname "$made")" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --mtime="@$SOURCE_DATE_EPOCH" --format=gnu "$(basename "$made")" | gzip --no-name --best
}

# Packs a folder into a zip file, which Windows opens.
zipped() {
    local made=$1 into=$2
    settle "$made"
    rm -f "$into"
    (cd "$(dirname "$made")" && python3 - "$into" "$(basename "$made")" "$SOURCE_DATE_EPOCH") <<'END'
import os, sys, time, zipfile

into, made, epoch = sys.argv[1:]
with zipfile.ZipFile(into, "w") as packed:
    for path in sorted(os.path.join(folder, name) for folder, _, names in os.walk(made) for name in names):
        entry = zipfile.ZipInfo(path, time.gmtime(int(epoch))[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        with open(path, "rb") as file:
            packed.writestr(entry, file.read(), compresslevel=9)
END
}

# Packs a program with its documents.
bundle() {
    local target=$1 program=$2 into=$work/swalign-$version-$1
    mkdir -p "$into"
    cp "$program" README.md LICENSE CHANGELOG.md CITATION.cff "$into/"
    cp -r "$work/pages/." "$into/"
    scripts/third_party.py licences "$target" >"$into/THIRD-PARTY.txt"
    case $target in
        *-windows-*) zipped "$into" "$folder/swalign-$version-$target.zip" ;;
        *) archive "$into" >"$folder/swalign-$version-$target.tar.gz" ;;
    esac
}

# Makes a package for Debian, Ubuntu and derived distributions.
debian_package() {
    local architecture=$1 program=$2 target=$3 root=$work/deb-$1 share
    share=$root/usr/share
    install -D -m 755 "$program" "$root/usr/bin/swalign"
    install -d "$share/man/man1" "$share/doc/swalign"
    cp "$work"/pages/man/*.1 "$share/man/man1/"
    gzip --no-name --best "$share"/man/man1/*.1
    install -D -m 644 "$work/pages/completions/swalign.bash" "$share/bash-completion/completions/swalign"
    install -D -m 644 "$work/pages/completions/swalign.zsh" "$share/zsh/vendor-completions/_swalign"
    install -D -m 644 "$work/pages/completions/swalign.fish" "$share/fish/vendor_completions.d/swalign.fish"
    gzip --no-name --best <CHANGELOG.md >"$share/doc/swalign/changelog.gz"
    { cat LICENSE; printf '\n\n'; scripts/third_party.py licences "$target"; } >"$share/doc/swalign/copyright"
    mkdir -p "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<END
Package: swalign
Version: $version
Architecture: $architecture
Maintainer: The swalign authors <swalign@users.noreply.invalid>
Section: science
Priority: optional
Installed-Size: $(du --summarize --apparent-size --block-size=1K "$root/usr" | cut -f 1)
Depends: libc6 (>= $glibc)$(further_libraries "$program")
Recommends: libvulkan1
Description: exact Smith-Waterman on Vulkan GPUs and on the CPU
 swalign aligns every query to every reference by exact Smith-Waterman with
 affine gaps, on GPUs through Vulkan or on the CPU, with the same bytes from
 every device, and writes SAM, BAM or PAF. It also searches patterns with
 errors, aligns pairs, and runs in parts on a cluster.
END
    chmod -R u=rwX,go=rX "$root"
    settle "$root"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/swalign_${version}_$architecture.deb" >&2
}

# Makes the crate as it is published. Cargo builds it once to verify that no file is missing.
crate() {
    say "the crate"
    cargo package --locked --allow-dirty ${IS_COPY:+--no-verify} >&2
    cp "target/package/swalign-$version.crate" "$folder/"
    local bytes
    bytes=$(stat --format=%s "$folder/swalign-$version.crate")
    [ "$bytes" -lt 2000000 ] || end "the crate has $bytes bytes, and 2 MB were promised"
}

# Writes a replacement of rustc for wheels. Cargo derives the metadata name of a crate outside its workspace from the
# path of the crate, and rustc lays out a library by these names.
write_rustc() {
    cat >"$1" <<'END'
#!/usr/bin/env bash
case " $* " in
*" --crate-name swalign "* | *" --crate-name _native "*)
    for word in "$@"; do
        case $word in metadata=*) word=metadata=release ;; esac
        words+=("$word")
    done
    exec "${words[@]}"
    ;;
*) exec "$@" ;;
esac
END
    chmod +x "$1"
}

# Makes the Python wheels, for each Linux target, and the sdist.
python_packages() {
    local target status
    [ -e python/pyproject.toml ] || { loud "no python/ here: wheels and sdist are LEFT OUT"; return; }
    maturin sdist --manifest-path python/Cargo.toml --out "$folder" >&2
    write_rustc "$work/rustc"
    for target in "${targets[@]}"; do
        case $target in *-linux-gnu) ;; *) continue ;; esac
        status=0
        scripts/third_party.py licences python/Cargo.toml "$target" >python/THIRD-PARTY.txt
        RUSTC_WRAPPER=$work/rustc RUSTFLAGS=$(flags) scripts/cross.sh "$target" maturin build --locked --release --strip --zig --target "$target" \
            --compatibility "manylinux_${glibc/./_}" --manifest-path python/Cargo.toml --target-dir target --out "$folder" >&2 || status=$?
        [ $status -eq 0 ] || { loud "no wheel for $target (code $status): LEFT OUT"; continue; }
        check_wheel "$(wheel_of "${target%%-*}")"
    done
    rm -f python/THIRD-PARTY.txt
}

wheel_of() { find "$folder" -name "pyswalign-$version-*_$1.whl"; }

# Fails if a wheel does not support Python 3.9 and glibc $glibc, has 8 MB or more, or lacks a license.
check_wheel() {
    local wheel=$1 name bytes
    name=$(basename "$wheel")
    case $name in
        "pyswalign-$version-cp39-abi3-"*"manylinux_${glibc/./_}_"*) ;;
        *) end "$name is not for Python 3.9 and later on glibc $glibc" ;;
    esac
    bytes=$(stat --format=%s "$wheel")
    [ "$bytes" -lt 8000000 ] || end "$name has $bytes bytes, and less than 8 MB were promised"
    rm -rf "$work/wheel"
    python3 -m zipfile --extract "$wheel" "$work/wheel"
    check_symbols "$work/wheel/pyswalign/_native.abi3.so"
    for name in LICENSE THIRD-PARTY.txt; do
        [ -s "$work/wheel/pyswalign-$version.dist-info/licenses/$name" ] || end "$wheel has no $name"
    done
}

make() {
    local target status path pair
    [ -z "$(git status --porcelain)" ] || loud "not all is committed: these are not the bytes of a release"
    tools
    rm -rf "$folder"
    mkdir -p "$folder"
    local built=()
    for target in "${targets[@]}"; do
        say "the program for $target"
        status=0
        path=$(program "$target") || status=$?
        if [ $status -ne 0 ]; then
            loud "no program for $target (code $status): LEFT OUT"
            continue
        fi
        case $target in *-linux-gnu) check_symbols "$path" ;; esac
        built+=("$target=$path")
    done
    for pair in "${built[@]}"; do
        case $pair in "$(uname -m)-unknown-linux-gnu="*) pages "${pair#*=}" "$work/pages" ;; esac
    done
    [ -d "$work/pages" ] || end "no program runs on this machine, so there are no manual pages"
    for pair in "${built[@]}"; do
        target=${pair%%=*}
        bundle "$target" "${pair#*=}"
        if ! command -v dpkg-deb >/dev/null; then
            loud "no dpkg-deb here: packages for Debian are LEFT OUT"
            continue
        fi
        case $target in
            x86_64-*-linux-gnu) debian_package amd64 "${pair#*=}" "$target" ;;
            aarch64-*-linux-gnu) debian_package arm64 "${pair#*=}" "$target" ;;
        esac
    done
    crate
    python_packages
    mv "$work/pages" "$work/swalign-$version-pages"
    archive "$work/swalign-$version-pages" >"$folder/swalign-$version-pages.tar.gz"
    cp LICENSE "$folder/"
    scripts/third_party.py licences "${built[@]%%=*}" >"$folder/THIRD-PARTY.txt"
    scripts/third_party.py sbom "${built[@]%%=*}" >"$folder/swalign-$version.cdx.json"
    scripts/third_party.py sbom python/Cargo.toml "${built[@]%%=*}" >"$folder/pyswalign-$version.cdx.json"
    (cd "$folder" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
    say "in $folder:"
    (cd "$folder" && ls -l && cat SHA256SUMS) >&2
}

# Makes everything again in a copy at another path, and compares. With TARGETS, the lists would contain fewer targets.
again() {
    local copy=$work/another/folder file name same=0 other=0
    git clone --quiet --no-hardlinks . "$copy"
    IS_COPY=yes "$copy/scripts/release.sh" make "$work/another/made"
    for file in "$work"/another/made/*; do
        name=$(basename "$file")
        case $name in SHA256SUMS | THIRD-PARTY.txt | *.cdx.json) continue ;; esac
        if cmp "$file" "$folder/$name" >&2; then
            same=$((same + 1))
        else
            other=$((other + 1))
        fi
    done
    say "$same files are the same, $other are not"
    [ $other -eq 0 ] && [ $same -gt 0 ]
}

# Writes the release's version and checksum for bioconda, and its container for nf-core.
recipes() {
    local crate=$folder/swalign-$version.crate sum
    [ -e "$crate" ] || end "$crate is missing: run scripts/release.sh first"
    sum=$(sha256sum "$crate" | cut -d ' ' -f 1)
    sed -i "s/{% set version = \".*\" %}/{% set version = \"$version\" %}/; s/{% set sha256 = \".*\" %}/{% set sha256 = \"$sum\" %}/" \
        workflow/bioconda/meta.yaml
    if [ -n "${CONTAINER-}" ]; then
        sed -i "s|swalign:[0-9][^'\"]*|swalign:$CONTAINER|" workflow/nf-core/swalign/align/main.nf
    fi
    say "filled in: $sum"
}

# Libraries other than the C library that a program is linked to, for the package's Depends.
further_libraries() {
    if objdump -p "$1" | grep -q 'NEEDED *libgcc_s'; then echo ", libgcc-s1"; fi
}

# Copies files, and the libraries that they are linked to, into a root.
with_libraries() {
    local root=$1 file
    shift
    for file in "$@" $(for of in "$@"; do ldd "$of"; done | sed -nE 's#^[^/]*(/[^ ]+) .*#\1#p' | sort -u); do
        [ -e "$root$file" ] || install -D "$(realpath "$file")" "$root$file"
    done
}

# Debian's name of an architecture.
debian_name() {
    case $1 in
        x86_64) echo amd64 ;;
        aarch64) echo arm64 ;;
    esac
}

# Downloads Debian packages for another machine, with all their dependencies, into a folder. Nothing is installed here.
download_packages() {
    local machine=$1 into=$2 options
    shift 2
    mkdir -p "$into/state/lists/partial" "$into/cache/archives/partial"
    : >"$into/status"
    options=(-qq -o "APT::Architecture=$(debian_name "$machine")" -o "APT::Architectures=$(debian_name "$machine")"
        -o "Dir::State=$into/state" -o "Dir::State::status=$into/status" -o "Dir::Cache=$into/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2 &&
        apt-get "${options[@]}" --download-only --yes --no-install-recommends install "$@" >&2
}

# Whether the files for a machine can be tried here. Downloads the C library and Python for another machine.
can_run() {
    local machine=$1 name
    [ "$machine" != "$(uname -m)" ] || return 0
    [ -n "$(find "$folder" -name "*$machine*" -o -name "*_$(debian_name "$machine").deb")" ] || return 1
    for name in "qemu-$machine-static" apt-get dpkg-deb; do
        command -v "$name" >/dev/null || { loud "no $name here: programs for $machine are NOT TRIED"; return 1; }
    done
    download_packages "$machine" "$work/packages-$machine" libc6 libgcc-s1 python3-minimal libpython3-stdlib ||
        { loud "Debian's packages for $machine can't be had: programs for it are NOT TRIED"; return 1; }
}

# Makes a root for another machine: with its emulator, and the packages whose names start with the given prefixes.
foreign_root() {
    local root=$1 machine=$2 name package
    shift 2
    mkdir -p "$root/usr/lib"
    ln -s usr/lib "$root/lib"
    for name in "$@"; do
        for package in "$work/packages-$machine/cache/archives/$name"*.deb; do
            dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --directory "$root"
        done
    done
    install -D "$(command -v "qemu-$machine-static")" "$root/emulator"
}

# Makes a root that has only the C library of this machine, or that of Debian's packages for another machine. Programs
# are linked to an older version.
bare_root() {
    local root=$1 machine=$2 file found loader
    mkdir -p "$root/tmp" "$root/dev"
    : >"$root/dev/null"
    if [ "$machine" != "$(uname -m)" ]; then
        foreign_root "$root" "$machine" libc6_ libgcc-s1_
        return
    fi
    # The loader has to be at the path that programs contain.
    case $machine in
        x86_64) loader=/lib64/ld-linux-x86-64.so.2 ;;
        *) loader=/lib/ld-linux-$machine.so.1 ;;
    esac
    install -D "$(realpath "$loader")" "$root$loader"
    for file in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libgcc_s.so.1; do
        found=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -nE "s#^\s*$file .*(x86-64|AArch64).* => ##p" | head -n 1)
        [ -z "$found" ] || install -D "$(realpath "$found")" "$root$found"
    done
}

# Makes a bare root with the reads and the reference of the first example of README.md.
empty_root() {
    bare_root "$@"
    mkdir -p "$1/data"
    cp data/illumina_chr22.fq.gz data/chr22_12k.fa "$1/data/"
}

# Runs a command in a root.
inside() {
    local root=$1 run=(chroot "$1")
    shift
    [ "$(id -u)" -eq 0 ] || run=(unshare --user --map-root-user "${run[@]}")
    [ ! -e "$root/emulator" ] || run+=(/emulator)
    "${run[@]}" "$@"
}

# Runs the first example of README.md with the swalign of a root. All 300 reads are mapped, as README.md says.
example() {
    local root=$1 swalign=$2
    inside "$root" "$swalign" -q data/illumina_chr22.fq.gz data/chr22_12k.fa -o tmp/chr22.sam
    check_mapped "$root/tmp/chr22.sam" "$swalign"
}

# Fails if a program has not mapped all reads of the example.
check_mapped() {
    local mapped
    mapped=$(grep -v '^@' "$1" | awk '$6 != "*"' | wc -l)
    [ "$mapped" -eq 300 ] || end "$2 maps $mapped reads in $1, and README.md says 300"
}

# Writes the first examples of python/README.md as a script that fails if an answer differs.
write_examples() {
    printf 'r"""\n'
    # shellcheck disable=SC2016
    sed -n '/^## Two sequences/,/^## Reads/p' python/README.md | sed -n '/^```python/,/^```/{/^```/d;p}'
    printf '"""\nimport doctest, sys\nfailed, tried = doctest.testmod()\n'
    printf 'print(sys.version.split()[0], "runs", tried, "examples")\nsys.exit(failed > 0 or tried < 5)\n'
}

# Makes a root with the C library, one Python, and a wheel: no GPU, no Vulkan loader, no other package.
python_root() {
    local root=$1 python=$2 wheel=$3 prefix folder
    read -r prefix folder < <("$python" -c 'import sys; print(sys.base_prefix, "python%d.%d" % sys.version_info[:2])')
    bare_root "$root" "$(uname -m)"
    mkdir -p "$root/$prefix/bin" "$root/$prefix/lib"
    with_libraries "$root" "$prefix/bin/$folder" "$prefix/lib/$folder"/lib-dynload/*.so
    tar --create --directory "$prefix/lib" --exclude test --exclude tests --exclude site-packages --exclude dist-packages \
        --exclude __pycache__ --exclude 'config-*' "$folder" | tar --extract --directory "$root/$prefix/lib"
    python3 -m zipfile --extract "$wheel" "$root/$prefix/lib/$folder/site-packages"
    # Debian's Python searches this folder instead.
    mkdir -p "$root/usr/lib/python3"
    ln -s "$prefix/lib/$folder/site-packages" "$root/usr/lib/python3/dist-packages"
    write_examples >"$root/tmp/examples.py"
    inside "$root" "$prefix/bin/$folder" /tmp/examples.py >&2
}

try_wheel() {
    local machine=$1 wheel python said="" root=$work/roots
    wheel=$(wheel_of "$machine")
    [ -n "$wheel" ] || return 0
    if [ "$machine" != "$(uname -m)" ]; then
        say "$(basename "$wheel") in an empty root with Debian's Python"
        foreign_python_root "$root/python-$machine" "$machine" "$wheel"
        return
    fi
    say "$(basename "$wheel") in an environment by pip, and in empty roots"
    python3 -m venv "$root/python"
    "$root/python/bin/pip" install --quiet --no-index "$wheel"
    "$root/python/bin/python" -c "import pyswalign; assert pyswalign.__version__ == '$version'" >&2
    for python in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 python3.15; do
        # A version manager's stub for a version that is not installed fails when it is called.
        "$python" -c pass 2>/dev/null || continue
        python_root "$root/$python" "$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$wheel"
        said+=" $python"
    done
    [ -n "$said" ] || loud "no python3.9 or later by such a name: the wheel was NOT TRIED in an empty root"
}

# Makes the same root as python_root, for another machine.
foreign_python_root() {
    local root=$1 machine=$2 wheel=$3
    mkdir -p "$root/tmp" "$root/dev"
    : >"$root/dev/null"
    foreign_root "$root" "$machine" ""
    python3 -m zipfile --extract "$wheel" "$root/usr/lib/python3/dist-packages"
    write_examples >"$root/tmp/examples.py"
    inside "$root" /usr/bin/python3 /tmp/examples.py >&2
}

try_archive() {
    local machine=$1 archive root=$work/roots/archive-$1
    archive=$folder/swalign-$version-$machine-unknown-linux-gnu.tar.gz
    [ -e "$archive" ] || return 0
    say "$(basename "$archive") in an empty root"
    empty_root "$root" "$machine"
    tar --extract --gzip --directory "$root" --file "$archive"
    example "$root" "/swalign-$version-$machine-unknown-linux-gnu/swalign"
}

# Wine before 9 lacks the random number library that Rust programs need. Puts one next to the program.
random_for_wine() {
    local source=$work/random.c
    [ -z "$(find /usr/lib /usr/lib64 /opt -name bcryptprimitives.dll -print -quit 2>/dev/null)" ] || return 0
    cat >"$source" <<'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
END
    x86_64-w64-mingw32-gcc -shared -o "$1/bcryptprimitives.dll" "$source" -ladvapi32
}

# Runs the Windows program with Wine, on the CPU.
try_windows() {
    local archive=$folder/swalign-$version-x86_64-pc-windows-gnu.zip root=$work/roots/windows
    [ -e "$archive" ] || return 0
    if ! command -v wine >/dev/null; then
        loud "no wine here: the program for Windows is NOT TRIED"
        return
    fi
    say "$(basename "$archive") by Wine"
    python3 -m zipfile --extract "$archive" "$root"
    local folder_there=$root/swalign-$version-x86_64-pc-windows-gnu
    cp data/illumina_chr22.fq.gz data/chr22_12k.fa "$folder_there/"
    random_for_wine "$folder_there"
    (cd "$folder_there" && WINEPREFIX=$root/prefix WINEDEBUG=-all DISPLAY="" wine ./swalign.exe -q --device cpu \
        illumina_chr22.fq.gz chr22_12k.fa -o chr22.sam >&2)
    check_mapped "$folder_there/chr22.sam" swalign.exe
}

try_debian_package() {
    local machine=$1 package root=$work/roots/deb-$1
    package=$folder/swalign_${version}_$(debian_name "$machine").deb
    [ -e "$package" ] || return 0
    say "$(basename "$package") in an empty root"
    empty_root "$root" "$machine"
    # dpkg installs the package. The empty root's list does not contain the C library, hence --force-depends.
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    : >"$root/var/lib/dpkg/status"
    dpkg --root="$root" --force-not-root --force-depends --force-architecture --force-script-chrootless --log=/dev/null \
        --install "$package" >&2
    example "$root" /usr/bin/swalign
    [ -s "$root/usr/share/man/man1/swalign.1.gz" ] || end "the package has no manual page"
}

try_sources() {
    local root=$work/roots
    if [ "${SOURCES-}" != yes ]; then
        loud "the crate and the sdist are NOT TRIED: SOURCES=yes does, in some minutes"
        return
    fi
    if [ -e "$folder/swalign-$version.crate" ]; then
        say "the crate by cargo install"
        mkdir -p "$root/source"
        tar --extract --gzip --directory "$root/source" --file "$folder/swalign-$version.crate"
        empty_root "$root/crate" "$(uname -m)"
        cargo install --locked --path "$root/source/swalign-$version" --root "$root/crate/usr" --target-dir target >&2
        example "$root/crate" /usr/bin/swalign
    fi
    if [ -e "$folder/pyswalign-$version.tar.gz" ]; then
        say "the sdist by pip"
        python3 -m venv "$root/from-source"
        CARGO_TARGET_DIR=$PWD/target/python-sdist "$root/from-source/bin/pip" install --quiet "$folder/pyswalign-$version.tar.gz" >&2
        write_examples >"$root/examples.py"
        "$root/from-source/bin/python" "$root/examples.py" >&2
    fi
}

try_installing() {
    local machine
    mkdir -p "$work/roots"
    for machine in x86_64 aarch64; do
        can_run "$machine" || continue
        try_archive "$machine"
        try_debian_package "$machine"
        try_wheel "$machine"
    done
    try_windows
    try_sources
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:-all} in
    all) folder=${2:-$folder}; make; try_installing ;;
    make) folder=$2; make ;;
    again) folder=${2:-$folder}; again ;;
    recipes) recipes ;;
    install) folder=${2:-$folder}; try_installing ;;
    *) end "scripts/release.sh [all|recipes|install|again [FOLDER]]" ;;
esac
