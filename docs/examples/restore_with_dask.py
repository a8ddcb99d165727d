"""An image that may be larger than memory, as Dask arrays: restored tile by tile.

The image is looked at once, since the dictionary and a few other decisions are made for all of it. The result
is a Dask array too, whose chunks are tiles that are restored when they are computed. To continue after an
interruption, and for files, the command `inpaint restore` does the same.
"""

import argparse

import dask.array as da
import numpy as np
import skimage.data

from dictsel_core import psnr, restore


def main() -> None:
    """Restore a photograph in tiles, and compare with the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller photograph")
    length, side = (100, 64) if parser.parse_args().quick else (512, 256)
    image = skimage.data.camera()[:length, :length]
    mask = np.random.default_rng(0).random(image.shape) < 0.5
    lazy = restore(da.from_array(image, side), da.from_array(mask, side), "fast").image
    print(f"{lazy.numblocks[0]} x {lazy.numblocks[1]} tiles")
    whole = restore(image, mask, "fast").image
    print(f"tiles: {psnr(image, lazy.compute()):.2f} dB, whole: {psnr(image, whole):.2f} dB")


if __name__ == "__main__":
    main()
