"""The dictionary of the current result: its atoms and their gains."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QListView
from windows import find, restored, settle

from inpaint_app.window.panels.dictionary_panel import DictionaryPanel, atoms_of


@pytest.fixture
def panel(session, qtbot, files):
    made = DictionaryPanel(session)
    qtbot.addWidget(made)
    restored(session, qtbot, files["damaged"])
    return made


def test_the_atoms_are_those_of_the_current_result(panel, session) -> None:
    restoration = session.state.runs.current.restoration
    atoms = atoms_of(restoration)
    assert len(atoms) == find(panel, QListView, "atoms").model().rowCount() == 8
    assert [atom.gain for atom in atoms] == restoration.selection.gains.tolist()
    assert all(0 <= atom.share <= 1 for atom in atoms)


def test_an_atom_is_chosen_in_the_gallery_or_on_the_curve(panel, session, qtbot) -> None:
    panel.gallery.atom_chosen.emit(2)
    settle(session, qtbot)
    assert session.state.atom_use.atom == 2
    panel.curves[0].point_clicked.emit(1)
    settle(session, qtbot)
    assert session.state.atom_use.atom == panel.gallery.chosen == 1


def test_another_result_gives_the_choice_up(panel, session, qtbot, files) -> None:
    panel.curves[0].point_clicked.emit(1)
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    assert (session.state.atom_use, panel.gallery.chosen) == (None, None)
    session.opening.open_file(files["whole"])
    settle(session, qtbot)
    assert find(panel, QListView, "atoms").model().rowCount() == 0


def test_a_healed_stroke_leaves_the_atoms_alone(panel, session, qtbot, monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr(panel.gallery, "set_atoms", drawn.append)
    record = session.state.runs.current
    healed = replace(record, restoration=replace(record.restoration))
    session.document.apply(runs=session.state.runs.replaced(healed))
    settle(session, qtbot)
    assert drawn == []  # it is the same dictionary
