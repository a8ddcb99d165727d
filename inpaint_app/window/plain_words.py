"""Sentences shared with the command line, in the words of the window; no Qt."""

from __future__ import annotations

import re
from pathlib import Path

from inpaint_app.errors import printable_path

# They name options in brackets, or as a last resort.
_OPTIONS = (
    (re.compile(r" \(--[a-z-]+\)"), ""),
    (re.compile(r"\(--[a-z-]+, "), "("),
    (re.compile(r", or ask for --depth 8"), ", or choose a depth of 8 bits"),
    (re.compile(r", such as --text SAMPLE"), ""),
    (re.compile(r" with -o\b"), ""),
    (re.compile(r"written with --write-recipe"), "written by Save Recipe"),
)


def plain_sentence(sentence: str) -> str:
    """Return a sentence without the options of the command line."""
    for pattern, words in _OPTIONS:
        sentence = pattern.sub(words, sentence)
    return sentence


def without_folders(sentence: str, *paths: Path | None) -> str:
    """Return a sentence with the bare names of some files."""
    for path in paths:
        if path is not None:
            sentence = sentence.replace(printable_path(path), printable_path(path.name))
    return sentence
