"""From what was measured to a processor's table, and how that differs from a standing one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import floor

from setwise.analysis.cost.processors.measured import (
    AccessRecord,
    Kind,
    MeasuredTable,
    RowRecord,
    bound_of,
    processor_of,
)
from setwise.analysis.cost.processors.table import CostRow, Processor, UnknownCost, Uops
from setwise.analysis.measure.calibration import BLOCKERS, Calibration, Chain, Measured
from setwise.analysis.measure.forms import forms
from setwise.analysis.measure.ports import CLEAR, Mix, cycles_of, fit, solved, spelt, ways
from setwise.codegen.run import cpu

NOISY = 0.05
"""A spread above this marks a row."""
_SETCC = 1.0  # cycles from flags to a register, or from a register to flags
_ADDED = 2.0  # cycles of an `and` that makes nothing of a register, and of adding that to an address
_MOVES = {"gv": ("vmovq r,x", "movq r,x"), "gm": ("kmovq r,k",)}
_KINDS: Mapping[str, Kind] = {"general": "r", "vector": "x", "mask": "k", "flags": "f"}
_PART = 0.3  # of a slot: a loop's groups of slots make one seem up to two thirds more, and noise a little less
_BREAKS = 0.7  # cycles: what follows upon itself so fast does not wait for itself


class TooLittle(Exception):
    """So little was measured that no table comes of it; the message says what is missing."""


def table_of(
    calibration: Calibration, machine: str, date: str, like: Processor | None
) -> tuple[MeasuredTable, list[str]]:
    """The table, and the forms of which too little was measured; `like` is this processor's standing table, if any.

    Raises TooLittle where a load, a store or what a slot takes was not measured, or not half of the forms.
    """
    idiom = _needed(calibration.idiom, "issue slots")
    width = like.width if like else calibration.width
    ways_back = _ways_back(calibration, like)
    known = _blockers_ports(calibration, like)
    rows = {title: _row(one, idiom, ways_back, known, width, like) for title, one in calibration.forms.items()}
    table = MeasuredTable(
        edition=1,
        machine=machine,
        date=date,
        like=like.name if like else "",
        features=tuple(sorted(cpu.features())),
        width=width,
        loads={
            size: AccessRecord(_needed(_latency(chain, ways_back), "loads"), _needed(alone.cycles, "loads"))
            for size, (chain, alone) in calibration.loads.items()
        },
        stores={size: AccessRecord(0.0, _needed(alone.cycles, "stores")) for size, alone in calibration.stores.items()},
        forwards={
            sizes: _rounded(cycles)
            for sizes, chain in calibration.forwards.items()
            if (cycles := _latency(chain, ways_back)) is not None
        },
        rows=tuple(row for row in rows.values() if row is not None),
    )
    left_out = {title for title, one in calibration.forms.items() if one.form.idiom or one.waits}
    missing = [title for title, row in rows.items() if row is None and title not in left_out]
    if 2 * len(missing) >= len(rows):
        raise TooLittle(f"{len(missing)} of {len(rows)} forms")
    return table, missing


def _needed(cycles: float | None, what: str) -> float:
    if cycles is None:
        raise TooLittle(what)
    return _rounded(cycles)


def _ways_back(calibration: Calibration, like: Processor | None) -> dict[str, float]:
    """Cycles of each way between two files, and from flags; of two moves only the sum is measured."""
    found = {"flags": _SETCC, "sum": _ADDED}
    there_and_back = calibration.loads["s"][0].experiment
    for way, names in _MOVES.items():
        there = next((calibration.forms[name] for name in names if name in calibration.forms), None)
        total = there.chains[0].experiment.cycles if there and there.chains else None
        if there is None or total is None:
            continue
        out = _standing(there, like)
        parted = out.after(_KINDS["vector" if way == "gv" else "mask"]) if out else round(total) // 2
        # The form moves to general registers; its way back leads from there.
        found[way[::-1]], found[way] = parted, total - parted
    if there_and_back.figures and "vg" in found:
        found["load"] = min(there_and_back.figures) - found["vg"]
    return found


def _latency(chain: Chain, ways_back: Mapping[str, float]) -> float | None:
    """The least that was seen, less the way back."""
    if not chain.experiment.figures or any(way not in ways_back for way in chain.ways):
        return None
    return max(0.0, min(chain.experiment.figures) - sum(ways_back[way] for way in chain.ways))


def _blockers_ports(calibration: Calibration, like: Processor | None) -> dict[str, Uops]:
    """The ports of what others are timed beside: the standing table's, or found by timing them beside each other."""
    measured = {
        name: calibration.forms[name] for names in BLOCKERS.values() for name in names if name in calibration.forms
    }
    if like is not None:
        return {name: row.uops for name, one in measured.items() if (row := _standing(one, like)) is not None}
    beside = {
        (name, other): Mix(number, others, (), mix.cycles)
        for name, one in measured.items()
        for other, (mix, number, others) in one.beside.items()
        if mix.cycles is not None
    }
    alone = {name: one.cycles for name, one in measured.items() if one.cycles}
    return {name: ((ports, 1.0),) for name, ports in solved(alone, beside).items()}


