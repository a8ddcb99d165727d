"""The scans of a JPEG file, and what is lost of a picture if some of them end too early."""

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.jpeg.header import END, SCAN, Header
from inpaint_app.model.picture import Array

ANY_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # not stuffing, fill bytes or restarts
# A progressive file may go over the whole picture once per scan. Real ones have about ten; a small file
# with thousands would decode for hours.
_MAX_SCANS = 200
#: Pictures of which less is left are refused.
_MAX_LOST = 0.9
#: Coded by Huffman's method, in which every unit takes at least one bit.
_HUFFMAN = (0xC0, 0xC1, 0xC2)
_LAST_COEFFICIENT = 63
# Bytes that a scan that has all its data leaves alone.
_FILLERS = tuple(bytes(value % 254 for value in np.random.default_rng(seed).bytes(2048)) for seed in (1, 2))

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Scan:
    """A pass over the picture: where its coded data lie, and what they add."""

    start: int
    end: int
    components: tuple[int, ...]
    band: tuple[int, int]  #: First and last coefficient.
    is_refinement: bool  #: Whether it adds but a bit to coefficients that have been there before.
    is_last_bit: bool  #: Whether coefficients are exact afterwards.


def read_scans(data: bytes, header: Header) -> list[Scan]:
    """Return all scans of a picture, the last of which may end with the file."""
    scans, content, start = [], header.scan, header.scan_start
    while True:
        found = ANY_MARKER.search(data, start)
        end = len(data) if found is None else found.start()
        scans.append(_scan(content, start, end))
        if len(scans) > _MAX_SCANS:
            raise UnsupportedError("it has more scans than any camera writes", "save it again in an editor")
        following = _next_scan(data, end)
        if following is None:
            return scans
        content, start = following


