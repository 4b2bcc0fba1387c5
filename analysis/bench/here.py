"""Where and when something is measured: this machine, its processor, the day."""

import datetime
from collections.abc import Mapping
from pathlib import Path

from setwise.analysis.cost.processors import PROCESSORS, Processor, processor
from setwise.codegen.machine.processors import FEATURES
from setwise.codegen.run import cpu


def today() -> str:
    """The date."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def machine() -> str:
    """This processor by its own name, with the family and model that it may hide behind."""
    family, model = _numbers(_told())
    return cpu.brand() + (f" (family {family}, model {model})" if family else "")


def processor_here() -> Processor | None:
    """The processor of the model's that this one is, None where it is none of them.

    Families and models as in the vendors' lists: AMD 25 is Zen 3 and Zen 4, AMD 26 with 0 to 31, 64 to 79 and 112 to
    127 Zen 5 with vector units of 512 bits, Intel 6 with 85 Skylake-SP and Cascade Lake, with 106 and 108 Ice Lake-SP
    and -D, with 125 and 126 Ice Lake, with 143, 207, 173 and 174 Sapphire, Emerald and Granite Rapids, which are
    Golden Cove. These alone of Intel's 6 have AMX, by which they are known where a virtual machine tells another model.
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
    """Return the processor of that name, this one for "native"; ValueError if there is no table of it."""
    if name != "native":
        return processor(name)
    here = processor_here()
    if here is None:
        raise ValueError(f"there is no table of this processor ({cpu.brand() or 'no x86-64'}): {_nearest()}")
    return here


def _nearest() -> str:
    """Say which table to take instead: the last of this processor's maker whose features it has."""
    amd = "AMD" in cpu.brand()
    alike = [on for on in PROCESSORS if on.title.startswith("AMD") == amd and FEATURES[on.name] <= cpu.features()]
    near = (alike or [on for on in PROCESSORS if on.title.startswith("AMD") == amd])[-1]
    return f"the nearest is {near.title}, --cpu {near.name}"


_INTELS = {85: "skylake-server", **dict.fromkeys((106, 108, 125, 126), "ice-lake")}
_INTELS |= dict.fromkeys((143, 173, 174, 207), "golden-cove")


def _numbers(told: Mapping[str, str]) -> tuple[int, int]:
    """Family and model as Linux tells them; 0 and 0 elsewhere."""
    return int(told.get("cpu family", 0)), int(told.get("model", 0))


def _told() -> dict[str, str]:
    """What Linux tells of the first processor; nothing elsewhere."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
