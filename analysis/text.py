"""Counts of things as English text."""


def plural(number: int, name: str) -> str:
    """Return the noun in the singular or plural form for a number.

    >>> plural(1, "branch"), plural(2, "branch"), plural(0, "move")
    ('branch', 'branches', 'moves')
    """
    return name if number == 1 else name + ("es" if name.endswith("ch") else "s")


def counted(number: int, name: str) -> str:
    """Return a number with its noun.

    >>> counted(0, "kernel"), counted(1, "kernel"), counted(2, "kernel")
    ('no kernels', '1 kernel', '2 kernels')
    """
    return f"{number or 'no'} {plural(number, name)}"
