"""How ``make docs`` builds the site: Sphinx, with every warning an error."""

import re
import sys
from pathlib import Path

from docutils.nodes import SkipNode, math, math_block
from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from dictsel_core import __version__

sys.path.insert(0, str(Path(__file__).parent))
from command_page import commands_as_markdown

project = "dictsel"
author = "dictsel maintainers"
copyright = "dictsel maintainers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "README.md", "gallery/*", "examples/*"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the sections of numpydoc say it shorter
extlinks = {"doi": ("https://doi.org/%s", "doi:%s"), "DOI": ("https://doi.org/%s", "doi:%s")}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery_built",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "ignore_pattern": "comparing",
    "abort_on_example_error": True,
    "capture_repr": (),  # the figure is shown, not its repr
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # the page loads scripts from elsewhere
    "download_all_examples": False,
}

html_static_path = ["_static"]
html_css_files = ["before_after.css"]
html_js_files = ["before_after.js"]
html_theme = "pydata_sphinx_theme"
html_title = "dictsel"
html_logo = "../assets/icon.svg"
html_favicon = "../assets/icon.svg"
html_theme_options = {"navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"*": []}  # the API and the gallery alone have pages to list


html_math_renderer = "mathml"


# A bar alone is taken for an operator between two terms, with space around it; fences are not.
_BARS = re.compile(r"\|([^|]+)\|")
_NORM = {r"\lVert": r"\left\|", r"\rVert": r"\right\|"}
_SYMBOLS = {
    # Few fonts have the reverse solidus operator, most have the set minus.
    "<mi>&#x029F5;</mi>": "<mo>&#x02216;</mo>",
    # Without space, a function and its argument read like one name.
    "<mi>ln</mi>": '<mo lspace="0.17em" rspace="0.17em">ln</mo>',
}


def to_mathml(latex: str, display: str = "inline") -> str:
    """Return a formula as MathML."""
    latex = _BARS.sub(r"\\left|\1\\right|", latex)
    for name, fence in _NORM.items():
        latex = latex.replace(name, fence)
    formula: str = convert(latex, display=display)
    for symbol, other in _SYMBOLS.items():
        formula = formula.replace(symbol, other)
    if "\\" in formula:
        raise ValueError(f"latex2mathml does not know a command of {latex}")
    return formula


def visit_math(writer: HTML5Translator, node: math) -> None:
    """Write a formula within a line as MathML."""
    writer.body.append(to_mathml(node.astext()))
    raise SkipNode


def visit_math_block(writer: HTML5Translator, node: math_block) -> None:
    """Write a formula of its own as MathML; the theme aligns what is of the class "math" to the right."""
    writer.body.append(
        f'<div class="formula" style="margin-bottom: 1rem">{to_mathml(node.astext(), "block")}</div>\n'
    )
    raise SkipNode


def add_commands(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the commands where their page has a place for them."""
    source[0] = source[0].replace("<!-- commands -->", commands_as_markdown() if page == "commands" else "")


def setup(app: Sphinx) -> None:
    """Show formulas as MathML, and diagrams as their text: scripts for both come from other servers."""
    app.connect("source-read", add_commands)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_lexer("mermaid", TextLexer)
