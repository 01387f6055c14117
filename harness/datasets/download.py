"""Download of the published data files: checked by hash, resumed where an attempt broke off.

Nothing is fetched unless the user asks. Where the network does not allow it, the error says which
file to put where; the same command then checks that file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx

from harness.datasets.benchmark import KnownFile
from harness.datasets.files import sha256_of
from harness.datasets.registry import KNOWN_FILES, KNOWN_FOLDERS
from harness.errors import DownloadFailed, NotPublished, UsageError, raising

_TIMEOUT = 30.0
_SHA256 = re.compile(r"[0-9a-f]{64}")
# The Hugging Face hub's header with the hash of a large file.
_ANNOUNCED = "x-linked-etag"

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file in its place; `is_verified` if its hash is a known one or the one announced."""

    path: Path
    sha256: str
    is_verified: bool


def find_known(key: str) -> KnownFile:
    """The published file of that name; `UsageError` for any other."""
    for known in KNOWN_FILES:
        if known.key == key:
            return known
    names = ", ".join([*(one.key for one in KNOWN_FILES), *(one.key for one in KNOWN_FOLDERS)])
    raise UsageError(f"unknown file {key!r}, expected one of {names}")


def files_of(key: str) -> Sequence[KnownFile]:
    """The published file of that name, or all files of the folder; `UsageError` for any other."""
    found = (known.files for known in KNOWN_FOLDERS if known.key == key)
    return next(found, None) or [find_known(key)]


def download(
    known: KnownFile, folder: Path, *, mirror: str | None = None, progress: Progress
) -> Downloaded:
    """Put the file into the folder, or check the one that is there.

    `mirror` replaces scheme and host of the address; `progress` is called with the bytes so far and
    in all (None: not known). Raises `DownloadFailed`, or `NotPublished` for a file that the server
    does not have, and keeps what has arrived for the next attempt.
    """
    target = folder / known.file
    url = known.url if mirror is None else _mirrored(known.url, mirror)
    if target.exists():
        return _checked(known, target, known.sha256)
    with raising(UsageError, f"--out {folder}: cannot be made"):
        target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    announced = _fetch(url, partial, target, progress)
    arrived = _checked(known, partial, known.sha256 or announced)
    partial.replace(target)
    return Downloaded(target, arrived.sha256, arrived.is_verified)


def _mirrored(url: str, mirror: str) -> str:
    to, parts = urlsplit(mirror), urlsplit(url)
    if to.scheme not in ("http", "https") or not to.netloc:
        raise UsageError(f"--mirror {mirror!r} is not an http(s) URL")
    return urlunsplit((to.scheme, to.netloc, to.path.rstrip("/") + parts.path, "", ""))


def _fetch(url: str, partial: Path, target: Path, progress: Progress) -> str | None:
    here = partial.stat().st_size if partial.exists() else 0
    headers = {"Range": f"bytes={here}-"} if here else {}
    with _explained(url, target), _client() as client:
        announced = _announced(client.head(url).headers)
        with client.stream("GET", url, headers=headers, follow_redirects=True) as response:
            if here and response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                return announced  # all of it is here
            response.raise_for_status()
            continued = response.status_code == httpx.codes.PARTIAL_CONTENT
            _write(response, partial, here if continued else 0, progress)
    return announced


def _write(response: httpx.Response, partial: Path, here: int, progress: Progress) -> None:
    length = response.headers.get("Content-Length")
    total = here + int(length) if length else None
    with partial.open("ab" if here else "wb") as file:
        for chunk in response.iter_bytes():
            file.write(chunk)
            here += len(chunk)
            progress(here, total)


def _client() -> httpx.Client:
    # Of a compressed transfer, bytes could be neither counted nor resumed.
    headers = {"User-Agent": "aide-memoire-harness", "Accept-Encoding": "identity"}
    return httpx.Client(timeout=_TIMEOUT, headers=headers)


def _announced(headers: Mapping[str, str]) -> str | None:
    value = headers.get(_ANNOUNCED, "").strip('"')
    return value if _SHA256.fullmatch(value) else None


@contextmanager
def _explained(url: str, target: Path) -> Iterator[None]:
    by_hand = f"fetch {url} by other means, save it as {target} and run this again to check it"
    try:
        yield
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        failure = NotPublished if status == httpx.codes.NOT_FOUND else DownloadFailed
        raise failure(f"{url} answers {status}: {by_hand}") from error
    except httpx.TransportError as error:
        reason = str(error) or type(error).__name__
        host = urlsplit(url).netloc
        raise DownloadFailed(f"{host} cannot be reached from here ({reason}): {by_hand}") from error
    except OSError as error:
        raise DownloadFailed(f"{target} cannot be written ({error.strerror or error})") from error


def _checked(known: KnownFile, path: Path, expected: str | None) -> Downloaded:
    actual = sha256_of(path)
    if expected is not None and actual != expected:
        path_is_ours = path.name.endswith(".partial")
        if path_is_ours:
            path.unlink()
        what = "what arrived" if path_is_ours else str(path)
        raise DownloadFailed(
            f"{known.key}: {what} has SHA-256 {actual}, the published file has {expected}"
        )
    return Downloaded(path, actual, is_verified=expected is not None)
