"""The folder in which a picture is restored block by block, beside the result."""

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dictsel_core.restoration import Fill, Region
from inpaint_app.errors import UserError, printable_path, writing_error
from inpaint_app.io.atomic import SUFFIX
from inpaint_app.io.chunked.zarr_array import ZarrImage
from inpaint_app.io.extra import load_extra
from inpaint_app.io.work_folder import (
    claim_folder,
    clear_folder,
    is_claimed,
    put_in_place,
    recover,
    remove_folder,
)
from inpaint_app.system import lock

_REQUEST, _STATE, _LOCK = "request.json", "state.json", "lock"
_FILLS, _RESULT, _FINISHED, _REPLACED = "fills", "result", "finished", "replaced"
#: All that a run writes into its folder, in the order of removal: without a state, nothing else counts.
_CONTENTS = (_STATE, "state.new", "plan-*.npz", _REQUEST, _FILLS, _RESULT, _FINISHED, _REPLACED)


@dataclass(frozen=True)
class Workspace:
    """The plans, what wide holes are filled with, and the result as far as it is done.

    Each block is one shard of its array, written by one process and in one step. So a run that was killed
    continues with the blocks that are not there.
    """

    folder: Path  #: Beside the result, hidden.
    block: int  #: Side of a block.
    token: str = ""  #: Tells workspaces of the same name apart, where a process keeps their arrays open.
    plane: int = 0  #: Which picture of a stack it is about.

    @property
    def result(self) -> Path:
        """Where the result is until it gets its name."""
        return self.folder / _RESULT

    def write_fill(self, fill: Fill) -> None:
        """Keep what a part of a wide hole is filled with."""
        box, values, wide = fill
        path = self._fill_path(box)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, allow_pickle=False, values=values, wide=wide)
        partial.replace(path)

    def has_fill(self, box: Region) -> bool:
        """Return whether a part of a wide hole was filled."""
        return self._fill_path(box).exists()

    def read_fill(self, box: Region) -> Fill:
        """Return what a part of a wide hole is filled with.

        Raises `UserError` if it was written, and cannot be seen from here, or is damaged.
        """
        path = self._fill_path(box)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return box, arrays["values"], arrays["wide"]
        except FileNotFoundError as error:
            raise UserError(
                f"A worker cannot see what another one has written in {printable_path(path.parent)}",
                "put the output on a file system that all machines share",
            ) from error
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:  # after a power failure
            raise self.changed("What wide holes are filled with") from error

    def changed(self, what: str) -> UserError:
        """Return the error for contents of the folder that are not what a run has written."""
        return UserError(
            f"{what} in {printable_path(self.folder)} was changed", "delete that folder to start again"
        )

    def result_image(self, axes: tuple[int, ...], level: str = "") -> ZarrImage:
        """Return the result, or a level of its pyramid."""
        return replace(_opened(str(self.result / level), axes, self.token), plane=self.plane)

    @property
    def plan(self) -> bytes | None:
        """The stored plan; None before there is one."""
        try:
            return self._plan_path.read_bytes() if self._state_path.exists() else None
        except FileNotFoundError as error:
            raise self.changed("The plan") from error

    @staticmethod
    def digest(plan: bytes) -> str:
        """Return the SHA-256 of a plan, in hexadecimal digits."""
        return hashlib.sha256(plan).hexdigest()

    @property
    def state(self) -> list[dict[str, Any]]:
        """What was decided together with the plans, of each plane."""
        try:
            state: list[dict[str, Any]] = json.loads(self._state_path.read_text("utf-8"))
        except ValueError as error:
            raise self.changed("What was decided with the plan") from error
        return state

    def keep_plans(self, plans: Sequence[bytes], state: list[dict[str, Any]]) -> None:
        """Store the plans of all planes."""
        for plane, plan in enumerate(plans):
            replace(self, plane=plane)._plan_path.write_bytes(plan)
        new = self._state_path.with_suffix(".new")
        new.write_text(json.dumps(state), "utf-8")
        new.replace(self._state_path)  # in one step: a run may be killed at any moment

    @property
    def can_resume(self) -> bool:
        """Whether there is something to continue: not if the result has left, or the plan with it."""
        return self.plan is not None and self.result.exists() and not (self.folder / _FINISHED).exists()

    def clear(self) -> None:
        """Remove everything that an earlier run has left."""
        for name in _CONTENTS:
            clear_folder(self.folder, (name,))

    def publish(self, path: Path) -> None:
        """Give the finished result a name; a store that it replaces stays here until the folder is deleted.

        Killed in between, the result is not continued: it may be the store that was replaced.
        """
        finished = self.folder / _FINISHED
        self.result.rename(finished)
        try:
            put_in_place(finished, path, self.folder / _REPLACED)
        except OSError:
            finished.rename(self.result)
            raise

    def remove_partial_files(self) -> None:
        """Remove what processes that were killed have left of the result."""
        for path in self.result.rglob("*.partial"):
            path.unlink(missing_ok=True)

    def delete(self) -> None:
        """Remove the folder."""
        with contextlib.suppress(OSError, UserError):
            self.clear()
        remove_folder(self.folder, (*_CONTENTS, _LOCK))

    @property
    def _state_path(self) -> Path:
        return self.folder / _STATE

    @property
    def _plan_path(self) -> Path:
        return self.folder / f"plan-{self.plane}.npz"

    def _fill_path(self, box: Region) -> Path:
        return self.folder / _FILLS / str(self.plane) / f"{box[0].start}-{box[1].start}.npz"


