"""The check of the documentation's links."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_links.py"


@pytest.fixture
def problems():
    spec = importlib.util.spec_from_file_location("check_links", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        ('<a href="b.html">', None),
        ('<a href="b.html#here">', None),
        ('<a href="#top">', None),
        ('<a href="https://elsewhere.example/page">', None),
        ('<img src="data:image/png;base64,x">', None),
        ('<a href="c.html">', "c.html, which does not exist"),
        ('<a href="b.html#there">', "no such place"),
        ('<img src="missing%20one.png">', "does not exist"),
        ('<script src="https://elsewhere.example/x.js">', "loads https"),
        ('<link rel="stylesheet" href="//elsewhere.example/x.css">', "loads //"),
    ],
)
def test_links_that_lead_nowhere_and_loads_from_elsewhere_are_found(problems, tmp_path, element, problem):
    (tmp_path / "a.html").write_text(f'<p id="top">{element}</p>')
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    found = problems(tmp_path)
    assert (problem is None) == (found == [])
    assert problem is None or problem in found[0]
