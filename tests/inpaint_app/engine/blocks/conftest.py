"""One small cluster for all tests, on the loopback address."""

import pytest

from inpaint_app.engine.blocks.executors import local_cluster


@pytest.fixture(scope="session")
def scheduler():
    """The address of a scheduler with two workers."""
    with local_cluster(2) as cluster:
        yield cluster.scheduler_address
