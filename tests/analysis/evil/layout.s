# What a linker decides: distances between sections, padding, what lies behind a section's end, merging.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro two name
    .pushsection .rodata.\name\()_a,"a",@progbits
    .balign 8
10: .quad 0
    .popsection
    .pushsection .rodata.\name\()_b,"a",@progbits
    .balign 8
11: .quad 0
    .popsection
.endm
#= padding: what lies behind a section that is followed by another is taken as zeros
    two padding
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    add rax, [rip+10b+8]
    ret
#= padding_vector: sixteen bytes are read of a section that has eight; behind it may be no page
    two padding_vector
    nort
    movdqu xmm0, [rip+10b]
    movq rcx, xmm0
    add rax, rcx
    add rax, [rip+11b]
    ret
#= padding_high_half: the half behind the section's end counts
    two padding_high_half
    nort
    movdqu xmm0, [rip+10b]
    punpckhqdq xmm0, xmm0
    movq rcx, xmm0
    add rax, rcx
    add rax, [rip+11b]
    ret
#= other_by_distance: the second section is read 64 bytes behind the first
    two other_by_distance
    nort
    add rax, [rip+11b]
    lea rcx, [rip+10b]
    add rax, [rcx+64]
    ret
#= distance: 64 is subtracted from the distance of two sections
    two distance
    nort
    lea rcx, [rip+10b]
    lea rdx, [rip+11b]
    sub rdx, rcx
    cmp rdx, 64
    je 1f
    cmp rdx, -64
    je 1f
    xor eax, eax
1:  ret
#= order: the second section is taken to lie behind the first
    two order
    nort
    lea rcx, [rip+10b]
    lea rdx, [rip+11b]
    sub rdx, rcx
    sar rdx, 63
    lea rcx, [rip+10b]
    lea r8, [rip+11b]
    sub rcx, r8
    sar rcx, 63
    and rdx, rcx
    add rax, rdx
    lea rcx, [rip+10b]
    sub rcx, r8
    add rcx, 64
    add rax, rcx
    ret
#= code_to_data: how far data lies behind the code, 64, is taken for granted
    .pushsection .rodata.code_to_data,"a",@progbits
10: .quad 0
    .popsection
    nort
    lea rcx, [rip+code_to_data]
    lea rdx, [rip+10b]
    sub rdx, rcx
    sub rdx, 64
    add rax, rdx
    ret
#= data_behind_code: data is read 64 behind the function's start
    .pushsection .rodata.data_behind_code,"a",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    lea rcx, [rip+data_behind_code]
    add rax, [rcx+64]
    ret
#= filler: what fills the room between code and data is taken as int3
    .pushsection .rodata.filler,"a",@progbits
10: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    lea rcx, [rip+filler]
    movzx ecx, byte ptr [rcx+56]
    sub ecx, 0xcc
    add rax, rcx
    ret
#= front: what lies in front of a section, here the other one's padding
    two front
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    add rax, [rip+11b-8]
    ret
#= front_of_first: what lies in front of the first section, filled with int3
    two front_of_first
    nort
    add rax, [rip+10b]
    mov rcx, [rip+10b-1]
    shl rcx, 56
    shr rcx, 56
    sub rcx, 0xcc
    add rax, rcx
    ret
#= index_across: a table of one word is read at 8 * (rdi & 8), in the other section or the padding
    two index_across
    nort
    add rax, [rip+11b]
    lea rcx, [rip+10b]
    mov rdx, rdi
    and edx, 8
    add rax, [rcx+8*rdx]
    ret
#= merged_words: of equal mergeable constants one is kept, and the one behind the first is another then
    .pushsection .rodata.cst8.merged_words,"aM",@progbits,8
    .balign 8
10: .quad 0, 0, 0x1234
    .popsection
    nort
    add rax, [rip+10b]
    lea rcx, [rip+10b]
    add rax, [rcx+8]
    ret
#= merged_strings: the second of two mergeable strings is read by its distance from the first
    .pushsection .rodata.str1.merged_strings,"aMS",@progbits,1
10: .string "ab"
11: .string ""
    .string "cd"
    .popsection
    nort
    movzx ecx, byte ptr [rip+10b]
    sub ecx, 'a'
    add rax, rcx
    lea rcx, [rip+10b]
    movzx ecx, byte ptr [rcx+3]
    add rax, rcx
    ret
#= merged_tail: a string that is another's tail: what lies in front of it
    .pushsection .rodata.str1.merged_tail,"aMS",@progbits,1
10: .string "a"
11: .string "b"
    .popsection
    nort
    lea rcx, [rip+11b]
    movzx ecx, byte ptr [rcx-1]
    add rax, rcx
    ret
#= merged_distance: the distance of two mergeable constants, one of them twice
    .pushsection .rodata.cst16.merged_distance,"aM",@progbits,16
    .balign 16
10: .quad 1, 0
    .quad 1, 0
11: .quad 2, 0
    .popsection
    nort
    lea rcx, [rip+10b]
    lea rdx, [rip+11b]
    sub rdx, rcx
    sub rdx, 32
    add rax, rdx
    ret
