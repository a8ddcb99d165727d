"""What all scripts of the gallery share: the three pictures side by side."""

import matplotlib.pyplot as plt
import numpy as np

from dictsel_core import psnr


def show(original, mask, restored, title, damaged=None):
    """Draw the damaged, the restored and the original picture, with the PSNR over missing pixels.

    Missing pixels are white unless the damaged picture is given.
    """
    gone = mask if mask.ndim == original.ndim else np.broadcast_to(mask[..., None], original.shape)
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
    limits = {"cmap": "gray", "vmin": original.min(), "vmax": original.max()}
    quality = psnr(original, restored, mask=mask)
    hidden = np.where(gone, original.max(), original) if damaged is None else damaged
    pictures = {
        f"{title}: {mask.mean():.0%} missing": hidden,
        f"restored: {quality:.1f} dB where missing": restored,
        "original": original,
    }
    for axis, (caption, picture) in zip(axes, pictures.items(), strict=True):
        axis.imshow(picture, **limits)
        axis.set_title(caption, fontsize=11)
        axis.set_axis_off()
    return figure
