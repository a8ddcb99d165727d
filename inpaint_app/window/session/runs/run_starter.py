"""Starts restorations of the whole picture, and keeps what they lead to."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dictsel_core.evaluation import Tuning
from dictsel_core.restoration import CONSTRAINTS
from inpaint_app.engine import restore as restoring
from inpaint_app.engine.restore import RunResult, tune
from inpaint_app.window.session import descriptions
from inpaint_app.window.session.opener import NO_PICTURE
from inpaint_app.window.session.state import PackedRequest, TuningOutcome
from inpaint_app.window.session.view_modes import COMPARISON

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class RunStarter:
    """Restores, compares and tunes with the picture, the mask and the parameters of a session."""

    def __init__(self, session: "Session") -> None:
        self._session = session

    def restore(self, *, grain: bool = False, then: Callable[[RunResult], None] | None = None) -> None:
        """Restore the whole picture with the current parameters, perhaps with grain; something may follow."""
        packed, results = self._packed_request(), self._session.results
        if packed is not None:
            work = restoring.restore_with_grain if grain else restoring.restore

            def show(result: RunResult) -> None:
                self._show_one_of(results.add((result,), packed.packed_mask))
                if then is not None:
                    then(result)

            self._run(
                "restore",
                lambda control: work(packed.unpack(), control),
                show,
                restart=partial(self.restore, grain=grain, then=then),
            )

    def compare(self) -> None:
        """Restore under every sparsity constraint, and show the results side by side.

        Runs that are already in the history are not repeated.
        """
        session = self._session
        if 0 < session.missing_fraction < 1:
            session.set_view(session.view.with_mode(COMPARISON))
        self._compare()

    def _compare(self) -> None:
        packed, results = self._packed_request(), self._session.results
        if packed is not None:
            known = results.find_runs(packed.settings, packed.packed_mask, packed.hole_fill)
            rest = [constraint for constraint in CONSTRAINTS if constraint not in known]
            self._run(
                "compare",
                lambda control: restoring.compare(packed.unpack(), rest, control),
                lambda made: self._show_compared(known | results.add(made, packed.packed_mask)),
                restart=self._compare,
            )

    def tune(self) -> None:
        """Let held-out pixels choose the parameters, then restore with them."""
        packed = self._packed_request()
        if packed is not None:
            self._run("tune", lambda control: tune(packed.unpack(), control), self._take_tuning)

    def follow_change(self) -> None:
        """Preview what has changed, or restore if that is automatic."""
        session, runner = self._session, self._session.runner
        if session.missing_fraction == 0 or session.asks_about_mask:
            runner.clear_preview()
        elif session.is_automatic:
            self.restore()
        else:
            packed = self._packed_request()
            assert packed is not None and session.source is not None, "there is a picture"
            reference = session.source.reference
            runner.start_preview(packed.unpack, None if reference is None else reference.pixels)

    def _run(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Start a run, see `Runner.run`; it restores the strokes that wait to be healed too."""
        self._session.healer.cancel()
        self._session.runner.run(*args, **options)

    def _packed_request(self) -> PackedRequest | None:
        source, mask = self._session.source, self._session.mask
        if source is None or mask is None:
            self._session.problem.emit(NO_PICTURE)
            return None
        settings, fill = self._session.settings, self._session.hole_sources.fill
        return PackedRequest(source.picture.pixels, mask.snapshot(), settings, fill)

    def _show_compared(self, numbers: dict[str, int]) -> None:
        self._show_one_of(numbers, [numbers[each] for each in CONSTRAINTS if each in numbers])

    def _show_one_of(self, numbers: dict[str, int], comparison: Sequence[int] = ()) -> None:
        """Show the record under the current constraint, or else any of those given by constraint."""
        if numbers:
            shown = numbers.get(self._session.settings.constraint) or next(iter(numbers.values()))
            self._session.show_run(shown, comparison)
        else:
            self._session.notice.emit("Stopped before there was a result.")

    def _take_tuning(self, tuning: Tuning) -> None:
        session = self._session
        # What the user left automatic stays so.
        settings = session.settings if tuning.settings == tuning.given else tuning.settings
        given = session.settings if session.advice is None else session.advice.given
        session.take_advice(TuningOutcome(settings, descriptions.format_advice(tuning), given))
        self.restore()
