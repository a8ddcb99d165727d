"""Collect photographs, train the detector, calibrate it, and write the weights for the library."""

import argparse
from pathlib import Path

from experiments.detector.collect import collect

WEIGHTS = Path("dictsel_core/detection/network.npz")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.detector", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train the network, then export it")
    training.add_argument(
        "--out", type=Path, default=Path("results/detector"), help="where its state is kept"
    )
    training.add_argument("--steps", type=int, default=28_000, help="number of steps")
    training.add_argument("--rate", type=float, default=2.5e-3, help="largest rate")
    training.add_argument("--start", type=Path, help="weights of the library to begin with")
    training.add_argument("--seed", type=int, default=0, help="seed of data and weights")
    exporting = commands.add_parser(
        "export", help="calibrate a network and write the weights for the library"
    )
    collecting = commands.add_parser("collect", help="copy further photographs from unpacked packages")
    collecting.add_argument("unpacked", type=Path, help="folder of the packages")
    collecting.add_argument("folder", type=Path, help="where folders of people and of more are written")
    for each in (training, exporting):
        each.add_argument("--damage", type=Path, required=True, help="folder of photographs and damage")
        each.add_argument("--weights", type=Path, default=WEIGHTS, help="file to write")
        each.add_argument(
            "--photographs", type=Path, action="append", default=[], help="folder of further photographs"
        )
    exporting.add_argument(
        "states", type=Path, nargs="+", help="network.pt of a training or of its steps, to be averaged"
    )
    args = parser.parse_args()
    if args.command == "collect":
        collect(args.unpacked, args.folder)
        return

    import torch

    from experiments.detector.calibrate import calibrate
    from experiments.detector.network import Network, averaged, export
    from experiments.detector.train import Plan, train

    torch.set_num_threads(1)
    if args.command == "train":
        args.out.mkdir(parents=True, exist_ok=True)
        plan = Plan(
            args.damage,
            args.out,
            args.steps,
            tuple(args.photographs),
            args.start,
            rate=args.rate,
            seed=args.seed,
        )
        states = [train(plan)]
    else:
        states = args.states
    network = Network()
    network.load_state_dict(averaged([torch.load(each, weights_only=True) for each in states]))
    export(network, calibrate(network, args.damage, args.photographs), args.weights)


if __name__ == "__main__":
    main()
