# Prefixes that change what an instruction does, on some processors or all; and counts and widths that do.
.macro nort
    mov rax, rdi
    shl rax, 8
.endm
.macro constant name
    .pushsection .rodata.\name,"a",@progbits
    .p2align 6
0:  .quad 0, 0, 0, 0, 0, 0, 0, 0
    .popsection
.endm
#= push16: 66 push pushes two bytes, pop takes eight: rsp ends 6 too high, ret goes astray
    nort
    .byte 0x66, 0x57
    pop rcx
    ret
#= pop16: 66 pop takes two bytes of eight: ret goes to the pushed word
    nort
    push rdi
    .byte 0x66, 0x59
    ret
#= push_pop16: 66 push and 66 pop are balanced, and cx alone is restored: the result has rdi's low 16 bits only
    xor ecx, ecx
    .byte 0x66, 0x57
    .byte 0x66, 0x59
    mov rax, rcx
    shl rax, 8
    ret
#= push16_r12: 66 push r12, pop r12: rsp ends 6 too high
    nort
    .byte 0x66, 0x41, 0x54
    pop r12
    ret
#= push16_imm8: 66 6a pushes two bytes
    nort
    .byte 0x66, 0x6a, 0x01
    pop rcx
    ret
#= push16_imm16: 66 68 pushes two bytes and is four bytes long
    nort
    .byte 0x66, 0x68, 0x01, 0x00
    pop rcx
    ret
#= push16_alone: two bytes are pushed and eight are given back by add
    nort
    .byte 0x66, 0x57
    add rsp, 8
    ret
#= leave16: 66 leave pops two bytes: bp is restored, rsp ends 6 too low
    push rbp
    mov rbp, rsp
    nort
    .byte 0x66, 0xc9
    ret
#= ret16: 66 ret pops two bytes and goes to an address of 16 bits
    nort
    .byte 0x66, 0xc3
#= ret16_imm: 66 ret 0 pops two bytes and goes to an address of 16 bits
    nort
    .byte 0x66, 0xc2, 0x00, 0x00
#= rep_ret16: the same behind a rep prefix
    nort
    .byte 0xf3, 0x66, 0xc3
#= jmp16_short: 66 eb cuts rip to 16 bits on AMD
    nort
    .byte 0x66, 0xeb, 0x00
    ret
#= jmp16_near: 66 e9 takes a distance of 16 bits on AMD, of 32 on Intel
    nort
    .byte 0x66, 0xe9, 0x00, 0x00, 0x00, 0x00
    ret
#= je16_short: 66 74, taken, cuts rip to 16 bits on AMD
    nort
    xor ecx, ecx
    .byte 0x66, 0x74, 0x00
    ret
#= jne16_rare: 66 75 is taken for one board only and cuts rip to 16 bits on AMD
    nort
    cmp rdi, 0x1234567
    .byte 0x66, 0x74, 0x00
    ret
#= je16_near: 66 0f 84 takes a distance of 16 bits on AMD
    nort
    xor ecx, ecx
    .byte 0x66, 0x0f, 0x84, 0x00, 0x00, 0x00, 0x00
    ret
#= jmp16_register: 66 ff e1 jumps to cx on AMD
    nort
    lea rcx, [rip+1f]
    .byte 0x66, 0xff, 0xe1
1:  ret
#= jmp16_memory: 66 ff 64 24 f8 jumps to the lowest 16 bits of what was stored, on AMD
    nort
    lea rcx, [rip+1f]
    mov [rsp-8], rcx
    .byte 0x66, 0xff, 0x64, 0x24, 0xf8
1:  ret
#= jmp16_cx_only: 66 ff e1 reads cx on AMD, rcx on Intel, whose upper half here is no address
    nort
    lea rcx, [rip+1f]
    bts rcx, 63
    .byte 0x66, 0xff, 0xe1
1:  ret
#= call16: 66 e8 pushes two bytes on AMD
    .byte 0x66, 0xe8, 0x00, 0x00, 0x00, 0x00
    pop rcx
    nort
    ret
#= jecxz: 67 e3 looks at ecx: wrong for rdi = 1<<32
    nort
    mov rcx, rdi
    .byte 0x67, 0xe3, 0x01
    ret
    xor eax, eax
    ret
#= loopd: 67 e2 counts in ecx: wrong for rdi = 1<<32 + 1
    nort
    mov rcx, rdi
    test rcx, rcx
    je 1f
    .byte 0x67, 0xe2, 0x01
1:  ret
    xor eax, eax
    ret
#= eip_load: 67 with [rip+d] cuts the address to 32 bits: a fault in every shared library
    constant eip_load
    nort
    .byte 0x67
    add rax, [rip+0b]
    ret
#= eip_lea: 67 with lea gives 32 bits of the address, which is then read
    constant eip_lea
    nort
    .byte 0x67
    lea rcx, [rip+0b]
    add rax, [rcx]
    ret
