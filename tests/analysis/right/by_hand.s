# Right code that is seldom seen, or was refuted once.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro zeros name, align
    .pushsection .rodata.\name,"a",@progbits
    .balign \align
10: .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
.endm
# One board: sliders in rax, empty in r8; attacks in rax.
.macro attacks
    mov r9, rax
    shl r9, 8
    and r9, r8
    or rax, r9
    mov r9, r8
    shl r9, 8
    and r8, r9
    mov r9, rax
    shl r9, 16
    and r9, r8
    or rax, r9
    mov r9, r8
    shl r9, 16
    and r8, r9
    mov r9, rax
    shl r9, 32
    and r9, r8
    or rax, r9
    shl rax, 8
.endm
#= data_rounded: of eight words of 0 one lies where rounding down to 64 finds it
    zeros data_rounded, 8
    nort
    lea rcx, [rip+10b+60]
    and rcx, -64
    add rax, [rcx]
    ret
#= rep_ret: rep ret is ret
    nort
    rep ret
#= bnd_ret: bnd ret is ret
    nort
    bnd ret
#= bnd_jump: bnd jmp is jmp
    nort
    bnd jmp 1f
1:  ret
#= hints: branch hints
    nort
    test rdi, rdi
    .byte 0x2e, 0x74, 0x00
    .byte 0x3e, 0x75, 0x00
    ret
#= endbr: endbr64 is a nop
    endbr64
    nort
    ret
#= lea_fs: lea takes no heed of a segment
    lea rax, fs:[8*rdi]
    shl rax, 5
    ret
#= ds_stack: a prefix ds is ignored in 64 bits
    mov [rsp-8], rdi
    .byte 0x3e, 0x48, 0x8b, 0x44, 0x24, 0xf8
    shl rax, 8
    ret
#= rex_w_push: REX.W before push says nothing new
    .byte 0x48, 0x57
    pop rax
    shl rax, 8
    ret
#= operand_size_and_rex_w: REX.W wins over 66
    mov rax, rdi
    .byte 0x66, 0x48, 0xc1, 0xe0, 0x08
    ret
#= long_nops: nops of up to 15 bytes
    nort
    .nops 40
    ret
#= xchg_ax: 66 90 is a nop
    nort
    .byte 0x66, 0x90
    ret
#= lock_stack: lock with memory of its own
    mov [rsp-8], rdi
    xor eax, eax
    lock add [rsp-8], rax
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= shld_itself: shld of 32 bits by 8, its upper half cleared and made anew
    mov rax, rdi
    mov rcx, rdi
    shr rcx, 32
    shld ecx, eax, 8
    shl eax, 8
    shl rcx, 32
    or rax, rcx
    ret
#= rsp_alias: a copy of rsp
    mov rcx, rsp
    mov [rcx-8], rdi
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= frame: a frame with a pointer
    push rbp
    mov rbp, rsp
    sub rsp, 32
    mov [rbp-8], rdi
    mov rax, [rbp-8]
    shl rax, 8
    leave
    ret
#= frame_rounded: a frame rounded to 32
    push rbp
    mov rbp, rsp
    and rsp, -32
    vmovq xmm0, rdi
    vmovdqa [rsp-32], ymm0
    mov rax, [rsp-32]
    shl rax, 8
    leave
    ret
#= stack_aligned: 24 below rsp is a multiple of 16
    movq xmm0, rdi
    movaps [rsp-24], xmm0
    mov rax, [rsp-24]
    shl rax, 8
    ret
#= all_saved: all registers are saved, changed and restored
    .irp r, rbx, rbp, r12, r13, r14, r15
    push \r
    mov \r, rdi
    .endr
    mov rax, r15
    shl rax, 8
    .irp r, r15, r14, r13, r12, rbp, rbx
    pop \r
    .endr
    ret
#= saved_by_vector: rbx in a vector register
    movq xmm5, rbx
    mov rbx, rdi
    shl rbx, 8
    mov rax, rbx
    movq rbx, xmm5
    ret
#= aligned_16: por with a constant whose section has 16
    zeros aligned_16, 16
    movq xmm0, rdi
    psllq xmm0, 8
    por xmm0, [rip+10b]
    movq rax, xmm0
    ret
#= aligned_32: vmovdqa of 32 bytes from a section that has 32
    zeros aligned_32, 32
    movq xmm0, rdi
    psllq xmm0, 8
    vpor ymm0, ymm0, [rip+10b]
    vmovdqa ymm1, [rip+10b+32]
    vpor ymm0, ymm0, ymm1
    vmovq rax, xmm0
    ret
