"""A file with several pages or bands comes back with all of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dictsel_core import RestoreSettings
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.opening import open_source
from inpaint_app.engine.restore_file import FileOptions, FileRequest, WrittenFile, restore_file
from inpaint_app.engine.source import Plane
from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output
from inpaint_app.model.missing import MaskSpec

FAST = FileOptions(RestoreSettings.preset("fast"), estimates=False)


def stack(dtype: str = "f4", n: int = 3) -> np.ndarray:
    y, x = np.mgrid[0:24, 0:28]
    return np.stack([100 + 50 * np.sin((x + number) / 5) + y for number in range(n)]).astype(dtype)


def request(path: Path, output: Path, **options: object) -> FileRequest:
    return FileRequest(path, Output(output), replace(FAST, **options))  # type: ignore[arg-type]


def test_all_pages_are_restored_and_intact_ones_stay(tmp_path: Path) -> None:
    pages = stack()
    damaged = pages.copy()
    damaged[0, 5:8, 5:8] = damaged[2, 10:13, 4:9] = np.nan
    tifffile.imwrite(tmp_path / "a.tif", damaged, photometric="minisblack")
    reports: list[object] = []
    result = restore_file(request(tmp_path / "a.tif", tmp_path / "b.tif"), JobControl(reports.append))
    restored = tifffile.imread(tmp_path / "b.tif")
    assert restored.dtype == np.float32
    assert np.isfinite(restored).all()
    observed = np.isfinite(damaged)
    assert np.array_equal(restored[observed], pages[observed])
    assert np.abs(restored - pages)[~observed].max() < 10
    assert result.missing_fraction == pytest.approx((~observed).mean())
    assert any(isinstance(report, WrittenFile) for report in reports)


def test_all_bands_are_restored_in_their_own_type(tmp_path: Path) -> None:
    bands = stack("i2", 5).transpose(1, 2, 0) - 120
    damaged = bands.copy()
    damaged[5:8, 5:8] = -9999
    damaged[15, 15, 4] = -9999
    tags = [(42113, "s", 0, "-9999", True)]
    tifffile.imwrite(
        tmp_path / "a.tif",
        damaged,
        photometric="minisblack",
        planarconfig="contig",
        metadata=None,
        extratags=tags,
    )
    restore_file(request(tmp_path / "a.tif", tmp_path / "b.tif"), JobControl())
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        page = file.pages[0]
        restored, no_data = page.asarray(), page.tags[42113].value
    assert restored.dtype == np.int16
    assert no_data == "-9999"
    assert np.array_equal(restored[damaged != -9999], bands[damaged != -9999])
    assert np.abs(restored - bands).max() < 15


def test_a_mask_for_all_pages_or_one_for_each(tmp_path: Path) -> None:
    pages = stack("u1")
    tifffile.imwrite(tmp_path / "a.tif", pages, photometric="minisblack")
    masks = np.zeros(pages.shape, np.uint8)
    masks[:, 4:6, 4:6] = 255
    for name, mask in (("one", masks[0]), ("each", masks), ("two", masks[:2])):
        tifffile.imwrite(tmp_path / f"{name}.tif", mask, photometric="minisblack")
        asked = request(
            tmp_path / "a.tif",
            tmp_path / f"{name}-out.tif",
            mask_spec=MaskSpec(tmp_path / f"{name}.tif", grow=0),
        )
        if name == "two":
            with pytest.raises(UserError, match="The mask has 2 pages but the picture has 3"):
                restore_file(asked, JobControl())
        else:
            assert restore_file(asked, JobControl()).missing_fraction == pytest.approx(4 / pages[0].size)
    one, each = (tifffile.imread(tmp_path / f"{name}-out.tif") for name in ("one", "each"))
    assert np.array_equal(one, each)


def test_metadata_that_would_be_lost_are_named_or_refused(tmp_path: Path) -> None:
    damaged = stack("u1", 1)[0].copy()
    tags = [(42112, "s", 0, "<GDALMetadata/>", True), (42113, "s", 0, "0", True)]
    damaged[3:5, 3:5] = 0
    tifffile.imwrite(tmp_path / "a.tif", damaged, metadata=None, extratags=tags)
    for suffix, is_lost in ((".tif", False), (".png", True)):
        asked = request(tmp_path / "a.tif", tmp_path / f"b{suffix}", is_strict=True)
        if is_lost:
            with pytest.raises(UserError, match=r"GDAL metadata .* would be lost"):
                restore_file(asked, JobControl())
            assert not asked.output.path.exists()
        asked = request(tmp_path / "a.tif", tmp_path / f"b{suffix}", is_strict=not is_lost)
        notes = restore_file(asked, JobControl()).notes
        assert any("GDAL metadata" in note for note in notes) == is_lost


def test_the_window_shows_one_plane_of_several(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "pages.tif", stack(), photometric="minisblack")
    tifffile.imwrite(
        tmp_path / "bands.tif",
        stack("u2", 5).transpose(1, 2, 0),
        photometric="minisblack",
        planarconfig="contig",
    )
    tifffile.imwrite(tmp_path / "signed.tif", stack("i2", 1)[0])
    for name, plane in (("pages", Plane(2)), ("bands", Plane(0, 3))):
        source = open_source(tmp_path / f"{name}.tif", MaskSpec(), plane=plane)
        whole = tifffile.imread(tmp_path / f"{name}.tif")
        assert np.array_equal(source.picture.pixels, whole[2] if name == "pages" else whole[..., 3])
        assert (source.n_pages, source.n_bands) == ((3, 1) if name == "pages" else (1, 5))
    with pytest.raises(UserError, match="no page 9"):
        open_source(tmp_path / "pages.tif", MaskSpec(), plane=Plane(8))
    source = open_source(tmp_path / "signed.tif", MaskSpec())
    assert source.picture.pixels.dtype == np.float32
    assert np.array_equal(source.picture.pixels, read_picture(tmp_path / "signed.tif").pixels)
