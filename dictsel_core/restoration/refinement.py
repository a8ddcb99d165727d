"""Non-local refinement: similar windows tell each other what they miss.

Each round looks up, for reference windows all over the picture, the windows nearby that look most like
them. Mean and covariance of such a group say how its pixels depend on each other, and hence what to expect
at the missing pixels of each member given its observed ones. All that windows say about a pixel is averaged.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictsel_core._threads import map_chunks
from dictsel_core._validation import Bools, Floats, Ints
from dictsel_core.restoration.conditional import conditional_means
from dictsel_core.restoration.similar import Search, Tile, rows_of_windows, similar_windows, spans

Planes = NDArray[np.float32]


@dataclass(frozen=True)
class Manner:
    """How windows are grouped and estimated; the defaults did best on photographs (docs/refinement.md).

    Attributes
    ----------
    size, last_size : int
        Height and width of windows. The last round looks through smaller ones, which see other things;
        so do all rounds on channels with masks of their own, whose vectors would be too long otherwise.
    radius : int
        Members of a group lie at most so many pixels from their reference, up, down and sideways.
    n_members, n_estimated : int
        Windows in a group; and of these, the nearest ones that are estimated anew.
    noise : float
        Variance of what a covariance does not explain, for pictures of unit range.
    shared : float
        How much of a covariance is taken from the other groups nearby: few members alone tell too little.
    relaxation : float
        How far the picture follows the estimates. More than 1 saves rounds; the last one makes it 1.
    """

    size: int = 8
    last_size: int = 6
    radius: int = 10
    n_members: int = 40
    n_estimated: int = 6
    noise: float = 8 / 255**2
    shared: float = 0.2
    relaxation: float = 1.7


USUAL = Manner()


class Refiner:
    """Refines the missing pixels of a picture, round by round.

    Parameters
    ----------
    missing : (H, W, c) ndarray of bool
        One layer for each channel, or a single one that they share. Channels that share it also share
        the covariances; otherwise channels are estimated from each other too.
    threads : int
        The result does not depend on it.
    manner : Manner
    """

    def __init__(self, missing: Bools, threads: int, manner: Manner = USUAL) -> None:
        self._missing, self._threads, self._manner = missing, threads, manner

    def round(self, picture: Planes, *, last: bool) -> Generator[float, None, None]:
        """Refine `picture` (H, W, C) of about unit range in place.

        Yields the part of the round that is done, often. Pictures smaller than a window stay as they are.
        """
        manner = self._manner
        size = manner.last_size if last or self._missing.shape[2] > 1 else manner.size
        search = Search(size, manner.radius, manner.n_members)
        height, width, _ = picture.shape
        if min(height, width) < search.size:
            return
        bands, columns = spans(height, search), spans(width, search)
        sums = _Sums(picture, self._missing, max(band.stop - band.start for band in bands))
        for number, band in enumerate(bands):
            tiles = [Tile(band, each) for each in columns]

            def ask(start: int, _: int, tiles: list[Tile] = tiles) -> "_Said | None":
                return self._ask(picture, tiles[start], search)

            answers = map_chunks(ask, len(tiles), 1, self._threads)
            with closing(answers):
                for done, (tile, said) in enumerate(zip(tiles, answers, strict=True), start=1):
                    if said is not None:
                        sums.add(tile, said)
                    yield (number + done / len(tiles)) / len(bands)
            # Nobody looks again at the rows above the next band.
            bottom = bands[number + 1].start if number + 1 < len(bands) else height
            sums.settle(bottom, 1 if last else manner.relaxation)

    def _ask(self, picture: Planes, tile: Tile, search: Search) -> "_Said | None":
        """Let the groups of a tile estimate their nearest members."""
        size = search.size
        hidden = self._missing[tile.place]
        if not hidden.any():
            return None
        unknown = rows_of_windows(hidden, size)
        references, candidates = tile.references, tile.candidates
        lacking = unknown[references].any(axis=(1, 2))
        if not lacking.any():
            return None
        part = picture[tile.place]
        middle = part.mean()
        values = rows_of_windows(part - middle, size)
        n_members = min(search.n_members, candidates.shape[1])
        n_estimated = min(self._manner.n_estimated, n_members)
        groups = similar_windows(
            values.mean(axis=1), references[lacking], candidates[lacking], n_members, n_estimated
        )
        estimated = groups[:, :n_estimated]

        # Channels with a mask of their own are one long vector, others are several short ones.
        shape = (len(values), -1, unknown[0].size)
        vectors, masks = values.reshape(shape), unknown.reshape(len(unknown), -1)
        members = vectors[groups]
        means = members.mean(axis=1, keepdims=True)
        members -= means
        samples = members.reshape(len(groups), -1, masks.shape[1])
        covariances: Planes = samples.swapaxes(1, 2) @ samples
        covariances /= np.float32(samples.shape[1])
        _shrink(covariances, self._manner.shared)
        gaps = masks[estimated]
        deviations = np.where(gaps[:, :, None], 0, vectors[estimated] - means)
        estimates = conditional_means(covariances, deviations, gaps, self._manner.noise) + means + middle
        return _Said(estimated.ravel(), estimates.reshape(-1, *values.shape[1:]), size)


def _shrink(covariances: Planes, part: float) -> None:
    """Draw covariances (B, d, d) towards their mean, brought to the variance of each, in place."""
    mean = covariances.mean(axis=0)
    shares = part * np.einsum("bdd->b", covariances) / max(np.trace(mean), np.finfo(np.float32).tiny)
    covariances *= np.float32(1 - part)
    for covariance, share in zip(covariances, shares.astype(np.float32), strict=True):
        np.add(covariance, share * mean, out=covariance)  # one at a time, in the cache


@dataclass(frozen=True, eq=False)
class _Said:
    """What was estimated for windows of a tile: their numbers (N,), and values (N, C, size * size)."""

    numbers: Ints
    values: Planes
    size: int

    def summed(self, height: int, width: int) -> tuple[Floats, Ints]:
        """Return the sums (height, width, C) and counts (height, width) over the windows of a tile."""
        rows, columns = np.divmod(self.numbers, width - self.size + 1)
        inside = np.add.outer(np.arange(self.size) * width, np.arange(self.size)).ravel()
        pixels = ((rows * width + columns)[:, None] + inside).ravel()
        counts = np.bincount(pixels, minlength=height * width)
        sums = np.empty((height, width, self.values.shape[1]))
        for channel in range(sums.shape[2]):
            said = np.bincount(pixels, self.values[:, channel].ravel(), minlength=height * width)
            sums[:, :, channel] = said.reshape(height, width)
        return sums, counts.reshape(height, width)


class _Sums:
    """Sums of all estimates of a pixel, for the rows that are still being estimated."""

    def __init__(self, picture: Planes, missing: Bools, n_rows: int) -> None:
        self._picture, self._missing = picture, missing
        self._top = 0
        self._sums = np.zeros((n_rows, *picture.shape[1:]))
        self._counts = np.zeros((n_rows, picture.shape[1], 1))

    def add(self, tile: Tile, said: _Said) -> None:
        rows, columns = slice(tile.down.start - self._top, tile.down.stop - self._top), tile.place[1]
        sums, counts = said.summed(*tile.shape)
        self._sums[rows, columns] += sums
        self._counts[rows, columns, 0] += counts

    def settle(self, bottom: int, relaxation: float) -> None:
        """Bring the means of all rows above `bottom` into the picture."""
        n_rows = bottom - self._top
        sums, counts = self._sums[:n_rows], self._counts[:n_rows]
        target = self._picture[self._top : bottom]
        change = relaxation * (sums / np.maximum(counts, 1) - target)
        new = np.clip(target + change, 0, 1).astype(np.float32)
        np.copyto(target, new, where=self._missing[self._top : bottom] & (counts > 0))
        for buffer in (self._sums, self._counts):
            buffer[: len(buffer) - n_rows] = buffer[n_rows:]
            buffer[len(buffer) - n_rows :] = 0
        self._top = bottom
