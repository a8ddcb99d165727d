"""Jobs in this process and on a cluster."""

import itertools
import socket
import ssl
import sys
from functools import partial
from types import ModuleType
from urllib.error import HTTPError
from urllib.request import urlopen

import dask
import distributed
import pytest
from cluster_jobs import EndWorker, fail

from inpaint_app.engine.blocks import workers
from inpaint_app.engine.blocks.workers import open_workers, run_job
from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.errors import UserError

#: Of Dask's configuration, which has the keys of the cluster of these tests.
NO_KEYS = dict.fromkeys(f"distributed.comm.tls.{name}" for name in ("ca-file", "client.key", "client.cert"))


@pytest.fixture(params=["this process", "cluster"])
def executor(request):
    address = None if request.param == "this process" else request.getfixturevalue("scheduler")
    with open_workers(address, JobControl()) as executor:
        yield executor


def test_every_job_runs_once(executor) -> None:
    assert sorted(executor.run([partial(pow, 2, number) for number in range(40)])) == [
        2**n for n in range(40)
    ]


def test_an_error_of_a_job_is_raised(executor) -> None:
    with pytest.raises(UserError, match="This is wrong; mend it"):
        list(executor.run([partial(pow, 2, 3), fail]))


def test_no_job_is_begun_after_a_cancel(scheduler) -> None:
    for address in (None, scheduler):
        control = JobControl()
        with open_workers(address, control) as executor:
            results = executor.run([partial(pow, 2, number) for number in range(9)])
            next(results)
            control.cancel()
            with pytest.raises(CancelledError):
                next(results)


def test_the_job_of_a_worker_that_died_runs_elsewhere(scheduler, tmp_path) -> None:
    with open_workers(scheduler, JobControl()) as executor:
        assert sorted(executor.run([EndWorker(tmp_path / "a"), partial(pow, 3, 2)])) == [1, 9]


def test_a_job_that_ends_every_worker_is_lost(scheduler, tmp_path, monkeypatch) -> None:
    job = EndWorker(tmp_path / "a", always=True)
    with open_workers(scheduler, JobControl()) as executor:
        executor.client.run_on_scheduler(_allow_no_failures)
        assert list(executor.run([job], lambda lost, error: (lost, error.problem[:5]))) == [(job, "A job")]
        with pytest.raises(UserError, match="more memory"):
            list(executor.run([job]))


def _allow_no_failures(dask_scheduler) -> None:
    dask_scheduler.allowed_failures = 0


def test_workers_without_the_program_are_named(scheduler, monkeypatch) -> None:
    module = ModuleType("only_here")
    monkeypatch.setitem(sys.modules, "only_here", module)
    exec("class Job:\n    def __call__(self): return 1", module.__dict__)
    module.Job.__module__ = "only_here"
    with open_workers(scheduler, JobControl()) as executor, pytest.raises(UserError, match="only_here"):
        list(executor.run([module.Job()]))


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(UserError, match="A worker has dictsel"):
        run_job(partial(pow, 2, 2), "0.0.0")


@pytest.mark.parametrize("address", ["local:0", "local:", "8786", "http://localhost:1", "tcp://localhost"])
def test_what_is_no_scheduler_is_refused(address) -> None:
    with pytest.raises(UserError, match="not a scheduler"), open_workers(address, JobControl()):
        pass


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch) -> None:
    monkeypatch.setattr(workers, "_SECONDS_TO_CONNECT", 0.2)
    with (
        pytest.raises(UserError, match="cannot be reached"),
        open_workers("tcp://127.0.0.1:9", JobControl()),
    ):
        pass


def test_an_encrypted_connection_without_a_key_is_refused() -> None:
    with (
        dask.config.set(NO_KEYS),
        pytest.raises(UserError, match="no key"),
        open_workers("tls://127.0.0.1:9", JobControl()),
    ):
        pass


def test_nothing_listens_outside_this_machine(scheduler) -> None:
    addresses = _addresses(scheduler)
    assert len(addresses) >= 3
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)


def _addresses(scheduler) -> list[str]:
    """Where the scheduler, its workers and their nannies listen."""
    with open_workers(scheduler, JobControl()) as executor:
        info = executor.client.scheduler_info()
    return [info["address"], *info["workers"], *(each["nanny"] for each in info["workers"].values())]


@pytest.mark.parametrize("keys", ["none, without encryption", "others"])
def test_nobody_without_the_keys_is_answered(scheduler, keys) -> None:
    security = distributed.Security.temporary() if keys == "others" else None
    for encrypted in _addresses(scheduler):
        address = encrypted if keys == "others" else encrypted.replace("tls://", "tcp://")
        with dask.config.set(NO_KEYS), pytest.raises(OSError, match=f"{address}|certificate does not match"):
            distributed.Client(address, security=security, timeout=2, set_as_default=False)


def test_a_client_that_trusts_anybody_needs_a_key_too(scheduler) -> None:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for address in _addresses(scheduler):
        host, port = address.removeprefix("tls://").split(":")
        with (
            socket.create_connection((host, int(port)), timeout=10) as plain,
            pytest.raises(OSError, match=r"certificate.required|reset"),
            trusting.wrap_socket(plain) as encrypted,
        ):
            encrypted.recv(1)


def test_there_are_no_pages_about_the_work(scheduler) -> None:
    with open_workers(scheduler, JobControl()) as executor:
        info = executor.client.scheduler_info()
    ports = [each["services"]["dashboard"] for each in (info, *info["workers"].values())]
    for port, page in itertools.product(ports, ("status", "info", "health", "metrics", "json/counts.json")):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10)
