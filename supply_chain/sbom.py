"""Print a bill of materials as CycloneDX JSON: `make sbom`.

Of a part of the project, from the lock; or of a tree, such as a mounted image, from what is in it.
"""

import argparse
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions, version
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from supply_chain.packages import Package, shipped

PARTS = ("image", "assistant", "harness", "mcp", "otel", "designs")
_PROJECT = "aide-memoire"


def bill(title: str, components: Iterable[Component]) -> str:
    """The bill of a thing of this title, as JSON."""
    bom = Bom(components=components)
    whole = Component(name=title, version=version(_PROJECT), type=ComponentType.APPLICATION)
    bom.metadata.component = whole
    bom.register_dependency(whole, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=2)


def of_part(part: str) -> Iterator[Component]:
    """What the lock says that a part takes, with the hashes of every file that pip may fetch."""
    return (_component(package) for package in shipped() if part in package.parts)


def of_tree(root: Path) -> Iterator[Component]:
    """The Python packages and the Debian packages that lie in a tree."""
    places = {str(one.parent) for one in root.rglob("*.dist-info")}
    licences = {package.name: package for package in shipped()}
    for found in distributions(path=sorted(places)):
        name = canonicalize_name(found.metadata["Name"])
        known = licences.get(name)
        yield _component(
            Package(name, found.version, known.licence if known else "", (), frozenset())
        )
    status = root / "var/lib/dpkg/status"
    for paragraph in status.read_text().split("\n\n") if status.exists() else ():
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        if fields.get("Status", "").endswith(" installed"):
            yield _debian(fields["Package"], fields["Version"], fields["Architecture"])


def _component(package: Package) -> Component:
    url = PackageURL("pypi", None, package.name, package.version)
    hashes = (one.removeprefix("sha256:") for one in sorted(package.hashes))
    licences = [LicenseFactory().make_from_string(package.licence)] if package.licence else []
    return Component(
        name=package.name,
        version=package.version,
        purl=url,
        bom_ref=str(url),
        licenses=licences,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in hashes],
    )


def _debian(name: str, number: str, architecture: str) -> Component:
    url = PackageURL("deb", "debian", name, number, {"arch": architecture})
    return Component(name=name, version=number, purl=url, bom_ref=str(url))


def main() -> None:
    """Print the bill that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, default="assistant")
    parser.add_argument("--tree", type=Path, help="a mounted image, instead of a part of the lock")
    asked = parser.parse_args()
    components = of_tree(asked.tree) if asked.tree else of_part(asked.part)
    print(bill(f"{_PROJECT}-{'image' if asked.tree else asked.part}", components))


if __name__ == "__main__":
    main()
