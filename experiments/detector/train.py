"""Training."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from math import cos, pi
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, IterableDataset

from experiments.detector.aging import Place
from experiments.detector.compose import compose
from experiments.detector.material import Material, load_material
from experiments.detector.mine import mine
from experiments.detector.network import Network, unfold
from experiments.detector.validate import Validation

Arrays = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]]

#: New batches between the two uses of a picture.
_BETWEEN = 40
_DAMAGED, _LINE, _KNOWN = 1, 2, 4
#: Steps until the rate is at its largest, between two lines of the log, and between two validations.
_WARM_UP, _LOG, _VALIDATION = 500, 100, 4000
#: Steps between two searches for places that are taken for damage, and the part of the pictures cut there.
_MINING, _MINED = 2000, 0.3
#: Batches that tell the mean and the variance of features.
_N_FIRST = 12
#: Places that are kept, the last ones.
_N_PLACES = 4000


@dataclass(frozen=True)
class Plan:
    """How to train. The rate falls to 0 as a cosine does."""

    damage: Path  #: Folder of the material.
    folder: Path  #: Where the state is kept; a training that was interrupted goes on from it.
    n_steps: int
    more: tuple[Path, ...] = ()  #: Folders of further photographs.
    start: Path | None = None  #: Weights of the library to begin with; None for random ones.
    batch: int = 8
    side: int = 192  #: Of the parts of pictures.
    rate: float = 2.5e-3
    seed: int = 0

    @property
    def result(self) -> Path:
        """File of the averaged weights, as they are now."""
        return self.folder / "network.pt"

    def rate_at(self, step: int) -> float:
        """Return the rate of a step, from 0 on."""
        return self.rate * min(1.0, (step + 1) / _WARM_UP) * (1 + cos(pi * step / self.n_steps)) / 2


@dataclass(frozen=True)
class Batches(IterableDataset[Arrays]):
    """The batches from one step on; pictures are used twice, then turned.

    The same in every run with the same places, in which part of the pictures are cut.
    """

    plan: Plan
    material: Material
    first: int
    places: tuple[Place, ...]

    def __iter__(self) -> Iterator[Arrays]:
        """Return the batches."""
        kept: deque[Arrays] = deque(maxlen=_BETWEEN)
        for number in range(max(0, self.first // 2 - _BETWEEN), self.plan.n_steps // 2 + 1):
            new = self._batch(number)
            kept.append(new)
            if number >= self.first // 2:
                if 2 * number >= self.first:
                    yield new
                yield _turned(kept[0], np.random.default_rng([self.plan.seed, number, 1]))

    def _batch(self, number: int) -> Arrays:
        side, rng = self.plan.side, np.random.default_rng([self.plan.seed, number])
        samples = []
        for _ in range(self.plan.batch):
            is_mined = self.places and rng.random() < _MINED
            place = self.places[int(rng.integers(len(self.places)))] if is_mined else None
            samples.append(compose(self.material, (side, side), rng, place=place, is_lesson=True))
        planes, tints = (np.stack(each) for each in zip(*((s.plane, s.tint) for s in samples), strict=True))
        flags = [_DAMAGED * each.truth + _LINE * each.is_line + _KNOWN * each.known for each in samples]
        return planes[:, None].astype(np.float32), tints, np.stack(flags)[:, None].astype(np.uint8)


def _turned(batch: Arrays, rng: np.random.Generator) -> Arrays:
    """Return a batch turned or mirrored, somewhat lighter or darker, red and blue exchanged or not."""
    turn, flip = int(rng.integers(4)), int(rng.choice([-1, 1]))
    gain, offset = np.float32(rng.uniform(0.85, 1.1)), np.float32(rng.uniform(-0.05, 0.1))
    planes, tints, flags = (np.rot90(each[..., ::flip], turn, (2, 3)) for each in batch)
    tints = tints[:, :: int(rng.choice([-1, 1]))]
    planes, tints = planes * gain + offset, tints * gain
    return np.ascontiguousarray(planes), np.ascontiguousarray(tints), np.ascontiguousarray(flags)


def loss_of(logits: Tensor, flags: Tensor) -> Tensor:
    """Return cross-entropy and Dice of the damage where it is known, and cross-entropy of its kind."""
    truth, known = (flags & _DAMAGED > 0).float(), (flags & _KNOWN > 0).float()
    is_line = (flags & _LINE > 0).float()
    damage, kind = logits[:, :1], logits[:, 1:]
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(damage, truth, reduction="none")
    likely = torch.sigmoid(damage) * known
    dice = 1 - (2 * (likely * truth).sum() + 50) / (likely.sum() + truth.sum() + 50)
    kinds = torch.nn.functional.binary_cross_entropy_with_logits(kind, is_line, weight=truth, reduction="sum")
    return 4 * (entropy * known).mean() + 0.3 * dice + 0.1 * kinds / (truth.sum() + 50)


class Training:
    """A network, its optimizer, and the mean of its weights over the last steps."""

    def __init__(self, plan: Plan) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.step = plan, 0
        self.places: tuple[Place, ...] = ()
        self.network: Network = Network().to(memory_format=torch.channels_last)
        self._optimizer = torch.optim.AdamW(self.network.parameters(), plan.rate, weight_decay=1e-4)
        self.averaged = AveragedModel(
            self.network, multi_avg_fn=get_ema_multi_avg_fn(0.999), use_buffers=True
        )
        self._parts = {"network": self.network, "optimizer": self._optimizer, "averaged": self.averaged}
        if self._path.exists():
            state = torch.load(self._path, weights_only=True)
            self.step = state.pop("step")
            self.places = tuple(Place(*each) for each in state.pop("places"))
            for name, part in self._parts.items():
                part.load_state_dict(state[name])

    @property
    def _path(self) -> Path:
        return self.plan.folder / "training.pt"

    def begin_with(self, weights: Path, batches: "Batches") -> None:
        """Take over the weights of the library; some batches tell by what features are normalized."""
        first = [batch for batch, _ in zip(batches, range(_N_FIRST), strict=False)]
        planes, tints, _ = (torch.from_numpy(np.concatenate(each)) for each in zip(*first, strict=True))
        unfold(self.network, weights, planes, tints)
        self.averaged.module.load_state_dict(self.network.state_dict())

    def search(self, material: Material) -> None:
        """Look for places that are taken for damage: the next parts are cut there."""
        new = mine(self.averaged.module, material, self.step // _MINING)
        self.places = (*self.places, *new)[-_N_PLACES:]
        print(f"{self.step:6d}  {len(self.places)} places are taken for damage", flush=True)

    def save(self) -> None:
        """Keep all that is needed to go on, and the averaged weights."""
        states = {name: part.state_dict() for name, part in self._parts.items()}
        new = self._path.with_suffix(".new")
        places = [astuple(each) for each in self.places]
        torch.save({"step": self.step, "places": places, **states}, new)
        new.replace(self._path)
        torch.save(self.averaged.module.state_dict(), self.plan.result)

    def learn(self, planes: Tensor, tints: Tensor, flags: Tensor) -> float:
        """Take one step, and return the loss before it."""
        for group in self._optimizer.param_groups:
            group["lr"] = self.plan.rate_at(self.step)
        self._optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.network(planes, tints)
        loss = loss_of(logits.float(), flags)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 2.0)
        self._optimizer.step()
        self.averaged.update_parameters(self.network)
        self.step += 1
        return float(loss.item())


def train(plan: Plan) -> Path:
    """Train a network and return the file of its weights; print how the loss falls and what is found."""
    training, material = Training(plan), load_material(plan.damage, "training", plan.more)
    if plan.start is not None and training.step == 0:
        training.begin_with(plan.start, Batches(plan, material, 0, ()))
        training.search(material)
    validation = Validation(load_material(plan.damage, "choosing", plan.more))
    training.network.train()
    while training.step < plan.n_steps:
        _train_until_mining(training, material, validation)
        if training.step < plan.n_steps:
            training.search(material)
        training.save()
    return plan.result


def _train_until_mining(training: Training, material: Material, validation: Validation) -> None:
    """Take steps until the next search for what is taken for damage; a second process makes the batches."""
    recent, begin = 0.0, time.time()
    data = Batches(training.plan, material, training.step, training.places)
    last = min(training.plan.n_steps, (training.step // _MINING + 1) * _MINING)
    for batch in DataLoader(data, batch_size=None, num_workers=1, prefetch_factor=32):
        recent += training.learn(*batch)
        if training.step % _LOG == 0:
            print(f"{training.step:6d}  loss {recent / _LOG:.4f}  {time.time() - begin:.0f} s", flush=True)
            recent = 0.0
        if training.step % _VALIDATION == 0:
            print(validation.line(training.averaged.module), flush=True)
        if training.step % (_VALIDATION // 4) == 0:
            training.save()
        if training.step >= last:
            return
