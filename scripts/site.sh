#!/usr/bin/env bash
# Builds the documentation site in target/site: scripts/site.sh [serve]. `serve` shows it at http://127.0.0.1:8000 and
# follows changes; the search needs a server. Makes its own virtual environment, target/site-venv. A broken link, a
# missing page and any warning are errors. Exit code 77 if there is no Python, pip or package index: then nothing was
# built.
set -euo pipefail
cd "$(dirname "$0")/.."

# Otherwise mkdocs-material prints an advertisement for its successor.
export NO_MKDOCS_2_WARNING=1
venv=target/site-venv
# Versions are pinned, so that a failure has its cause in this repository.
packages=(mkdocs==1.6.1 mkdocs-material==9.8.2 mkdocstrings==1.0.8 mkdocstrings-python==2.0.11 griffelib==2.4.1 ruff==0.17.6)

. scripts/common.sh
make_venv "$venv" "${packages[@]}"

if [ "${1-}" = serve ]; then
    exec "$venv/bin/mkdocs" serve
fi
# Without --quiet, which would also hide warnings from --strict.
"$venv/bin/mkdocs" build --strict --clean
# Pages must not load anything from another server.
if grep -rhoE '<(script|link|img|iframe)[^>]+(src|href)="https?://[^"]+"' target/site --include='*.html' | sort -u | grep .; then
    echo "the site loads the files above from another server" >&2
    exit 1
fi
say "target/site has $(find target/site -name '*.html' | wc -l) pages, $(du -sh target/site | cut -f 1)"
