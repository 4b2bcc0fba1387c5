"""The identity of this machine: its processor, and the date of a measurement."""

import datetime
from collections.abc import Mapping
from pathlib import Path

from setwise.analysis.cost.processors import PROCESSORS, Processor, processor
from setwise.codegen.machine.processors import FEATURES
from setwise.codegen.run import cpu


def today() -> str:
    """Return the date in UTC, as YYYY-MM-DD."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def machine() -> str:
    """Return this processor's brand string, with family and model if known, because the string may hide the model."""
    family, model = _numbers(_told())
    return cpu.brand() + (f" (family {family}, model {model})" if family else "")


def processor_here() -> Processor | None:
    """Return the cost model of this processor, or None if there is none.

    Families and models are those of the vendors' lists. AMD family 25 is Zen 3 and Zen 4. AMD family 26 with models 0
    to 31, 64 to 79 and 112 to 127 is Zen 5 with 512-bit vector units. Of Intel family 6, model 85 is Skylake-SP and
    Cascade Lake, 106 and 108 are Ice Lake-SP and -D, and 125 and 126 are Ice Lake. Models 143, 207, 173 and 174 are
    Sapphire, Emerald and Granite Rapids, with Golden Cove cores. Only these of Intel family 6 have AMX, which
    identifies them if a virtual machine reports another model.
    """
    told = _told()
    family, model = _numbers(told)
    if family == 25:
        return processor("zen4" if 16 <= model < 32 or 96 <= model < 128 or model >= 160 else "zen3")
    if family == 26:
        return processor("zen5") if model < 32 or 64 <= model < 80 or 112 <= model < 128 else None
    if family == 6:
        name = "golden-cove" if "amx_tile" in told.get("flags", "").split() else _INTELS.get(model)
        return processor(name) if name else None
    return None


def processor_named(name: str) -> Processor:
    """Return the processor of that name, or this one for "native". Raises ValueError if it has no cost model."""
    if name != "native":
        return processor(name)
    here = processor_here()
    if here is None:
        raise ValueError(f"there is no cost model of this processor ({cpu.brand() or 'not x86-64'}): {_nearest()}")
    return here


def _nearest() -> str:
    """Return a hint: the last modelled processor of this maker whose features this one has, or the maker's last."""
    amd = "AMD" in cpu.brand()
    alike = [on for on in PROCESSORS if on.title.startswith("AMD") == amd and FEATURES[on.name] <= cpu.features()]
    near = (alike or [on for on in PROCESSORS if on.title.startswith("AMD") == amd])[-1]
    return f"the nearest is {near.title}, --cpu {near.name}"


_INTELS = {85: "skylake-server", **dict.fromkeys((106, 108, 125, 126), "ice-lake")}
_INTELS |= dict.fromkeys((143, 173, 174, 207), "golden-cove")


def _numbers(told: Mapping[str, str]) -> tuple[int, int]:
    """Return family and model as Linux reports them, or 0 and 0 on other systems."""
    return int(told.get("cpu family", 0)), int(told.get("model", 0))


def _told() -> dict[str, str]:
    """Return the fields of the first processor in /proc/cpuinfo by name, none on other systems."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
