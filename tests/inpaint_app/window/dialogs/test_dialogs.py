"""Dialogs: what they offer, refuse and hand back."""

import numpy as np
import pytest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
)
from windows import can_export, choose, find, texts

from inpaint_app.engine.source import Source
from inpaint_app.io.write import Output, properties_of
from inpaint_app.model.damage import Damage
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture
from inpaint_app.window.dialogs import file_dialogs
from inpaint_app.window.dialogs.damage_dialog import DamageDialog
from inpaint_app.window.dialogs.export_dialog import ExportDialog
from inpaint_app.window.widgets.banner import Banner


@pytest.fixture
def export(qtbot, files, picture):
    dialog = ExportDialog(
        Source(picture, collect_missing(picture), "damaged.png", files["damaged"]),
        files["damaged"].parent / "new.png",
        properties=properties_of(picture),
    )
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def replacing(dialog: ExportDialog) -> QCheckBox:
    return next(box for box in dialog.findChildren(QCheckBox) if not box.text().startswith("&Keep"))


def test_a_new_file_is_exported_as_suggested(export, files) -> None:
    assert can_export(export)
    assert export.target == Output(files["damaged"].parent / "new.png", quality=95)
    assert not replacing(export).isVisible()


def test_names_for_screen_readers_are_plain_words(export) -> None:
    names = [widget.accessibleName() for widget in export.findChildren(QWidget)]
    assert {"File", "Browse: File", "Format"} <= set(names)
    assert not any("&" in name for name in names)


def test_an_existing_file_needs_a_tick(export, files) -> None:
    export.set_path(files["mask"])
    assert not can_export(export)
    assert "already" in texts(export)
    replacing(export).setChecked(True)
    assert can_export(export)
    assert export.target.overwrite
    export.set_path(files["whole"])
    assert not replacing(export).isChecked(), "the tick was for another file"


def test_the_source_is_named_as_such(export, files) -> None:
    export.set_path(files["damaged"])
    assert "picture that was opened" in texts(export)
    assert not can_export(export)


@pytest.mark.parametrize("name", ["", "picture", "picture.xcf"])
def test_a_name_without_a_format_is_refused(export, tmp_path, name) -> None:
    find(export, QLineEdit, "File").setText(str(tmp_path / name) if name else "")
    assert not can_export(export)
    assert texts(export)


def test_a_folder_that_does_not_exist_is_refused(export, tmp_path) -> None:
    export.set_path(tmp_path / "nowhere" / "picture.png")
    assert not can_export(export)
    assert "does not exist" in texts(export)


def test_format_and_name_follow_each_other(export, tmp_path) -> None:
    formats, quality = find(export, QComboBox, "Format"), find(export, QDoubleSpinBox, "Quality")
    choose(formats, formats.findText("JPEG"))
    assert export.target.path.suffix == ".jpg"
    assert quality.isEnabled()
    export.set_path(tmp_path / "other.webp")
    assert formats.currentText() == "WebP"
    export.set_path(tmp_path / "other.png")
    assert not quality.isEnabled()


def test_depths_are_those_of_the_format(qtbot, tmp_path) -> None:
    deep_picture = Picture(np.zeros((4, 4), np.uint16))
    deep = Source(deep_picture, collect_missing(deep_picture), "deep.tif")
    dialog = ExportDialog(deep, tmp_path / "deep.tif", properties=properties_of(deep.picture))
    qtbot.addWidget(dialog)
    assert dialog.target.depth is None, "as the source"
    dialog.show()
    formats, depths = find(dialog, QComboBox, "Format"), find(dialog, QComboBox, "Bits per channel")
    for name in ("PNG", "JPEG"):
        choose(formats, formats.findText(name))
    assert dialog.target.depth == 8
    assert "has 16 bits per channel; the export will have 8." in texts(dialog)
    choose(formats, formats.findText("TIFF"))
    assert dialog.target.depth is None, "JPEG had no other"
    choose(depths, depths.findData(8))
    choose(formats, formats.findText("PNG"))
    assert dialog.target.depth == 8, "the user's choice"


