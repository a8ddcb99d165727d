"""The folder in which a picture is restored block by block, beside the result."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.cluster.extra import load_extra
from inpaint_app.cluster.stores.zarr_array import ZarrImage, create_array
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.files.atomic import SUFFIX
from inpaint_app.image.rect import Rect

_REQUEST, _PLAN, _STATE, _LOCK = "request.json", "plan.json", "state.json", "lock"


@dataclass(frozen=True)
class Workspace:
    """Arrays of the stages, and marks of the blocks that are done.

    A mark is made when a block has been written, so that a run that was killed continues after the last
    mark. Each block is one shard of its array, and is written by one process.

    Attributes
    ----------
    folder : Path
        Beside the result, hidden.
    block : int
        Side of a block.
    token : str
        Tells workspaces of the same name apart, where a process keeps their arrays open.
    """

    folder: Path
    block: int
    token: str = ""

    @property
    def result(self) -> Path:
        """Where the result is until it gets its name."""
        return self.folder / "result"

    def is_done(self, stage: str, rect: Rect) -> bool:
        """Return whether a block was written."""
        return self._mark(stage, rect).exists()

    def mark_done(self, stage: str, rect: Rect) -> None:
        """Mark a block as written."""
        self._mark(stage, rect).touch()

    def is_complete(self, stage: str) -> bool:
        """Return whether all blocks of a stage were written."""
        return self._complete(stage).exists()

    def mark_complete(self, stage: str) -> None:
        """Mark a stage as complete."""
        self._complete(stage).touch()

    def begin_stage(self, stage: str) -> None:
        """Prepare for the marks of a stage."""
        self._complete(stage).parent.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, shape: tuple[int, ...], dtype: str) -> None:
        """Create an array (H, W, L) unless it exists."""
        path = self._array_path(name)
        if not (path / "zarr.json").exists():
            codec = load_extra("zarr.codecs").BloscCodec(cname="lz4", clevel=1)
            create_array(path, shape, np.dtype(dtype), self.block, options={"compressors": codec})

    def array(self, name: str) -> ZarrImage:
        """Return an array (H, W, L)."""
        return _opened(str(self._array_path(name)), (0, 1, 2), self.token)

    def result_image(self, axes: tuple[int, ...], level: str = "") -> ZarrImage:
        """Return the result, or a level of its pyramid."""
        return _opened(str(self.result / level), axes, self.token)

    def remove(self, name: str) -> None:
        """Remove an array that is not needed any more."""
        shutil.rmtree(self._array_path(name), ignore_errors=True)

    @property
    def plan(self) -> str | None:
        """The stored plan; None before there is one."""
        return (self.folder / _PLAN).read_text("utf-8") if self._state_path.exists() else None

    @cached_property
    def state(self) -> dict[str, Any]:
        """What was decided together with the plan."""
        state: dict[str, Any] = json.loads(self._state_path.read_text("utf-8"))
        return state

    def keep_plan(self, plan: str, state: dict[str, Any]) -> None:
        """Store a plan."""
        (self.folder / _PLAN).write_text(plan, "utf-8")
        self._state_path.write_text(json.dumps(state), "utf-8")

    def delete(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _state_path(self) -> Path:
        return self.folder / _STATE

    def _mark(self, stage: str, rect: Rect) -> Path:
        return self.folder / "done" / stage / f"{rect.row}-{rect.column}"

    def _complete(self, stage: str) -> Path:
        return self.folder / "done" / stage / "complete"

    def _array_path(self, name: str) -> Path:
        return self.folder / "arrays" / name


@contextlib.contextmanager
def open_workspace(output: Path, block: int, request: str) -> Iterator[Workspace]:
    """Open the workspace of a result, or continue with one that an earlier run has left.

    Parameters
    ----------
    output : Path
        The result.
    block : int
        Side of a block.
    request : str
        Everything that the result depends on.

    Raises
    ------
    UserError
        If the earlier run was for another request, or is still running.
    """
    folder = output.parent.resolve() / f".{output.name}{SUFFIX}"
    workspace = Workspace(folder, block, hashlib.sha256(request.encode()).hexdigest())
    name = printable_path(output)
    try:
        folder.mkdir(exist_ok=True)
        with _locked(folder / _LOCK, name):
            kept = folder / _REQUEST
            is_known = kept.exists() and kept.read_text("utf-8") == request
            if not is_known and workspace.plan is not None:
                raise UserError(
                    f"{name} was begun with other settings, or from other contents of the picture or mask",
                    f"repeat that command, or delete {printable_path(folder)} to start again",
                )
            kept.write_text(request, "utf-8")
            try:
                yield workspace
            finally:
                if workspace.plan is None:  # there is nothing to continue
                    workspace.delete()
    except OSError as error:
        raise writing_error(error, output) from error


@contextlib.contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Keep a second run from writing the same result; a run that was killed keeps nobody."""
    with path.open("a") as file:
        try:
            import fcntl  # noqa: PLC0415  (not on Windows)

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"Another run is writing {name}", "wait until it has ended") from None
        except (ImportError, OSError):  # nor on some network file systems
            pass
        yield


@lru_cache(maxsize=64)
def _opened(path: str, axes: tuple[int, ...], _token: str) -> ZarrImage:
    return ZarrImage(load_extra("zarr").open_array(path, mode="r+"), axes)
