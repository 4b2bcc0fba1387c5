/*
 * SPDX-License-Identifier: MIT-0
 * Generated code: yours to use under any licence.
 * setwise_inline.h, made by setwise export exploding.bishop-corners --isa bmi2 --variant compared/1 --format c
 * with setwise 0.1.0; our code of each kernel is proved for every input, `setwise verify` proves it again.
 *
 * C11 and C++17, header only. Boards are 64-bit sets of squares: a1 = bit 0, h1 = bit 7, h8 = bit 63.
 * The instructions are setwise's choice, the registers your compiler's.
 */

#ifndef SETWISE_INLINE_H
#define SETWISE_INLINE_H

#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#define SETWISE_X86_64
#include <immintrin.h>
#endif

/* Each function says which instructions it needs, so no flags are needed; MSVC takes all intrinsics anywhere. */
#if defined(__GNUC__) || defined(__clang__)
#define SETWISE_TARGET(features) __attribute__((target(features)))
#else
#define SETWISE_TARGET(features)
#endif

#if defined(__cplusplus)
#define SETWISE_CAST(type, value) static_cast<type>(value)
#else
#define SETWISE_CAST(type, value) ((type)(value))
#endif

/* What a loop or a branch hands on is not always read behind it: NOLINTBEGIN(clang-analyzer-deadcode.DeadStores) */

/* Inlined, GCC 12's own header of AVX-512 makes it warn of what is not there (its bug 105593). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(SETWISE_X86_64)
/**
 * exploding.bishop-corners for bmi2
 *
 * computes    the squares that a bishop attacks from one square as far as some repeats go
 * after       Exploding Bitboards, chessprogramming wiki (2018)
 * requires    square below 64 and repeats below 10
 * outside     a number beyond its bound may have other memory read, or jumped to
 * features    none beyond x86-64
 * our code    47 instructions and ret: 2 moves, 36 operations, 3 loads, 6 branches; 189 bytes of code and 1040 of data
 * SHA-256     0671ff9014c3b3c1fdea874c4dd4d448832436febaed43191a278cb7c239a9c9 of our code, data distances zero
 * usage       uint64_t attacks = setwise_exploding_bishop_corners_bmi2(square, repeats, free);
 */
