"""The network: a U-Net that works at half the size of the picture, and its export."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

#: Channels at a half, a quarter, an eighth, a 16th and a 32nd of the size.
CHANNELS = (24, 40, 64, 120, 224)


class Block(nn.Module):
    """A convolution, normalized over the batch, and rectified."""

    def __init__(self, n_in: int, n_out: int, stride: int = 1) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(n_out)

    def forward(self, x: Tensor) -> Tensor:
        """Return the features."""
        return torch.relu(self.norm(self.convolution(x)))


class Network(nn.Module):
    """From brightness, (B, 1, H, W), and tint, (B, 2, H / 2, W / 2), to logits, (B, 2, H, W).

    The logits are those of damage, and of lines against dust. H and W are multiples of 32. Each 2 x 2 pixels
    are four channels at the entrance and at the exit, so that nothing is computed at full size and yet single
    pixels are told apart.
    """

    def __init__(self, channels: tuple[int, ...] = CHANNELS) -> None:
        super().__init__()
        pairs = list(pairwise(channels))
        self.entrance = nn.Sequential(Block(6, channels[0]), Block(channels[0], channels[0]))
        self.down = nn.ModuleList(nn.Sequential(Block(a, b, 2), Block(b, b)) for a, b in pairs)
        self.middle = Block(channels[-1], channels[-1])
        self.narrow = nn.ModuleList(nn.Conv2d(b, a, 1) for a, b in pairs)
        self.up = nn.ModuleList(Block(a, a) for a, _ in pairs)
        self.exit = nn.Conv2d(channels[0], 8, 1)
        nn.init.constant_(self.exit.bias[:4], -3.0)  # damage is rare

    def forward(self, plane: Tensor, tint: Tensor) -> Tensor:
        """Return the logits."""
        brightness = nn.functional.pixel_unshuffle(plane - 0.5, 2)
        x = self.entrance(torch.cat([brightness, 4 * tint], 1).to(memory_format=torch.channels_last))
        kept = []
        for down in self.down:
            kept.append(x)
            x = down(x)
        x = self.middle(x)
        for narrow, up, skip in zip(reversed(self.narrow), reversed(self.up), reversed(kept), strict=True):
            x = up(nn.functional.interpolate(narrow(x), scale_factor=2.0, mode="nearest") + skip)
        return nn.functional.pixel_shuffle(self.exit(x), 2)


def averaged(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of the weights of several steps of a training."""
    return {
        name: torch.stack([each[name].float() for each in states]).mean(dim=0).to(value.dtype)
        for name, value in states[0].items()
    }


def _layers(network: Network) -> list[Block | nn.Conv2d]:
    """Return all layers in the order in which the library reads them."""
    layers = [*network.entrance, *(block for down in network.down for block in down), network.middle]
    for pair in zip(reversed(network.narrow), reversed(network.up), strict=True):
        layers += pair
    return [*layers, network.exit]


def folded(network: Network) -> dict[str, NDArray[Any]]:
    """Return weights, their scales and biases of all layers, in their order, the normalization within them.

    The weights are whole numbers of one byte, times a scale for each output.
    """
    arrays = {}
    for number, layer in enumerate(_layers(network)):
        weight, bias = _folded(layer) if isinstance(layer, Block) else (layer.weight, layer.bias)
        scale = weight.detach().abs().amax(dim=(1, 2, 3)).clamp(min=1e-12) / 127
        whole = torch.round(weight / scale[:, None, None, None]).to(torch.int8)
        for name, values in (("weight", whole), ("scale", scale), ("bias", bias)):
            arrays[f"{name}{number}"] = values.detach().numpy()
    return arrays


def _folded(block: Block) -> tuple[Tensor, Tensor]:
    norm = block.norm
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return block.convolution.weight * scale[:, None, None, None], norm.bias - norm.running_mean * scale


def export(network: Network, confidence: NDArray[np.float64], path: Path) -> None:
    """Write weights, and what the confidence follows by, as the library reads them."""
    np.savez(path, allow_pickle=False, confidence=confidence, **folded(network.eval()))


def unfold(network: Network, path: Path, planes: Tensor, tints: Tensor) -> None:
    """Give a network the weights of the library; pictures tell by what their features are normalized.

    Where the network has more channels than the library, these say nothing at first to those that were there.
    """
    network.eval()
    with np.load(path, allow_pickle=False) as arrays, torch.no_grad():
        for number, layer in enumerate(_layers(network)):
            names = (f"{name}{number}" for name in ("weight", "scale", "bias"))
            weight, scale, bias = (torch.from_numpy(arrays[name]) for name in names)
            weight = weight * scale[:, None, None, None]
            n_out = len(bias)
            if isinstance(layer, Block):
                _widen(layer.convolution.weight, weight)
                layer.norm.bias[:n_out] = bias
                layer.norm.running_mean.zero_()
                layer.norm.running_var.fill_(1)
                layer.norm.weight.fill_((1 + layer.norm.eps) ** 0.5)
                layer.norm.register_forward_pre_hook(_normalize)
            else:
                _widen(layer.weight, weight)
                layer.bias[:n_out] = bias
        network(planes, tints)
    for layer in _layers(network):
        if isinstance(layer, Block):
            layer.norm._forward_pre_hooks.clear()


def _widen(weight: Tensor, narrow: Tensor) -> None:
    """Copy weights to the first channels; what was there before hears nothing of the new ones."""
    n_out, n_in = narrow.shape[:2]
    weight[:n_out] = 0
    weight[:n_out, :n_in] = narrow


def _normalize(norm: nn.BatchNorm2d, given: tuple[Tensor]) -> None:
    """Normalize features by their mean and variance, and undo it, so that nothing changes."""
    norm.running_var.copy_(given[0].var(dim=(0, 2, 3)) + 1e-4)
    norm.running_mean.copy_(given[0].mean(dim=(0, 2, 3)))
    norm.weight.copy_(torch.sqrt(norm.running_var + norm.eps))
    norm.bias.add_(norm.running_mean)
