# Alignment that nothing in the file promises.
.macro vector
    movq xmm0, rdi
    psllq xmm0, 8
.endm
.macro result
    movq rax, xmm0
    ret
.endm
.macro zeros name, align
    .pushsection .rodata.\name,"a",@progbits
    .balign \align
0:  .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
.endm
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= rodata1_por: por needs 16 bytes of alignment, the section has 1: a linker may put it anywhere
    zeros rodata1_por, 1
    vector
    por xmm0, [rip+0b]
    result
#= rodata2_movdqa: the section has an alignment of 2
    zeros rodata2_movdqa, 2
    vector
    movdqa xmm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata4_movaps: the section has an alignment of 4
    zeros rodata4_movaps, 4
    vector
    movaps xmm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata8_pxor: the section has an alignment of 8
    zeros rodata8_pxor, 8
    vector
    pxor xmm0, [rip+0b]
    result
#= rodata8_vmovdqa: VEX moves that say aligned are no better
    zeros rodata8_vmovdqa, 8
    vector
    vmovdqa xmm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata16_ymm: 32 bytes need 32
    zeros rodata16_ymm, 16
    vector
    vmovdqa ymm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata16_ntload: vmovntdqa of 32 bytes
    zeros rodata16_ntload, 16
    vector
    vmovntdqa ymm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata32_zmm: 64 bytes need 64
    zeros rodata32_zmm, 32
    vector
    vmovdqa64 zmm1, [rip+0b]
    por xmm0, xmm1
    result
#= rodata16_masked: a masked aligned move is aligned all the same
    zeros rodata16_masked, 16
    vector
    kxnorw k1, k1, k1
    vmovdqa64 ymm1{k1}{z}, [rip+0b]
    por xmm0, xmm1
    result
#= rodata64_and_8: well aligned, and 8 further
    zeros rodata64_and_8, 64
    vector
    por xmm0, [rip+0b+8]
    result
#= rodata8_by_lea: the same through a register
    zeros rodata8_by_lea, 8
    vector
    lea rcx, [rip+0b]
    por xmm0, [rcx]
    result
#= text1 raw: constants behind the code in a section of alignment 1
    .section .text.text1,"ax",@progbits
    .globl text1
    .type text1,@function
text1:
    vector
    por xmm0, [rip+1f]
    result
    .skip 64-(.-text1)
1:  .quad 0, 0
    .size text1,.-text1
#= text16_ymm: code is aligned to 16, its constants are taken as aligned to 32
    vector
    vmovdqa ymm1, [rip+1f]
    por xmm0, xmm1
    result
    .skip 64-(.-text16_ymm)
1:  .quad 0, 0, 0, 0
#= text_at_8 raw: the section has 16, the function begins 8 further, the constant 64 behind that
    .section .text.text_at_8,"ax",@progbits
    .p2align 4
    .quad 0x9090909090909090
    .globl text_at_8
    .type text_at_8,@function
text_at_8:
    vector
    por xmm0, [rip+1f]
    result
    .skip 64-(.-text_at_8)
1:  .quad 0, 0
    .size text_at_8,.-text_at_8
#= own_section_at_8 raw: constants behind the function in its section of alignment 16, at 8
    .section .text.own_section_at_8,"ax",@progbits
    .p2align 4
    .globl own_section_at_8
    .type own_section_at_8,@function
own_section_at_8:
    vector
    por xmm0, [rip+1f]
    result
    .size own_section_at_8,.-own_section_at_8
    .balign 16
    .quad 0
1:  .quad 0, 0
#= own_section_by_8 raw: constants 64 behind the function in their section, which has an alignment of 8
    .section .text.own_section_by_8,"ax",@progbits
    .p2align 3
    .globl own_section_by_8
    .type own_section_by_8,@function
own_section_by_8:
    vector
    por xmm0, [rip+1f]
    result
    .size own_section_by_8,.-own_section_by_8
    .skip 64-(.-own_section_by_8)
1:  .quad 0, 0
#= code_low_bits: where code lies within 64 bytes is added up; its section has 16
    nort
    lea rcx, [rip+code_low_bits]
    and ecx, 63
    add rax, rcx
    ret
#= code_bit_5: where the section has 16, bit 5 of the function's address may be 1
    nort
    lea rcx, [rip+code_bit_5]
    test cl, 32
    je 1f
    xor eax, eax
1:  ret
#= code_rounded: an address in the function rounded to 64 is taken for its start
    nort
    lea rcx, [rip+1f]
1:  and rcx, -64
    lea rdx, [rip+code_rounded]
    sub rcx, rdx
    add rax, rcx
    ret
#= data_low_bits: where constants of alignment 1 lie within 64 bytes is added up
    zeros data_low_bits, 1
    nort
    lea rcx, [rip+0b]
    and ecx, 63
    add rax, rcx
    ret
