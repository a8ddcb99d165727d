"""Machine code in files: what is damaged, foreign or within reach of others is never loaded."""

import hashlib
import importlib.util
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dictsel_core._util import compiled
from dictsel_core.progress import Compilation, compilation, follow_compilation

MODULE = """
import numpy as np
from dictsel_core._util.compiled import Kernel

@Kernel
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result
"""
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, module
from dictsel_core.progress import compilation
print(json.dumps([module.total(np.arange(5.0)), compilation().n_compiled]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a module with one kernel; the user has a cache folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "module.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("module", None)


def call(folder: Path) -> int:
    """Call the kernel as another process would; return how many kernels were compiled for that."""
    spec = importlib.util.spec_from_file_location("module", folder / "module.py")
    sys.modules["module"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before = compilation().n_compiled
    assert module.total(np.arange(5.0)) == 10
    return compilation().n_compiled - before


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.nbc"))


def start(folder: Path) -> subprocess.Popen[str]:
    # -B: bytecode is told by the second and the size of its source, and tests change a digit within a second.
    command = [sys.executable, "-P", "-B", "-c", RUN, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


class Attack:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Path]]:
        return Path.touch, (self.file,)


def test_a_kernel_is_compiled_once(folder: Path) -> None:
    assert call(folder) == 1
    (file,) = kept(folder / "__pycache__")
    assert call(folder) == 0
    assert not (folder / "home").exists()
    (folder / "module.py").write_text(MODULE + "# changed\n")
    compiled._digest_of_file.cache_clear()
    assert call(folder) == 1
    assert file in kept(folder / "__pycache__")


def test_a_kernel_is_compiled_again_if_a_constant_of_another_module_changes(folder: Path) -> None:
    source = "from constants import START\n" + MODULE.replace("result = 0.0", "result = START")
    (folder / "module.py").write_text(source)
    for start_value, expected in ((0.0, 10.0), (3.0, 13.0)):
        (folder / "constants.py").write_text(f"START = {start_value}\n")
        output, _ = start(folder).communicate()
        assert json.loads(output) == [expected, 1]


@pytest.mark.parametrize("damage", ["empty", "truncated", "head", "middle", "end", "foreign", "other key"])
def test_what_is_damaged_or_foreign_is_made_again(folder: Path, damage: str) -> None:
    call(folder)
    (file,) = kept(folder / "__pycache__")
    good = file.read_bytes()
    attack = pickle.dumps(Attack(folder / "attacked"))
    flipped = {"head": 3, "middle": len(good) // 2, "end": len(good) - 1}
    if damage in flipped:
        bad = bytearray(good)
        bad[flipped[damage]] ^= 1
    else:
        other = pickle.dumps(("another key", ()))
        bad = {
            "empty": b"",
            "truncated": good[:-100],
            "foreign": good[:32] + attack,
            "other key": hashlib.sha256(other).digest() + other,
        }[damage]
    file.write_bytes(bad)
    assert call(folder) == 1
    assert not (folder / "attacked").exists()
    assert compiled.read_checked(file) is not None
    assert call(folder) == 0


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(folder: Path, mode: int) -> None:
    call(folder)
    (file,) = kept(folder / "__pycache__")
    file.parent.chmod(mode)
    assert call(folder) == 1, "it is compiled again"
    assert kept(folder / "home" / "dictsel"), "and kept where nobody else can write"
    assert (folder / "home" / "dictsel").stat().st_mode & 0o777 == 0o700
    assert call(folder) == 0


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_can_write_to_is_not_read(tmp_path: Path, mode: int) -> None:
    assert compiled.write_checked(tmp_path / "a.nbc", b"code")
    assert compiled.read_checked(tmp_path / "a.nbc") == b"code"
    (tmp_path / "a.nbc").chmod(mode)
    assert compiled.read_checked(tmp_path / "a.nbc") is None


def test_links_pipes_and_files_of_others_are_not_read(tmp_path: Path) -> None:
    compiled.write_checked(tmp_path / "a.nbc", b"code")
    (tmp_path / "link.nbc").symlink_to(tmp_path / "a.nbc")
    os.mkfifo(tmp_path / "pipe.nbc")
    for name in ("link", "pipe", "none"):
        assert compiled.read_checked(tmp_path / f"{name}.nbc") is None
    if os.geteuid() == 0:
        os.chown(tmp_path / "a.nbc", 12345, 12345)
        assert compiled.read_checked(tmp_path / "a.nbc") is None


def test_two_processes_compile_at_once(folder: Path) -> None:
    processes = [start(folder) for _ in range(2)]
    for process in processes:
        output, _ = process.communicate(timeout=300)
        assert json.loads(output)[0] == 10
    assert len(kept(folder / "__pycache__")) == 1
    assert not list((folder / "__pycache__").glob("*.tmp"))
    assert call(folder) == 0


def test_compilation_is_told(folder: Path) -> None:
    seen: list[Compilation] = []
    before = compilation()
    with follow_compilation(seen.append):
        call(folder)
        call(folder)
    assert [each.is_running for each in seen] == [True, False]
    assert seen[-1].n_compiled == before.n_compiled + 1
    assert compilation().seconds == seen[-1].seconds > before.seconds
    assert 0 < seen[-1].fraction <= 1
    assert seen[0].seconds_left > 0
    call(folder)
    assert len(seen) == 2


def test_a_kernel_that_cannot_be_compiled_leaves_nothing_running(folder: Path) -> None:
    (folder / "module.py").write_text(MODULE.replace("result += value", "result += value.nonsense"))
    compiled._digest_of_file.cache_clear()
    with pytest.raises(Exception, match="nonsense"):
        call(folder)
    assert not compilation().is_running


def test_a_kernel_that_is_gone_is_compiled_with_what_was_kept(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = (
        "import numpy as np; from dictsel_core import restore; r = np.random.default_rng(0);"
        "image = r.integers(0, 256, (40, 40), np.uint8);"
        "restore(image, r.random(image.shape) < 0.4)"
    )
    folder = Path(compiled.__file__).parents[1]
    for attempt in range(2):
        subprocess.run([sys.executable, "-P", "-c", command], check=True, timeout=600)
        kept = list(folder.rglob("gaussian.condition-*.nbc"))
        assert kept or attempt == 1
        for file in kept if attempt == 0 else ():
            file.unlink()  # so that it is compiled with what else was kept
