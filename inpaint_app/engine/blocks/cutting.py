"""How a picture is cut into blocks."""

from collections.abc import Sequence

from inpaint_app.errors import UserError
from inpaint_app.model.rect import Rect

#: Side of a block in pixels: at this size the halos add about an eighth to the work.
DEFAULT_BLOCK = 1536
#: The sides of blocks are multiples of it.
BLOCK_STEP = 64
#: Of a picture or stack; a hundred gigapixels are 42 thousand.
_MAX_BLOCKS = 2_000_000


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
