"""Rewriting rules: the algebra and the idioms that shorten a graph, as one table.

A rule is a pattern, a replacement and perhaps a condition, all in Python's syntax. The letters x, y and z are values, u
and v values that are not constant, capital letters constants, and n, m and k shift counts, equal in all lanes. `where`
defines a part of the pattern. `->` is for rules that apply where they shorten the graph. `=>` is for rules to a
canonical form, which also apply where the length stays. `for` lists the operators in place of @. Rules for a target
follow after the others: `has` and `lacks` ask for its operations. `chooses` holds if no byte of a constant has two
bits. Commutative operations match in both orders. ALL is 2**64 - 1.

Source of several identities: H. S. Warren, Hacker's Delight, 2nd edition, sections 2-1 to 2-3, 5-1 and 7-1.
"""

RULES = """
x ^ x                           -> 0
x - x                           -> 0
x & ~x                          -> 0
x | ~x                          -> ALL
x ^ ~x                          -> ALL
x + ~x                          -> ALL
x & (x | y)                     -> x
x | x & y                       -> x
x & y @ x & z                   -> x & (y @ z)                  for | ^
x @ A @ B                       -> x @ (A @ B)                  for & | ^ +
(x ^ y) @ (x & y)               -> x | y                        for | ^ +
(x | y) @ (x & y)               -> x ^ y                        for ^ -
x & (x & y)                     -> x & y
x | (x | y)                     -> x | y
x ^ (x ^ y)                     -> y
x & (x ^ y)                     => x & ~y
x | (x ^ y)                     -> x | y
x ^ x & y                       => x & ~y
x ^ (x | y)                     => y & ~x
x | ~x & y                      -> x | y
x & (~x | y)                    -> x & y
x & (x & y | z)                 -> x & (y | z)
x | (x | y) & z                 -> x | y & z
(x | y) & (x | z)               -> x | y & z
(x | y) & ~(x & y)              -> x ^ y
x & ~y | ~x & y                 -> x ^ y
x & y | ~(x | y)                -> ~(x ^ y)
~x & ~y                         -> ~(x | y)
~x | ~y                         -> ~(x & y)
~x ^ y                          => ~(x ^ y)
~(~x & y)                       -> x | ~y
x & ~y & ~z                     -> x & ~(y | z)
x & ~(x ^ y)                    -> x & y
x | ~(x ^ y)                    -> x | ~y
x & ~(x & y)                    => x & ~y
x | ~(x | y)                    => x | ~y
x | x & y & z                   -> x
x & (x | y | z)                 -> x
x | (y | x & z)                 -> x | y
x & y | (x | z)                 -> x | z
~(~x | y)                       -> x & ~y
~(x ^ A)                        -> x ^ ~A
~x ^ A                          -> x ^ ~A

x - A                           => x + -A
-(x - y)                        -> y - x
-(~x)                           -> x + 1
~(-x)                           -> x - 1
~(x + ALL)                      -> -x
-x + ALL                        -> ~x
~x + 1                          -> -x
x + -y                          -> x - y
x - -y                          -> x + y
(x - y) + y                     -> x
(x + y) - y                     -> x
x - (x - y)                     -> y
(x - y) - x                     -> -y
x - (x + y)                     -> -y
x + ~y + 1                      -> x - y
x + x                           => x << 1
x + A + u                       => x + u + A
x + A - u                       => x - u + A
u - (y + A)                     => u - y + -A
(x + ~y) + y                    -> x + ALL
-x - (y >> 63)                  -> sar(y, 63) - x
-(x >> 63)                      -> sar(x, 63)
(x + A) << n                    => (x << n) + (A << n)
~(~x << n)                      -> x << n | ~(-1 << n)
-x << n                         => -(x << n)
-(x - y << n)                   -> y - x << n
x + (x - y)                     => (x << 1) - y
~u + v                          => v - u + ALL
u - ~v                          => u + v + 1
~(u - v)                        => v - u + ALL
x >> n << m >> k                -> x >> n + k - m               if m <= n and m <= k
x << n >> m << k                -> x << n + k - m               if m <= n and m <= k
rotl(x, n) << m                 => x >> 64 - n << m             if m >= 64 - n
rotl(x, n) >> m                 => x << n >> m                  if m >= n
(x + A) * B                     => x * B + A * B
rotl(rotl(x, n), m)             -> rotl(x, n + m)
x & -x                          -> isolate_lsb(x)
x & x + ALL                     -> clear_lsb(x)
x ^ x + ALL                     -> mask_to_lsb(x)
x & ~isolate_lsb(x)             -> clear_lsb(x)
x @ isolate_lsb(x)              -> clear_lsb(x)                 for ^ -
A - x + B                       -> (A + B) - x
A - (x + B)                     -> (A - B) - x
A - (B - x)                     -> x + (A - B)
~x + A                          -> A - 1 - x
A - ~x                          -> x + (A + 1)
-x + A                          -> A - x
~(x + A)                        -> ~A - x
-(x + A)                        -> -A - x
(x & y) + (x | y)               -> x + y
(x ^ y) + ((x & y) << 1)        -> x + y
x + y - (x & y)                 -> x | y
(x | y) - y                     => x & ~y
x - (x & y)                     => x & ~y
popcount(~x & x + ALL)          -> tzcnt(x)
rotl(t >> 16 & 0xffff0000ffff | (t & 0xffff0000ffff) << 16, 32)
    -> flip(x)
    where t = x >> 8 & 0xff00ff00ff00ff | (x & 0xff00ff00ff00ff) << 8
(u + (u >> 4) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56
    -> popcount(x)
    where u = (t & 0x3333333333333333) + (t >> 2 & 0x3333333333333333)
    where t = x - (x >> 1 & 0x5555555555555555)

x * A                           -> x << log2(A)
x * A * B                       -> x * (A * B)
(x << n) * A                    -> x * (A << n)
x * A << n                      -> x * (A << n)
x * A + x                       -> x * (A + 1)
x * A - x                       -> x * (A - 1)
-x * A                          -> x * -A
-(x * A)                        -> x * -A
(x << n) + (x << m)             -> x * ((1 << n) + (1 << m))

x << n << m                     -> x << n + m
x >> n >> m                     -> x >> n + m
(x << n) @ (y << n)             -> (x @ y) << n                 for & | ^ + -
(x >> n) @ (y >> n)             -> (x @ y) >> n                 for & | ^
rotl(x, n) @ rotl(y, n)         -> rotl(x @ y, n)               for & | ^
(x << n) @ (x >> m)             -> rotl(x, n)                   if n + m == 64 for | ^ +
affine(A, x, 0) @ affine(A, y, 0) -> affine(A, x @ y, 0)        if chooses(A) for & | ^
x << n >> n                     -> x & (ALL >> n)
x >> n << n                     -> x & (-1 << n)
"""

