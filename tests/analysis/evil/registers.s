# Registers and state that have to survive.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro lost register, instruction:vararg
    nort
    \instruction
    ret
.endm
#= rbx_lost: rbx is lost
    lost rbx, mov rbx, rdi
#= rbp_lost: rbp is lost
    lost rbp, xor ebp, ebp
#= r12_lost: r12 is lost
    lost r12, inc r12
#= r13_lost: r13 is lost
    lost r13, not r13
#= r14_lost: r14 is lost
    lost r14, mov r14, r15
#= r15_lost: r15 is lost
    lost r15, lea r15, [rdi]
#= ebx_alone: the upper half is cleared by a move of 32 bits to itself
    lost ebx, mov ebx, ebx
#= bl_alone: one byte
    lost bl, mov bl, 1
#= bh_alone: the second byte
    lost bh, xor bh, bh
#= r12w_alone: two bytes
    lost r12w, inc r12w
#= r13_bit: one bit, for one board
    nort
    cmp rdi, 0x4000
    sete cl
    movzx ecx, cl
    xor r13, rcx
    ret
#= r14_shift_by_zero: shr r14d by a count of 0 clears the upper half
    lost r14, shr r14d, 32
#= r15_cmov: a move that is not made clears the upper half
    nort
    xor ecx, ecx
    cmovne r15d, ecx
    ret
#= xchg_ebx: ebx with itself
    lost ebx, xchg ebx, ebx
#= bswap_twice32: bswap of 32 bits, twice
    nort
    bswap ebx
    bswap ebx
    ret
#= bsf_ebx: bsf of 0 leaves ebx and, on older processors, clears the upper half, as Intel's manual has it
    nort
    xor ecx, ecx
    bsf ebx, ecx
    ret
#= swapped: rbx and rbp are exchanged
    nort
    xchg rbx, rbp
    ret
#= popped_wrongly: restored in the order they were saved
    push rbx
    push rbp
    nort
    xor ebx, ebx
    pop rbx
    pop rbp
    ret
#= restored_from_argument: rbx is restored from what the board was saved in
    push rdi
    push rbx
    nort
    xor ebx, ebx
    mov rbx, [rsp+8]
    add rsp, 16
    ret
#= restored_on_one_path: rbx is restored on one path of two
    push rbx
    nort
    mov rbx, rdi
    test rdi, rdi
    jne 1f
    pop rbx
    ret
1:  pop rcx
    ret
#= restored_half: the lower half is restored
    mov [rsp-8], rbx
    nort
    xor ebx, ebx
    mov ebx, [rsp-8]
    ret
#= restored_by_vector: rbx by way of xmm0, 32 bits of it
    movd xmm0, ebx
    nort
    xor ebx, ebx
    movd ebx, xmm0
    ret
#= restored_late: rbx is saved after it was changed
    nort
    mov rbx, rdi
    push rbx
    pop rbx
    ret
#= saved_below: rbx is saved below the red zone
    mov [rsp-256], rbx
    nort
    mov rbx, rdi
    mov rbx, [rsp-256]
    ret
#= rsp_lower: rsp ends 8 lower, the return address is copied
    mov rcx, [rsp]
    push rcx
    nort
    ret
#= rsp_higher: ret 8 takes the caller's word
    nort
    ret 8
#= rsp_aligned: rsp is rounded and not brought back
    nort
    and rsp, -16
    ret
#= rsp_from_rbp: leave with the caller's rbp
    nort
    leave
    ret
#= rsp_board: rsp is the board for a moment, when a signal may come
    mov rcx, rsp
    mov rsp, rdi
    mov rax, rsp
    mov rsp, rcx
    shl rax, 8
    ret
#= rsp_board_rare: for one board
    nort
    cmp rdi, 99
    jne 1f
    add rsp, rdi
1:  ret
#= esp_written: mov esp,esp cuts rsp
    nort
    mov esp, esp
    ret
#= sp_written: add sp,0 is right; add sp,-16 carries only within 16 bits
    nort
    sub sp, 0x7000
    push rdi
    pop rcx
    add sp, 0x7000
    ret
#= direction: the direction flag is left set
    nort
    std
    ret
#= direction_rare: for one board
    nort
    cmp rdi, 77
    jne 1f
    std
1:  ret
#= direction_by_popf: by popf
    nort
    pushfq
    or qword ptr [rsp], 0x400
    popfq
    ret