#= aligned_linked build=shared: an aligned load of a linked constant, whose address is known within a page
    zeros aligned_linked, 32
    vmovq xmm0, rdi
    vpsllq xmm0, xmm0, 8
    vmovdqa ymm1, [rip+10b+32]
    vpor ymm0, ymm0, ymm1
    vmovq rax, xmm0
    ret
#= aligned_linked_program build=program: the same in a program
    zeros aligned_linked_program, 64
    vmovq xmm0, rdi
    vpsllq xmm0, xmm0, 8
    vmovdqa ymm1, [rip+10b+32]
    vpor ymm0, ymm0, ymm1
    vmovq rax, xmm0
    ret
#= aligned_linked_odd build=shared raw: a function 16 above a multiple of 32, a constant at a multiple
    .section .rodata,"a",@progbits
    .balign 64
    .quad 0, 0, 0, 0
10: .quad 0, 0, 0, 0
    .section .text.aligned_linked_odd,"ax",@progbits
    .balign 64
    .quad 0, 0
    .globl aligned_linked_odd
    .type aligned_linked_odd,@function
aligned_linked_odd:
    vmovq xmm0, rdi
    vpsllq xmm0, xmm0, 8
    vmovdqa ymm1, [rip+10b]
    vpor ymm0, ymm0, ymm1
    vmovq rax, xmm0
    ret
    .size aligned_linked_odd,.-aligned_linked_odd
#= empty_section: a section of no bytes in front of one that is read
    .pushsection .rodata.empty_section,"a",@progbits
11:
    .popsection
    zeros empty_section_b, 8
    nort
    lea rcx, [rip+11b]
    add rax, [rip+10b]
    ret
#= merged: a constant that linkers merge
    .pushsection .rodata.cst16,"aM",@progbits,16
    .balign 16
10: .quad 0, 1
    .popsection
    movq xmm0, rdi
    psllq xmm0, 8
    por xmm0, [rip+10b]
    movq rax, xmm0
    ret
#= own_constants: constants behind the code, in the function
    nort
    add rax, [rip+1f]
    ret
1:  .quad 0
#= size_too_small patch=symbol:size_too_small:st_size:7: the symbol's size is too small: what lies behind belongs to the function
    nort
    ret
#= size_missing_table patch=symbol:size_missing_table:st_size:0: no size, and an indirect jump before the end
    mov ecx, edi
    and ecx, 1
    lea rdx, [rip+10f]
    movsxd rcx, dword ptr [rdx+4*rcx]
    add rcx, rdx
    jmp rcx
1:  nort
    ret
2:  nort
    ret
    .pushsection .rodata.size_missing_table,"a",@progbits
    .balign 4
10: .long 1b-10b, 2b-10b
    .popsection
#= size_missing_ret patch=symbol:size_missing_ret:st_size:0: no size, and a way out before the end
    nort
    test rdi, rdi
    jne 1f
    ret
1:  mov rcx, rax
    mov rax, rcx
    ret
#= size_missing_jump patch=symbol:size_missing_jump:st_size:0: no size, and the end lies in the middle
    jmp 2f
1:  ret
2:  nort
    jmp 1b
#= weak_function raw: a weak function
    .section .text.weak_function,"ax",@progbits
    .weak weak_function
    .type weak_function,@function
weak_function:
    nort
    ret
    .size weak_function,.-weak_function
#= group raw: a function of a group
    .section .text.group,"axG",@progbits,group,comdat
    .weak group
    .type group,@function
group:
    nort
    ret
    .size group,.-group
#= seed spec=subtraction.attacks-cleared.east: the seed's four SSE2 instructions, between registers of the convention
    movq xmm0, rdi
    movq xmm1, rsi
    movdqa xmm2, xmm1
    psubb xmm2, xmm0
    psubb xmm2, xmm0
    pxor xmm2, xmm1
    movq rax, xmm2
    ret
#= seed_itself abi=wiki lanes=2 spec=subtraction.attacks-cleared.east: the seed's four instructions as they are printed
    movdqa xmm0, xmm2
    pandn xmm0, xmm3
    psubb xmm0, xmm2
    pxor xmm0, xmm3
    ret
#= pointer_to_end spec=kogge-stone.attacks.nort.batch: a loop to a pointer's end: wrong only if an array wrapped round
    lea rcx, [rdi+8*rcx]
    cmp rdi, rcx
    jae 2f
1:  mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
    cmp rdi, rcx
    jb 1b
2:  ret
#= pointer_below_end spec=kogge-stone.attacks.nort.batch: the same, with the comparison before the round
    lea rcx, [rdi+8*rcx]