TARGET_RULES = """
~(x ^ x - 1)                    => x ^ -x                       if lacks("mask-to-lsb") and has("neg")
~(x ^ x - 1)                    -> x ^ 0 - x                    if lacks("mask-to-lsb") and lacks("neg")
x & y | ~x & z                  => z ^ (y ^ z) & x              if lacks("andn")
z ^ (y ^ z) & x                 => x & y | andn(x, z)           if has("andn")
x & A | y & B                   -> select(A, x, y)              if has("ternary") and inverse(A, B)
x & A | (y & B) << n            -> select(A, x, y << n)         if has("ternary") and inverse(A, B << n)
x << n & 0xffffffff             -> low_shl(x, n)                if has("low-shl") and n < 32
(x << n) + A                    -> displaced_shift(x, A, n)     if has("scaled-sum") and 0 < n < 4 and signed(A)
(x << n) - A                    -> displaced_shift(x, -A, n)    if has("scaled-sum") and 0 < n < 4 and signed(-A)
u + (x << n) + A                -> displaced_scaled_sum(u, x, A, n)  if has("scaled-sum") and 0 < n < 4 and signed(A)
u + (x << n) - A                -> displaced_scaled_sum(u, x, -A, n) if has("scaled-sum") and 0 < n < 4 and signed(-A)
u + v + A                       -> displaced_sum(u, v, A)       if has("scaled-sum") and signed(A)
u + v - A                       -> displaced_sum(u, v, -A)      if has("scaled-sum") and signed(-A)
u + (x << n)                    -> scaled_sum(u, x, n)          if has("scaled-sum") and 0 < n < 4
"""
