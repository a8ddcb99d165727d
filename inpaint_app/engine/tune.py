"""Choose settings for a picture by restoring observed pixels that are held out."""

from dictsel_core.evaluation import Tuning, iter_tune
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.restore import RestoreRequest, translate_errors
from inpaint_app.model.missing import check_missing


def tune(request: RestoreRequest, control: JobControl) -> Tuning:
    """Return the settings that restore held-out pixels best; reports `Progress`."""
    check_missing(request.missing_fraction)
    reporter, settings = ProgressReporter(control), request.settings
    with translate_errors():
        run = iter_tune(
            request.pixels, request.mask, settings, channel_axis=request.channel_axis, rng=settings.seed
        )
        return control.drain(run, lambda step: reporter.update(step.message, step.fraction))
