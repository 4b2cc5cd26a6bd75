"""Kernels of these tests are kept in pytest's cache, apart from the user's."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(pytestconfig: pytest.Config) -> Iterator[None]:
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("native")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLX_CACHE", str(folder))
        yield
