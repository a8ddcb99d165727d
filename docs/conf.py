"""How ``make docs`` builds the site: Sphinx, with every warning an error."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from dictsel_core import __version__

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
    "sphinx.ext.mathjax",
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
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "dictsel"
html_logo = "../assets/icon.svg"
html_favicon = "../assets/icon.svg"
html_theme_options = {"navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"*": []}  # the API and the gallery alone have pages to list


def setup(app: Sphinx) -> None:
    """Show diagrams as their text: drawing them takes a script from another server."""
    app.add_lexer("mermaid", TextLexer)
