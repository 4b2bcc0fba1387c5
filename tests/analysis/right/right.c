/* Right functions for routines of the catalogue; a line `// NAME ROUTINE` before each says which. */
typedef unsigned long long U64;
#define NOT_A 0xfefefefefefefefeULL

// one_north shift.one.nort
U64 one_north(U64 sliders) { return sliders << 8; }

// one_east shift.one.east
U64 one_east(U64 sliders) { return (sliders << 1) & NOT_A; }

// north kogge-stone.attacks.nort
U64 north(U64 sliders, U64 empty) {
    sliders |= empty & (sliders << 8);
    empty &= empty << 8;
    sliders |= empty & (sliders << 16);
    empty &= empty << 16;
    sliders |= empty & (sliders << 32);
    return sliders << 8;
}

// south_rolled dumb7.attacks.sout
U64 south_rolled(U64 sliders, U64 empty) {
    U64 flood = sliders;
    for (int i = 0; i < 6; i++) flood |= sliders = (sliders >> 8) & empty;
    return flood >> 8;
}

// until_dry dumb7.attacks-until-dry.east
U64 until_dry(U64 sliders, U64 empty) {
    U64 flood = 0;
    empty &= NOT_A;
    while (sliders) {
        flood |= sliders;
        sliders = (sliders << 1) & empty;
    }
    return (flood << 1) & NOT_A;
}

// any_direction shift.one.any
U64 any_direction(U64 sliders, U64 dir8) {
    static const unsigned char turns[8] = {9, 1, 57, 56, 55, 63, 7, 8};
    static const U64 stays[8] = {0xfefefefefefefe00, 0xfefefefefefefefe, 0x00fefefefefefefe, 0x00ffffffffffffff,
                                 0x007f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f00, 0xffffffffffffff00};
    int n = turns[dir8];
    return (sliders << n | sliders >> (64 - n)) & stays[dir8];
}

// switched shift.one.any
U64 switched(U64 sliders, U64 dir8) {
    switch (dir8) {
    case 0: return sliders << 9 & NOT_A;
    case 1: return sliders << 1 & NOT_A;
    case 2: return sliders >> 7 & NOT_A;
    case 3: return sliders >> 8;
    case 4: return sliders >> 9 & NOT_A >> 1;
    case 5: return sliders >> 1 & NOT_A >> 1;
    case 6: return sliders << 7 & NOT_A >> 1;
    default: return sliders << 8;
    }
}

// bytewise bytewise.add
U64 bytewise(U64 x, U64 y) {
    const U64 high = 0x8080808080808080ULL;
    return ((x & ~high) + (y & ~high)) ^ ((x ^ y) & high);
}

// batch kogge-stone.attacks.nort.batch
void batch(const U64 *sliders, const U64 *empty, U64 *result, U64 n) {
    for (U64 i = 0; i < n; i++) {
        U64 s = sliders[i], e = empty[i];
        s |= e & (s << 8);
        e &= e << 8;
        s |= e & (s << 16);
        e &= e << 16;
        s |= e & (s << 32);
        result[i] = s << 8;
    }
}
