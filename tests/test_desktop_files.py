"""What software centers and menus are told about the program."""

import configparser
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inpaint_app.io.registry import FORMATS

NAME = "org.dictsel.inpaint"
ASSETS = Path(__file__).parents[1] / "assets"


@pytest.fixture(scope="module")
def entry():
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read_string((ASSETS / f"{NAME}.desktop").read_text())
    return parser["Desktop Entry"]


@pytest.fixture(scope="module")
def component():
    return ElementTree.fromstring((ASSETS / f"{NAME}.metainfo.xml").read_bytes())


def test_both_speak_of_the_same_program(entry, component):
    assert component.findtext("id") == NAME
    assert component.findtext("launchable") == f"{NAME}.desktop"
    assert component.findtext("icon") == entry["Icon"] == NAME
    assert component.findtext("name") == entry["Name"]
    assert component.findtext("summary") == entry["Comment"]
    assert component.findtext("provides/binary") == entry["Exec"].split()[0]
    types = [element.text for element in component.findall("provides/mediatype")]
    assert types == entry["MimeType"].rstrip(";").split(";")
    assert types == [each for known in FORMATS for each in known.mime_types]


def test_they_agree_with_the_package(component):
    package = metadata.metadata("dictsel")
    assert component.findtext("project_license") == package["License-Expression"]
    assert component.findtext("developer/name") == package["Author"]


@pytest.mark.parametrize(
    "file", ["icon.svg", *sorted(f"icons/{f.name}" for f in (ASSETS / "icons").iterdir())]
)
def test_drawings_are_whole_and_need_nothing_else(file):
    drawing = ElementTree.fromstring(ASSETS.joinpath(*file.split("/")).read_bytes())
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing.get("viewBox") in {"0 0 24 24", "0 0 128 128"}
    assert not [element for element in drawing.iter() if element.tag.endswith(("image", "script", "style"))]