1:  cmp rdi, rcx
    jae 2f
    mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
    jmp 1b
2:  ret
#= home_space abi=win64: the caller's 32 bytes
    mov [rsp+8], rcx
    mov [rsp+32], rcx
    mov rax, [rsp+8]
    shl rax, 8
    ret
#= saved_win64 abi=win64: xmm6 and rsi are saved in a frame
    push rsi
    sub rsp, 32
    movaps [rsp], xmm6
    movq xmm6, rcx
    psllq xmm6, 8
    movq rsi, xmm6
    mov rax, rsi
    movaps xmm6, [rsp]
    add rsp, 32
    pop rsi
    ret
#= upper_win64 abi=win64: upper halves of ymm6 need not survive
    movdqu [rsp+8], xmm6
    vmovq xmm6, rcx
    vpsllq ymm6, ymm6, 8
    vmovq rax, xmm6
    vmovdqu xmm6, [rsp+8]
    ret
#= masked_load: a masked load of its own word; the element above, the caller's, is never wanted
    mov rax, rdi
    and edi, 1
    mov [rsp-8], rax
    kmovb k1, edi
    vmovdqu64 xmm0{k1}{z}, [rsp]
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= masked_store: a masked store of its own word; the element above, the return address, is never wanted
    mov rax, rdi
    and edi, 1
    kmovb k1, edi
    vmovdqu64 [rsp-8]{k1}, xmm0
    shl rax, 8
    ret
#= backwards spec=kogge-stone.attacks.nort.batch: from the last board to the first
    test rcx, rcx
    je 2f
1:  mov rax, [rdi+8*rcx-8]
    mov r8, [rsi+8*rcx-8]
    attacks
    mov [rdx+8*rcx-8], rax
    dec rcx
    jne 1b
2:  ret
#= negative_index spec=kogge-stone.attacks.nort.batch: from behind the end, by an index that rises to 0
    lea rdi, [rdi+8*rcx]
    lea rsi, [rsi+8*rcx]
    lea rdx, [rdx+8*rcx]
    neg rcx
    je 2f
1:  mov rax, [rdi+8*rcx]
    mov r8, [rsi+8*rcx]
    attacks
    mov [rdx+8*rcx], rax
    inc rcx
    jne 1b
2:  ret
#= counted_down spec=kogge-stone.attacks.nort.batch: pointers rise, a number falls
    jmp 2f
1:  mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
2:  dec rcx
    jns 1b
    ret
#= read_ahead spec=kogge-stone.attacks.nort.batch: the next board is read before this one is written
    test rcx, rcx
    je 2f
    xor r10d, r10d
    mov rax, [rdi]
    mov r8, [rsi]
1:  attacks
    inc r10
    cmp r10, rcx
    je 3f
    mov r11, rax
    mov rax, [rdi+8*r10]
    mov r8, [rsi+8*r10]
    mov [rdx+8*r10-8], r11
    jmp 1b
3:  mov [rdx+8*r10-8], rax
2:  ret
#= end_of_result spec=kogge-stone.attacks.nort.batch: the end is that of the result
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= differences spec=kogge-stone.attacks.nort.batch: two arrays are reached by their distances from the third
    sub rdi, rdx
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    jmp 2f
1:  mov rax, [rdi+rdx]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= constant_in_front build=shared,-z,noseparate-code raw: a linked constant in front of the code
    .section .before,"a",@progbits
    .balign 8
10: .quad 0
    .section .text.constant_in_front,"ax",@progbits
    .globl constant_in_front
    .type constant_in_front,@function
constant_in_front:
    nort
    add rax, [rip+10b]
    ret
    .size constant_in_front,.-constant_in_front
#= relro_constant build=shared: a constant that is written by nobody but the loader, which has nothing to write
    .pushsection .data.rel.ro,"aw",@progbits
    .balign 8
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= mov_from_table: an address by the table of addresses, of a constant that the object hides
    .pushsection .rodata.mov_from_table,"a",@progbits
    .hidden hidden_word
    .globl hidden_word
    .balign 8
hidden_word: .quad 0
    .popsection
    nort
    mov rcx, [rip+hidden_word@GOTPCREL]
    add rax, [rcx]
    ret
#= differences_kept spec=kogge-stone.attacks.nort.batch: a distance that lies on the stack meanwhile, less a board
    sub rdi, rdx
    lea rdi, [rdi-8]
    push rdi
    sub rsi, rdx
    lea rcx, [rdx+8*rcx]
    pop rdi
    jmp 2f
1:  mov rax, [rdi+rdx+8]
    mov r8, [rsi+rdx]
    attacks
    mov [rdx], rax
    add rdx, 8
