"""Projects: what is saved is there again, and nothing else is read."""

import json
import os
import zipfile
import zlib
from dataclasses import replace

import numpy as np
import pytest
from windows import opened, settle

from inpaint_app.errors import UserError
from inpaint_app.io.write import Output
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture
from inpaint_app.window.document import project_writer
from inpaint_app.window.document.project import describe_project, read_project
from inpaint_app.window.session import Session


def restore(session, qtbot):
    session.running.restore()
    settle(session, qtbot)


@pytest.fixture
def other(qapp):
    made = Session()
    made.complaints = []
    made.document.problem.connect(made.complaints.append)
    yield made
    made.close()


def saved(session, qtbot, path):
    session.exporting.write_project(Output(path))
    session.exporting.wait()
    settle(session, qtbot)
    assert session.complaints == []
    return path


def worked_on(session, qtbot, files):
    """Open a picture, restore it, paint, and restore it otherwise."""
    opened(session, qtbot, files["damaged"])
    session.set_settings(replace(session.state.settings, n_atoms=12, rounds=1))
    restore(session, qtbot)
    session.rename_run(1, "a first try")
    session.masking.resize(1)
    settle(session, qtbot)
    restore(session, qtbot)
    return session


def test_everything_is_there_again(session, other, qtbot, files, tmp_path):
    worked_on(session, qtbot, files)
    path = saved(session, qtbot, tmp_path / "work.inpaint")
    assert not session.state.has_unsaved_result
    assert not session.state.has_unsaved_mask
    other.opening.open_file(path)
    settle(other, qtbot)
    assert other.complaints == []
    before, after = session.state, other.state
    assert after.source.path == before.source.path
    assert after.settings == before.settings
    assert after.mask.same_pixels(before.mask)
    assert after.mask.origin == before.mask.origin
    assert np.array_equal(other.document.mask, session.document.mask)
    assert len(after.runs) == len(before.runs) == 2
    for old, new in zip(before.runs.records, after.runs.records, strict=True):
        assert np.array_equal(old.image, new.image)
        assert (old.number, old.name, old.requested, old.seconds) == (
            new.number,
            new.name,
            new.requested,
            new.seconds,
        )
        assert old.settings == new.settings
        assert old.packed_mask.same_pixels(new.packed_mask)
        assert new.figures is not None, "it is measured again"
    assert after.runs.current_number == before.runs.current_number
    assert not after.has_unsaved_result
    assert not after.has_unsaved_mask


def test_work_goes_on_where_it_was(session, other, qtbot, files, tmp_path):
    path = saved(worked_on(session, qtbot, files), qtbot, tmp_path / "work.inpaint")
    other.opening.open_file(path)
    settle(other, qtbot)
    shown = other.state.runs.current.image
    other.go_back(1)
    settle(other, qtbot)
    assert np.array_equal(other.state.runs.current.image, session.state.runs.find(1).image)
    restore(other, qtbot)
    assert other.state.runs.current_number == 3
    assert other.complaints == []
    assert shown is not None


def test_a_picture_beside_the_folder_of_the_project_keeps_its_name(session, other, qtbot, files, tmp_path):
    opened(session, qtbot, files["damaged"])
    (tmp_path / "projects").mkdir()
    path = saved(session, qtbot, tmp_path / "projects" / "work.inpaint")
    other.opening.open_file(path)
    settle(other, qtbot)
    assert other.state.source.path == files["damaged"].resolve()


