"""Tiny networks as ONNX files, written byte by byte: protocol buffers of a few nodes."""

from pathlib import Path

#: Element types of ONNX.
FLOAT, UINT8, BOOL = 1, 2, 9


def varint(number: int) -> bytes:
    """Return a number as a protocol buffer writes it."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    contents = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(contents)) + contents


def node(kind: str, inputs: list[str], output: str, **integers: int) -> bytes:
    """Return a node of a graph, with attributes that are integers."""
    message = b"".join(field(1, each) for each in inputs) + field(2, output) + field(4, kind)
    for name, value in integers.items():
        message += field(5, field(1, name) + field(3, value) + field(20, 2))
    return field(1, message)


def tensor(number: int, name: str, kind: int, shape: list[int | str]) -> bytes:
    """Return an input (11) or an output (12) of a graph; sizes that are names may be any."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes))))


def write_network(path: Path, *contents: bytes) -> Path:
    """Write a graph of nodes, inputs and outputs to a file, and return its path."""
    graph = b"".join(contents) + field(2, "tiny")
    path.write_bytes(field(1, 9) + field(7, graph) + field(8, field(1, "") + field(2, 17)))
    return path


def float_network(path: Path, size: int | str = 16) -> Path:
    """Write a network like LaMa: floats from 0 to 1, a mask of 1; it returns white in the hole."""
    color, gray = [1, 3, size, size], [1, 1, size, size]
    return write_network(
        path,
        node("Max", ["image", "mask"], "output"),
        tensor(11, "image", FLOAT, color),
        tensor(11, "mask", FLOAT, gray),
        tensor(12, "output", FLOAT, color),
    )


def byte_network(path: Path) -> Path:
    """Write a network like MI-GAN: bytes of any size, a mask of 0; it returns black in the hole."""
    color, gray = [1, 3, "height", "width"], [1, 1, "height", "width"]
    return write_network(
        path,
        node("Cast", ["mask"], "known", to=BOOL),
        node("Where", ["known", "image", "mask"], "result"),
        tensor(11, "image", UINT8, color),
        tensor(11, "mask", UINT8, gray),
        tensor(12, "result", UINT8, color),
    )