#= eip_movdqa: 67 movdqa [rip+d] cuts the address to 32 bits
    constant eip_movdqa
    movq xmm0, rdi
    psllq xmm0, 8
    .byte 0x67
    por xmm0, [rip+0b]
    movq rax, xmm0
    ret
#= eip_vex: 67 with a VEX instruction and [rip+d]
    constant eip_vex
    vmovq xmm0, rdi
    vpsllq xmm0, xmm0, 8
    .byte 0x67
    vpor xmm0, xmm0, [rip+0b]
    vmovq rax, xmm0
    ret
#= eip_own_code: 67 with [rip+d] into the function's own bytes
    nort
    .byte 0x67
    add rax, [rip+1f]
    ret
1:  .quad 0
#= eip_jmp: 67 jmp [rip+d] reads its target at an address of 32 bits
    nort
    lea rcx, [rip+1f]
    mov [rsp-8], rcx
    lea rdx, [rsp-8]
    .byte 0x67
    jmp [rdx]
1:  ret
#= esp_load: [esp-8] is not [rsp-8]
    mov [rsp-8], rdi
    mov rax, [esp-8]
    shl rax, 8
    ret
#= esp_store: [esp-8] is not [rsp-8]
    mov qword ptr [rsp-8], 0
    mov [esp-8], rdi
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= lea_edi: lea rax,[edi*8] has 32 bits: wrong for rdi = 1<<32
    lea rax, [edi*8]
    shl rax, 5
    ret
#= lea_eax: lea eax,[rdi+0] clears the upper half
    lea eax, [rdi]
    shl rax, 8
    ret
#= stos32: 67 stosq writes at edi
    nort
    lea rdi, [rsp-8]
    .byte 0x67
    stosq
    ret
#= fs_rip: fs:[rip+d] reads in the thread's own block, which here holds anything
    constant fs_rip
    nort
    add rax, fs:[rip+0b]
    ret
#= gs_rip: gs:[rip+d]
    constant gs_rip
    nort
    add rax, gs:[rip+0b]
    ret
#= fs_stack: fs:[rsp-8] is not [rsp-8]
    mov [rsp-8], rdi
    mov rax, fs:[rsp-8]
    shl rax, 8
    ret
#= gs_store: a store through gs, read back without
    mov qword ptr [rsp-8], 0
    mov gs:[rsp-8], rdi
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= fs_movdqu: fs with a vector
    constant fs_movdqu
    movq xmm0, rdi
    psllq xmm0, 8
    movdqu xmm1, fs:[rip+0b]
    por xmm0, xmm1
    movq rax, xmm0
    ret
#= fs_push: push qword ptr fs:[rsp-8]
    mov [rsp-8], rdi
    push qword ptr fs:[rsp-8]
    pop rax
    shl rax, 8
    ret
#= fs_lods: lodsq with fs reads fs:[rsi]
    mov [rsp-8], rdi
    lea rsi, [rsp-8]
    lods rax, qword ptr fs:[rsi]
    shl rax, 8
    ret
#= gs_evex: gs with a broadcast
    constant gs_evex
    vmovq xmm0, rdi
    vpsllq xmm0, xmm0, 8
    vporq xmm0, xmm0, gs:[rip+0b]{1to2}
    vmovq rax, xmm0
    ret
#= fs_cmp: a comparison with fs:[0], an address that tells threads apart
    nort
    cmp rdi, fs:[0]
    jne 1f
    xor eax, eax
1:  ret
#= fs_after_ds: of two segment prefixes the last counts
    mov [rsp-8], rdi
    .byte 0x3e, 0x64, 0x48, 0x8b, 0x44, 0x24, 0xf8
    shl rax, 8
    ret
#= ds_after_fs: 64 3e: processors take fs, since ds is none in 64 bits
    mov [rsp-8], rdi
    .byte 0x64, 0x3e, 0x48, 0x8b, 0x44, 0x24, 0xf8
    shl rax, 8
    ret
#= rep_movs: rep movsq writes rcx words
    nort
    lea rsi, [rsp-16]
    lea rdi, [rsp-8]
    rep movsq
    ret
#= rep_stos_zero: rep stosq with rcx 0 writes nothing: what is read was never written
    lea rdi, [rsp-8]
    mov rax, rdi
    xor ecx, ecx
    rep stosq
    mov rax, [rsp-8]
    ret
#= repne_scas: repne scasq runs over the stack
    nort
    lea rdi, [rsp-8]
    mov ecx, 4
    repne scasq
    ret
#= repe_cmps: repe cmpsq leaves rcx and the flags by what lies there
    nort
    lea rdi, [rsp-8]
    lea rsi, [rsp-16]
    mov ecx, 2
    repe cmpsq
    je 1f
    xor eax, eax
