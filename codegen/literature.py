"""Functions of the implemented pages: page, section, printed name, and the corresponding routine.

A printed name, with an @ and a place if it is ambiguous, is accepted wherever a routine's name is. docs/literature.md,
`setwise list --page` and the suggestions for a misspelt name use this table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.codegen.numbering import BIG_ENDIAN_FILES, LITTLE_ENDIAN, Numbering

EIGHT = ("sout", "nort", "east", "noEa", "soEa", "west", "soWe", "noWe")
"""The directions in the order in which the pages print their functions."""


@dataclass(frozen=True)
class Page:
    """A wiki page or post: names that may follow an @, title, citation in a routine's source, numbering of squares."""

    names: tuple[str, ...]
    title: str
    citation: str
    numbering: Numbering = LITTLE_ENDIAN


DUMB7 = Page(("dumb7fill", "dumb7"), "Dumb7Fill", "Dumb7Fill, chessprogramming wiki (2016)")
KOGGE_STONE = Page(
    ("kogge-stone",),
    "Kogge-Stone Algorithm",
    "Kogge-Stone Algorithm, chessprogramming wiki (2018); Westcott, CCC (2002)",
)
ISENBERG = Page(("isenberg", "fill-by-subtraction"), "Isenberg, CCC 2005", "Isenberg, CCC, 22 May 2005")
EXPLODING = Page(
    ("exploding",), "Exploding Bitboards", "Exploding Bitboards, chessprogramming wiki (2018)", BIG_ENDIAN_FILES
)
PAGES = (DUMB7, KOGGE_STONE, ISENBERG, EXPLODING)


