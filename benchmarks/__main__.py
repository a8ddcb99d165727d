"""Run benchmarks: ``python -m benchmarks NAME``, or ``all``."""

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    ablation,
    builds,
    coding,
    compile,
    detect,
    estimate,
    gsr,
    hole_photographs,
    holes,
    marks,
    quality,
    restoration,
    scale,
    science,
    selection,
    speed,
    tiles,
    volumes,
    walk,
    window,
)

BENCHMARKS: dict[str, Callable[[], None]] = {
    "selection": selection.main,
    "coding": coding.main,
    "restoration": restoration.main,
    "quality": quality.main,
    "science": science.main,
    "volumes": volumes.main,
    "ablation": ablation.main,
    "gsr": gsr.main,
    "holes": holes.main,
    "estimate": estimate.main,
    "window": window.main,
    "speed": speed.main,
    "compile": compile.main,
    "processors": builds.processors,
    "detect": detect.main,
    "marks": marks.main,
    "tiles": tiles.main,
    "scale": scale.main,
    "walk": walk.main,
}


def main() -> None:
    """Run the benchmarks named on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure this library against its peers. Ratios within one run mean more than seconds.",
    )
    parser.add_argument("name", choices=[*BENCHMARKS, "since", "all"], help="what to measure")
    parser.add_argument(
        "--damage", metavar="FOLDER", type=Path, help="photographs and damage, for detect, holes and marks"
    )
    parser.add_argument(
        "--weights", metavar="FILE", type=Path, action="append", default=[],
        help="other weights of the network, for detect to compare with those of the library",
    )  # fmt: skip
    parser.add_argument("--revision", default="HEAD", help="what to compare with, for since")
    args = parser.parse_args()
    # GSR takes hours.
    for each in [other for other in BENCHMARKS if other != "gsr"] if args.name == "all" else [args.name]:
        if each == "since":
            builds.since(args.revision)
        elif each == "detect":
            detect.main(args.damage, args.weights)
        elif each == "marks":
            marks.main(args.damage)
        elif each == "holes" and args.damage is not None:
            hole_photographs.main(args.damage)
        else:
            BENCHMARKS[each]()


if __name__ == "__main__":
    main()
