"""Take the locales out of the data of ICU that Qt brings: 30 MB, of which a program in English needs 3.

`python icu.py LIBRARY` replaces a libicudata by one with the root locale alone; it needs a C compiler. The
data are a table of contents in the format "CmnD": a header, the number of items, the places of names and of
contents, which are counted from that number on.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

_MAGIC, _FORMAT_AT = b"\xda\x27", 12
#: What is kept, without the name of the package before it: no locales, converters and transliterators.
_KEPT = re.compile(
    r"[^/]+\.(icu|nrm|spp)|(root|pool|res_index|supplementalData|keyTypeData|metadata|numberingSystems)\.res"
    r"|coll/(root|pool|res_index)\.res|coll/ucadata\.icu|brkitr/(root|res_index)\.res"
)


def reduced(data: bytes) -> bytes:
    """Return data of ICU with the items that are kept."""
    header = struct.unpack_from("<H", data)[0]
    count = struct.unpack_from("<I", data, header)[0]
    places = [struct.unpack_from("<II", data, header + 4 + 8 * number) for number in range(count)]
    names = [data[header + at : data.index(b"\0", header + at)] for at, _ in places]
    ends = [start for _, start in places[1:]] + [len(data) - header]
    kept = [
        (name, data[header + start : header + end])
        for name, (_, start), end in zip(names, places, ends, strict=True)
        if _KEPT.fullmatch(name.decode().partition("/")[2])
    ]
    texts = b"".join(name + b"\0" for name, _ in kept)
    name_at = 4 + 8 * len(kept)
    at = name_at + len(texts)
    table, contents = struct.pack("<I", len(kept)), b""
    texts += bytes(-at % 16)
    at += -at % 16
    for name, item in kept:
        table += struct.pack("<II", name_at, at + len(contents))
        name_at += len(name) + 1
        contents += item + bytes(-len(item) % 16)
    return data[:header] + table + texts + contents


def main(library: Path) -> None:
    """Replace the library."""
    file = library.read_bytes()
    version = re.search(r"\.(\d+)$", library.name)
    start = file.find(b"CmnD") - _FORMAT_AT
    if version is None or start < 0 or file[start + 2 : start + 4] != _MAGIC:
        raise SystemExit(f"{library} holds no data of ICU in the format that is known.")
    with tempfile.TemporaryDirectory() as folder:
        data, source = Path(folder, "reduced.dat"), Path(folder, "reduced.s")
        data.write_bytes(reduced(file[start:]))
        symbol = f"icudt{version[1]}_dat"
        lines = [
            ".section .rodata",
            ".balign 16",
            f".globl {symbol}",
            f".type {symbol}, @object",
            f'{symbol}: .incbin "{data}"',
            f".size {symbol}, . - {symbol}",
            '.section .note.GNU-stack,"",@progbits',
        ]
        source.write_text("\n".join([*lines, ""]))
        options = ["-shared", "-nostdlib", f"-Wl,-soname,{library.name}"]
        subprocess.run(["cc", *options, "-o", str(library), str(source)], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
