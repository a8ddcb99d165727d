"""Dialogs that ask for files, and what to do about unsaved work."""

from pathlib import Path

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from inpaint_app.errors import printable_path
from inpaint_app.io import registry
from inpaint_app.io.format import Format
from inpaint_app.io.paths import is_visible

RECIPES, PROJECTS = "Recipes (*.json)", "Projects (*.inpaint)"
NETWORKS, PROFILES = "ONNX files (*.onnx)", "ICC profiles (*.icc *.icm)"


def name_filter(formats: list[Format] | None = None) -> str:
    """Return the filter of a file dialog for some formats; for all that can be read if none are given."""
    patterns = " ".join(f"*{suffix}" for suffix in registry.suffixes(formats))
    return f"Pictures ({patterns})" + (";;All files (*)" if formats is None else "")


def ask_for_file(parent: QWidget, title: str, folder: Path | str, kinds: str) -> Path | None:
    """Ask for a file to read; None if the user cancels."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, str(folder), kinds)
    return Path(chosen) if chosen else None


def ask_where_to_write(parent: QWidget, title: str, suggestion: Path, kinds: str) -> Path | None:
    """Ask for a file to write, and before one is replaced; a name without an ending gets that suggested."""
    chosen, _ = QFileDialog.getSaveFileName(parent, title, str(suggestion), kinds)
    if not chosen:
        return None
    path = Path(chosen)
    if path.suffix:
        return path
    # The dialog has asked about the name as typed only.
    path = path.with_suffix(suggestion.suffix)
    return path if not is_visible(path) or _may_replace(parent, title, path) else None


def _may_replace(parent: QWidget, title: str, path: Path) -> bool:
    buttons = QMessageBox.StandardButton
    question = f"{printable_path(path.name)} already exists. Replace it?"
    answer = QMessageBox.question(parent, title, question, buttons.Yes | buttons.No, buttons.No)
    return answer == buttons.Yes


def ask_about_unsaved(parent: QWidget, works: list[str]) -> str:
    """Ask what to do with unsaved work, given by its names: "export", "discard" or "stay"."""
    is_one = len(works) == 1
    text = f"The {' and the '.join(works)} {'has' if is_one else 'have'} not been saved."
    box = _question(parent, "Unsaved work", text, f"Export {'it' if is_one else 'them'} first?")
    export = box.addButton("&Export …", QMessageBox.ButtonRole.AcceptRole)
    discard = box.addButton("&Discard", QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(QMessageBox.StandardButton.Cancel).setIcon(QIcon())
    box.setDefaultButton(export)
    box.exec()
    clicked = box.clickedButton()
    return "export" if clicked is export else "discard" if clicked is discard else "stay"


def ask_to_discard(parent: QWidget, text: str, question: str) -> bool:
    """Ask whether work in progress may be lost."""
    box = _question(parent, "Work in progress", text, question)
    discard = box.addButton("&Discard", QMessageBox.ButtonRole.DestructiveRole)
    keep = box.addButton("&Keep Running", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keep)
    box.exec()
    return box.clickedButton() is discard


def _question(parent: QWidget, title: str, text: str, question: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(title)
    box.setText(text)
    box.setInformativeText(question)
    return box
