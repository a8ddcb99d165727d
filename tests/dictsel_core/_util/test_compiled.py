"""Kernels that Numba compiles."""

import importlib.util
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

MODULE = """
import numpy as np
from dictsel_core._util.compiled import Kernel

HALF = np.float32(0.5)

@Kernel
def halved(value):
    return HALF * value

@Kernel
def half_sum(values):
    total = np.float32(0)
    for value in values:
        total += halved(value)
    return total
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of its own, with two kernels that are not compiled yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    file = tmp_path / "module.py"
    file.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("module", file)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def make_unwritable(folder: Path) -> None:
    """Put a file in its place; the superuser may write to any folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.touch()


def test_importing_the_core_does_not_load_numba() -> None:
    command = "import dictsel_core, json, sys; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-P", "-c", command], capture_output=True, text=True, check=True)
    assert not {"numba", "llvmlite"} & set(json.loads(output.stdout))


def test_a_kernel_calls_another_and_is_kept_for_other_processes(module: ModuleType, tmp_path: Path) -> None:
    values = np.arange(5, dtype=np.float32)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: module.half_sum(values), range(4))) == [5] * 4
    assert list((tmp_path / "__pycache__").glob("module.half_sum*.nbc"))


def test_a_kernel_works_where_nothing_can_be_written(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    make_unwritable(tmp_path / "__pycache__")
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "file" / "folder"))
    assert module.half_sum(np.ones(4, np.float32)) == 2


def test_a_kernel_works_if_the_folder_cannot_be_written_to_any_more(
    module: ModuleType, tmp_path: Path
) -> None:
    module.half_sum.compiled()
    make_unwritable(tmp_path / "__pycache__")
    assert module.half_sum(np.ones(4, np.float32)) == 2
