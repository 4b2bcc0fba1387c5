"""Processor tables: latency, execution ports and issue slots of instructions, with the source of each row.

A table is a JSON file in this folder. It holds the fields of `Processor`, and in each row the fields of `CostRow` in
order. `about` describes the processor's ports and the measurement of the rows. A name of `cited` in braces abbreviates
that source. The rows of the `shared` files follow the table's own rows.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import msgspec

from setwise.analysis.cost.processors.processor import CostRow, Processor, UnknownCost

__all__ = ["PROCESSORS", "CostRow", "Processor", "UnknownCost", "processor"]


def _content(name: str, cited: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the content of a file with abbreviated sources expanded. `cited` adds those of the file that shares it."""
    text = (files(__package__) / f"{name}.json").read_text("utf-8")
    for sources in (json.loads(text)["cited"], cited):
        for key, source in reversed([*sources.items()]):  # a source may abbreviate one above it
            text = text.replace(f"{{{key}}}", source)
    content: dict[str, Any] = json.loads(text)
    return content


def _read(name: str) -> Processor:
    content = _content(name)
    for shared in content["shared"]:
        content["rows"] += _content(shared, content["cited"])["rows"]
    return msgspec.convert(content, Processor)


PROCESSORS = tuple(map(_read, ("skylake-server", "ice-lake", "golden-cove", "zen3", "zen4", "zen5")))


def processor(name: str) -> Processor:
    """Return the processor of that name. Raises ValueError for an unknown name.

    >>> processor("zen4").title
    'AMD Zen 4'
    """
    known = {one.name: one for one in PROCESSORS}
    if name not in known:
        raise ValueError(f"unknown processor '{name}': choose from {', '.join(known)}")
    return known[name]
