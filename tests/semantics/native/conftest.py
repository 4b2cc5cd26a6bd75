"""Kernels of these tests are kept in pytest's cache (or where `RLX_TEST_KERNELS` says), apart from the user's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(pytestconfig: pytest.Config) -> Iterator[None]:
    assert pytestconfig.cache is not None
    elsewhere = os.environ.get("RLX_TEST_KERNELS")
    folder = Path(elsewhere) if elsewhere else pytestconfig.cache.mkdir("native")
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLX_CACHE", str(folder))
        yield
