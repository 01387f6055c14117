"""As many files as connections are allowed may be open, as far as the system lets them."""

from collections.abc import Iterator

import pytest

from assistant.serving.process import allow_open_files

resource = pytest.importorskip("resource", reason="not on Windows")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    ("soft", "wanted", "got"), [(500, 600, 600), (500, 400, 500), (500, 10**9, None)]
)
def test_the_limit_is_raised_where_it_is_too_low(soft: int, wanted: int, got: int | None) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    allow_open_files(wanted)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (got or hard, hard)
