"""NumPy and FITS files: shapes, types of numbers, masks and headers survive; nothing is guessed silently."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from corpus import fits_bytes

from inpaint_app.errors import UserError
from inpaint_app.io.formats.arrays.conversion import has_channels
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.missing import collect_missing, without_no_data
from inpaint_app.model.picture import Metadata, Picture

RNG = np.random.default_rng(0)
DTYPES = ["u1", "<u2", ">u2", "u4", "i1", "i2", "i4", "i8", "u8", "f2", "f4", ">f4", "f8", "?"]


def save(path: Path, *arrays: np.ndarray, **named: np.ndarray) -> Path:
    if path.suffix == ".npy":
        np.save(path, arrays[0])
    else:
        np.savez(path, *arrays, **named)
    return path


@pytest.mark.parametrize("ending", ["npy", "npz"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_shape_come_back(tmp_path: Path, dtype: str, ending: str) -> None:
    for shape in ((6, 7), (6, 7, 3), (6, 7, 1), (5, 6, 7), (2, 5, 6, 7), (5, 6, 7, 3), (9, 8, 6)):
        values = RNG.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
        path = save(tmp_path / f"a.{ending}", values)
        write_picture(read_picture(path), tmp_path / f"b.{ending}", overwrite=True)
        again = np.load(tmp_path / f"b.{ending}")
        again = again["image"] if ending == "npz" else again
        assert again.shape == shape
        assert again.dtype == values.dtype.newbyteorder("=")
        assert np.array_equal(again, values)


@pytest.mark.parametrize(
    ("shape", "n_pages", "n_bands"),
    [
        ((6, 7), 1, 1),
        ((6, 7, 3), 1, 3),
        ((6, 7, 4), 1, 4),  # bands: nobody has said alpha
        ((30, 40, 12), 1, 12),
        ((12, 30, 40), 12, 1),
        ((2, 3, 3), 1, 3),
        ((5, 6, 7, 3), 5, 3),
        ((2, 5, 6, 7), 10, 1),
    ],
)
def test_axes_are_told(tmp_path: Path, shape: tuple[int, ...], n_pages: int, n_bands: int) -> None:
    picture = read_picture(save(tmp_path / "a.npy", np.zeros(shape, np.uint16)))
    assert (len(picture.pages), picture.n_bands, picture.alpha) == (n_pages, n_bands, None)
    told = any(str(shape) in notice for notice in picture.notices)
    assert told == (n_pages > 1 or n_bands not in (1, 3))
    assert has_channels(shape) == (n_bands > 1)


def test_fortran_order(tmp_path: Path) -> None:
    values = RNG.random((6, 7, 3))
    path = save(tmp_path / "a.npy", np.asfortranarray(values))
    assert np.array_equal(read_picture(path).pixels, values)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[{}, 1], [2, 3]], object), allow_pickle=True)
    with pytest.raises(UserError, match="Python objects"):
        read_picture(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.zeros((3, 3), [("red", "u1"), ("green", "u1")]))
    with pytest.raises(UserError, match="records"):
        read_picture(tmp_path / "b.npy")


def test_large_integers_are_refused_rather_than_rounded(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"beyond 2\^53"):
        read_picture(save(tmp_path / "a.npy", np.full((3, 3), 2**53 + 1)))


@pytest.mark.parametrize(("dtype", "value", "written"), [("u8", -3.0, 0), ("i8", 7.6, 8), ("f2", 1e6, 65504)])
def test_restored_values_stay_within_the_type_of_the_file(
    tmp_path: Path, dtype: str, value: float, written: float
) -> None:
    picture = read_picture(save(tmp_path / "a.npy", np.ones((3, 3), dtype)))
    restored = picture.with_pixels(np.full((3, 3), value, picture.pixels.dtype))
    write_picture(restored, tmp_path / "b.npy")
    assert np.load(tmp_path / "b.npy").tolist() == [[written] * 3] * 3
    assert np.load(tmp_path / "b.npy").dtype == np.dtype(dtype)


def test_colors_are_planes_in_fits(tmp_path: Path) -> None:
    colors = RNG.integers(0, 255, (6, 7, 3)).astype(np.uint8)
    write_picture(Picture(colors), tmp_path / "a.fits")
    with fits.open(tmp_path / "a.fits") as units:
        assert np.array_equal(units[0].data, np.moveaxis(colors, -1, 0))


def test_arrays_behind_the_first_are_named(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.save(file, np.zeros((3, 3)))
        np.save(file, np.ones((3, 3)))
    assert "further arrays in the file" in read_picture(tmp_path / "a.npy").metadata.lost


@pytest.mark.parametrize("marks", [bool, np.uint8, np.float64])
def test_a_mask_in_an_npz_file_marks_what_is_missing(tmp_path: Path, marks: type) -> None:
    image, mask = RNG.random((2, 8, 9)), RNG.random((2, 8, 9)) < 0.3
    picture = read_picture(save(tmp_path / "a.npz", image=image, mask=mask.astype(marks)))
    for page, marked in zip(picture.pages, mask, strict=True):
        assert np.array_equal(collect_missing(page).mask, marked)
        assert collect_missing(page).sources == ("stored mask",), "it is not transparent"
    write_picture(picture, tmp_path / "b.npz")
    again = np.load(tmp_path / "b.npz")
    assert np.array_equal(again["image"], image)
    assert np.array_equal(again["mask"], mask)
    one = read_picture(save(tmp_path / "c.npz", image=image, mask=mask[0]))
    assert all(np.array_equal(collect_missing(page).mask, mask[0]) for page in one.pages)


def test_alpha_in_an_npz_file(tmp_path: Path) -> None:
    picture = Picture(np.full((3, 3), 7, np.uint16), np.arange(9, dtype=np.uint16).reshape(3, 3) * 8000)
    write_picture(picture, tmp_path / "a.npz")
    again = read_picture(tmp_path / "a.npz")
    assert again.alpha is not None
    assert np.array_equal(again.alpha, picture.alpha)


def test_which_array_of_an_npz_file(tmp_path: Path) -> None:
    plane = np.ones((3, 3))
    picture = read_picture(save(tmp_path / "a.npz", image=2 * plane, lat=plane, lon=plane))
    assert picture.pixels[0, 0] == 2
    assert picture.metadata.lost == ("the array 'lat'", "the array 'lon'")
    assert read_picture(save(tmp_path / "b.npz", only=plane)).metadata.lost == ()
    with pytest.raises(UserError, match=r'several arrays .*name the picture "image"'):
        read_picture(save(tmp_path / "c.npz", lat=plane, lon=plane))
    with pytest.raises(UserError, match=r'"mask" has the shape \(2, 2\)'):
        read_picture(save(tmp_path / "d.npz", image=plane, mask=plane[:2, :2]))
    with pytest.raises(UserError, match="without a NumPy array"):
        read_picture(save(tmp_path / "e.npz"))


def test_metadata_are_named_as_lost(tmp_path: Path) -> None:
    picture = Picture(np.zeros((3, 3), np.uint8), metadata=Metadata(exif=b"x", icc=b"y", dpi=(72, 72)))
    assert Output(tmp_path / "a.npy").lost(picture) == (
        "EXIF information",
        "the color profile",
        "the resolution",
    )


def test_transparency_is_refused(tmp_path: Path) -> None:
    alpha = np.array([[0, 255]], np.uint8)
    for name in ("a.npy", "a.fits"):
        with pytest.raises(UserError, match="transparent"):
            write_picture(Picture(alpha, alpha), tmp_path / name)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "u4", "f4", "f8", "i8"])
@pytest.mark.parametrize("is_extension", [False, True])
def test_fits_numbers_header_and_other_parts_survive(tmp_path: Path, dtype: str, is_extension: bool) -> None:
    planes = RNG.integers(0, 100, (2, 6, 7)).astype(dtype)
    data = fits_bytes(*planes, is_extension=is_extension, OBJECT="M31", CRVAL1=10.68)
    (tmp_path / "a.fits").write_bytes(data)
    picture = read_picture(tmp_path / "a.fits")
    assert len(picture.pages) == 2
    assert Output(tmp_path / "b.fits").lost(picture) == ()
    assert "the FITS header" in Output(tmp_path / "b.tif").lost(picture)
    write_picture(picture, tmp_path / "b.fits")
    with fits.open(tmp_path / "b.fits") as units:
        assert [type(unit).__name__ for unit in units] == [
            *(["PrimaryHDU", "ImageHDU"] if is_extension else ["PrimaryHDU"]),
            "BinTableHDU",
        ]
        units.verify("exception")
        image = units[1 if is_extension else 0]
        assert image.header["OBJECT"] == "M31"
        assert image.header["CRVAL1"] == 10.68
        assert np.array_equal(image.data, planes)
        assert image.data.dtype.newbyteorder("=") == np.dtype(dtype)
        assert units[-1].data["a"].tolist() == [0, 1, 2]


def test_blank_values_of_unsigned_integers_are_missing_on_every_page(tmp_path: Path) -> None:
    values = np.arange(240, dtype=np.uint16).reshape(2, 10, 12)
    (tmp_path / "a.fits").write_bytes(fits_bytes(values, BLANK=7 - 2**15))  # as stored
    pages = read_picture(tmp_path / "a.fits").pages
    assert np.array_equal([collect_missing(page).mask for page in pages], values == 7)


def test_fits_values_that_are_missing(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    (tmp_path / "a.fits").write_bytes(fits_bytes(values, BLANK=5))
    assert np.array_equal(collect_missing(read_picture(tmp_path / "a.fits")).mask, values == 5)
    floats = np.where(values == 5, np.nan, values).astype(np.float32)
    (tmp_path / "b.fits").write_bytes(fits_bytes(floats))
    assert np.array_equal(collect_missing(read_picture(tmp_path / "b.fits")).mask, values == 5)


def test_fits_scaled_values(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    unit = fits.PrimaryHDU(values)
    unit.header["BSCALE"], unit.header["BZERO"], unit.header["BLANK"] = 0.5, 100.0, 5
    unit.writeto(tmp_path / "a.fits")
    with fits.open(tmp_path / "a.fits") as units:
        expected = units[0].data
    picture = read_picture(tmp_path / "a.fits")
    assert np.array_equal(picture.pixels, expected, equal_nan=True)
    write_picture(picture, tmp_path / "b.fits")
    with fits.open(tmp_path / "b.fits") as units:
        units.verify("exception")
        assert np.array_equal(units[0].data, expected, equal_nan=True)
    with fits.open(tmp_path / "b.fits", do_not_scale_image_data=True) as units:
        assert np.array_equal(units[0].data, values)
        assert units[0].header["BLANK"] == 5


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
def test_whole_numbers_with_blank_values_stay_so(tmp_path: Path, dtype: type) -> None:
    values = np.arange(12, dtype=dtype).reshape(3, 4)
    (tmp_path / "a.fits").write_bytes(fits_bytes(values, BLANK=5))
    picture = read_picture(tmp_path / "a.fits")
    assert picture.pixels.dtype.kind != "f" or dtype is np.int64
    restored = picture.with_pixels(without_no_data(picture, picture.pixels))
    write_picture(restored, tmp_path / "b.fits")
    with fits.open(tmp_path / "b.fits", do_not_scale_image_data=True) as units:
        assert units[0].header["BLANK"] == 5
        assert units[0].data.dtype.newbyteorder("=") == dtype
        assert np.array_equal(units[0].data, np.where(values == 5, 6, values))


def test_fits_checksum_is_right_again(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(np.ones((3, 4), np.float32))]).writeto(buffer, checksum=True)
    (tmp_path / "a.fits").write_bytes(buffer.getvalue())
    picture = read_picture(tmp_path / "a.fits")
    write_picture(picture.with_pixels(picture.pixels * 2), tmp_path / "b.fits")
    with fits.open(tmp_path / "b.fits", checksum=True) as units:  # warns if it is wrong
        assert units[0].data.max() == 2
        assert "CHECKSUM" in units[0].header


def test_fits_that_is_no_image(tmp_path: Path) -> None:
    fits.HDUList([fits.PrimaryHDU()]).writeto(tmp_path / "a.fits")
    with pytest.raises(UserError, match="it holds no image"):
        read_picture(tmp_path / "a.fits")
    packed = fits.CompImageHDU(RNG.integers(0, 9, (40, 40)).astype(np.int16))
    fits.HDUList([fits.PrimaryHDU(), packed]).writeto(tmp_path / "b.fits")
    with pytest.raises(UserError, match="funpack"):
        read_picture(tmp_path / "b.fits")
    (tmp_path / "c.fits").write_bytes(fits_bytes(np.arange(5.0)))
    with pytest.raises(UserError, match="an array with 1 axis"):
        read_picture(tmp_path / "c.fits")


def test_without_astropy_the_sentence_names_the_extra(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.fits").write_bytes(fits_bytes(np.ones((3, 4))))
    monkeypatch.setattr("inpaint_app.io.format.find_spec", lambda _name: None)
    with pytest.raises(UserError, match=r"pip install 'dictsel\[fits\]'"):
        read_picture(tmp_path / "a.fits")
    with pytest.raises(UserError, match=r"pip install 'dictsel\[fits\]'"):
        write_picture(Picture(np.ones((3, 4), np.float32)), tmp_path / "b.fits")


@pytest.mark.parametrize("extra", [{}, {"mask": np.zeros((1000, 1000), bool)}])
def test_an_npz_file_takes_little_more_memory_than_its_array(tmp_path: Path, extra: dict) -> None:
    values = np.zeros((1000, 1000))
    np.savez_compressed(tmp_path / "a.npz", image=values, **extra)
    tracemalloc.start()
    read_picture(tmp_path / "a.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (1.6 if not extra else 3.6) * values.nbytes