def _row(
    one: Measured,
    idiom: float,
    ways_back: Mapping[str, float],
    known: Mapping[str, Uops],
    width: int,
    like: Processor | None,
) -> RowRecord | None:
    """The form's row; None where too little was measured."""
    latency: dict[Kind, float] = {}
    for chain in one.chains:
        cycles = _latency(chain, ways_back)
        if cycles is None:
            return None
        kind = _KINDS[chain.file]
        latency[kind] = min(cycles, latency.get(kind, cycles))
    breaks = one.form.idiom and all(cycles < _BREAKS for cycles in latency.values())
    if (one.form.idiom and not breaks) or one.alone.cycles is None:
        return None
    standing = _standing(one, like)
    if one.waits and standing is not None:
        return None  # its latency stands there
    ports, clear, slots = standing.uops if standing else (), False, round(standing.issue + 0.01) if standing else 1
    if one.cycles is not None and one.among is not None:
        among, idle = one.among
        if among.cycles is None:
            return None
        if standing is None or "z" not in one.form.kinds:  # 512 bits may take longer, which comes on top
            slots = min(floor(among.cycles / idiom - idle + _PART), round(one.cycles * width))
            slots = max(1, slots)
        found, off = _ports(one, slots, known, width, like, standing)
        if (clear := off <= CLEAR) or standing is None:
            ports = found
    parts = [one.alone, *(chain.experiment for chain in one.chains), *(mix for mix, _, _ in one.beside.values())]
    return RowRecord(
        mnemonics=one.form.mnemonics,
        form=one.form.spelt,
        latency={} if breaks else {kind: _rounded(cycles) for kind, cycles in latency.items()},
        cycles=None if one.cycles is None else _rounded(one.cycles),
        slots=slots,
        ports=spelt(ports),
        clear=clear,
        spread=_rounded(max(part.spread for part in parts)),
        breaks=breaks,
    )


def _ports(
    one: Measured, slots: int, known: Mapping[str, Uops], width: int, like: Processor | None, standing: CostRow | None
) -> tuple[Uops, float]:
    assert one.cycles is not None
    mixes = [Mix(1, 0, (), one.cycles)]
    for name, (mix, number, others) in one.beside.items():
        if mix.cycles is not None and name in known:
            mixes.append(Mix(number, others, known[name], mix.cycles))
    rows = [*(row.uops for row in like.rows), *(store.uops for store in like.stores.values())] if like else []
    general, vectors = (_letters(BLOCKERS[name], known) for name in ("general", "vex"))
    letters = frozenset().union(*(general if file == "general" else vectors for file in one.form.files))
    needed = vectors - general if "vector" in one.form.files else letters
    every = [*dict.fromkeys((*known.values(), *rows))]
    kinds = frozenset(ports for each in every for ports, _ in each if _within(((ports, 1.0),), letters))
    kinds |= {frozenset({port}) for ports in kinds for port in ports}
    groups = (
        tuple(sorted({port for ports in kinds for port in ports if port[0] == letter})) for letter in sorted(letters)
    )
    tried = ways(tuple(groups), kinds, tuple(each for each in every if _within(each, letters)))
    most = slots * (1 + ("z" in one.form.kinds))  # wide units may be units of half the width, taken twice
    likely = [
        uops
        for uops in tried
        if all(count <= most for _, count in uops)
        and (not uops or not needed or any(port[0] in needed for ports, _ in uops for port in ports))
    ]
    if not one.form.decoded.loads:
        return fit(float(slots), mixes, float(width), likely, standing.uops if standing else None)
    load = like.loads["s"].uops if like else ((frozenset({"L0", "L1"}), 1.0),)
    own = (*standing.uops, *load) if standing else None
    found, off = fit(float(slots), mixes, float(width), [(*uops, *load) for uops in likely], own)
    return tuple(part for part in found if part not in load), off