2:  cmp rdx, rcx
    jne 1b
    ret
#= pointers_spilled spec=kogge-stone.attacks.nort.batch: a round leaves an address on the stack
    lea rcx, [rdi+8*rcx]
1:  cmp rdi, rcx
    jae 2f
    mov [rsp-8], rdi
    mov rax, [rdi]
    mov r8, [rsi]
    attacks
    mov rdi, [rsp-8]
    mov [rdx], rax
    add rdi, 8
    add rsi, 8
    add rdx, 8
    jmp 1b
2:  ret
#= masked_nowhere: a masked load of no element, of an address that is a board
    nort
    kxorb k1, k1, k1
    vmovdqu64 xmm0{k1}{z}, [rdi]
    ret
#= masked_table: a masked load of a table, of what is behind its end never
    .pushsection .rodata.masked_table,"a",@progbits
    .balign 8
10: .quad 0, 0, 0, 0
    .popsection
    mov ecx, edi
    and ecx, 4
    lea rdx, [rip+10b]
    xor r8d, r8d
    test ecx, ecx
    sete r8b
    kmovb k1, r8d
    vmovdqu64 xmm0{k1}{z}, [rdx+8*rcx]
    nort
    vmovq rcx, xmm0
    add rax, rcx
    ret
#= bsr32_low: bsr of 0 with 32 bits, of which the lower half is taken
    nort
    mov rcx, -1
    xor edx, edx
    bsr ecx, edx
    inc ecx
    add rax, rcx
    ret
#= shld_by_cl: shld by a count in cl
    mov eax, 0
    mov ecx, 56
    shrd rax, rdi, cl
    ret
#= push_memory: an argument by way of the stack
    mov [rsp-16], rdi
    push qword ptr [rsp-16]
    pop rax
    shl rax, 8
    ret
#= long_wait: more instructions than are followed, and then it returns
    mov ecx, 11000
1:  dec ecx
    jnz 1b
    nort
    ret
#= broadcast_masked_out: with an empty mask nothing is read
    kxorq k1, k1, k1
    vpaddq zmm0{k1}, zmm0, qword ptr [rdi]{1to8}
    mov rax, rdi
    shl rax, 8
    ret
#= flag_that_nothing_reads: an undefined flag goes into a register that is dead
    setc cl
    imul rdx, rdi
    setz dl
    mov rax, rdi
    shl rax, 8
    ret
#= jump_by_a_dead_flag: both ways are the same
    imul rcx, rdi
    jz 1f
    nop
1:  mov rax, rdi
    shl rax, 8
    ret
#= page_end_frame: 64 bytes of stack, wherever the function begins
    sub rsp, 64
    mov [rsp+8], rdi
    mov rax, [rsp+8]
    shl rax, 8
    add rsp, 64
    ret
#= turned_stack_pointer: complemented twice
    mov rdx, rsp
    not rdx
    not rdx
    push rdi
    mov rsp, rdx
    mov rax, rdi
    shl rax, 8
    ret
#= rounded_stack: the stack aligned to 64
    mov rdx, rsp
    and rsp, -64
    mov [rsp-64], rdi
    mov rax, [rsp-64]
    mov rsp, rdx
    shl rax, 8
    ret
#= masked_stack_pointer: as compilers harden loads, by a word that is 0 on this path
    xor ecx, ecx
    test rdi, rdi
    cmovs rcx, rcx
    or rsp, rcx
    mov rax, rdi
    shl rax, 8
    ret
#= call_of_another_section: a saved register, and a tail call
    push rbx
    mov rbx, rdi
    call right_helper
    mov rdi, rax
    pop rbx
    jmp right_shift
    .pushsection .text.right_helper,"ax",@progbits
    .type right_helper,@function
right_helper:
    push rbp
    mov rbp, rsp
    and rsp, -32
    movaps [rsp-32], xmm0
    lea rax, [rbx]
    leave
    ret
    .size right_helper,.-right_helper
    .type right_shift,@function
right_shift:
    xor eax, eax
    shl rdi, 8
    or rax, rdi
    ret
    .size right_shift,.-right_shift
    .popsection
#= copied_and_filled: memcpy and memset, with what they may change kept elsewhere
    push rbx
    mov rbx, rdi
    sub rsp, 48
    lea rdi, [rsp+16]
    mov esi, 0x1ff
    mov edx, 19
    call memset
    mov [rsp], rbx
    mov rdi, rax
    mov rsi, rsp
    mov edx, 7
    call memcpy
    xor ecx, ecx
    mov rax, [rsp+16]
    shl rax, 8
    add rsp, 48
    pop rbx
    ret
