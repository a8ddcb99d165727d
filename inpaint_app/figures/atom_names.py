"""The names of bases and atoms."""

from dictsel_core.atoms import AtomOrigin

_FAMILIES = {"db": "Daubechies wavelet", "coif": "Coiflet", "sym": "Symlet"}


def format_basis(basis: str) -> str:
    """Return the name of a basis for headings, in the plural, such as "Haar wavelets (haar)"."""
    kind = _kind(basis)
    return basis if kind is None else f"{kind}s ({basis})"


def format_origin(origin: AtomOrigin) -> str:
    """Return where an atom comes from, such as "Cosine, frequency 0 down and 2 across"."""
    kind = _kind(origin.basis)
    if kind is None or origin.orientation == "custom":
        return origin.basis
    if origin.orientation == "frequency":
        return f"Cosine, frequency {origin.row} down and {origin.column} across"
    place = f"at row {origin.row}, column {origin.column}"
    return f"{kind} ({origin.basis}), level {origin.level}, {origin.orientation}, {place}"


def _kind(basis: str) -> str | None:
    """Return the kind of atoms in the singular; None for a basis of the user's own."""
    if basis in ("dct", "haar"):
        return {"dct": "Cosine", "haar": "Haar wavelet"}[basis]
    return next((name for prefix, name in _FAMILIES.items() if basis.startswith(prefix)), None)
