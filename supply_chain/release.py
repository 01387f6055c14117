"""Make a release, all but its upload: `make release`; `make release REHEARSAL=1` before its day.

Its version is that of pyproject.toml, its notes are that version's section of CHANGELOG.md.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection

from supply_chain.lock import ROOT
from supply_chain.wheels import DIST, TrialFailed, build, check, run, try_out

_SECTION = r"^## {}(?P<rest>[ \t].*)?\n(?P<notes>(?:(?!## ).*\n?)*)"


def version() -> str:
    """The version in pyproject.toml; a test keeps the harness at the same."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def notes_of(number: str, changelog: str) -> str | None:
    """What the changelog says of a version; None where it says nothing."""
    section = re.search(_SECTION.format(re.escape(number)), changelog, re.MULTILINE)
    return section["notes"].strip() or None if section else None


def is_dated(number: str, changelog: str) -> bool:
    """Whether the heading of a version says on which day it came out."""
    heading = rf"^## {re.escape(number)} \(\d{{4}}-\d\d-\d\d\)$"
    return bool(re.search(heading, changelog, re.MULTILINE))


def obstacles(number: str, changelog: str, tags: Collection[str], changes: str) -> list[str]:
    """Why this cannot be released now."""
    found = {
        f"CHANGELOG.md has no day for it: ## {number} (YYYY-MM-DD)": not is_dated(
            number, changelog
        ),
        f"the tag v{number} exists: raise the version in both pyproject.toml": f"v{number}" in tags,
        "there are changes that are not committed": bool(changes.strip()),
    }
    return [reason for reason, holds in found.items() if holds]


def image_tags(number: str) -> list[str]:
    """What an image of a version is called; one before its release gets no name that moves."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", number):
        return [number]
    return [number, number.rpartition(".")[0], "latest"]


def _prepare(number: str, notes: str, *, tested: bool) -> None:
    """Test, build, check, try out, and write notes and checksums."""
    if tested:
        subprocess.run(["make", "check", "test"], cwd=ROOT, check=True)
    shutil.rmtree(DIST, ignore_errors=True)
    files = build(DIST)
    check(files)
    print(*(f"built and checked: {one.name}" for one in files), sep="\n", flush=True)
    for seen in try_out(DIST):
        print(seen, flush=True)
    (DIST / "notes.md").write_text(f"{notes}\n")
    sums = (f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {one.name}\n" for one in files)
    (DIST / "SHA256SUMS").write_text("".join(sums))
    print(
        f"\n{number} is ready in dist. What is left:\n"
        f"  git tag --annotate v{number} --cleanup=verbatim --file dist/notes.md\n"
        "  twine upload dist/*.whl dist/*.tar.gz\n"
        f"  make image, and push its tags: {' '.join(image_tags(number))}"
    )


def main() -> None:
    """Refuse, or prepare everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rehearsal", action="store_true", help="go on where it is too early")
    parser.add_argument(
        "--untested", action="store_true", help="leave out make check and make test"
    )
    parser.add_argument("--image-tags", action="store_true", help="print the image's tags only")
    asked = parser.parse_args()
    number = version()
    if asked.image_tags:
        print(*image_tags(number))
        return
    changelog = (ROOT / "CHANGELOG.md").read_text()
    notes = notes_of(number, changelog)
    if notes is None:
        sys.exit(f"{number}: CHANGELOG.md says nothing of it")
    tags = run("git", "tag", "--list").split()
    reasons = obstacles(number, changelog, tags, run("git", "status", "--porcelain"))
    for reason in reasons:
        print(f"{number}: {reason}", file=sys.stderr)
    if reasons and not asked.rehearsal:
        sys.exit(1)
    if asked.untested and not asked.rehearsal:
        sys.exit("a release is tested")
    try:
        _prepare(number, notes, tested=not asked.untested)
    except (TrialFailed, subprocess.CalledProcessError) as error:
        sys.exit(f"{number}: {error}")


if __name__ == "__main__":
    main()
