"""Numbers as people read them."""


def format_number(value: float) -> str:
    """Return a number with about three digits, and commas where it is large: 45,900; 31.2; 0.00124."""
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.2e}".replace("e+0", "e").replace("e-0", "e-")
    if abs(value) < 999.5:
        return f"{value:.3g}"
    digits = len(str(int(abs(value)))) - 3
    return f"{round(value, -digits):,.0f}"
