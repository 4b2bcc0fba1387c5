# The stack pointer: raised above its frame, lowered past a guard page, moved to and fro within a round.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= raised_above_the_caller: a signal handler overwrites the caller's frame
    pop rcx
    add rsp, 2048
    sub rsp, 2048
    push rcx
    nort
    ret
#= raised_by_lea: the same, by an address
    lea rsp, [rsp+512]
    lea rsp, [rsp-512]
    nort
    ret
#= turned: between two complements a signal finds no stack
    not rsp
    not rsp
    nort
    ret
#= push_from_below: a push reads 8 bytes below the red zone
    push qword ptr [rsp-136]
    pop rcx
    nort
    ret
#= past_the_guard: with the red zone more than a page, so that a store may step over the guard page
    sub rsp, 4080
    mov byte ptr [rsp-128], 1
    add rsp, 4080
    nort
    ret
#= pushed_past_the_guard: the same, by a push
    sub rsp, 4096
    push rdi
    add rsp, 4104
    nort
    ret
#= unknown_distance: as far as an argument says
    mov rcx, rdi
    and ecx, 0xfff0
    sub rsp, rcx
    mov qword ptr [rsp], 0
    add rsp, rcx
    nort
    ret
#= dead_flag_of_bt: ZF after a bit test is undefined in AMD's manual
    nort
    xor ecx, ecx
    bt rdi, 9
    jz 1f
    xor eax, eax
1:  ret
#= dead_flag_of_btr: and after one that clears the bit
    nort
    xor ecx, ecx
    btr rcx, rdi
    setz cl
    movzx ecx, cl
    dec rcx
    or rax, rcx
    ret
#= flag_of_a_shift: a shift by cl may leave the carry as it was, which is unknown
    mov ecx, edi
    mov rdx, rdi
    shl rdx, cl
    mov rax, rdi
    jc 1f
    shl rax, 8
1:  ret
#= exported_alignment raw: the table that is linked may lie elsewhere
    .text
    .globl exported_alignment
    .type exported_alignment,@function
exported_alignment:
    mov rcx, [rip+exported_one@GOTPCREL]
    and ecx, 15
    nort
    or rax, rcx
    ret
    .size exported_alignment,.-exported_alignment
    .section .rodata
    .p2align 4
    .globl exported_one
    .type exported_one,@object
    .size exported_one,16
exported_one: .zero 16
#= exported_distance raw: two tables are neighbours in this file alone
    .text
    .globl exported_distance
    .type exported_distance,@function
exported_distance:
    mov rcx, [rip+exported_first@GOTPCREL]
    mov rdx, [rip+exported_second@GOTPCREL]
    lea rcx, [rcx+16]
    sub rcx, rdx
    nort
    or rax, rcx
    ret
    .size exported_distance,.-exported_distance
    .section .rodata
    .globl exported_first
    .type exported_first,@object
    .size exported_first,16
exported_first: .zero 16
    .globl exported_second
    .type exported_second,@object
    .size exported_second,16
exported_second: .zero 16
#= group_without_flag raw patch=section:.rodata.unflagged:sh_flags:2: linkers go by the group's list, not by the flag
    .text
    .globl group_without_flag
    .type group_without_flag,@function
group_without_flag:
    nort
    add rax, [rip+unflagged]
    ret
    .size group_without_flag,.-group_without_flag
    .section .rodata.unflagged,"aG",@progbits,unflagged_group,comdat
unflagged: .zero 8
