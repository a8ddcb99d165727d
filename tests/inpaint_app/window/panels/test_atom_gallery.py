"""A gallery of atoms."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QListWidget
from windows import find, texts

from inpaint_app.window.panels.atom_gallery import Atom, AtomGallery, atom_icon, format_share

LEFT, NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
SHARES = [0.2, 0.005, 0.9, 0.0, 0.5]
GAINS = [50.0, 40.0, 30.0, 20.0, 35.0]


def atoms(n: int = 5) -> list[Atom]:
    rng = np.random.default_rng(0)
    return [
        Atom(rng.standard_normal((8, 8)), f"Cosine {number}", GAINS[number % 5], SHARES[number % 5])
        for number in range(n)
    ]


@pytest.fixture
def gallery(qtbot):
    made = AtomGallery()
    qtbot.addWidget(made)
    made.resize(320, 420)
    made.set_atoms(atoms())
    made.told = []
    made.atom_chosen.connect(made.told.append)
    made.show()
    qtbot.waitExposed(made)
    return made


def view(gallery) -> QListWidget:
    return gallery.findChild(QListWidget, "atoms")


def sort(gallery, order: str) -> None:
    find(gallery, QComboBox, "Sort the atoms").setCurrentText(order)


def numbers(gallery) -> list[int]:
    shown = view(gallery)
    return [shown.item(row).data(Qt.ItemDataRole.UserRole) for row in range(shown.count())]


def click(gallery, row: int) -> None:
    shown = view(gallery)
    center = shown.visualRect(shown.model().index(row)).center()
    QTest.mouseClick(shown.viewport(), LEFT, NO_KEY, center)


def test_orders(gallery):
    assert numbers(gallery) == [0, 1, 2, 3, 4]
    sort(gallery, "Most used first")
    assert numbers(gallery) == [2, 4, 0, 1, 3]
    sort(gallery, "Largest gain first")
    assert numbers(gallery) == [0, 1, 4, 2, 3]


def test_a_click_chooses_and_a_second_one_declines(gallery):
    click(gallery, 3)
    click(gallery, 1)
    click(gallery, 1)
    assert gallery.told == [3, 1, None]
    assert gallery.chosen is None


def test_a_click_beside_the_atoms_declines(gallery):
    click(gallery, 2)
    shown = view(gallery)
    QTest.mouseClick(shown.viewport(), LEFT, NO_KEY, QPoint(5, shown.viewport().height() - 5))
    assert gallery.told == [2, None]


def test_keys_choose_and_decline(gallery):
    shown = view(gallery)
    shown.setFocus()
    click(gallery, 0)
    QTest.keyClick(shown, Qt.Key.Key_Right)
    QTest.keyClick(shown, Qt.Key.Key_End)
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    assert gallery.told == [0, 1, 4, None]


def test_the_focus_chooses_nothing(gallery, qtbot):
    shown = view(gallery)
    gallery.activateWindow()
    shown.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(shown.hasFocus, timeout=600_000)
    assert (gallery.told, gallery.chosen, shown.selectedIndexes()) == ([], None, [])
    QTest.keyClick(shown, Qt.Key.Key_Space)
    assert gallery.told == [0]
    assert "Atom 1:" in texts(gallery)
    QTest.keyClick(shown, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert gallery.told == [0, None], "the words go with the highlighted tile"


def test_escape_reaches_the_choice_before_any_shortcut_of_the_window(gallery):
    shortcuts = []
    QShortcut(QKeySequence("Esc"), gallery).activated.connect(lambda: shortcuts.append("Esc"))
    click(gallery, 0)
    QTest.keyClick(view(gallery), Qt.Key.Key_Escape)
    assert (gallery.chosen, shortcuts) == (None, [])
    QTest.keyClick(view(gallery), Qt.Key.Key_Escape)
    assert shortcuts == ["Esc"]


def test_numbers_are_those_of_the_selection_in_every_order(gallery):
    sort(gallery, "Most used first")
    click(gallery, 0)
    assert gallery.told == [2]


def test_another_order_keeps_the_choice(gallery):
    click(gallery, 4)
    sort(gallery, "Most used first")
    assert gallery.chosen == 4
    assert view(gallery).currentIndex().row() == 1
    assert gallery.told == [4]


def test_choosing_by_program_tells_nobody(gallery):
    gallery.set_chosen(3)
    assert gallery.chosen == 3
    assert view(gallery).currentIndex().row() == 3
    gallery.set_chosen(None)
    assert gallery.told == []


def test_another_dictionary_ends_the_choice(gallery):
    click(gallery, 4)
    gallery.set_atoms(atoms(2))
    assert gallery.told == [4, None]
    gallery.set_atoms([])
    assert numbers(gallery) == []


def test_words_for_pointer_and_screen_reader_say_everything(gallery):
    model = view(gallery).model()
    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
        words = model.data(model.index(2), role)
        assert (
            words.replace("\n", " ")
            == "Atom 3: Cosine 2. Gain 30, used by 90 % of the patches it was selected on."
        )


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0 %"), (0.004, "< 1 %"), (0.01, "1 %"), (0.126, "13 %"), (1, "100 %")]
)
def test_shares(share, words):
    assert format_share(share) == words


def test_zero_is_gray_and_the_largest_value_black_or_white(qapp):
    pixels = np.array([[0.0, 0.5], [-0.25, -0.5]])
    image = atom_icon(Atom(pixels, "", 1, 1)).pixmap(56, 56).toImage()
    grays = [QColor(image.pixel(x, y)).red() for y in (14, 42) for x in (14, 42)]
    assert grays == [128, 255, 64, 0]
    assert (
        QColor(atom_icon(Atom(np.zeros((2, 2)), "", 1, 1)).pixmap(56, 56).toImage().pixel(9, 9)).red() == 128
    )


def test_hundreds_of_atoms_scroll(gallery):
    gallery.set_atoms(atoms(400))
    gallery.set_chosen(399)
    shown = view(gallery)
    assert shown.viewport().rect().contains(shown.visualRect(shown.currentIndex()).center())
