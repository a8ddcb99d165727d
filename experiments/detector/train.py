"""Training."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from experiments.detector.compose import compose
from experiments.detector.material import Material, load_material
from experiments.detector.network import Network

Arrays = tuple[NDArray[np.float32], NDArray[np.uint8]]

#: Batches made ahead.
_AHEAD = 6
#: Batches between two uses of a picture.
_BETWEEN = 40
_DAMAGED, _LINE, _KNOWN = 1, 2, 4


@dataclass(frozen=True)
class Plan:
    """How to train."""

    damage: Path  #: Folder of the material.
    folder: Path  #: Where the state of the network is kept.
    n_steps: int = 12_000
    batch: int = 8
    side: int = 128  #: Of the parts of pictures.
    rate: float = 3e-3
    seed: int = 0
    start: Path | None = None  #: State to begin with.


_material: Material | None = None


def _load(folder: Path) -> None:
    """Load the material once in a worker process."""
    global _material  # noqa: PLW0603
    _material = load_material(folder, "training")


def _batch(seed: int, number: int, batch: int, side: int) -> Arrays:
    assert _material is not None
    rng = np.random.default_rng([seed, number])
    samples = [compose(_material, (side, side), rng) for _ in range(batch)]
    planes = np.stack([each.plane for each in samples])[:, None]
    flags = [_DAMAGED * each.truth + _LINE * each.is_line + _KNOWN * each.known for each in samples]
    return planes.astype(np.float32), np.stack(flags)[:, None].astype(np.uint8)


def batches(plan: Plan) -> Iterator[Arrays]:
    """Return the batches of a plan, the same in every run; pictures are used twice, then turned."""
    rng, waiting = np.random.default_rng(plan.seed), deque[Arrays]()
    for batch in _made(plan, plan.n_steps // 2 + _BETWEEN):
        yield batch
        waiting.append(batch)
        if len(waiting) > _BETWEEN:
            planes, flags = waiting.popleft()
            turn, flip = int(rng.integers(4)), int(rng.choice([-1, 1]))
            gain, offset = np.float32(rng.uniform(0.85, 1.1)), np.float32(rng.uniform(-0.05, 0.1))
            turned = np.rot90(planes[..., ::flip], turn, (2, 3)) * gain + offset
            yield np.ascontiguousarray(turned), np.rot90(flags[..., ::flip], turn, (2, 3)).copy()


def _made(plan: Plan, n_batches: int) -> Iterator[Arrays]:
    """Make batches in another process."""
    with ProcessPoolExecutor(1, initializer=_load, initargs=(plan.damage,)) as workers:
        pending: deque[Future[Arrays]] = deque()
        for number in range(n_batches):
            pending.append(workers.submit(_batch, plan.seed, number, plan.batch, plan.side))
            if len(pending) > _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


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


def train(plan: Plan) -> None:
    """Train a network, print how the loss falls, and keep its weights, averaged over steps, now and then."""
    torch.manual_seed(plan.seed)
    network: Network = Network().to(memory_format=torch.channels_last)
    if plan.start is not None:
        network.load_state_dict(torch.load(plan.start, weights_only=True))
    optimizer = torch.optim.AdamW(network.parameters(), plan.rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, plan.rate, plan.n_steps, pct_start=0.03)
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(0.999), use_buffers=True)
    network.train()
    recent, begin = 0.0, time.time()
    for number, (planes, flags) in enumerate(islice(batches(plan), plan.n_steps), 1):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            logits = network(torch.from_numpy(planes).to(memory_format=torch.channels_last))
        loss = loss_of(logits.float(), torch.from_numpy(flags))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
        optimizer.step()
        schedule.step()
        averaged.update_parameters(network)
        recent += loss.item()
        if number % 100 == 0:
            print(f"{number:6d}  loss {recent / 100:.4f}  {time.time() - begin:.0f} s", flush=True)
            recent = 0.0
        if number % 250 == 0:
            torch.save(averaged.module.state_dict(), plan.folder / "network.pt")
    torch.save(averaged.module.state_dict(), plan.folder / "network.pt")
