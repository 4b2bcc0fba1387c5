"""CPU features of the processors whose costs are known or that are emulated."""

from collections.abc import Iterable, Mapping

BASELINE = frozenset({"x86-64", "sse", "sse2"})
"""Features that every x86-64 processor has."""

_NEHALEM = frozenset({"ssse3", "sse4.1", "sse4.2", "popcnt"})
_HASWELL = _NEHALEM | {"avx", "bmi1", "avx2", "bmi2"}
_SKYLAKE = _HASWELL | {"avx512f", "avx512dq", "avx512bw", "avx512vl"}
_ICE_LAKE = _SKYLAKE | {"avx512vbmi", "avx512vpopcntdq", "avx512bitalg", "gfni"}

FEATURES: Mapping[str, frozenset[str]] = {
    "nehalem": _NEHALEM,
    "haswell": _HASWELL,
    "zen": _HASWELL,
    "skylake-server": _SKYLAKE,
    "ice-lake": _ICE_LAKE,
    "tiger-lake": _ICE_LAKE,
    "golden-cove": _ICE_LAKE,
    "zen3": _HASWELL,
    "zen4": _ICE_LAKE,
    "zen5": _ICE_LAKE,
}
"""By processor: its features beyond the baseline that kernels may require, named as in codegen.run.cpu."""

_ASKED = frozenset[str]().union(*FEATURES.values())
_CAME_WITH = {
    "sse3": "ssse3",
    "lzcnt": "bmi1",
    "avx512cd": "avx512f",
    "avx512vbmi2": "avx512vbmi",
}
"""Features that only foreign code requires, each with its companion: a processor of FEATURES has both or neither."""


def asked_for(features: Iterable[str]) -> frozenset[str]:
    """Return required features without the baseline, as far as possible in the names of FEATURES.

    A feature of `_CAME_WITH` is replaced by its companion.

    >>> sorted(asked_for({"x86-64", "lzcnt", "avx2", "fma"}))
    ['avx2', 'bmi1', 'fma']
    """
    return frozenset(_CAME_WITH.get(feature, feature) for feature in features) - BASELINE


def lacking(processor: str, features: frozenset[str]) -> tuple[str, ...]:
    """Return the required features that a processor lacks, sorted, without those that no processor of FEATURES has.

    >>> lacking("zen3", frozenset({"avx2", "avx512f", "fma"}))
    ('avx512f',)
    """
    return tuple(sorted((asked_for(features) & _ASKED) - FEATURES[processor]))
