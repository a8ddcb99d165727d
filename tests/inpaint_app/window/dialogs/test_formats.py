"""File dialogs and the export dialog offer what the registry holds."""

import re

import numpy as np
import pytest
from windows import can_export

from inpaint_app.engine.export import write_mask
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError
from inpaint_app.io import registry
from inpaint_app.io.format import Format
from inpaint_app.io.write import Output, properties_of
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture
from inpaint_app.window.dialogs.export_dialog import ExportDialog
from inpaint_app.window.dialogs.file_dialogs import name_filter


@pytest.fixture
def source(picture) -> Source:
    return Source(picture, collect_missing(picture), "scan.jpe")


def test_a_new_format_is_offered(source, qtbot, tmp_path, monkeypatch) -> None:
    toy = Format("Toy", (".toy",), (), re.compile(b"TOY"), Picture, lambda *_: None)
    monkeypatch.setattr(registry, "FORMATS", [*registry.FORMATS, toy])
    assert "*.toy" in name_filter()
    assert "*.toy" in name_filter(registry.lossless())
    dialog = ExportDialog(source, tmp_path / "new.toy", properties=properties_of(source.picture))
    qtbot.addWidget(dialog)
    assert dialog.target == Output(tmp_path / "new.toy", quality=95)
    assert can_export(dialog)


def test_every_name_of_a_format_can_be_exported(source, qtbot, tmp_path) -> None:
    dialog = ExportDialog(source, tmp_path / "scan_restored.jpe", properties=properties_of(source.picture))
    qtbot.addWidget(dialog)
    assert can_export(dialog)


@pytest.mark.parametrize(
    "suffix", [s for each in registry.writable() if each.is_lossy for s in each.suffixes]
)
def test_a_mask_is_never_written_with_loss(source, tmp_path, suffix) -> None:
    with pytest.raises(UserError, match="would blur the mask"):
        write_mask(source, np.ones(source.shape, bool), Output(tmp_path / f"mask{suffix}"))
