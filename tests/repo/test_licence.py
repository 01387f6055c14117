"""What a stranger needs to know before using the project: its licence. `test_release.py` looks for
it in the wheels."""

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_READ = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = _READ["project"]
# Apache-2.0 as the Apache Software Foundation publishes it.
OFFICIAL = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def test_the_licence_is_the_official_text() -> None:
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == OFFICIAL
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE", "NOTICE"]


def test_the_notice_names_the_packaged_weights() -> None:
    notice = (ROOT / "NOTICE").read_text()
    assert "all-MiniLM-L6-v2" in notice


def test_the_image_is_built_with_them() -> None:
    copied = (ROOT / "Dockerfile").read_text()
    assert all(name in copied for name in PROJECT["license-files"])
