"""Small whole files of every kind, made on the spot, to be broken by tests."""

import io
from typing import Any

import numpy as np
from build_png import chunk, png_bytes
from build_tiff import DEFLATE, LZW, PACKBITS, tiff_bytes
from PIL import Image, ImageCms

SHAPE = (11, 13)


def corpus() -> dict[str, bytes]:
    """Return name and contents of every file."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (*SHAPE, 4)).astype(np.uint8)
    wide = rng.integers(0, 65536, (*SHAPE, 4)).astype(np.uint16)
    floats = rng.normal(0, 1, (*SHAPE, 3)).astype(np.float32)
    return (
        _png(noise, wide)
        | _tiff(noise, wide, floats)
        | _by_pillow(noise)
        | _pnm(noise)
        | _others(noise, wide)
        | _arrays(noise, wide, floats)
    )


def _png(noise: np.ndarray, wide: np.ndarray) -> dict[str, bytes]:
    palette = chunk(b"PLTE", noise[..., :3].tobytes()[:48]) + chunk(b"tRNS", b"\0\x80")
    return {
        "gray1.png": png_bytes(noise[..., :1] % 2, 1, 0),
        "rgb8.png": png_bytes(noise[..., :3], 8, 2),
        "palette4.png": png_bytes(noise[..., :1] % 16, 4, 3, extra=palette),
        "gray16.png": png_bytes(wide[..., :1], 16, 0, extra=chunk(b"tRNS", b"\1\2")),
        "gray16alpha.png": png_bytes(wide[..., :2], 16, 4),
        "rgb16.png": png_bytes(wide[..., :3], 16, 2),
        "rgba16interlaced.png": png_bytes(wide, 16, 6, interlaced=True, idat_size=200),
    }


def _tiff(noise: np.ndarray, wide: np.ndarray, floats: np.ndarray) -> dict[str, bytes]:
    name = {271: (2, [*b"Maker of cameras\0"]), 282: (5, [300, 1])}
    colors = {320: (3, list(range(0, 48 * 1000, 1000)))}
    return {
        "rgb16.tif": tiff_bytes(wide[..., :3], tags=name),
        "rgb16lzw.tif": tiff_bytes(wide[..., :3], compression=LZW, predictor=2, order=">", tags=name),
        "tiles.tif": tiff_bytes(noise[..., :3], compression=DEFLATE, tile=(16, 16)),
        "planes.tif": tiff_bytes(noise[..., :3], compression=PACKBITS, separate=True),
        "floats.tif": tiff_bytes(floats, compression=DEFLATE, predictor=3, big=True),
        "palette.tif": tiff_bytes(noise[..., :1] % 16, bits=4, photometric=3, tags=colors),
        "bits12.tif": tiff_bytes(wide[..., :1] % 4096, bits=12),
        "cmyk.tif": tiff_bytes(noise, photometric=5),
    }


def _by_pillow(noise: np.ndarray) -> dict[str, bytes]:
    y, x = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    image = Image.fromarray(np.stack([x * 19, y * 20, x * y], -1).astype(np.uint8))
    icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[271], exif[274] = "Maker of cameras", 6
    alpha = Image.fromarray(noise)
    return {
        "plain.jpg": _saved(image, "JPEG", exif=exif.tobytes()),
        "progressive.jpg": _saved(image, "JPEG", progressive=True, icc_profile=icc[:200]),
        "cmyk.jpg": _saved(image.convert("CMYK"), "JPEG", icc_profile=icc),
        "gray.jpg": _saved(image.convert("L"), "JPEG"),
        "lossy.webp": _saved(image, "WEBP", quality=80),
        "lossless.webp": _saved(alpha, "WEBP", lossless=True, exact=True),
        "extended.webp": _saved(alpha, "WEBP", quality=80, exif=exif.tobytes(), icc_profile=icc[:300]),
        "animated.webp": _saved(image, "WEBP", save_all=True, append_images=[image.rotate(180)]),
        "rgb.bmp": _saved(image, "BMP"),
        "palette.bmp": _saved(image.quantize(16), "BMP"),
        "bit.bmp": _saved(image.convert("1"), "BMP"),
        "jpeg.tif": _saved(image, "TIFF", compression="jpeg"),
        "ycbcr.tif": _saved(image.convert("YCbCr"), "TIFF", compression="jpeg"),
        "fax.tif": _saved(image.convert("1"), "TIFF", compression="group4"),
    }


def _pnm(noise: np.ndarray) -> dict[str, bytes]:
    head = f"{SHAPE[1]} {SHAPE[0]}\n".encode()
    return {
        "raw.pgm": b"P5 # words\n" + head + b"65535\n" + noise[..., :2].tobytes(),
        "plain.ppm": b"P3 " + head + b"255 " + " ".join(map(str, noise[..., :3].ravel())).encode(),
        "raw.pbm": b"P4\n" + head + noise.tobytes()[: 2 * SHAPE[0]],
    }


def _others(noise: np.ndarray, wide: np.ndarray) -> dict[str, bytes]:
    color, alpha = Image.fromarray(noise[..., :3].copy()), Image.fromarray(noise)
    few = color.quantize(16)
    return {
        "lossy.avif": _saved(color, "AVIF", quality=70),
        "alpha.avif": _saved(alpha, "AVIF", quality=90, xmp=b"<x:xmpmeta/>"),
        "rgb.jp2": _saved(color, "JPEG2000"),
        "alpha.jp2": _saved(alpha, "JPEG2000"),
        "gray16.j2k": _saved(Image.fromarray(wide[..., 0].copy()), "JPEG2000", no_jp2=True),
        "palette.gif": _saved(few, "GIF", comment=b"made by a test"),
        "gray.gif": _saved(color.convert("L"), "GIF"),
        "animated.gif": _saved(few, "GIF", save_all=True, append_images=[few.rotate(180)]),
        "rgb.tga": _saved(color, "TGA"),
        "packed.tga": _saved(alpha, "TGA", compression="tga_rle"),
        "palette.tga": _saved(few, "TGA"),
    }


def _arrays(noise: np.ndarray, wide: np.ndarray, floats: np.ndarray) -> dict[str, bytes]:
    gray, color = io.BytesIO(), io.BytesIO()
    np.save(gray, np.asfortranarray(wide[..., 0]))
    np.save(color, floats.astype(">f8"))
    packed = io.BytesIO()
    np.savez_compressed(packed, image=noise[..., :3], mask=noise[..., 3] > 200)
    return {
        "gray.npy": gray.getvalue(),
        "rgb.npy": color.getvalue(),
        "masked.npz": packed.getvalue(),
        "floats.fits": fits_bytes(floats[..., 0]),
        "uint16.fits": fits_bytes(wide[..., 0]),
        "extension.fits": fits_bytes(floats[..., 0], is_extension=True),
    }


def fits_bytes(*planes: np.ndarray, is_extension: bool = False, **cards: Any) -> bytes:
    """Return a FITS file as astropy writes it: one image of one or more planes, with a table behind it."""
    from astropy.io import fits

    values = planes[0] if len(planes) == 1 else np.stack(planes)
    image = (fits.ImageHDU if is_extension else fits.PrimaryHDU)(values)
    image.header.update(cards)
    table = fits.BinTableHDU.from_columns([fits.Column("a", "J", array=np.arange(3))])
    units = [fits.PrimaryHDU(), image, table] if is_extension else [image, table]
    buffer = io.BytesIO()
    fits.HDUList(units).writeto(buffer)
    return buffer.getvalue()


def _saved(image: Image.Image, name: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, name, **options)
    return buffer.getvalue()