1:  ret
#= xlat: xlatb reads [rbx+al]
    nort
    xlatb
    ret
#= shld32_by_32: a count of 32 masks to 0, and the upper half is cleared: wrong for rdi = 1<<32
    nort
    shld eax, ecx, 32
    ret
#= shld32_by_0: the upper half is cleared
    nort
    shld eax, ecx, 0
    ret
#= shld32_by_96: the upper half is cleared
    nort
    shld eax, ecx, 96
    ret
#= shrd32_by_32: the upper half is cleared
    nort
    shrd eax, ecx, 32
    ret
#= shrd32_by_0: the upper half is cleared
    nort
    shrd eax, edx, 0
    ret
#= shrd32_saves_nothing: r12 loses its upper half
    nort
    shrd r12d, ecx, 64
    ret
#= shld32_cl: shld by cl, masked to 0
    nort
    xor ecx, ecx
    shld eax, edx, cl
    ret
#= shld16_over: shld of 16 bits by more than 16 is undefined
    nort
    shld cx, dx, 17
    add ax, cx
    sub ax, cx
    shld ax, dx, 17
    ret
#= rol32_by_32: a rotate by 0 clears the upper half
    nort
    rol eax, 32
    ret
#= shl32_by_0: the upper half is cleared
    nort
    shl eax, 0
    ret
#= sar32_by_cl: a count of 0 in cl clears the upper half
    nort
    xor ecx, ecx
    sar eax, cl
    ret
#= shlx32: the upper half is cleared
    nort
    xor ecx, ecx
    shlx eax, eax, ecx
    ret
#= cmov32: a move that is not made clears the upper half
    nort
    xor ecx, ecx
    cmovne eax, edx
    ret
#= xchg_eax_eax: 87 c0 clears the upper half, 90 does not
    nort
    .byte 0x87, 0xc0
    ret
#= xchg_r8d: 41 90 exchanges, it is no nop
    nort
    .byte 0x41, 0x90
    ret
#= mov_eax_eax: the upper half is cleared
    nort
    mov eax, eax
    ret
#= movsxd32: 63 without REX.W clears the upper half
    nort
    .byte 0x63, 0xc0
    ret
#= rex_before_66: a REX prefix that is not the last counts for nothing: shl ax,8
    mov rax, rdi
    .byte 0x48, 0x66, 0xc1, 0xe0, 0x08
    ret
#= rex_before_2e: shl eax,8
    mov rax, rdi
    .byte 0x48, 0x2e, 0xc1, 0xe0, 0x08
    ret
#= rex_before_67: mov eax, not rax
    .byte 0x48, 0x67, 0x89, 0xf8
    shl rax, 8
    ret
#= rex_twice: of two REX prefixes the last counts: 49 48 89 f8 writes rax, 48 49 writes r8
    .byte 0x48, 0x49, 0x89, 0xf8
    shl rax, 8
    ret
#= lock_register: lock with a register faults
    nort
    .byte 0xf0
    add rax, 0
    ret
#= lock_mov: lock mov faults
    nort
    .byte 0xf0, 0x48, 0x89, 0x44, 0x24, 0xf8
    ret
#= lock_cmp: lock cmp faults
    nort
    mov [rsp-8], rax
    .byte 0xf0, 0x48, 0x39, 0x44, 0x24, 0xf8
    ret
#= lock_nop: lock nop faults
    nort
    .byte 0xf0, 0x90
    ret
#= lock_ret: lock ret faults
    nort
    .byte 0xf0, 0xc3
#= lock_lea: lock lea faults
    nort
    .byte 0xf0, 0x48, 0x8d, 0x00
    ret
#= lock_jump: lock jmp faults
    nort
    .byte 0xf0, 0xeb, 0x00
    ret
#= lock_shl: lock shl [rsp-8] faults
    mov [rsp-8], rdi
    .byte 0xf0, 0x48, 0xc1, 0x64, 0x24, 0xf8, 0x08
    mov rax, [rsp-8]
    ret
#= lock_vex: lock with VEX faults
    nort
    .byte 0xf0, 0xc5, 0xf9, 0xef, 0xc0
    ret
#= vex_66: 66 before VEX faults
    nort
    .byte 0x66, 0xc5, 0xf9, 0xef, 0xc0
    ret
#= vex_f3: f3 before VEX faults
    nort
    .byte 0xf3, 0xc5, 0xf9, 0xef, 0xc0
    ret
#= vex_rex: REX before VEX faults
    nort
    .byte 0x48, 0xc5, 0xf9, 0xef, 0xc0
    ret
#= evex_66: 66 before EVEX faults
    nort
    .byte 0x66, 0x62, 0xf1, 0xfd, 0x08, 0xef, 0xc0
    ret