@contextlib.contextmanager
def open_workspace(output: Path, block: int, request: str) -> Iterator[Workspace]:
    """Open the workspace of a result, or continue with one that an earlier run has left.

    The request is everything that the result depends on, as text. Raises `UserError` if the earlier run was
    for another request, or is still running.
    """
    folder = _folder_of(output)
    workspace = Workspace(folder, block, hashlib.sha256(request.encode()).hexdigest())
    name = printable_path(output)
    with contextlib.ExitStack() as stack:
        try:
            claim_folder(folder)
            stack.enter_context(_locked(folder / _LOCK, name))
            _recover(folder, output)
            kept = folder / _REQUEST
            is_known = kept.exists() and kept.read_text("utf-8") == request
            if not workspace.can_resume:
                workspace.clear()
            elif not is_known:
                raise UserError(
                    f"{name} was begun with other settings, or from other contents of the picture or mask",
                    f"repeat that command, or delete {printable_path(folder)} to start again",
                )
            kept.write_text(request, "utf-8")
        except OSError as error:
            raise writing_error(error, output) from error
        try:
            yield workspace
        finally:
            if workspace.plan is None:  # there is nothing to continue
                workspace.delete()


def recover_replaced(output: Path) -> None:
    """Give a store its name back that was being replaced when a run was killed.

    Raises `UserError` if another run is writing it.
    """
    folder = _folder_of(output)
    if is_claimed(folder) and (folder / _REPLACED).exists():
        try:
            with _locked(folder / _LOCK, printable_path(output)):
                _recover(folder, output)
        except OSError as error:
            raise writing_error(error, output) from error


def _recover(folder: Path, output: Path) -> None:
    recover(folder / _FINISHED, output, folder / _REPLACED)


def _folder_of(output: Path) -> Path:
    return output.parent.resolve() / f".{output.name}{SUFFIX}"


@contextlib.contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Keep a second run from writing the same result; a run that was killed keeps nobody."""
    with path.open("a") as file:
        if not lock(file):
            raise UserError(f"Another run is writing {name}", "wait until it has ended")
        yield


@lru_cache(maxsize=64)
def _opened(path: str, axes: tuple[int, ...], _token: str) -> ZarrImage:
    """Return an array that stays open in this process, and writes also blocks that hold nothing but zeros."""
    zarr = load_extra("zarr")
    with zarr.config.set({"array.write_empty_chunks": True}):
        return ZarrImage(zarr.open_array(path, mode="r+"), axes)
