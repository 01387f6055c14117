"""Licences, bills of materials and digests are those of what is shipped."""

import hashlib
import json
import os
import re
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest
import trustme
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from fastapi import FastAPI, Response
from served import served

from supply_chain.images import FILES, IMAGE, pin
from supply_chain.licences import PAGE, rows
from supply_chain.lock import ROOT
from supply_chain.packages import Package, image_packages, shipped
from supply_chain.sbom import PARTS, bill, of_part, of_tree


@pytest.fixture(scope="module")
def packages() -> list[Package]:
    return shipped()


def test_the_page_of_licences_is_in_step(packages: list[Package]) -> None:
    """Written on this platform; others take a few packages more or fewer."""
    assert set(rows(packages)) <= set(PAGE.read_text().splitlines())
    assert image_packages() <= {one.name for one in packages}


def test_every_licence_is_known_and_of_the_version_that_is_locked(packages: list[Package]) -> None:
    assert [one.name for one in packages if one.licence == "unknown"] == []
    installed = {one.name: version(one.name).split("+")[0] for one in packages}
    assert installed == {one.name: one.version for one in packages}


def assert_valid(text: str) -> None:
    trouble = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert trouble is None, trouble


@pytest.mark.parametrize("part", PARTS)
def test_a_bill_lists_each_package_with_version_licence_and_hashes(
    packages: list[Package], part: str
) -> None:
    text = bill(part, of_part(part))
    assert_valid(text)
    listed = json.loads(text)["components"]
    assert {one["name"] for one in listed} == {p.name for p in packages if part in p.parts}
    assert all(one["licenses"] and one["hashes"] and one["purl"] for one in listed)


def test_a_tree_is_billed_by_what_lies_in_it(tmp_path: Path) -> None:
    about = tmp_path / "venv/lib/python3.11/site-packages/numpy-9.9.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 9.9\n")
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(
        "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n"
    )
    text = bill("tree", of_tree(tmp_path))
    assert_valid(text)
    found = {one["purl"] for one in json.loads(text)["components"]}
    assert found == {"pkg:pypi/numpy@9.9", "pkg:deb/debian/libc6@2.36-9?arch=amd64"}


def test_every_image_is_pinned_by_digest() -> None:
    found = [one for name in FILES for one in IMAGE.finditer((ROOT / name).read_text())]
    assert {one["name"].split(":")[0] for one in found} == {"python", "qdrant/qdrant"}
    assert all(one["digest"] for one in found)
    # No other base and no other image.
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert set(bases) == {"${BASE}"}


def copied(folder: Path, registry: str = "") -> Path:
    """The files that name images; with the names of a registry, if one is given."""
    for name in FILES:
        text = (ROOT / name).read_text()
        if registry:
            text = IMAGE.sub(lambda one: f"{one['before']}{registry}/{one['name']}", text)
        (folder / name).write_text(text)
    return folder


def client(folder: Path, script: str) -> None:
    """A `skopeo` that answers as told."""
    program = folder / "skopeo"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_digests_are_written_where_the_images_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    client(tmp_path, 'printf \'{"schemaVersion": 2, "of": "%s"}\' "$3"')
    pin(copied(tmp_path))
    digests = {
        found["name"]: found["digest"]
        for name in FILES
        for found in IMAGE.finditer((tmp_path / name).read_text())
    }
    assert len(digests) == 2
    for name, digest in digests.items():
        answer = f'{{"schemaVersion": 2, "of": "docker://{name}"}}'
        assert digest == "sha256:" + hashlib.sha256(answer.encode()).hexdigest()


@pytest.mark.parametrize("script", ["echo no such image >&2; exit 1", "echo something else"])
def test_nothing_is_written_when_a_digest_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    client(tmp_path, script)
    with pytest.raises(SystemExit, match="no digest of python"):
        pin(copied(tmp_path))
    assert all((tmp_path / name).read_text() == (ROOT / name).read_text() for name in FILES)


@pytest.mark.skipif(not shutil.which("skopeo"), reason="needs skopeo, a Debian package")
def test_a_registry_is_asked_for_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = FastAPI()
    manifest = b'{"schemaVersion": 2, "manifests": []}'
    kind = "application/vnd.oci.image.index.v1+json"
    asked: list[str] = []

    @app.get("/v2/")
    def version_of_the_protocol() -> dict[str, str]:
        return {}

    @app.api_route("/v2/{name:path}/manifests/{tag}", methods=["GET", "HEAD"])
    def give(name: str, tag: str) -> Response:
        asked.append(f"{name}:{tag}")
        return Response(manifest, media_type=kind)

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    server = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(server)
    with served(app, certificate=server) as url:
        pin(copied(tmp_path, url.removeprefix("https://")))
    digest = "sha256:" + hashlib.sha256(manifest).hexdigest()
    found = [one for name in FILES for one in IMAGE.finditer((tmp_path / name).read_text())]
    assert {one["digest"] for one in found} == {digest}
    assert {one.split(":")[0] for one in asked} == {"python", "qdrant/qdrant"}
