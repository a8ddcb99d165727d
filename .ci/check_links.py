"""Check the links between the pages of a site, and what it loads: `python check_links.py FOLDER`."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes of an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in ("script", "img", "iframe") and "src" in values:
            self.loaded.append(values["src"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(values["href"])


def problems(folder: Path) -> list[str]:
    """Return a sentence for every link that leads nowhere, and for all that is loaded from elsewhere.

    Templates of the theme, in _static, are no pages.
    """
    files = (path for path in folder.rglob("*.html") if "_static" not in path.relative_to(folder).parts)
    pages = {path.resolve(): _Page(path) for path in files}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme == "data" or (parts.scheme and target in page.links):
                continue
            if parts.netloc:
                found.append(f"{name} loads {target}")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.exists():
                found.append(f"{name} links to {target}, which does not exist")
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                found.append(f"{name} links to {target}, where there is no such place")
    return found


if __name__ == "__main__":
    sentences = problems(Path(sys.argv[1]))
    sys.stdout.write("".join(f"{sentence}\n" for sentence in sentences))
    sys.exit(bool(sentences))
