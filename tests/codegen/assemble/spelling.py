"""Instructions as GNU as and NASM read them."""

from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register

WORDS = {8: "byte", 16: "word", 32: "dword", 64: "qword", 128: "xmmword", 256: "ymmword", 512: "zmmword"}
NASM_WORDS = WORDS | {128: "oword", 256: "yword", 512: "zword"}


def spell(operand: Operand, instruction: Instruction, words: dict[int, str], *, nasm: bool) -> str:
    if not isinstance(operand, Memory):
        return str(operand.name) if isinstance(operand, Register | Label) else str(operand)
    if operand.symbol is not None:
        place = f"{'rel ' if nasm else 'rip+'}{operand.symbol}{operand.displacement:+}"
    else:
        index = None if operand.index is None else f"{operand.index}*{operand.scale}"
        place = "+".join(str(part) for part in (operand.base, index) if part is not None)
        place = f"{'nosplit ' if nasm and operand.base is None else ''}{place}{operand.displacement:+}"
    size = "" if instruction.mnemonic == "lea" or (nasm and operand.broadcast) else words[operand.bits]
    if size and not nasm:
        size += " ptr"
    lanes = ""
    if operand.broadcast:
        widest = max(each.bits for each in instruction.operands if isinstance(each, Register) and each.file == "vector")
        lanes = f"{{1to{widest // operand.bits}}}"
    return f"{size} [{place}]{lanes}"


def spelled(instruction: Instruction, *, nasm: bool = False) -> str:
    words = NASM_WORDS if nasm else WORDS
    texts = [spell(operand, instruction, words, nasm=nasm) for operand in instruction.operands]
    if instruction.mask is not None:
        texts[0] += f"{{{instruction.mask}}}" + ("{z}" if instruction.zeroing else "")
    return f"{instruction.mnemonic} {', '.join(texts)}"
