"""Kernels of these tests are kept in a directory of their own."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLX_CACHE", str(tmp_path_factory.mktemp("home") / "native"))
        yield
