"""Kinds of damage that can be detected; apart from detection, which is slow to import."""

from typing import Literal, get_args

DamageKind = Literal["scratches", "dust", "dead_pixels", "dead_lines", "stamps"]
DAMAGE_KINDS: tuple[DamageKind, ...] = get_args(DamageKind)
#: What old prints and films suffer from.
USUAL_KINDS: tuple[DamageKind, ...] = ("scratches", "dust")
