"""Run experiments: ``python -m experiments list``, ``run NAME``, ``all``."""

import argparse
import sys
from pathlib import Path

from experiments import (
    average,
    growth,
    guarantees,
    masked,
    masks,
    offline_large,
    offline_small,
    online,
    restoration,
    scale,
)
from experiments.data import ImagesError
from experiments.methods import METHODS
from experiments.options import SCALES, Options
from experiments.results import ResultsError, read_rows
from experiments.runner import Experiment, run

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        offline_small,
        offline_large,
        average,
        online,
        masked,
        restoration,
        masks,
        growth,
        scale,
        guarantees,
    )
}


def main() -> int:
    """Run the command line."""
    args = _parser().parse_args()
    if args.command == "list":
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:<15} {experiment.title}")
        return 0
    if args.command == "draw":
        return _draw(args.folder)
    options = Options(
        scale="quick" if args.quick else args.scale,
        folder=args.out,
        images=args.images,
        trials=args.trials,
        method=args.method,
    )
    try:
        for name in EXPERIMENTS if args.command == "all" else [args.name]:
            run(EXPERIMENTS[name], options)
    except (ImagesError, ResultsError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nexperiments: interrupted; run the same command to resume.", file=sys.stderr)
        return 130
    return 0


def _draw(folder: Path) -> int:
    """Draw the figures of all tables in a folder; those with pictures need more than their table."""
    for name, experiment in EXPERIMENTS.items():
        if (path := folder / f"{name}.csv").exists() and name != "restoration":
            experiment.report(read_rows(path), folder)
    return 0


def _trials(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"the number of trials must be at least 1, but is {text}.")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="The paper's experiments. An interrupted run is resumed where it stopped.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all experiments")
    one = commands.add_parser("run", help="run one experiment and draw its figure")
    one.add_argument("name", choices=EXPERIMENTS)
    again = commands.add_parser("draw", help="draw the figures of finished experiments again")
    again.add_argument("folder", type=Path, help="with their CSV files")
    for command in (one, commands.add_parser("all", help="run them all")):
        command.add_argument(
            "--quick", action="store_true", help="fewer trials and sizes, some minutes in all"
        )
        command.add_argument("--scale", choices=SCALES, default="full", help="default: full, the paper's own")
        command.add_argument(
            "--images", type=Path, metavar="DIR", help="a folder of photographs, such as VOC2006"
        )
        command.add_argument("--trials", type=_trials, metavar="N", help="another number of trials")
        command.add_argument(
            "--out", type=Path, metavar="DIR", default=Options.folder, help=f"default: {Options.folder}"
        )
        command.add_argument(
            "--method",
            choices=METHODS,
            default=Options.method,
            help="who makes the dictionary of the individual column of the restoration; default: the paper's",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