def test_what_the_format_cannot_keep_is_not_exported(qtbot, picture, tmp_path) -> None:
    def export(shown: Picture) -> ExportDialog:
        dialog = ExportDialog(
            Source(shown, collect_missing(shown), "a.png"),
            tmp_path / "new.png",
            properties=properties_of(shown),
        )
        qtbot.addWidget(dialog)
        return dialog

    half = export(Picture(picture.pixels, picture.pixels // 2))
    assert can_export(half)
    half.set_path(tmp_path / "new.jpg")
    assert "transparent" in texts(half)
    assert not can_export(half)
    long = export(Picture(picture.pixels, metadata=Metadata(exif=bytes(70_000))))
    long.set_path(tmp_path / "new.jpg")
    assert "EXIF" in texts(long)
    assert not can_export(long)
    find(long, QCheckBox, "Keep EXIF, color profile and other metadata").setChecked(False)
    assert can_export(long)
    noted = export(
        Picture(
            picture.pixels, metadata=Metadata(dpi=(72, 72), blocks=(MetadataBlock(MetadataKind.IPTC, b"x"),))
        )
    )
    noted.set_path(tmp_path / "new.webp")
    assert "will not hold the resolution and IPTC" in texts(noted)
    find(noted, QCheckBox, "Keep EXIF, color profile and other metadata").setChecked(False)
    assert "will not hold" not in texts(noted)
    floats = export(Picture(picture.pixels.astype("f4")))
    assert "between 0 and 1" in texts(floats)
    floats.set_path(tmp_path / "new.tif")
    depths = find(floats, QComboBox, "Bits per channel")
    choose(depths, depths.findData(32))
    assert can_export(floats)


@pytest.mark.parametrize(
    ("typed", "answer", "expected"),
    [
        ("mask", "No", None),
        ("mask", "Yes", "mask.png"),
        ("mask.png", None, "mask.png"),
        ("new", None, "new.png"),
        ("new.tif", None, "new.tif"),
    ],
)
def test_a_name_without_an_ending_replaces_nothing_unasked(
    monkeypatch, files, typed, answer, expected
) -> None:
    folder, asked = files["mask"].parent, []

    def question(_parent, _title, words, *_buttons) -> QMessageBox.StandardButton:
        asked.append(words)
        return QMessageBox.StandardButton[answer]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(folder / typed), ""))
    monkeypatch.setattr(QMessageBox, "question", question)
    path = file_dialogs.ask_where_to_write(None, "Save the mask", folder / "suggested.png", "")
    assert path == (None if expected is None else folder / expected)
    assert asked == ([] if answer is None else ["mask.png already exists. Replace it?"])


@pytest.mark.parametrize(
    ("works", "words"),
    [
        (["painted mask"], "The painted mask has not been saved."),
        (
            ["restored picture", "painted mask"],
            "The restored picture and the painted mask have not been saved.",
        ),
    ],
)
def test_the_question_names_what_is_unsaved(monkeypatch, qapp, works, words) -> None:
    said = []
    monkeypatch.setattr(
        QMessageBox, "exec", lambda box: said.append((box.text(), [b.icon().isNull() for b in box.buttons()]))
    )
    assert file_dialogs.ask_about_unsaved(None, works) == "stay"
    assert said == [(words, [True, True, True])]


def test_damage_is_handed_back(qtbot) -> None:
    dialog = DamageDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.damage == Damage("random", 0.8, "SAMPLE", 0)
    missing, text = find(dialog, QDoubleSpinBox, "Missing pixels"), find(dialog, QLineEdit, "Text to stamp")
    missing.setValue(35)
    find(dialog, QSpinBox, "Seed").setValue(7)
    assert dialog.damage == Damage("random", 0.35, "SAMPLE", 7)
    find(dialog, QComboBox, "Kind of damage").setCurrentIndex(1)
    assert text.isVisible()
    assert not missing.isVisible()
    text.setText("  ")
    assert not find(dialog, QPushButton, "Damage").isEnabled()


def test_the_banner_goes_when_closed(qtbot) -> None:
    banner = Banner()
    qtbot.addWidget(banner)
    assert banner.text == ""
    banner.show_message("The file is gone; look for it.")
    assert banner.text == "The file is gone; look for it."
    find(banner, QToolButton, "Close the message").click()
    assert banner.text == ""