SETWISE_TARGET("bmi,bmi2,popcnt")
static inline uint64_t setwise_exploding_bishop_corners_bmi2(uint64_t square, uint64_t repeats, uint64_t free) {
    static const uint64_t t0[64] = {
        0x0000000000000200, 0x0000000000000500, 0x0000000000000a00, 0x0000000000001400,
        0x0000000000002800, 0x0000000000005000, 0x000000000000a000, 0x0000000000004000,
        0x0000000000020002, 0x0000000000050005, 0x00000000000a000a, 0x0000000000140014,
        0x0000000000280028, 0x0000000000500050, 0x0000000000a000a0, 0x0000000000400040,
        0x0000000002000200, 0x0000000005000500, 0x000000000a000a00, 0x0000000014001400,
        0x0000000028002800, 0x0000000050005000, 0x00000000a000a000, 0x0000000040004000,
        0x0000000200020000, 0x0000000500050000, 0x0000000a000a0000, 0x0000001400140000,
        0x0000002800280000, 0x0000005000500000, 0x000000a000a00000, 0x0000004000400000,
        0x0000020002000000, 0x0000050005000000, 0x00000a000a000000, 0x0000140014000000,
        0x0000280028000000, 0x0000500050000000, 0x0000a000a0000000, 0x0000400040000000,
        0x0002000200000000, 0x0005000500000000, 0x000a000a00000000, 0x0014001400000000,
        0x0028002800000000, 0x0050005000000000, 0x00a000a000000000, 0x0040004000000000,
        0x0200020000000000, 0x0500050000000000, 0x0a000a0000000000, 0x1400140000000000,
        0x2800280000000000, 0x5000500000000000, 0xa000a00000000000, 0x4000400000000000,
        0x0002000000000000, 0x0005000000000000, 0x000a000000000000, 0x0014000000000000,
        0x0028000000000000, 0x0050000000000000, 0x00a0000000000000, 0x0040000000000000,
    };
    static const uint8_t t1[10] = {
        0x06, 0x06, 0x06, 0x03, 0x02, 0x01, 0x00, 0x06, 0x05, 0x04,
    };
    static const uint64_t t2[64] = {
        0x8040201008040200, 0x0080402010080500, 0x0000804020110a00, 0x0000008041221400,
        0x0000000182442800, 0x0000010204885000, 0x000102040810a000, 0x0102040810204000,
        0x4020100804020002, 0x8040201008050005, 0x00804020110a000a, 0x0000804122140014,
        0x0000018244280028, 0x0001020488500050, 0x0102040810a000a0, 0x0204081020400040,
        0x2010080402000204, 0x4020100805000508, 0x804020110a000a11, 0x0080412214001422,
        0x0001824428002844, 0x0102048850005088, 0x02040810a000a010, 0x0408102040004020,
        0x1008040200020408, 0x2010080500050810, 0x4020110a000a1120, 0x8041221400142241,
        0x0182442800284482, 0x0204885000508804, 0x040810a000a01008, 0x0810204000402010,
        0x0804020002040810, 0x1008050005081020, 0x20110a000a112040, 0x4122140014224180,
        0x8244280028448201, 0x0488500050880402, 0x0810a000a0100804, 0x1020400040201008,
        0x0402000204081020, 0x0805000508102040, 0x110a000a11204080, 0x2214001422418000,
        0x4428002844820100, 0x8850005088040201, 0x10a000a010080402, 0x2040004020100804,
        0x0200020408102040, 0x0500050810204080, 0x0a000a1120408000, 0x1400142241800000,
        0x2800284482010000, 0x5000508804020100, 0xa000a01008040201, 0x4000402010080402,
        0x0002040810204080, 0x0005081020408000, 0x000a112040800000, 0x0014224180000000,
        0x0028448201000000, 0x0050880402010000, 0x00a0100804020100, 0x0040201008040201,
    };
    const uint64_t v0 = t0[square];
    const uint64_t v1 = v0 & free;
    const uint64_t v2 = t1[repeats];
    const uint64_t v3 = t2[square];
    uint64_t x0 = v0;
    uint64_t x1 = v1;
    switch (v2) {
    case 0: {
        const uint64_t v4 = x1 >> 9;
        const uint64_t v5 = v4 * 0x50005ULL;
        const uint64_t v6 = v5 & v3;
        const uint64_t v7 = x0 | v6;
        const uint64_t v8 = v6 & free;
        x0 = v7;
        x1 = v8;
    } /* fall through */
    case 1: {
        const uint64_t v9 = x1 >> 9;
        const uint64_t v10 = v9 * 0x50005ULL;
        const uint64_t v11 = v10 & v3;
        const uint64_t v12 = x0 | v11;
        const uint64_t v13 = v11 & free;
        x0 = v12;
        x1 = v13;
    } /* fall through */
    case 2: {
        const uint64_t v14 = x1 >> 9;
        const uint64_t v15 = v14 * 0x50005ULL;
        const uint64_t v16 = v15 & v3;
        const uint64_t v17 = x0 | v16;
        const uint64_t v18 = v16 & free;
        x0 = v17;
        x1 = v18;
    } /* fall through */
    case 3: {
        const uint64_t v19 = x1 >> 9;
        const uint64_t v20 = v19 * 0x50005ULL;
        const uint64_t v21 = v20 & v3;
        const uint64_t v22 = x0 | v21;
        const uint64_t v23 = v21 & free;
        x0 = v22;
        x1 = v23;
    } /* fall through */
    case 4: {
        const uint64_t v24 = x1 >> 9;
        const uint64_t v25 = v24 * 0x50005ULL;
        const uint64_t v26 = v25 & v3;
        const uint64_t v27 = x0 | v26;
        const uint64_t v28 = v26 & free;
        x0 = v27;
        x1 = v28;
    } /* fall through */
    case 5: {
        const uint64_t v29 = x1 >> 9;
        const uint64_t v30 = v29 * 0x50005ULL;
        const uint64_t v31 = v30 & v3;
        const uint64_t v32 = x0 | v31;
        x0 = v32;
    } /* fall through */
    default: {
    } break;
    }
    return x0;
}
#endif

#if defined(__cplusplus)
namespace setwise {
#if defined(SETWISE_X86_64)
static constexpr auto &exploding_bishop_corners_bmi2 = setwise_exploding_bishop_corners_bmi2;
#endif
} // namespace setwise
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
/* NOLINTEND(clang-analyzer-deadcode.DeadStores) */

#endif
