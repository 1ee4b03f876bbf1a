#!/usr/bin/env python3
"""What a build of swalign is made of, from Cargo.lock and the crates' own files.

    scripts/third_party.py sbom [MANIFEST] TARGET...       a list of components, CycloneDX 1.5, as JSON
    scripts/third_party.py licences [MANIFEST] TARGET...   the licences of all crates that are linked or build what is, as text
    scripts/third_party.py versions                        fails where a crate asks for a later Rust than Cargo.toml says

TARGET is a triple, as in x86_64-unknown-linux-gnu; MANIFEST is python/Cargo.toml for the Python package. The same sources give
the same bytes: SOURCE_DATE_EPOCH is the time in the list.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def metadata(manifest, targets):
    """Cargo's metadata of a package, of these targets."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]
    for target in targets:
        command += ["--filter-platform", target]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def parts(manifest, targets):
    """The package itself, what it is made of (sorted, without what only tests need), and who depends on whom."""
    said = metadata(manifest, targets)
    packages = {package["id"]: package for package in said["packages"]}
    nodes = {node["id"]: node for node in said["resolve"]["nodes"]}
    own = said["resolve"]["root"]
    depends, waiting = {}, [own]
    while waiting:
        current = waiting.pop()
        if current in depends:
            continue
        kinds = [(dep["pkg"], [kind["kind"] for kind in dep["dep_kinds"]]) for dep in nodes[current]["deps"]]
        depends[current] = sorted(name for name, kinds in kinds if any(kind != "dev" for kind in kinds))
        waiting += depends[current]
    order = sorted(depends, key=lambda name: (packages[name]["name"], packages[name]["version"]))
    return packages[own], [packages[name] for name in order if name != own], depends


def lock_file(manifest):
    return (ROOT / manifest).with_name("Cargo.lock")


def checksums(manifest):
    """The SHA-256 of each crate, by name and version."""
    locked = tomllib.loads(lock_file(manifest).read_text())
    return {(item["name"], item["version"]): item["checksum"] for item in locked["package"] if "checksum" in item}


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def licence(package):
    """An SPDX expression; old crates write a slash for OR."""
    return (package["license"] or "").replace("/", " OR ")


def component(package, sums):
    made = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": licence(package)}],
        "purl": purl(package),
    }
    digest = sums.get((package["name"], package["version"]))
    if digest:
        made["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if package["description"]:
        made["description"] = " ".join(package["description"].split())
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def sbom(manifest, targets):
    own, others, depends = parts(manifest, targets)
    sums = checksums(manifest)
    names = {package["id"]: purl(package) for package in [own, *others]}
    lines = [{"ref": names[name], "dependsOn": [names[other] for other in on]} for name, on in depends.items()]
    lock = hashlib.sha256(lock_file(manifest).read_bytes() + " ".join(targets).encode()).hexdigest()
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    main = component(own, sums) | {"type": "application"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # Derived from the listed packages, so that the same list gets the same number.
        "serialNumber": f"urn:uuid:{uuid.UUID(lock[:32])}",
        "version": 1,
        "metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main},
        "components": [component(package, sums) for package in others],
        "dependencies": sorted(lines, key=lambda line: line["ref"]),
    }


def licences(manifest, targets):
    own, others, _ = parts(manifest, targets)
    lines = [
        f"{own['name']} {own['version']} is under the MIT licence (LICENSE). It is built of these {len(others)} crates of others, each",
        "under one of the licences that its line names. Their texts follow; crates that share a text stand above it.",
        "",
    ]
    lines += [f"{package['name']} {package['version']}: {licence(package)}" for package in others]
    texts = {}
    missing = []
    for package in others:
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
        files += [folder / package["license_file"]] if package["license_file"] and not files else []
        for path in files:
            text = "\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines())
            texts.setdefault(text, []).append(f"{package['name']} {package['version']} ({path.name})")
        if not files:
            missing.append(f"{package['name']} {package['version']}: {licence(package)}")
    for text, of in sorted(texts.items(), key=lambda item: item[1][0]):
        lines += ["", "=" * 100, *of, "-" * 100, text]
    if missing:
        lines += ["", "=" * 100, "These bring no text of their own; that of their licence is above, under another crate:", *missing]
    return "\n".join(lines) + "\n"


def versions():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    number = lambda text: tuple(int(part) for part in text.split("."))
    least = manifest["package"]["rust-version"]
    later = [
        f"{package['name']} {package['version']} asks for Rust {package['rust_version']}, and Cargo.toml says {least}"
        for package in metadata("Cargo.toml", [])["packages"]
        if package["rust_version"] and number(package["rust_version"])[:2] > number(least)[:2]
    ]
    if later:
        sys.exit("\n".join(later))


def main():
    kind, *targets = sys.argv[1:] or [""]
    manifest = targets.pop(0) if targets and targets[0].endswith(".toml") else "Cargo.toml"
    if kind == "versions" and not targets:
        versions()
    elif kind == "sbom" and targets:
        print(json.dumps(sbom(manifest, targets), indent=2))
    elif kind == "licences" and targets:
        print(licences(manifest, targets), end="")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