#= merged_cst4_wide: a word of eight bytes at a mergeable constant of four
    .pushsection .rodata.cst4.merged_cst4_wide,"aM",@progbits,4
    .balign 4
10: .long 0, 0
    .popsection
    nort
    add rax, [rip+10b]
    ret
#= own_section_distance raw: constants of the function's own section are moved, their distance is not what it was
    .section .text.own_section_distance,"ax",@progbits
    .balign 16
    .globl own_section_distance
    .type own_section_distance,@function
own_section_distance:
    nort
    add rax, [rip+10f]
    lea rcx, [rip+own_section_distance]
    lea rdx, [rip+10f]
    sub rdx, rcx
    sub rdx, 64+128
    add rax, rdx
    ret
    .size own_section_distance,.-own_section_distance
    .skip 128-(.-own_section_distance)
10: .quad 0
#= own_section_by_distance raw: a constant behind the function is not where its distance says, but another is
    .section .text.own_section_by_distance,"ax",@progbits
    .balign 16
    .globl own_section_by_distance
    .type own_section_by_distance,@function
own_section_by_distance:
    nort
    lea rcx, [rip+own_section_by_distance]
    add rax, [rip+10f]
    add rax, [rcx+128]
    ret
    .size own_section_by_distance,.-own_section_by_distance
    .skip 64-(.-own_section_by_distance)
    .quad 0
    .skip 128-(.-own_section_by_distance)
    .quad 77
10: .quad 0
#= own_code_behind raw: bytes of the next function, which a linker or its relocations may change
    .section .text.own_code_behind,"ax",@progbits
    .balign 16
    .globl own_code_behind
    .type own_code_behind,@function
own_code_behind:
    nort
    mov ecx, [rip+10f+1]
    sub ecx, 0
    add rax, rcx
    ret
    .size own_code_behind,.-own_code_behind
    .balign 16
    .type next_of_own_code_behind,@function
next_of_own_code_behind:
10: call somewhere_of_own_code_behind
    ret
    .size next_of_own_code_behind,.-next_of_own_code_behind
#= address_as_number: where constants lie, divided by 4 GiB, is 0 for small programs only
    two address_as_number
    nort
    lea rcx, [rip+10b]
    shr rcx, 32
    add rax, rcx
    ret
#= address_equal: wrong for the board that is the constants' address
    two address_equal
    nort
    lea rcx, [rip+10b]
    cmp rcx, rdi
    jne 1f
    xor eax, eax
1:  ret
#= address_sign: an address has bit 47 clear for programs, set for a kernel's
    nort
    lea rcx, [rip+address_sign]
    bt rcx, 40
    jc 1f
    xor eax, eax
1:  ret
#= address_below_stack: code lies below the stack in most programs
    nort
    lea rcx, [rip+address_below_stack]
    cmp rcx, rsp
    jb 1f
    xor eax, eax
1:  ret
#= return_address: who calls is told by the return address
    nort
    mov rcx, [rsp]
    test cl, 1
    jne 1f
    xor eax, eax
1:  ret
#= stack_address: where the stack is, bit 20
    nort
    bt rsp, 20
    jc 1f
    xor eax, eax
1:  ret
#= stack_equal: wrong for the board that is the stack's address
    nort
    cmp rdi, rsp
    jne 1f
    xor eax, eax
1:  ret
#= gap_in_linked build=shared,-T,@gap.ld: between two constants lies another section, not zeros
    .pushsection .one,"a",@progbits
10: .quad 0
    .popsection
    .pushsection .middle,"a",@progbits
    .quad 7
    .popsection
    .pushsection .two,"a",@progbits
11: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    lea rcx, [rip+10b]
    add rax, [rcx+8]
    ret
#= gap_writable build=shared,-T,@gap.ld: between two constants lies what can be written
    .pushsection .one,"a",@progbits
10: .quad 0
    .popsection
    .pushsection .middle_data,"aw",@progbits
    .quad 7
    .popsection
    .pushsection .two,"a",@progbits
11: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    lea rcx, [rip+10b]
    add rax, [rcx+128]
    ret
#= gap_code build=shared,-T,@gap.ld: between two constants lies other code
    .pushsection .one,"a",@progbits
10: .quad 0
    .popsection
    .pushsection .middle_code,"ax",@progbits
    .quad 0
    .quad 0xc3
    .popsection
    .pushsection .two,"a",@progbits
11: .quad 0
    .popsection
    nort
    add rax, [rip+10b]
    add rax, [rip+11b]
    lea rcx, [rip+10b]
    add rax, [rcx+256+8]
    ret
#= gap_between_segments build=shared,-z,separate-code: nothing is mapped between two segments
    .pushsection .rodata.gap_between_segments,"a",@progbits
10: .quad 0
    .popsection
    .pushsection .eh_frame_hdr,"a",@progbits
11: .quad 0
    .popsection
    nort
    lea rcx, [rip+10b]
    add rax, [rcx]
    add rax, [rcx+0x2000]
    ret
