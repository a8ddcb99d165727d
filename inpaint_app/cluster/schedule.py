"""Which blocks can be computed next: those of which everything that they read has been written."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dictsel_core import ArraySpec
from inpaint_app.cluster.block_jobs import FinishedBlock
from inpaint_app.cluster.blocks import blocks_at
from inpaint_app.image.rect import Rect

#: An array of a plane.
ArrayName = tuple[int, str]
#: Number of a stage, and of its block, down and across.
_Block = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class BlockStage:
    """A stage that is computed block by block: one of a plan, or a level of the pyramid."""

    name: str  #: Unlike all others of its plane.
    plane: int  #: Which picture of a stack it is for.
    kind: str  #: What it does, for the progress.
    work: float  #: Of all its blocks.
    block: int  #: Side of its blocks.
    blocks: Sequence[Rect]  #: All of them.
    compute: Callable[[Rect], FinishedBlock]
    reads: Callable[[Rect], Iterable[tuple[str, Rect]]]  #: Returns the regions of arrays that a block needs.
    writes: tuple[str, ...]  #: Names of arrays.
    creates: tuple[ArraySpec, ...] = ()  #: Those of them that must exist before.


class Schedule:
    """Hands out the blocks `left` of each stage, in the order of stages, each as soon as it can be computed.

    There is no barrier between stages: a block waits for the blocks that it reads from, not for all others.
    """

    def __init__(self, stages: Sequence[BlockStage], left: Sequence[Sequence[Rect]]) -> None:
        self._stages = stages
        self._numbers = {(each.plane, each.name): number for number, each in enumerate(stages)}
        self._rects = {self._block(number, rect): rect for number, rects in enumerate(left) for rect in rects}
        self._n_left = [len(rects) for rects in left]
        self._n_needed: dict[_Block, int] = {}
        self._dependents: defaultdict[_Block, list[_Block]] = defaultdict(list)
        self._arrays: list[set[ArrayName]] = [set() for _ in stages]
        self._connect()
        self._ready = [block for block, n_needed in self._n_needed.items() if not n_needed]
        heapq.heapify(self._ready)
        self._n_waiting = len(self._rects)
        self._users = Counter(name for arrays in self._arrays for name in arrays)

    def blocks(self) -> Iterator[tuple[BlockStage, Rect] | None]:
        """Yield the blocks; None where no other can be computed before one of those has been."""
        while self._n_waiting:
            if not self._ready:
                yield None
                continue
            block = heapq.heappop(self._ready)
            self._n_waiting -= 1
            yield self._stages[block[0]], self._rects[block]

    def finish(self, plane: int, name: str, rect: Rect) -> tuple[BlockStage, list[ArrayName]]:
        """Take note that a block is done; returns its stage, and arrays that nobody needs any more."""
        number = self._numbers[plane, name]
        for dependent in self._dependents.pop(self._block(number, rect), ()):
            self._n_needed[dependent] -= 1
            if not self._n_needed[dependent]:
                heapq.heappush(self._ready, dependent)
        self._n_left[number] -= 1
        if self._n_left[number]:
            return self._stages[number], []
        self._users.subtract(self._arrays[number])
        return self._stages[number], [name for name in self._arrays[number] if not self._users[name]]

    def _block(self, number: int, rect: Rect) -> _Block:
        side = self._stages[number].block
        return number, rect.row // side, rect.column // side

    def _connect(self) -> None:
        """Find out what each block waits for, and which arrays each stage uses."""
        writers = {
            (each.plane, name): number for number, each in enumerate(self._stages) for name in each.writes
        }
        for block, rect in self._rects.items():
            each = self._stages[block[0]]
            needed: set[_Block] = set()
            for name, region in each.reads(rect):
                writer = writers.get((each.plane, name))
                if writer is None:
                    continue  # the picture itself
                self._arrays[block[0]].add((each.plane, name))
                needed.update((writer, *at) for at in blocks_at(region, self._stages[writer].block))
            self._arrays[block[0]].update((each.plane, spec.name) for spec in each.creates)
            needed &= self._rects.keys()
            self._n_needed[block] = len(needed)
            for other in needed:
                self._dependents[other].append(block)