def test_the_picture_is_found_when_both_have_moved(session, other, qtbot, files, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    files = files | {"damaged": files["damaged"].rename(folder / "damaged.png")}
    worked_on(session, qtbot, files)
    saved(session, qtbot, folder / "work.inpaint")
    moved = folder.rename(tmp_path / "elsewhere")
    other.opening.open_file(moved / "work.inpaint")
    settle(other, qtbot)
    assert other.complaints == []
    assert other.state.source.path.resolve() == (moved / files["damaged"].name).resolve()


def test_a_picture_that_is_no_file_is_in_the_project(session, other, qtbot, tmp_path):
    session.opening.open_sample()
    settle(session, qtbot)
    path = saved(session, qtbot, tmp_path / "sample.inpaint")
    other.opening.open_file(path)
    settle(other, qtbot)
    before, after = session.state.source, other.state.source
    assert np.array_equal(after.picture.pixels, before.picture.pixels)
    assert np.array_equal(after.reference.pixels, before.reference.pixels)
    assert (after.title, after.is_sample) == (before.title, before.is_sample)
    assert other.state.mask.same_pixels(session.state.mask)


def test_the_source_is_never_replaced(session, qtbot, files):
    opened(session, qtbot, files["damaged"])
    before = files["damaged"].read_bytes()
    session.exporting.write_project(Output(files["damaged"]))
    session.exporting.wait()
    settle(session, qtbot)
    assert files["damaged"].read_bytes() == before
    assert len(session.complaints) == 1


@pytest.fixture
def project(session, qtbot, files, tmp_path):
    return saved(worked_on(session, qtbot, files), qtbot, tmp_path / "work.inpaint")


def test_it_says_what_it_is_about(project, files, tmp_path):
    assert describe_project(project) == files["damaged"].name
    (tmp_path / "other.inpaint").write_bytes(b"something else")
    assert describe_project(tmp_path / "other.inpaint") == "a picture"


def test_a_picture_that_is_gone_is_named(project, files):
    files["damaged"].unlink()
    with pytest.raises(UserError, match=r"damaged\.png, the picture of this project, does not exist"):
        read_project(project)


def test_another_picture_of_that_name_is_refused(project, files):
    files["damaged"].write_bytes(files["whole"].read_bytes())
    with pytest.raises(UserError, match="not the picture that this project was made for"):
        read_project(project)


def changed(project, tmp_path, change, *, compression=zipfile.ZIP_STORED):
    """Return a project with other contents."""
    path = tmp_path / "changed.inpaint"
    with zipfile.ZipFile(project) as old, zipfile.ZipFile(path, "w", compression) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "project.json":
                contents = json.loads(data)
                change(contents)
                data = json.dumps(contents).encode()
            new.writestr(name, data)
    # Names of files are seen from the same folder.
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda contents: contents.pop("masks"),
        lambda contents: contents["picture"].update(shape=[10**9, 10**9]),
        lambda contents: contents["picture"].update(dtype="O"),
        lambda contents: contents["masks"][0].update(shape=[1, 1]),
        lambda contents: contents["masks"][0].update(file="project.json"),
        lambda contents: contents["runs"][0].update(mask=99),
        lambda contents: contents["runs"][0].update(number="one"),
        lambda contents: contents["settings"].update(n_atoms=-1),
        lambda contents: contents["settings"].update(unheard_of=1),
        lambda contents: contents.update(runs=None),
        lambda contents: contents.update(project=99),
        lambda contents: contents["runs"][0]["usage"].append(10**30),
        lambda contents: contents["runs"][1].update(number=1),
    ],
)
def test_contents_that_make_no_sense_are_refused_in_a_sentence(project, tmp_path, change):
    with pytest.raises(UserError):
        read_project(changed(project, tmp_path, change))


def test_what_was_not_changed_is_read(project, tmp_path):
    assert len(read_project(changed(project, tmp_path, lambda _contents: None)).runs) == 2


