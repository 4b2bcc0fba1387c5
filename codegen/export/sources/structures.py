"""Types of several results by name: of each form of routine, for all its colors or directions."""

from collections.abc import Iterator

from setwise.codegen.export.names import go_exported, symbol_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources.language import folded
from setwise.codegen.ir.routine import free_name

_C = """\
/** The results of {form} routines, by name and by index: pass `{array}` as results. */
typedef union {{
    SETWISE_EXTENSION struct {{
        uint64_t {names};
    }};
    uint64_t {array}[{number}];
}} setwise_{form}_results;"""
_RUST = """\
/// The results of {form} routines by name: `{type}::from(results)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(dead_code, non_snake_case)]
#[repr(C)]
#[rustfmt::skip]
pub struct {type} {{
    {members}
}}

#[allow(non_snake_case)]
#[rustfmt::skip]
impl From<[u64; {number}]> for {type} {{
    fn from(results: [u64; {number}]) -> Self {{
        let [{names}] = results;
        Self {{ {names} }}
    }}
}}"""
_ZIG = """\
/// The results of {form} routines by name: `@as({type}, @bitCast(results))`.
pub const {type} = extern struct {{
    {members}
}};"""
_TEXTS = {"C": (_C, ""), "Rust": (_RUST, "pub {}: u64,"), "Zig": (_ZIG, "{}: u64,")}


def structures(order: Order, language: str) -> Iterator[str]:
    """Yield the type of each form of routine in the export that has several results and works on no arrays."""
    forms: dict[str, tuple[str, ...]] = {}
    for kernel in order.kernels:
        routine = kernel.routine
        if routine.contract.results[1:] and not routine.contract.elements:
            name = ".".join(filter(None, (routine.family, routine.form)))
            forms.setdefault(symbol_of(name), routine.contract.results)
    text, member = _TEXTS[language]
    types = set[str]()
    for form, results in forms.items():
        names, members = ", ".join(results), " ".join(map(member.format, results))
        type_name, array = free_name(f"{go_exported(form)}Results", types), free_name("boards", results)
        types.add(type_name)
        given = {"form": form, "type": type_name, "array": array, "names": names, "members": members}
        yield "\n".join(folded(text.format(**given, number=len(results)).split("\n")))
