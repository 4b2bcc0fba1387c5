# Functions that call others, which do not do what they should, or are not those that they seem.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro function name
    .pushsection .text.\name,"ax",@progbits
    .p2align 4
    .type \name,@function
\name:
.endm
.macro end name
    .size \name,.-\name
    .popsection
.endm
# A copy of the board at rsp+8, from rsp; rsp is aligned.
.macro copy size
    lea rsp, [rsp-24]
    mov [rsp], rdi
    lea rdi, [rsp+8]
    mov rsi, rsp
    mov edx, \size
    call memcpy
.endm
#= spoilt_register: the other function does not restore rbx
    call spoils
    ret
    function spoils
    nort
    mov rbx, rdi
    ret
    end spoils
#= spoilt_argument: the other function may change rdi
    call clears
    nort
    ret
    function clears
    xor edi, edi
    ret
    end clears
#= another_return: the other function returns behind the next instruction
    mov rax, rdi
    call skips
    shl rax, 8
    ret
    function skips
    add qword ptr [rsp], 4
    ret
    end skips
#= another_return_rare: for one board
    mov rax, rdi
    call skips_five
    shl rax, 8
    ret
    function skips_five
    cmp rdi, 5
    jne 1f
    add qword ptr [rsp], 4
1:  ret
    end skips_five
#= frame: the other function writes to its caller's frame
    push rbx
    mov rbx, rdi
    call overwrites
    mov rax, rbx
    shl rax, 8
    pop rbx
    ret
    function overwrites
    mov [rsp+8], rdi
    ret
    end overwrites
#= frame_rare: for one board
    push rdi
    call overwrites_five
    pop rax
    shl rax, 8
    ret
    function overwrites_five
    cmp rdi, 5
    jne 1f
    mov qword ptr [rsp+8], 0
1:  ret
    end overwrites_five
#= outer_return: the other function writes over its caller's return address
    call overwrites_outer
    nort
    ret
    function overwrites_outer
    mov [rsp+8], rdi
    ret
    end overwrites_outer
#= unbalanced: the other function leaves a word on the stack
    nort
    call leaves_a_word
    ret
    function leaves_a_word
    pop rdx
    push 0
    jmp rdx
    end leaves_a_word
#= return_slot: a call writes over the word below rsp
    mov [rsp-8], rdi
    call nothing_at_all
    mov rax, [rsp-8]
    shl rax, 8
    ret
    function nothing_at_all
    ret
    end nothing_at_all
#= misaligned: the other function stores to the stack by movaps, which faults
    call stores_aligned
    nort
    ret
    function stores_aligned
    movaps [rsp-24], xmm0
    ret
    end stores_aligned
#= no_return: the other function has no ret
    call runs_out
    ret
    function runs_out
    nort
    end runs_out
#= recursion: a function that calls itself for each piece
    test rdi, rdi
    je 1f
    push rdi
    lea rdx, [rdi-1]
    and rdi, rdx
    call recursion
    pop rdi
1:  nort
    ret
#= recursion_of_two: two functions that call each other
    call calls_back
    nort
    ret
    function calls_back
    test rdi, rdi
    je 1f
    call recursion_of_two
1:  ret
    end calls_back
#= weak: another file may define it
    call weakly
    ret
    .weak weakly
    function weakly
    nort
    ret
    end weakly
#= distance: the distance of two sections, which a linker chooses
    call measures
    ret
    function measures
    mov rdx, [rsp]
    lea rcx, [rip+measures]
    sub rdx, rcx
    nort
    lea rax, [rax+rdx+11]
    ret
    end measures
#= tail_of_another: a jump into the middle of another function's instruction, for one board
    cmp rdi, 5
    je holds_a_ret+3
    nort
    ret
    function holds_a_ret
    mov eax, 0xc3c3
    ret
    end holds_a_ret
#= copied_first: the copy is 6 bytes long, of which 7 matter
    mov qword ptr [rsp-8], 0
    copy 6
    mov rax, [rsp+8]
    add rsp, 24
    shl rax, 8
    ret
#= copied_number: memcpy may change rcx
    mov rcx, rdi
    copy 8
    mov rax, rcx
    add rsp, 24
    shl rax, 8
    ret
#= copied_vector: memcpy may change xmm15
    movq xmm15, rdi
    copy 8
    movq rax, xmm15
    add rsp, 24
    shl rax, 8
    ret
#= copied_flag: memcpy may change the flags
    stc
    copy 8
    mov rax, [rsp+8]
    lea rsp, [rsp+24]
    jnc 1f
    shl rax, 8
1:  ret
#= copied_below: memcpy may write below its return address
    mov [rsp-48], rdi
    copy 8
    mov rax, [rsp-24]
    add rsp, 24
    shl rax, 8
    ret
#= copied_over: the blocks overlap
    push rdi
    push rdi
    push rdi
    mov rsi, rsp
    lea rdi, [rsp+4]
    mov edx, 8
    call memcpy
    pop rax
    pop rdx
    pop rdx
    shl rax, 8
    shl rdx, 8
    mov rax, rdx
    ret
#= copied_outside: the source has no 64 bytes
    copy 64
    mov rax, [rsp+8]
    add rsp, 24
    shl rax, 8
    ret
#= copied_unaligned: the stack is not aligned at the call
    push rdi
    copy 8
    mov rax, [rsp+8]
    add rsp, 32
    shl rax, 8
    ret
#= copied_as_many: the board says how many bytes
    copy edi
    mov rax, [rsp]
    add rsp, 24
    shl rax, 8
    ret
#= filled: memset writes one byte too many
    push rdi
    push rdi
    push rdi
    lea rdi, [rsp+8]
    xor esi, esi
    mov edx, 9
    call memset
    pop rax
    pop rdx
    pop rax
    shl rax, 8
    ret
#= filled_by: memset's byte is the lowest one of esi
    sub rsp, 24
    mov [rsp+8], rdi
    mov rdi, rsp
    mov esi, 0x100
    mov edx, 8
    call memset
    mov rax, [rsp]
    or rax, [rsp+8]
    add rsp, 24
    shl rax, 8
    btc rax, 7
    ret
