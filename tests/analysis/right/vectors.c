/* The same as intrinsics. */
#include <emmintrin.h>
typedef unsigned long long U64;

// one_north_sse2 shift.one.nort
U64 one_north_sse2(U64 sliders) { return _mm_cvtsi128_si64(_mm_slli_epi64(_mm_cvtsi64_si128(sliders), 8)); }

// one_east_sse2 shift.one.east
U64 one_east_sse2(U64 sliders) {
    const __m128i stays = _mm_set_epi64x(0x7f7f7f7f7f7f7f7f, 0xfefefefefefefefe);
    return _mm_cvtsi128_si64(_mm_and_si128(_mm_slli_epi64(_mm_set_epi64x(sliders, sliders), 1), stays));
}

// subtraction_sse2 subtraction.attacks-cleared.east
U64 subtraction_sse2(U64 sliders, U64 occupied) {
    __m128i s = _mm_cvtsi64_si128(sliders), o = _mm_cvtsi64_si128(occupied);
    __m128i cleared = _mm_sub_epi8(_mm_sub_epi8(o, s), s);
    return _mm_cvtsi128_si64(_mm_xor_si128(o, cleared));
}

// bytewise_sse2 bytewise.add
U64 bytewise_sse2(U64 x, U64 y) {
    return _mm_cvtsi128_si64(_mm_add_epi8(_mm_cvtsi64_si128(x), _mm_cvtsi64_si128(y)));
}