def check_length(scans: Sequence[Scan], header: Header) -> None:
    """Refuse data that are too short for a tenth of the picture, before memory is taken for all of it."""
    width, height = header.size
    n_units = -(-height // header.mcu[0]) * -(-width // header.mcu[1]) * header.channels
    n_bits = 8 * sum(scan.end - scan.start for scan in scans)
    if header.frame in _HUFFMAN and n_bits < (1 - _MAX_LOST) * n_units:
        raise DamagedError("it is truncated")


def find_lost(
    data: bytes, header: Header, pixels: Array, unpack: Callable[[bytes], Array]
) -> tuple[Bools | None, bool]:
    """Return which pixels of a picture of several scans are lost, and whether others have lost fine detail.

    A scan that ends too early is filled up with nothing. It is found by what other bytes in that place
    change: nothing, if it has all its data. `pixels` is the picture as it is unpacked. Raises `DamagedError`
    if most of it is lost, or a scan that it cannot do without.
    """
    scans = read_scans(data, header)
    exact = [scan for scan in scans if scan.is_last_bit]
    if any(_lacks(scans, component) for component in header.components):
        raise DamagedError("it is truncated")
    is_coarse = any(_lacks(exact, component) for component in header.components)
    if not any(_changed(pixels, unpack(filled(data, scans, f))).any() for f in _FILLERS):
        return None, is_coarse
    lost, shape = np.zeros(pixels.shape[:2], np.bool_), pixels.shape[:2]
    for number, scan in enumerate(scans):
        unit, firsts = _unit(scan, header), []
        for filler in _FILLERS:
            other = unpack(filled(data, scans, filler, number))
            changed = np.flatnonzero(_by_unit(_changed(pixels, other), unit, np.logical_or))
            firsts += [int(changed[0])] if changed.size else []
        if firsts:  # of what is but refined, the unit is wrong at which the data end, the others are coarse
            first = min(firsts) - 1
            lost |= lost_from(first, shape, unit, first + 2 if scan.is_refinement else None)
    return (lost if lost.any() else None), True


def filled(data: bytes, scans: Sequence[Scan], filler: bytes, number: int | None = None) -> bytes:
    """Return a picture with bytes added to one scan, or to all, and an end marker."""
    parts, position = [], 0
    for at, scan in enumerate(scans):
        parts.append(data[position : scan.end].rstrip(b"\xff"))
        parts.append(filler if number in (None, at) else b"")
        position = scan.end
    return b"".join((*parts, bytes((0xFF, END))))


def lost_from(first: int, shape: tuple[int, ...], unit: tuple[int, int], end: int | None = None) -> Bools:
    """Return which pixels of a picture of a shape belong to a unit or to those that follow it, row by row.

    With `end`, only those before that unit.

    Where colors are stored in half the resolution, units mix at their borders, by a pixel on either side.
    Raises `DamagedError` if these are most of the picture.
    """
    down, across = (-(-side // step) for side, step in zip(shape, unit, strict=True))
    order = np.arange(down * across).reshape(down, across)
    chosen = (order >= first) & (order < (order.size if end is None else end))
    lost: Bools = chosen.repeat(unit[0], axis=0).repeat(unit[1], axis=1)[: shape[0], : shape[1]]
    lost[:-1] |= lost[1:]
    lost[:, :-1] |= lost[:, 1:]
    if lost.mean() > _MAX_LOST:
        raise DamagedError("it is truncated")
    return lost


def units_of_fill(pixels: Array, unit: tuple[int, int]) -> Bools:
    """Return which units hold nothing but the color of the last pixel, borders of units aside."""
    same: Bools = np.asarray(np.atleast_3d(pixels == pixels[-1, -1]).all(axis=2))
    return ~_by_unit(~same, unit, np.logical_or)


def _by_unit(pixels: Bools, unit: tuple[int, int], combine: np.ufunc) -> Bools:
    """Return for each unit whether some of its pixels are marked, those at its border aside."""
    inner = pixels.copy()
    for side, step in enumerate(unit):
        for border in (0, step - 1):
            inner[(slice(None),) * side + (slice(border, None, step),)] = False
    rows, columns = (np.arange(0, length, step) for length, step in zip(pixels.shape, unit, strict=True))
    units: Bools = combine.reduceat(combine.reduceat(inner, rows, axis=0), columns, axis=1)
    return units


def _changed(pixels: Array, other: Array) -> Bools:
    return np.asarray(np.atleast_3d(pixels != other).any(axis=2))


def _unit(scan: Scan, header: Header) -> tuple[int, int]:
    """Return rows and columns of pixels that follow each other in a scan."""
    if len(scan.components) > 1:
        return header.mcu
    down, across = header.components.get(scan.components[0], (1, 1))
    return header.mcu[0] // down, header.mcu[1] // across


def _scan(content: bytes, start: int, end: int) -> Scan:
    n_components = content[0] if content else 0
    if not 1 <= n_components <= 4 or len(content) < 4 + 2 * n_components:
        raise DamagedError("the header of a scan is wrong")
    first, last, bits = content[1 + 2 * n_components : 4 + 2 * n_components]
    components = tuple(content[1 : 1 + 2 * n_components : 2])
    return Scan(start, end, components, (first, last), bits >> 4 > 0, bits & 15 == 0)


def _next_scan(data: bytes, position: int) -> tuple[bytes, int] | None:
    """Return header and start of the scan that follows a marker; None if there is none."""
    while position + 4 <= len(data) and data[position + 1] != END:
        (length,) = struct.unpack_from(">H", data, position + 2)
        end = position + 2 + length
        if length < 2 or end > len(data):
            return None
        if data[position + 1] == SCAN:
            return data[position + 4 : end], end
        found = ANY_MARKER.search(data, end)
        if found is None:
            return None
        position = found.start()
    return None


def _lacks(scans: Sequence[Scan], component: int) -> bool:
    """Return whether some scans leave out a range of the frequencies of a component."""
    held = [range(each.band[0], each.band[1] + 1) for each in scans if component in each.components]
    return len(set().union(*held)) <= _LAST_COEFFICIENT
