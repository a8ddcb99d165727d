"""How a picture is cut into blocks."""

from collections.abc import Iterable, Iterator, Sequence

from dictsel_core import PlanStage, Read
from inpaint_app.errors import UserError
from inpaint_app.image.rect import Rect

#: Side of a block in pixels: at this size the halos add about an eighth to the work.
DEFAULT_BLOCK = 1536
#: The sides of blocks are multiples of it.
BLOCK_STEP = 64
#: Of a picture or stack; a hundred gigapixels are 42 thousand.
_MAX_BLOCKS = 2_000_000
#: Coarse scales are cut into as many blocks, unless these would be smaller.
_COARSE_BLOCKS, _MIN_COARSE_BLOCK = 16, 128


def check_block(block: int) -> None:
    """Raise `UserError` if blocks cannot have this side."""
    if block < BLOCK_STEP or block % BLOCK_STEP:
        raise UserError(
            f"The side of a block is {block} pixels",
            f"give a multiple of {BLOCK_STEP}, such as {DEFAULT_BLOCK}",
        )


def check_number(shape: Sequence[int], n_planes: int, block: int) -> None:
    """Raise `UserError` if so many pictures of a shape are more blocks than can be kept track of."""
    n_blocks = n_planes * -(-shape[0] // block) * -(-shape[1] // block)
    if n_blocks > _MAX_BLOCKS:
        raise UserError(
            f"The picture has {n_planes:,} planes of {shape[1]:,} x {shape[0]:,} pixels: {n_blocks:,} blocks",
            "choose larger blocks, or restore a part of it",
        )


def cut_into_blocks(shape: Sequence[int], block: int) -> list[Rect]:
    """Return the blocks of an array (H, W, ...), row by row; the last ones may be smaller."""
    return [
        Rect(row, column, block, block).clipped((shape[0], shape[1]))
        for row in range(0, shape[0], block)
        for column in range(0, shape[1], block)
    ]


def stage_block(stage: PlanStage, shape: tuple[int, int], block: int) -> int:
    """Return the side of the blocks of a stage of a picture, whose own shape and side of blocks are given.

    Coarse scales are cut into blocks small enough that several workers share them. It does not depend on the
    number of workers, so that others can continue a run.
    """
    if stage.is_whole:
        return -(-max(stage.shape) // BLOCK_STEP) * BLOCK_STEP
    side = block
    while stage.shape != shape and side >= 2 * _MIN_COARSE_BLOCK and side % 4 == 0:
        if len(cut_into_blocks(stage.shape, side)) >= _COARSE_BLOCKS:
            break
        side //= 2
    return side


def blocks_at(rect: Rect, block: int) -> Iterator[tuple[int, int]]:
    """Yield the numbers, down and across, of the blocks that a rectangle touches."""
    for down in range(rect.row // block, -(-(rect.row + rect.height) // block)):
        for across in range(rect.column // block, -(-(rect.column + rect.width) // block)):
            yield down, across


def regions(reads: Iterable[Read]) -> Iterator[tuple[str, Rect]]:
    """Yield name of array and rectangle of what a stage or a survey reads."""
    return ((read.array, Rect.from_slices(read.rows, read.columns)) for read in reads)
