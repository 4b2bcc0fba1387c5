# Displacements that are found by their bytes and moved, and stacks that nobody promises.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
#= imul_same raw: imul rcx,[rip+d],d: the multiplier is the displacement's number, and is moved in its stead
    .section .text.imul_same,"ax",@progbits
    .balign 64
    .globl imul_same
    .type imul_same,@function
imul_same:
    nort
    imul rcx, [rip+10f], 256-18
    add rax, rcx
    ret
    .size imul_same,.-imul_same
    .skip 256-(.-imul_same)
10: .quad 1
#= imul_same_moved raw: the same, where the number moved into the immediate cancels out
    .section .text.imul_same_moved,"ax",@progbits
    .balign 64
    .globl imul_same_moved
    .type imul_same_moved,@function
imul_same_moved:
    nort
    imul rcx, [rip+10f], 256-18
    lea rcx, [rcx-(64+256-18)]
    add rax, rcx
    ret
    .size imul_same_moved,.-imul_same_moved
    .skip 192-(.-imul_same_moved)
    .quad 1
    .skip 256-(.-imul_same_moved)
10: .quad 0x1111
#= cmp_same raw: cmp [rip+d],d
    .section .text.cmp_same,"ax",@progbits
    .balign 64
    .globl cmp_same
    .type cmp_same,@function
cmp_same:
    nort
    cmp dword ptr [rip+10f], 10f-1f
1:  jne 2f
    xor eax, eax
2:  ret
    .size cmp_same,.-cmp_same
    .skip 64-(.-cmp_same)
    .quad 0
    .skip 128-(.-cmp_same)
10: .long 10b-1b
#= test_same raw: test dword ptr [rip+d],d
    .section .text.test_same,"ax",@progbits
    .balign 64
    .globl test_same
    .type test_same,@function
test_same:
    nort
    test dword ptr [rip+10f], 10f-1f
1:  je 2f
    xor eax, eax
2:  ret
    .size test_same,.-test_same
    .skip 64-(.-test_same)
    .quad 0
    .skip 128-(.-test_same)
10: .long -1
#= cmp_moved raw: the number compared with is the moved displacement, as it is not in memory
    .section .text.cmp_moved,"ax",@progbits
    .balign 64
    .globl cmp_moved
    .type cmp_moved,@function
cmp_moved:
    nort
    cmp dword ptr [rip+10f], 10f-1f
1:  je 2f
    xor eax, eax
2:  ret
    .size cmp_moved,.-cmp_moved
    .skip 64-(.-cmp_moved)
    .long 64+128-(1b-cmp_moved)
    .skip 128-(.-cmp_moved)
10: .long 0
#= imm8_zero raw: rorx by an immediate of one byte behind the displacement
    .section .text.imm8_zero,"ax",@progbits
    .balign 64
    .globl imm8_zero
    .type imm8_zero,@function
imm8_zero:
    nort
    imul rcx, [rip+10f], 1
    add rax, rcx
    ret
    .size imm8_zero,.-imm8_zero
    .skip 128-(.-imm8_zero)
10: .quad 3
#= stack_gigabyte: a frame of 1 GiB: no thread has such a stack
    sub rsp, 0x40000000
    mov [rsp], rdi
    mov rax, [rsp]
    shl rax, 8
    add rsp, 0x40000000
    ret
#= stack_64_mebibytes: a frame of 64 MiB is more than the usual 8
    sub rsp, 0x4000000
    mov [rsp], rdi
    mov rax, [rsp]
    shl rax, 8
    add rsp, 0x4000000
    ret
#= stack_9_mebibytes: a frame of 9 MiB is more than the usual 8
    sub rsp, 9*1024*1024
    mov [rsp], rdi
    mov rax, [rsp]
    shl rax, 8
    add rsp, 9*1024*1024
    ret
#= stack_2_mebibytes: a frame of 2 MiB is more than threads of musl (128 KiB) or macOS (512 KiB) have
    sub rsp, 2*1024*1024
    mov [rsp], rdi
    mov rax, [rsp]
    shl rax, 8
    add rsp, 2*1024*1024
    ret
#= stack_lea: the same by lea, with a frame pointer
    push rbp
    mov rbp, rsp
    lea rsp, [rsp-0x7fffff00]
    mov [rsp], rdi
    mov rax, [rsp]
    shl rax, 8
    leave
    ret
#= stack_wrapped: rsp goes once around the address space
    mov rcx, rsp
    movabs rdx, 0x4000000000000000
    sub rsp, rdx
    sub rsp, rdx
    push rdi
    pop rax
    sub rsp, rdx
    sub rsp, rdx
    shl rax, 8
    ret
#= stack_non_canonical: a push at an address that is none
    movabs rdx, 0x8000000000000000
    sub rsp, rdx
    push rdi
    pop rax
    add rsp, rdx
    shl rax, 8
    ret
#= stack_many_pushes: frames of 256 MiB, seven of them
    mov rcx, rsp
    .rept 7
    sub rsp, 0x10000000
    .endr
    push rdi
    pop rax
    mov rsp, rcx
    shl rax, 8
    ret
#= win64_unprobed abi=win64: a frame of 64 KiB is written at its lower end first: Windows keeps one guard page
    sub rsp, 65544
    mov [rsp], rcx
    mov rax, [rsp]
    shl rax, 8
    add rsp, 65544
    ret
#= win64_megabytes abi=win64: a frame of 4 MiB: Windows has 1 MiB
    sub rsp, 0x400008
    mov [rsp], rcx
    mov rax, [rsp]
    shl rax, 8
    add rsp, 0x400008
    ret
