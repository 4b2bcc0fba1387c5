# What Win64 asks beyond System V.
#default abi=win64
.macro nort
    mov rax, rcx
    shl rax, 8
.endm
.macro lost instruction:vararg
    nort
    \instruction
    ret
.endm
#= sysv_function: the argument is read in rdi
    mov rax, rdi
    shl rax, 8
    ret
#= rsi_lost: rsi is lost
    lost mov rsi, rcx
#= rdi_lost: rdi is lost
    lost mov rdi, rcx
#= edi_alone: the upper half
    lost mov edi, edi
#= rbx_lost: rbx is lost
    lost inc rbx
#= xmm6_lost: xmm6 is lost
    lost movq xmm6, rcx
#= xmm7_lost: xmm7 is lost
    lost pxor xmm7, xmm7
#= xmm8_lost: xmm8 is lost
    lost paddq xmm8, xmm0
#= xmm9_lost: xmm9 is lost
    lost movdqa xmm9, xmm0
#= xmm10_lost: xmm10 is lost
    lost psllq xmm10, 1
#= xmm11_lost: xmm11 is lost
    lost vpxor xmm11, xmm11, xmm11
#= xmm12_lost: xmm12 is lost
    lost vpaddq ymm12, ymm0, ymm0
#= xmm13_lost: xmm13 is lost
    lost vmovq xmm13, rcx
#= xmm14_lost: xmm14 is lost
    lost vpternlogq zmm14, zmm14, zmm14, 0x0f
#= xmm15_lost: xmm15 is lost
    lost movsd xmm15, xmm0
#= xmm6_upper: the upper half of xmm6's 128 bits
    lost movq xmm6, xmm6
#= xmm7_word: one word of xmm7
    lost pinsrw xmm7, ecx, 7
#= xmm8_masked: one element under a mask
    nort
    kmovq k1, rcx
    vpaddq xmm8{k1}, xmm8, xmm0
    ret
#= zeroall: vzeroall clears all of them
    lost vzeroall
#= half_saved: eight of sixteen bytes are saved
    movq rdx, xmm6
    nort
    pxor xmm6, xmm6
    movq xmm6, rdx
    ret
#= saved_unaligned: xmm6 is saved where rsp is 8 above a multiple of 16
    movaps [rsp+16], xmm6
    nort
    pxor xmm6, xmm6
    movaps xmm6, [rsp+16]
    ret
#= saved_swapped: xmm6 and xmm7 are restored crosswise
    sub rsp, 40
    movdqu [rsp], xmm6
    movdqu [rsp+16], xmm7
    nort
    movdqu xmm7, [rsp]
    movdqu xmm6, [rsp+16]
    add rsp, 40
    ret
#= saved_red_zone: there is no red zone
    movdqu [rsp-16], xmm6
    nort
    pxor xmm6, xmm6
    movdqu xmm6, [rsp-16]
    ret
#= red_zone: there is no red zone
    mov [rsp-8], rcx
    mov rax, [rsp-8]
    shl rax, 8
    ret
#= home_beyond: the caller's word behind the home space
    nort
    mov [rsp+40], rax
    ret
#= home_beyond_vector: 32 bytes at home's second word
    nort
    vmovdqu [rsp+16], ymm0
    ret
#= home_read: the home space was never written
    nort
    add rax, [rsp+8]
    ret
#= popped: what was popped is lost at once
    push rcx
    pop rdx
    mov rax, [rsp-8]
    shl rax, 8
    ret
