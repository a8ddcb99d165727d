"""One small cluster for all tests, on the loopback address."""

import pytest

from inpaint_app.engine.blocks.workers import local_cluster


@pytest.fixture(scope="session")
def scheduler():
    """The address of a scheduler with two workers."""
    with local_cluster(2) as cluster:
        yield cluster.scheduler_address