#= data_rounded: an address of constants of alignment 8 is rounded down to 64, so what lies before them is read
    zeros data_rounded, 8
    nort
    lea rcx, [rip+0b]
    and rcx, -64
    add rax, [rcx]
    ret
#= data_rounded_within: rounded down to 64 it is one of eight words, of which the last is not 0
    .pushsection .rodata.data_rounded_within,"a",@progbits
    .balign 8
0:  .quad 0, 0, 0, 0, 0, 0, 0, 1
    .popsection
    nort
    lea rcx, [rip+0b+60]
    and rcx, -64
    add rax, [rcx]
    ret
#= addralign_cut patch=section:.rodata.addralign_cut:sh_addralign:1: the section's alignment is taken away afterwards
    zeros addralign_cut, 64
    vector
    por xmm0, [rip+0b]
    result
#= addralign_odd patch=section:.rodata.addralign_odd:sh_addralign:48: an alignment that is no power of two
    zeros addralign_odd, 16
    vector
    vmovdqa ymm1, [rip+0b]
    por xmm0, xmm1
    result
#= addralign_0 patch=section:.rodata.addralign_0:sh_addralign:0: an alignment of 0 is none
    zeros addralign_0, 16
    vector
    por xmm0, [rip+0b]
    result
#= stack_16: rsp is 8 above a multiple of 16 at the entry
    vector
    movdqa [rsp-16], xmm0
    mov rax, [rsp-16]
    ret
#= stack_movaps_32: 8 above a multiple
    vector
    movaps [rsp-32], xmm0
    mov rax, [rsp-32]
    ret
#= stack_por: por with memory that is 8 above a multiple
    vector
    movdqu [rsp-48], xmm0
    pxor xmm0, xmm0
    por xmm0, [rsp-48]
    result
#= stack_after_push: two pushes leave it as it was
    push rdi
    push rdi
    vector
    movdqa [rsp-16], xmm0
    mov rax, [rsp-16]
    pop rcx
    pop rcx
    ret
#= stack_ymm: a frame of 16-byte alignment for 32 bytes
    vector
    vmovdqa [rsp-40], ymm0
    mov rax, [rsp-40]
    ret
#= stack_zmm: a frame of 16-byte alignment for 64 bytes
    vector
    vmovdqa64 [rsp-72], zmm0
    mov rax, [rsp-72]
    ret
#= stack_ymm_rounded_16: rounded to 16 where 32 is needed
    push rbp
    mov rbp, rsp
    vector
    and rsp, -16
    vmovdqa [rsp-32], ymm0
    mov rax, [rsp-32]
    leave
    ret
#= stack_nt: movntdq needs alignment as well
    vector
    movntdq [rsp-16], xmm0
    mov rax, [rsp-16]
    ret
#= stack_low_bits: rsp's bit 4 is added up
    nort
    mov rcx, rsp
    and ecx, 16
    add rax, rcx
    ret
#= linked_at_8 build=shared,-T,@odd.ld: the linked address is 8 above a multiple of 16, its distance from the code is 0x1000
    .pushsection .odd,"a",@progbits
0:  .quad 0, 0
    .popsection
    vector
    por xmm0, [rip+0b]
    result
#= linked_code_at_8 build=shared,-T,@odd.ld raw: a constant in linked code, 64 behind the function, 8 above a multiple of 16
    .section .text.odd,"ax",@progbits
    .globl linked_code_at_8
    .type linked_code_at_8,@function
linked_code_at_8:
    vector
    por xmm0, [rip+1f]
    result
    .skip 64-(.-linked_code_at_8)
1:  .quad 0, 0
    .size linked_code_at_8,.-linked_code_at_8
#= linked_low_bits build=shared,-T,@odd.ld raw: the function's address within 64, which is 8 in the file
    .section .text.odd,"ax",@progbits
    .balign 64
    .quad 0
    .globl linked_low_bits
    .type linked_low_bits,@function
linked_low_bits:
    nort
    lea rcx, [rip+linked_low_bits]
    and ecx, 63
    add rax, rcx
    ret
    .size linked_low_bits,.-linked_low_bits
#= linked_ymm build=shared: 32 bytes at an address that is 16 above a multiple of 32, the function likewise
    .pushsection .rodata.linked_ymm,"a",@progbits
    .balign 64
    .quad 0, 0
0:  .quad 0, 0, 0, 0
    .popsection
    vector
    vmovdqa ymm1, [rip+0b]
    por xmm0, xmm1
    result
#= linked_page build=pie: bits of an address above a page's are the loader's choice
    nort
    lea rcx, [rip+linked_page]
    test ecx, 0x1000
    je 1f
    xor eax, eax
1:  ret