#= alignment_check: AC is left set: the caller's unaligned accesses fault
    nort
    pushfq
    or qword ptr [rsp], 0x40000
    popfq
    ret
#= trap_flag: TF is left set: a trap after the next instruction
    nort
    pushfq
    or qword ptr [rsp], 0x100
    popfq
    ret
#= popf_board: flags are the board's
    nort
    push rdi
    popfq
    ret
#= mxcsr: flush to zero is left set
    nort
    stmxcsr [rsp-8]
    or dword ptr [rsp-8], 0x8000
    ldmxcsr [rsp-8]
    ret
#= mxcsr_reserved: a reserved bit of MXCSR faults
    nort
    mov dword ptr [rsp-8], -1
    ldmxcsr [rsp-8]
    ret
#= vmxcsr: the same by VEX
    nort
    vstmxcsr [rsp-8]
    xor dword ptr [rsp-8], 0x6000
    vldmxcsr [rsp-8]
    ret
#= mxcsr_flags: a conversion leaves the inexact flag, which is no part of the convention; the rounding here is
    nort
    mov dword ptr [rsp-8], 0x3f80
    ldmxcsr [rsp-8]
    ret
#= x87_control: precision of the x87 is left changed
    nort
    mov word ptr [rsp-8], 0x27f
    fldcw [rsp-8]
    ret
#= x87_stack: a number is left on the stack of the x87
    nort
    fld1
    ret
#= x87_full: eight numbers are left
    nort
    .rept 8
    fldz
    .endr
    ret
#= x87_init: fninit changes the control word of who had another
    nort
    fninit
    ret
#= mmx: the x87 is left in MMX state: the next fld1 gives a NaN
    movq mm0, rdi
    psllq mm0, 8
    movq rax, mm0
    ret
#= mmx_by_movq2dq: the same without a general register
    movq xmm0, rdi
    psllq xmm0, 8
    movdq2q mm0, xmm0
    movq rax, xmm0
    ret
#= mmx_cvtpi2ps: conversions from MMX registers
    nort
    cvtpi2ps xmm0, mm0
    ret
#= emms_alone: emms throws away the caller's numbers
    nort
    emms
    ret
#= fs_base: the thread's base is changed
    nort
    wrfsbase rdi
    ret
#= gs_base: the base of gs is changed
    nort
    wrgsbase rdi
    ret
#= fs_selector: a selector is loaded
    nort
    xor ecx, ecx
    mov fs, ecx
    ret
#= ds_selector: the board as selector faults
    nort
    mov ds, edi
    ret
#= pkru: protection keys are changed
    nort
    xor ecx, ecx
    xor edx, edx
    mov eax, -4
    wrpkru
    mov rax, rdi
    shl rax, 8
    ret
#= xrstor: vector state is loaded from the stack
    nort
    xrstor [rsp-64]
    ret
#= fxrstor: the same, old
    nort
    fxrstor [rsp-520]
    ret
#= shadow_stack: the shadow stack is moved
    nort
    mov ecx, 1
    incsspq rcx
    ret
#= tile: tiles are set up
    nort
    ldtilecfg [rsp-64]
    ret
#= cpuid_rbx: cpuid writes rbx
    xor eax, eax
    cpuid
    nort
    ret
#= rdtsc: the time decides
    rdtsc
    shr eax, 31
    mov rcx, rax
    nort
    add rax, rcx
    ret
#= rdrand: chance decides
    rdrand rcx
    nort
    and ecx, 1
    add rax, rcx
    ret
#= rdpid: the processor's number decides
    rdpid rcx
    nort
    add rax, rcx
    ret
#= rdtscp: so does rdtscp
    rdtscp
    mov edx, ecx
    nort
    add rax, rdx
    ret
#= rdsspq: 0 without shadow stack, an address with it
    xor ecx, ecx
    rdsspq rcx
    nort
    add rax, rcx
    ret
#= xgetbv: what the system saves
    xor ecx, ecx
    xgetbv
    mov ecx, eax
    nort
    shr ecx, 1
    and ecx, 1
    xor ecx, 1
    add rax, rcx
    ret
#= lahf: flags that are undefined, by ah
    nort
    mov rcx, rax
    imul rdx, rdx
    lahf
    movzx edx, ah
    and edx, 0x10
    lea rax, [rcx+rdx]
    ret
#= pushf: flags at the entry, by the stack
    pushfq
    pop rcx
    nort
    and ecx, 1
    add rax, rcx
    ret
