"""Write the digests of the images we build from and start: `make pin_images`.

A tag may be moved to other content, a digest cannot. `docker` or `skopeo` asks the registry.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from supply_chain.lock import ROOT

FILES = ("Dockerfile", "compose.yaml")
IMAGE = re.compile(
    r"^(?P<before>ARG BASE=| +image: )(?P<name>[\w./:-]+?:[\w.-]+)(?:@(?P<digest>sha256:\w{64}))?$",
    re.MULTILINE,
)
# Each prints what the registry has under a name: for an image of several platforms, their list.
_ASKING = {
    "skopeo": ("skopeo", "inspect", "--raw", "docker://{}"),
    "docker": ("docker", "buildx", "imagetools", "inspect", "--raw", "{}"),
}


def digest_of(image: str) -> str:
    """What the registry says the name stands for now. Exits where it cannot be asked."""
    command = next((one for program, one in _ASKING.items() if shutil.which(program)), None)
    if command is None:
        sys.exit("this needs skopeo, or docker with buildx")
    asked = subprocess.run([part.format(image) for part in command], capture_output=True)
    if asked.returncode or b'"schemaVersion"' not in asked.stdout:
        said = asked.stderr.decode().strip() or asked.stdout.decode().strip()
        sys.exit(f"no digest of {image}: {said}")
    return "sha256:" + hashlib.sha256(asked.stdout).hexdigest()


def pin(folder: Path) -> None:
    """Ask for each image that the files name, then write all the answers."""
    texts = {folder / name: (folder / name).read_text() for name in FILES}
    names = {found["name"] for text in texts.values() for found in IMAGE.finditer(text)}
    digests = {name: digest_of(name) for name in sorted(names)}
    for path, text in texts.items():
        path.write_text(
            IMAGE.sub(lambda one: f"{one['before']}{one['name']}@{digests[one['name']]}", text)
        )
    for name, digest in digests.items():
        print(f"{name}@{digest}")


if __name__ == "__main__":
    pin(ROOT)