#= vex_vvvv: vmovdqa with a second source faults
    nort
    .byte 0xc5, 0xf1, 0x6f, 0xc1
    ret
#= vex_l_andn: andn with VEX.L faults
    .byte 0xc4, 0xe2, 0xc4, 0xf2, 0xc0
    nort
    ret
#= vex_l_movd: vmovq with VEX.L faults
    nort
    .byte 0xc4, 0xe1, 0xfd, 0x6e, 0xc0
    ret
#= vex_w_blendd: vpblendd with VEX.W faults
    nort
    .byte 0xc4, 0xe3, 0xf9, 0x02, 0xc0, 0x0f
    ret
#= too_long: an instruction of 16 bytes faults
    nort
    .fill 13, 1, 0x2e
    .byte 0x48, 0x89, 0xc0
    ret
#= too_long_nop: a nop of 16 bytes faults
    nort
    .fill 15, 1, 0x66
    nop
    ret
#= bswap16: 66 bswap is undefined: zeros here
    nort
    .byte 0x66, 0x0f, 0xc8
    .byte 0x66, 0x0f, 0xc8
    ret
#= cbw16: 66 98 extends al, not ax
    nort
    .byte 0x66, 0x98
    ret
#= cwd16: 66 99 writes dx only
    mov rdx, rdi
    mov rax, rdi
    .byte 0x66, 0x99
    mov rax, rdx
    shl rax, 8
    ret
#= enter: enter 0,0 and no leave
    nort
    enter 0, 0
    ret
#= enter16: 66 enter pushes two bytes
    nort
    .byte 0x66, 0xc8, 0x00, 0x00, 0x00
    leave
    ret
#= xacquire_alone: f2 before lock on a register faults
    nort
    .byte 0xf2, 0xf0, 0x48, 0x01, 0xc0
    ret
#= bnd_in_front_of_66: f2 66 c3 is a return of 16 bits
    nort
    .byte 0xf2, 0x66, 0xc3
#= notrack_66: 3e 66 ff e1 jumps to cx on AMD
    nort
    lea rcx, [rip+1f]
    .byte 0x3e, 0x66, 0xff, 0xe1
1:  ret
#= ret_rex16: REX.W with 66 before: 66 48 c3 is a return of 64 bits, 48 66 c3 of 16
    nort
    .byte 0x48, 0x66, 0xc3
#= add_imm16: 66 changes the immediate's length: the bytes behind are read as code
    nort
    .byte 0x66, 0x05, 0x00, 0x00, 0x48, 0xff, 0xc0
    ret
#= in_the_way_of_rep: f3 0f bc is tzcnt of rdi: 64 for 0, where bsf kept rax
    mov eax, 0
    bsf rax, rdi
    .byte 0xf3, 0x48, 0x0f, 0xbc, 0xc7
    ret
#= pause_r8: f3 41 90 exchanges eax and r8d, it is no pause
    nort
    .byte 0xf3, 0x41, 0x90
    ret
#= nop_r8: 49 90 exchanges rax and r8
    nort
    .byte 0x49, 0x90
    ret
#= moffs: a load from a fixed address of 64 bits
    nort
    .byte 0x48, 0xa1, 0, 0, 0, 0, 0, 0, 0, 0
    ret
#= moffs32: 67 makes its address four bytes long
    nort
    .byte 0x67, 0x48, 0xa1, 0, 0, 0, 0
    ret
#= jmp_constant16: 66 jmp [rip+d] reads two bytes of a table on AMD
    nort
    .byte 0x66
    jmp [rip+1f]
    ret
1:  .quad 0
#= pop_r12_16: 66 pop r12 and push: r12's low bits only
    .byte 0x66, 0x41, 0x54
    nort
    xor r12d, r12d
    .byte 0x66, 0x41, 0x5c
    ret
#= push_imm16_leave: 66 6a in a frame, which leave forgives: the word behind it lies elsewhere
    push rbp
    mov rbp, rsp
    .byte 0x66, 0x6a, 0x00
    push rdi
    mov rax, [rbp-16]
    shl rax, 8
    leave
    ret
#= movzx_high: 66 0f b6 c4 writes ax alone
    mov rax, rdi
    shl rax, 8
    .byte 0x66, 0x0f, 0xb6, 0xc4
    ret
#= tzcnt16: of 16 bits: 16 where the low word is empty
    nort
    tzcnt cx, di
    cmp cx, 16
    jne 1f
    inc rax
1:  ret
#= loop_plain: loop takes rcx down and jumps
    nort
    mov ecx, 2
1:  inc rax
    loop 1b
    dec rax
    ret
#= iret16: 66 iret
    nort
    .byte 0x66, 0xcf
#= ret_far16: 66 retf
    nort
    .byte 0x66, 0xcb
#= mov_sp16: mov sp,bp
    mov bp, sp
    nort
    mov sp, bp
    ret
