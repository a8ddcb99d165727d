"""`inpaint tune`: choose settings for a picture."""

from dataclasses import asdict
from types import SimpleNamespace

from dictsel_core import RestoreSettings
from dictsel_core.evaluation import Tuning
from inpaint_app.cli import options
from inpaint_app.cli.arguments import PATH, Command, Option
from inpaint_app.cli.report import Console, print_source, terminal_control
from inpaint_app.cli.resolve_options import resolve_options
from inpaint_app.engine.export import check_recipe_target, write_recipe
from inpaint_app.engine.restore import tune
from inpaint_app.engine.source import load_source
from inpaint_app.text import format_decibels

_PARAMETERS = [
    options.input_argument(),
    Option("--write-recipe R", "write the settings as JSON, for --recipe", PATH),
    options.OVERWRITE,
    *options.REPORTING,
    *options.mask_options(),
    *options.method_options(),
]


def _run(args: SimpleNamespace) -> int:
    console = Console.of(args)
    chosen = resolve_options(args, tuner="inpaint tune")
    if args.write_recipe is not None:
        check_recipe_target(args.write_recipe, [args.input], overwrite=args.overwrite)
    source = load_source(args.input, chosen.mask_spec)
    print_source(console, source)
    with terminal_control(console) as control:
        tuning = tune(source.request(chosen.settings), control)
    best = sorted(tuning.trials, key=lambda trial: -trial.estimated_psnr)
    console.print(f"Finalists:   (of {tuning.n_tried}, before refinement)")
    for trial in best[:5]:
        console.print(
            f"             {format_decibels(trial.estimated_psnr)}  {_format_options(trial.settings)}"
        )
    console.print(f"Chosen:      {_format_options(tuning.settings)}")
    console.print(
        f"PSNR:        about {format_decibels(tuning.estimated_psnr)}, an estimate from "
        "held-out observed pixels"
    )
    console.print(f"Before:      {_before(tuning)}")
    if args.write_recipe is not None:
        notes = write_recipe(source, tuning.settings, args.write_recipe, overwrite=args.overwrite)
        console.print_written(args.write_recipe, notes, label="Recipe")
    trials = [{"estimated_psnr": t.estimated_psnr, "settings": asdict(t.settings)} for t in best]
    console.print_json(
        {
            "estimated_psnr": tuning.estimated_psnr,
            "given_psnr": tuning.given_psnr,
            "settings": asdict(tuning.settings),
            "trials": trials,
        }
    )
    return 0


def _before(tuning: Tuning) -> str:
    if tuning.settings == tuning.given:
        return "the settings given are the best already"
    return f"about {format_decibels(tuning.given_psnr)} with the settings given"


def _format_options(settings: RestoreSettings) -> str:
    budget = f" --mean-sparsity {settings.mean_sparsity:g}" if settings.uses_budget else ""
    atoms = "" if settings.n_atoms is None else f" --atoms {settings.n_atoms}"
    coding = "" if settings.coding_sparsity is None else f" --coding-sparsity {settings.coding_sparsity}"
    return f"--constraint {settings.constraint}{atoms} --sparsity {settings.sparsity}{budget}{coding}"


COMMAND = Command("tune IN [options]", _PARAMETERS, _run)