@dataclass(frozen=True)
class PageSection:
    """A section of a page: its heading after those above it, joined by ": ". For a post the headings are invented."""

    page: Page
    section: str

    @property
    def heading(self) -> str:
        """The heading of the section itself, without the headings above it."""
        return self.section.rpartition(": ")[2]

    def within(self, where: str) -> bool:
        """Return whether a text names this page, this section, or page/section, in any case.

        The first words of a heading suffice.

        >>> place = PageSection(KOGGE_STONE, "Direction-wise Fill: Occluded Fill")
        >>> place.within("Occluded Fill"), place.within("kogge-stone/direction-wise"), place.within("dumb7fill")
        (True, True, False)
        """
        pages = {*self.page.names, _slug(self.page.title)}
        headings = [f"{_slug(text)}-" for text in (self.section, self.heading)]
        return all(
            part in pages or any(heading.startswith(f"{part}-") for heading in headings)
            for part in map(_slug, where.split("/"))
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Three texts that may follow an @: page, heading, page/heading."""
        page, heading = self.page.names[0], _slug(self.heading)
        return page, heading, f"{page}/{heading}"

    def __str__(self) -> str:
        return f"{self.page.title}, {self.section}"


@dataclass(frozen=True)
class PageFunction:
    """A function that a page prints or calls, with the routine that implements it.

    `also` names further routines that implement it. `called` marks a function that the page calls but does not print.
    """

    place: PageSection
    name: str
    routine: str
    also: tuple[str, ...] = ()
    called: bool = False


def _one(page: Page, section: str, name: str, routine: str, *also: str) -> tuple[PageFunction, ...]:
    return (PageFunction(PageSection(page, section), name, routine, also),)


def _eight(page: Page, section: str, ending: str, form: str, *, called: bool = False) -> tuple[PageFunction, ...]:
    place = PageSection(page, section)
    return tuple(PageFunction(place, d + ending, f"{form}.{d}", called=called) for d in EIGHT)


def _exploding(section: str, name: str, routine: str) -> tuple[PageFunction, ...]:
    return _one(EXPLODING, section, name, f"exploding.{routine}.big-endian", f"exploding.{routine}")


FUNCTIONS: tuple[PageFunction, ...] = (
    *_one(DUMB7, "Occluded Fill: Seven Fill Cycles", "soutOccl", "dumb7.occluded-rolled.sout"),
    *_one(DUMB7, "Occluded Fill: Fill Loop", "soutOccl", "dumb7.occluded-until-dry.sout"),
    *_one(DUMB7, "Occluded Fill: Unrolled Loop", "soutOccl", "dumb7.occluded.sout"),
    *_one(DUMB7, "Attack Fill", "soutAttacks", "dumb7.attacks-of-fill.sout"),
    *_one(DUMB7, "Comparison with Kogge-Stone (left)", "soutAttacks", "dumb7.attacks.sout"),
    *_one(DUMB7, "Comparison with Kogge-Stone (right)", "soutAttacks", "kogge-stone.attacks.sout"),
    *_eight(DUMB7, "All Directions", "Attacks", "dumb7.attacks"),
    *_one(DUMB7, "Generalized Rays: Loop Version", "occludedFill", "dumb7.occluded-until-dry.any"),
    *_one(DUMB7, "Generalized Rays: Loop Version", "shiftOne", "shift.one.any"),
    *_one(DUMB7, "Generalized Rays: Loop Version", "slidingAttacks", "dumb7.attacks-until-dry.any"),
    *_one(DUMB7, "Generalized Rays: Unrolled Attacks", "slidingAttacks", "dumb7.attacks.any"),
    *_one(KOGGE_STONE, "Parallel Prefix", "fillUpOccluded", "kogge-stone.occluded.nort"),
    *_eight(KOGGE_STONE, "Direction-wise Fill: Fill on an empty Board", "Fill", "kogge-stone.empty-fill"),
    *_eight(KOGGE_STONE, "Direction-wise Fill: Occluded Fill", "Occl", "kogge-stone.occluded"),
    *_eight(KOGGE_STONE, "Direction-wise Fill: Ray-wise Attacks", "Attacks", "kogge-stone.attacks"),
    *_eight(KOGGE_STONE, "Direction-wise Fill: Ray-wise Attacks (called)", "One", "shift.one", called=True),
    *_one(KOGGE_STONE, "Generalized Rays", "occludedFill", "kogge-stone.occluded.any"),
    *_one(KOGGE_STONE, "Generalized Rays", "shiftOne", "shift.one.any"),
    *_one(KOGGE_STONE, "Generalized Rays", "slidingAttacks", "kogge-stone.attacks.any"),
    *_one(ISENBERG, "first formula", "rightAttacks", "subtraction.attacks.east"),
    *_one(ISENBERG, "second formula and SSE2", "rightAttacks", "subtraction.attacks-cleared.east"),
    *_one(ISENBERG, "carry propagation", "add", "bytewise.carry-loop-32", "bytewise.carry-loop-64"),
    *_one(ISENBERG, "bytewise parallel add", "paddb", "bytewise.add"),
    *_one(ISENBERG, "parallel sub", "psubb", "bytewise.subtract"),
    *_one(ISENBERG, "final fill-routine", "rightAttacks", "bytewise.right-attacks"),
    *_exploding("Bishops", "bishopAttacks", "bishop"),
    *_exploding("Rooks", "rookAttacks", "rook"),
    *_exploding("Results", "orthogonal_attacks", "orthogonal"),
    *_exploding("Results", "diagonal_attacks", "diagonal"),
    *_exploding("Results", "direction_attacks", "direction"),
)
"""All functions, in the order in which their pages print them."""


def routine_meant(name: str) -> str | None:
    """Return the routine's name for a printed name in any case, maybe with an @ and page, section or page/section.

    Return None for a name that no page prints. Raise ValueError with the choices if the name denotes several
    routines, or if no page prints it in that place.

    >>> routine_meant("fillUpOccluded"), routine_meant("soutOccl@kogge-stone"), routine_meant("northFill")
    ('kogge-stone.occluded.nort', 'kogge-stone.occluded.sout', None)
    >>> routine_meant("eastAttacks")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: eastAttacks is printed as 2 routines: write eastAttacks@dumb7fill (Dumb7Fill: dumb7.attacks.east), ...
    """
    printed, at, where = name.partition("@")
    named = [function for function in FUNCTIONS if function.name.lower() == printed.lower()]
    if not named:
        return None
    meant = {function.routine for function in named if not at or function.place.within(where)}
    if len(meant) == 1:
        return meant.pop()
    offered = [each for each in _names(named) if not meant or each[2] in meant]
    choices = ", ".join(f"{choice} ({page.title}: {routine})" for choice, page, routine in offered)
    if not meant:
        raise ValueError(f"{named[0].name} is not printed at '{where}': write {choices}")
    raise ValueError(f"{name} is printed as {len(meant)} routines: write {choices}")


def printed_names() -> list[str]:
    """Return every printed or called name of FUNCTIONS once, in their order."""
    return list(dict.fromkeys(function.name for function in FUNCTIONS))


def names() -> list[str]:
    """Return a name for each `routine` of each printed name: the printed one, with an @ and a place if ambiguous."""
    printed = printed_names()
    return [name for each in printed for name, *_ in _names([f for f in FUNCTIONS if f.name == each])]


def _names(functions: Sequence[PageFunction]) -> Iterator[tuple[str, Page, str]]:
    """Yield an unambiguous name, a page and the routine's name for each `routine` of functions that share one name."""
    places: dict[str, list[PageSection]] = {}
    for function in functions:
        places.setdefault(function.routine, []).append(function.place)
    for routine, mine in places.items():
        others = [place for other in places.values() if other is not mine for place in other]
        apart = [
            (name != place.page.names[0], len(name), name, place.page)
            for place in mine
            for name in place.names
            if not any(other.within(name) for other in others)
        ]
        _, _, behind, page = min(apart, key=lambda choice: choice[:2])
        yield (f"{functions[0].name}@{behind}" if others else functions[0].name), page, routine


def _slug(text: str) -> str:
    """Return a heading in lower case, with its words joined by hyphens."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
