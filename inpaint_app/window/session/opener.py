"""Opens pictures, references, masks and recipes in the background, one at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaint_app.engine import source as sources
from inpaint_app.engine.control import Progress
from inpaint_app.engine.source import LoadedRecipe, Source, load_recipe
from inpaint_app.errors import UnviewableError
from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.model.mask_history import MaskHistory
from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.model.picture import Picture
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.hints.unshown_file import UnshownFile

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session

NO_PICTURE = "There is no picture yet; open one, or open the sample."


class Opener:
    """Loads what the user opens, and hands it to the session; if that fails, everything stays as it was."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.task = ExclusiveTask(session.workers)

    def open_file(
        self,
        path: Path,
        mask_spec: MaskSpec | None = None,
        reference: Path | None = None,
        *,
        notice: str = "",
        then: Callable[[], None] | None = None,
    ) -> None:
        """Open a picture file; a notice or something else may follow."""
        spec = mask_spec or MaskSpec()

        def work() -> Source | UnshownFile:
            try:
                return sources.open_source(path, spec, reference)
            except UnviewableError as error:
                return UnshownFile(path, spec, error.problem)

        self._open_source(work, f"opening {path.name}", notice=notice, then=then)

    def open_sample(self, damage: Damage = SAMPLES[0]) -> None:
        """Open the bundled picture with some damage."""
        self._open_source(lambda: sources.open_sample(damage), "opening the sample")

    def open_picture(self, make: Callable[[], Picture], name: str) -> None:
        """Open pixels that are no file; `make` is called in another thread."""
        self._open_source(lambda: sources.source_from_picture(make(), name), f"opening {name}")

    def simulate_damage(self, damage: Damage) -> None:
        """Simulate damage; the whole picture becomes the reference."""
        source = self._session.source
        if source is None:
            self._session.problem.emit(NO_PICTURE)
        else:
            self._open_source(lambda: sources.simulate_damage(source, damage), "simulating damage")

    def open_reference(self, path: Path) -> None:
        """Measure against this undamaged picture from now on."""
        self._change(
            lambda source: sources.with_reference(source, path),
            f"opening {path.name}",
            self._session.set_reference,
        )

    def set_mask_spec(self, mask_spec: MaskSpec, then: Callable[[], None] | None = None) -> None:
        """Detect missing pixels again, after which something may follow; undo brings a painted mask back."""

        def show(marked: Source) -> None:
            self._session.set_marked(marked)
            if then is not None and not self._session.asks_about_mask:
                then()

        self._change(lambda source: sources.detect_again(source, mask_spec), "finding missing pixels", show)

    def open_recipe(self, path: Path) -> None:
        """Use the parameters of a recipe, and its marks of missing pixels for the picture that is open."""
        source = self._session.source
        self._open(lambda: load_recipe(path, source), f"opening {path.name}", self._show_recipe)

    def _show_recipe(self, recipe: LoadedRecipe) -> None:
        session = self._session
        if recipe.source is not None:
            session.set_marked(recipe.source, recipe.settings)
            return
        if recipe.mask_spec != MaskSpec():
            session.notice.emit("The recipe also marks missing pixels; open it again when a picture is open.")
        session.set_settings(recipe.settings)

    def _open_source(
        self,
        work: Callable[[], Source | UnshownFile],
        stage: str,
        *,
        notice: str = "",
        then: Callable[[], None] | None = None,
    ) -> None:
        def load() -> tuple[Source, MaskHistory] | UnshownFile:
            source = work()
            if isinstance(source, UnshownFile):
                return source
            mask = MaskHistory(source.missing.mask)
            mask.snapshot()  # which it keeps: packing a large one takes a while
            return source, mask

        def show(opened: tuple[Source, MaskHistory] | UnshownFile) -> None:
            if isinstance(opened, UnshownFile):
                self._session.whole_file.show(opened)
                return
            self._session.set_source(*opened)
            if notice:
                self._session.notice.emit(notice)
            if then is not None:
                then()

        self._open(load, stage, show)

    def _change(self, work: Callable[[Source], Source], stage: str, done: Callable[[Source], None]) -> None:
        source = self._session.source
        if source is None:
            self._session.problem.emit(NO_PICTURE)
        else:
            self._open(lambda: work(source), stage, done)

    def _open(self, work: Callable[[], Any], stage: str, done: Callable[[Any], None]) -> None:
        self.task.start(lambda _control: work(), done=done, activity=Activity("open", Progress(stage)))