def _letters(names: Iterable[str], known: Mapping[str, Uops]) -> frozenset[str]:
    """What the ports of one register file are called."""
    pure = (known.get(name, ()) for name in names if not name.endswith("r,x"))
    return frozenset(port[0] for uops in pure for ports, _ in uops for port in ports)


def _within(uops: Uops, letters: frozenset[str]) -> bool:
    return all(port[0] in letters for ports, _ in uops for port in ports)


def _standing(one: Measured, like: Processor | None) -> CostRow | None:
    try:
        return like.row(one.form.decoded) if like else None
    except UnknownCost:
        return None


def _rounded(cycles: float) -> float:
    return round(cycles, 3)


@dataclass(frozen=True, slots=True)
class Difference:
    """In what a form differs from the standing table: what is measured, and what stands there."""

    mnemonic: str
    form: str
    what: str
    measured: str
    standing: str
    source: str


def differences(table: MeasuredTable, like: Processor) -> Iterator[Difference]:
    """Where the measured table is not the standing one."""
    examples = {(form.mnemonics[0], form.spelt): form.decoded for form in forms()}
    here = processor_of(table, {like.name: like})
    for row in table.rows:
        decoded = examples.get((row.mnemonics[0], row.form))
        if decoded is None:
            continue
        try:
            standing = like.row(decoded)
        except UnknownCost:
            yield Difference(row.mnemonics[0], row.form, "row", "measured", "none", "")
            continue
        own = next(one for one in here.rows if one.mnemonics == "|".join(row.mnemonics) and one.forms == row.form)
        pairs: dict[str, tuple[object, object, bool]] = {}
        for kind, cycles in row.latency.items():
            pairs[f"latency from {kind}"] = cycles, standing.after(kind), bound_of(cycles) != standing.after(kind)
        if row.cycles is not None:
            load = like.loads["s"].uops if decoded.loads else ()
            expected = cycles_of((*standing.uops, *load), standing.issue, like.width)
            off = abs(row.cycles - expected) > CLEAR * expected
            pairs["cycles alone"] = row.cycles, _rounded(expected), off
            pairs["slots"] = row.slots, standing.issue, row.slots != standing.issue
        pairs["ports"] = spelt(own.uops) or "none", spelt(standing.uops) or "none", own.uops != standing.uops
        pairs["waits for its operands"] = not row.breaks, not standing.breaks, row.breaks != standing.breaks
        for what, (ours, theirs, differs) in pairs.items():
            if differs:
                yield Difference(row.mnemonics[0], row.form, what, f"{ours}", f"{theirs}", standing.source)
    for sizes, cycles in table.forwards.items():
        known = like.forwards.get(sizes, like.forwards[""])
        if bound_of(cycles) != known:
            yield Difference("store, load", sizes, "latency", f"{cycles}", f"{known:g}", "")
    for size, access in table.loads.items():
        if size in like.loads and bound_of(access.latency) != like.loads[size].latency:
            latency = like.loads[size].latency
            yield Difference("load", size, "latency", f"{access.latency}", f"{latency}", like.loads[size].source)