def test_nothing_is_unpacked(project, tmp_path):
    path = changed(project, tmp_path, lambda _contents: None, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(UserError, match="damaged project"):
        read_project(path)


@pytest.mark.parametrize("length", [0, 30, 1000])
def test_a_truncated_file_is_refused_in_a_sentence(project, tmp_path, length):
    path = tmp_path / "short.inpaint"
    path.write_bytes(project.read_bytes()[:length])
    with pytest.raises(UserError, match="damaged project"):
        read_project(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [(6, b"\xff\x00"), (8, b"\x01\x00"), (20, b"\xf0\xff\xff\x7f\xf0\xff\xff\x7f")],
    ids=["a later version of zip", "encrypted", "sizes that are not true"],
)
def test_an_archive_of_another_kind_is_refused_in_a_sentence(project, tmp_path, place, value):
    data = bytearray(project.read_bytes())
    entry = data.find(b"PK\x01\x02")
    while entry >= 0:  # every entry of the directory
        data[entry + place : entry + place + len(value)] = value
        entry = data.find(b"PK\x01\x02", entry + 1)
    path = tmp_path / "other.inpaint"
    path.write_bytes(data)
    assert describe_project(path) == "a picture"
    with pytest.raises(UserError, match="damaged project"):
        read_project(path)


def test_what_could_not_be_read_again_is_not_written(session, qtbot, files, tmp_path, monkeypatch):
    worked_on(session, qtbot, files)
    monkeypatch.setattr(project_writer, "MAX_CONTENTS", 1000)
    session.exporting.write_project(Output(tmp_path / "work.inpaint"))
    session.exporting.wait()
    assert session.complaints == ["There are too many runs for a project; delete some of them first."]
    assert not (tmp_path / "work.inpaint").exists()
    assert session.state.has_unsaved_result


@pytest.mark.parametrize("other", ["float64", "four bands"])
def test_a_picture_that_cannot_be_shown_is_refused(session, qtbot, tmp_path, other):
    session.opening.open_picture(lambda: Picture(np.zeros((20, 30, 3), np.uint8)), "Pasted picture")
    settle(session, qtbot)
    pixels = np.zeros((20, 30, 3)) if other == "float64" else np.zeros((20, 30, 4), np.uint8)
    about = {"shape": list(pixels.shape), "dtype": pixels.dtype.str, "checksum": zlib.crc32(pixels.data)}
    project = saved(session, qtbot, tmp_path / "pasted.inpaint")
    path = changed(project, tmp_path, lambda contents: contents["picture"].update(about))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "odd.inpaint", "w") as new:
        for name in old.namelist():
            with new.open(name, "w") as file:
                if name == "picture.npy":
                    np.save(file, pixels)
                else:
                    file.write(old.read(name))
    with pytest.raises(UserError, match="damaged project"):
        read_project(tmp_path / "odd.inpaint")


@pytest.mark.parametrize(
    ("good", "bad"), [(b"}", b" "), (b"NUMPY\1", b"NUMPY\3")], ids=["cut", "of another version"]
)
def test_an_array_whose_header_is_wrong_is_refused_in_a_sentence(project, tmp_path, good, bad):
    path = tmp_path / "wrong.inpaint"
    with zipfile.ZipFile(project) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(good, bad, 1) if name == "mask0.npy" else data)
    with pytest.raises(UserError, match="damaged project"):
        read_project(path)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_a_project_of_a_private_picture_is_private(session, qtbot, files, tmp_path):
    files["damaged"].chmod(0o600)
    opened(session, qtbot, files["damaged"])
    assert saved(session, qtbot, tmp_path / "work.inpaint").stat().st_mode & 0o777 == 0o600


def test_what_is_healed_while_a_project_is_written_is_not_saved(session, qtbot, files, tmp_path):
    worked_on(session, qtbot, files)
    before = session.state
    session.masking.begin_stroke(30.5, 30.5, diameter=4)
    session.masking.heal_stroke()
    settle(session, qtbot)
    assert session.state.runs.current_number == before.runs.current_number
    session.document.mark_project_saved(before, tmp_path / "work.inpaint")
    assert session.state.has_unsaved_result


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe.inpaint"
    os.mkfifo(path)
    # Somebody has it open for writing, or the test would wait for ever if the program did.
    holder = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        with pytest.raises(UserError, match="not a regular file"):
            read_project(path)
    finally:
        os.close(holder)


def test_it_is_known_again_what_the_marks_have_made_missing(session, qtbot, files, tmp_path):
    opened(session, qtbot, files["damaged"])
    session.opening.set_mask_spec(MaskSpec(mask=files["mask"], grow=2))
    settle(session, qtbot)
    project = saved(session, qtbot, tmp_path / "work.inpaint")
    before, after = session.state.source.missing, read_project(project).source.missing
    assert np.array_equal(after.mask, before.mask)
    assert (after.sources, after.growth) == (before.sources, before.growth)
    files["mask"].unlink()
    assert read_project(project).mask.same_pixels(session.state.mask)
