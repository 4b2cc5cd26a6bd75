"""The C that every kernel starts with: integer division, shifts, casts and narrow floats without
undefined behaviour.

Signed arithmetic wraps because of ``-fwrapv``; everything else that C leaves undefined (division by
zero and of the smallest integer by -1, wide shifts, floats out of range) is spelled out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rlx.semantics.native.frame import APART, FRAME, TOGETHER
from rlx.semantics.native.intrinsics import declarations

WRITTEN_OUT = "RLX_WRITTEN_OUT"
"""The pragma before short, unrolled loops."""

_HEAD = r"""
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
#define INT64_C(number) ((int64_t)number##LL)
#define UINT64_C(number) ((uint64_t)number##ULL)
#define INT64_MIN (-INT64_C(9223372036854775807) - 1)
#define NULL ((void *)0)
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#ifdef RLX_LIBMVEC
#define RLX_SIMD __attribute__((simd("notinbranch")))
#else
#define RLX_SIMD
#endif
#define RLX_RARE(condition) __builtin_expect(!!(condition), 0)
#if defined(RLX_VECTOR) /* as the caller says */
#elif defined(__AVX512F__)
#define RLX_VECTOR 64
#elif defined(__AVX__)
#define RLX_VECTOR 32
#else
#define RLX_VECTOR 16
#endif
#define RLX_ROWS (RLX_VECTOR == 64 ? 8 : 4)
#ifdef __FP_FAST_FMAF
#define rlx_fma_f32(a, b, c) __builtin_fmaf(a, b, c)
#else
#define rlx_fma_f32(a, b, c) ((a) * (b) + (c))
#endif
#ifdef __FP_FAST_FMA
#define rlx_fma_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define rlx_fma_f64(a, b, c) ((a) * (b) + (c))
#endif
#define RLX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RLX_MAX(a, b) ((a) > (b) ? (a) : (b))
#define RLX_LANES(vectors, type) \
    ((int64_t)((vectors) * RLX_VECTOR / sizeof(type) > 0 ? (vectors) * RLX_VECTOR / sizeof(type) : 1))
/* As many lanes as leave no more than a fifth of a row over, if there are. */
#define RLX_FITS(count, width) ((count) % (width) <= (count) / 4)
#define RLX_WIDTH(count, type) \
    (RLX_FITS(count, RLX_LANES(2, type)) ? RLX_LANES(2, type) : \
     RLX_FITS(count, RLX_LANES(1, type)) || RLX_LANES(1, type) < 4 ? RLX_LANES(1, type) : RLX_LANES(1, type) / 2)
/* One step of a fold: the upper elements of an array onto as many lower ones, as vectors that the compiler need not find. */
#define RLX_PART(type, count) \
    typedef type __attribute__((vector_size((count) * sizeof(type)), aligned(sizeof(type)))) rlx_part
#define RLX_FOLD(type, array, count, sign) \
    { RLX_PART(type, count); rlx_part *x = (rlx_part *)(array); x[0] = x[0] sign x[1]; }
#define RLX_FOLD_PICK(type, array, count, sign) { \
    RLX_PART(type, count); rlx_part *x = (rlx_part *)(array); \
    x[0] = RLX_PICK(x[0], x[1], sign); }
/* `a > b ? a : b` or `a < b ? a : b` of the elements of two vectors. */
#define RLX_PICK(a, b, sign) ({ \
    __typeof__(a) rlx_a = a, rlx_b = b; \
    __typeof__(rlx_a sign rlx_b) rlx_m = rlx_a sign rlx_b; \
    (__typeof__(rlx_a))(((__typeof__(rlx_m))rlx_a & rlx_m) | ((__typeof__(rlx_m))rlx_b & ~rlx_m)); })
/* Whether any element of a vector is not 0. */
#define RLX_ANY(vector) ({ \
    __typeof__(vector) rlx_x = vector; int64_t rlx_w[RLX_VECTOR / 8]; memcpy(rlx_w, &rlx_x, RLX_VECTOR); \
    (rlx_w[0] | rlx_w[1] | (RLX_VECTOR > 16 ? rlx_w[2] | rlx_w[3] : 0) | \
     (RLX_VECTOR > 32 ? rlx_w[4] | rlx_w[5] | rlx_w[6] | rlx_w[7] : 0)) != 0; })
/* The processor's `a > b ? a : b` and `a < b ? a : b` of vectors of floats, and the bytes up to which there are such. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#if defined(__AVX512F__)
#define RLX_EXTREMA 64
#elif defined(__AVX__)
#define RLX_EXTREMA 32
#else
#define RLX_EXTREMA 16
#endif
#define rlx_max_float_64(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#define rlx_max_float_32(a, b) __builtin_ia32_maxps256(a, b)
#define rlx_max_float_16(a, b) __builtin_ia32_maxps(a, b)
#define rlx_max_double_64(a, b) __builtin_ia32_maxpd512_mask(a, b, a, -1, 4)
#define rlx_max_double_32(a, b) __builtin_ia32_maxpd256(a, b)
#define rlx_max_double_16(a, b) __builtin_ia32_maxpd(a, b)
#define rlx_min_float_64(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#define rlx_min_float_32(a, b) __builtin_ia32_minps256(a, b)
#define rlx_min_float_16(a, b) __builtin_ia32_minps(a, b)
#define rlx_min_double_64(a, b) __builtin_ia32_minpd512_mask(a, b, a, -1, 4)
#define rlx_min_double_32(a, b) __builtin_ia32_minpd256(a, b)
#define rlx_min_double_16(a, b) __builtin_ia32_minpd(a, b)
#else
#define RLX_EXTREMA 0
#endif
#define RLX_GLUED(name, width) name##width
#define RLX_EXTREMUM(name, width) RLX_GLUED(name, width)
/* A float as an integer. GCC takes such a conversion and the one back for `trunc`, which keeps the sign of a zero; behind what it
   does not look through, it makes both. */
#if defined(__clang__)
#define RLX_WHOLE(type, x) ((type)(x))
#elif __GNUC__ >= 12
#define RLX_WHOLE(type, x) __builtin_assoc_barrier((type)(x))
#else
#define RLX_WHOLE(type, x) ({ type rlx_whole = (type)(x); __asm__ ("" : "+r" (rlx_whole)); rlx_whole; })
#endif
/* Before a short loop: its iterations are written out before loops around it are looked at. */
#define RLX_WRITTEN_OUT _Pragma("GCC unroll 16")
/* In the body of a loop: compilers do not make its iterations the lanes of a vector. */
#define RLX_ONE_BY_ONE __asm__ volatile ("")
#define RLX_HERE static inline __attribute__((always_inline, unused))
RLX_HERE uint32_t rlx_bits32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
RLX_HERE float rlx_float32(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
RLX_HERE uint64_t rlx_bits64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
RLX_HERE double rlx_float64(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* Rounds to odd: what is then rounded to a narrow type is rounded once. */
RLX_HERE float rlx_narrow(double x) {
    float f = (float)x;
    uint32_t u = rlx_bits32(f);
    if ((double)f == x || x != x) return f;
    if (__builtin_fabs((double)f) > __builtin_fabs(x)) u -= 1;
    return rlx_float32(u | 1);
}
RLX_HERE uint16_t rlx_to_b16(float x) {
    uint32_t u = rlx_bits32(x);
    uint32_t rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    return (uint16_t)(x != x ? ((u >> 16) & 0x8000) | 0x7fc0 : rounded);
}
RLX_HERE float rlx_from_b16(uint16_t h) { return rlx_float32((uint32_t)h << 16); }
#if defined(RLX_LIBMVEC) && defined(__F16C__) && defined(__GNUC__) && !defined(__clang__)
/* The processor rounds to halves itself. The compiler finds the functions of vectors by the names that x86's vector ABI gives them. */
typedef float rlx_f4 __attribute__((vector_size(16)));
typedef float rlx_f8 __attribute__((vector_size(32)));
typedef short rlx_h8 __attribute__((vector_size(16)));
typedef short rlx_h16 __attribute__((vector_size(32)));
typedef int rlx_i4 __attribute__((vector_size(16)));
typedef int rlx_i8 __attribute__((vector_size(32)));
#pragma GCC visibility push(hidden)
RLX_HERE rlx_h8 rlx_halves(rlx_f8 x) { return __builtin_ia32_vcvtps2ph256(x, 0); }
__attribute__((const, simd("notinbranch"))) uint16_t rlx_to_f16(float x);
uint16_t rlx_half(float) __asm__("rlx_to_f16");
uint16_t rlx_half(float x) { rlx_f4 v = {x}; return (uint16_t)__builtin_ia32_vcvtps2ph(v, 0)[0]; }
rlx_h8 rlx_half_b(rlx_f4, rlx_f4) __asm__("_ZGVbN8v_rlx_to_f16");
rlx_h8 rlx_half_b(rlx_f4 a, rlx_f4 b) {
    return rlx_halves(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7));
}
rlx_h8 rlx_half_c(rlx_f8) __asm__("_ZGVcN8v_rlx_to_f16");
rlx_h8 rlx_half_c(rlx_f8 x) { return rlx_halves(x); }
#ifdef __AVX2__
rlx_h16 rlx_half_d(rlx_f8, rlx_f8) __asm__("_ZGVdN16v_rlx_to_f16");
rlx_h16 rlx_half_d(rlx_f8 a, rlx_f8 b) {
    rlx_i8 low = __builtin_ia32_si256_si((rlx_i4)rlx_halves(a));
    return (rlx_h16)__builtin_ia32_vinsertf128_si256(low, (rlx_i4)rlx_halves(b), 1);
}
#endif
#ifdef __AVX512F__
typedef float rlx_f16 __attribute__((vector_size(64)));
typedef short rlx_h32 __attribute__((vector_size(64)));
typedef long long rlx_q4 __attribute__((vector_size(32)));
typedef long long rlx_q8 __attribute__((vector_size(64)));
rlx_h32 rlx_half_e(rlx_f16, rlx_f16) __asm__("_ZGVeN32v_rlx_to_f16");
rlx_h32 rlx_half_e(rlx_f16 a, rlx_f16 b) {
    rlx_h16 low = (rlx_h16)__builtin_ia32_vcvtps2ph512_mask(a, 0, (rlx_h16){0}, -1);
    rlx_h16 high = (rlx_h16)__builtin_ia32_vcvtps2ph512_mask(b, 0, (rlx_h16){0}, -1);
    rlx_q8 both = (rlx_q8)__builtin_ia32_si512_256si((rlx_i8)low);
    return (rlx_h32)__builtin_ia32_inserti64x4_mask(both, (rlx_q4)high, 1, both, -1);
}
#endif
#pragma GCC visibility pop
#else
RLX_HERE uint16_t rlx_to_f16(float x) {
    uint32_t u = rlx_bits32(x), sign = (u >> 16) & 0x8000, m = u & 0x7fffffff;
    uint32_t normal = (m - 0x38000000 + 0xfff + ((m >> 13) & 1)) >> 13;
    uint32_t small = rlx_bits32(rlx_float32(m) + 0.5f) - 0x3f000000;
    uint32_t r = m >= 0x477ff000 ? 0x7c00 : m < 0x38800000 ? small : normal;
    return (uint16_t)(sign | (m > 0x7f800000 ? 0x7e00 : r));
}
#endif
RLX_HERE float rlx_from_f16(uint16_t h) {
    /* With two choices between branches, GCC leaves them in loops. */
    uint32_t m = h & 0x7fff, beyond = -(uint32_t)(m >= 0x7c00) & 0x38000000;
    float normal = rlx_float32((m << 13) + 0x38000000 + beyond), small = (float)(int32_t)m * 0x1p-24f;
    return __builtin_copysignf(m < 0x0400 ? small : normal, rlx_float32((uint32_t)h << 16));
}
/* Whether a half is NaN, and an integer in the order of all others. */
RLX_HERE int rlx_nan_f16(uint16_t h) { return (h & 0x7fff) > 0x7c00; }
RLX_HERE int16_t rlx_rank_f16(uint16_t h) { return (int16_t)h < 0 ? (int16_t)(0x8000 - h) : (int16_t)h; }
RLX_HERE float rlx_round_f16(float x) { return rlx_from_f16(rlx_to_f16(x)); }
RLX_HERE float rlx_round_b16(float x) { return rlx_from_b16(rlx_to_b16(x)); }
RLX_HERE float rlx_odd_u64(uint64_t x) {
    uint64_t lost = x >> 24 ? (x & 0xffffff) != 0 : 0;
    return x >> 48 ? rlx_narrow((double)((x >> 24) | lost)) * 0x1p24f : rlx_narrow((double)x);
}
RLX_HERE float rlx_odd_i64(int64_t x) { return x < 0 ? -rlx_odd_u64(-(uint64_t)x) : rlx_odd_u64((uint64_t)x); }
RLX_HERE float rlx_odd_i32(int32_t x) { return rlx_narrow((double)x); }
RLX_HERE float rlx_odd_u32(uint32_t x) { return rlx_narrow((double)x); }
RLX_HERE int32_t rlx_clz(uint64_t x, int32_t bits) { return x ? bits - 64 + __builtin_clzll(x) : bits; }
RLX_HERE uint64_t rlx_power(uint64_t a, uint64_t n) {
    uint64_t r = 1;
    for (; n; n >>= 1, a *= a) if (n & 1) r *= a;
    return r;
}
"""

_SIGNED = r"""
RLX_HERE T rlx_tdiv_S(T a, T b) { return b == -1 ? (T)(0 - (U)a) : (T)(a / b); }
RLX_HERE T rlx_tmod_S(T a, T b) { return b == -1 ? (T)0 : (T)(a % b); }
RLX_HERE T rlx_fdiv_S(T a, T b) {
    if (b == -1) return (T)(0 - (U)a);
    T q = (T)(a / b), r = (T)(a % b);
    return (T)(q - ((r != 0) & ((r < 0) != (b < 0))));
}
RLX_HERE T rlx_fmod_S(T a, T b) {
    if (b == -1) return 0;
    T r = (T)(a % b);
    return (T)(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : (T)0));
}
"""

_UNSIGNED = r"""
RLX_HERE T rlx_tdiv_S(T a, T b) { return (T)(a / b); }
RLX_HERE T rlx_tmod_S(T a, T b) { return (T)(a % b); }
RLX_HERE T rlx_fdiv_S(T a, T b) { return (T)(a / b); }
RLX_HERE T rlx_fmod_S(T a, T b) { return (T)(a % b); }
"""

_FLOATING = r"""
RLX_HERE T rlx_rsqrt_X(T x) { return 1 / sqrtX(x); }
RLX_HERE T rlx_exp10_X(T x) { return powX(10, x); }
RLX_HERE T rlx_square_X(T x) { return x * x; }
RLX_HERE T rlx_root_X(T x) { return x == -__builtin_inf() ? -x : sqrtX(x + 0); }
RLX_HERE T rlx_ldexp_X(T x, int64_t n) {
    return ldexpX(x, n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n);
}
"""

_SIGMOID = r"""
RLX_HERE double rlx_sigmoid_(double x) { return 1 / (1 + exp(-x)); }
/* expf(-x) overflows long before the sigmoid is 0. */
RLX_HERE float rlx_sigmoid_f(float x) {
    float e = expf(-__builtin_fabsf(x));
    return (x >= 0 ? 1 : e) / (1 + e);
}
"""

_DIVISION = r"""
RLX_HERE T rlx_fdiv_S(T a, T b) { return floorX(ROUND(a / b)); }
RLX_HERE T rlx_tdiv_S(T a, T b) { return truncX(ROUND(a / b)); }
RLX_HERE T rlx_tmod_S(T a, T b) { return ROUND(fmodX(a, b)); }
RLX_HERE T rlx_fmod_S(T a, T b) { T q = ROUND(floorX(ROUND(a / b))); return ROUND(a - ROUND(q * b)); }
"""


class _Unit(NamedTuple):
    """A definition of the prelude, or several between `#if` and `#endif`."""

    names: tuple[str, ...]
    mentioned: frozenset[str]
    text: str


def text(*kernels: str, apart: bool) -> str:
    """The part of the prelude that kernels need, because compiling all of it would take longer than
    most kernels. `apart`: whether each buffer that a kernel allocates is memory of its own.
    """
    wanted = {word for kernel in kernels for word in _WORD.findall(kernel)}
    missing, chosen = list(wanted), set[_Unit]()
    by_name = providers(apart)
    while missing:
        unit = by_name.get(missing.pop())
        if unit is not None and unit not in chosen:
            chosen.add(unit)
            wanted |= unit.mentioned
            missing += unit.mentioned
    parts = [unit.text for unit in _units(apart) if unit in chosen]
    called = declarations(wanted)
    return "\n".join([*((_basis(),) if called else ()), *called, *parts])


def is_wide(source: str) -> bool:
    """Whether a file beginning with :func:`text` is faster with the widest vectors.

    Tiles of reductions and half-precision code are. Code that only moves memory or computes
    elementwise is not faster, and often slower.
    """
    return any(word in source for word in _WIDE)


_WIDE = ("RLX_LANES", "RLX_WIDTH", "RLX_ROWS", "rlx_to_f16")


def calls_libm(source: str) -> bool:
    """Whether a file that begins with :func:`text` calls functions of libm."""
    return _basis() in source


_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(
    r"^#define (\w+)|^(?:int|void) (\w+)\(.*\);$|^typedef .*?(\w+)(?:"
    r" __attribute__\(.*\))?;$|^[A-Za-z][^#]*?\b(rlx_\w+)\(.*[{}]$",
    re.MULTILINE,
)


@cache
def providers(apart: bool) -> dict[str, _Unit]:
    """The part of the prelude that defines each name."""
    return {name: unit for unit in _units(apart) for name in unit.names}


@cache
def _basis() -> str:
    """The part of the prelude that declarations of functions need."""
    [found] = (unit.text for unit in _split(_HEAD) if "RLX_SIMD" in unit.names)
    return found


@cache
def _units(apart: bool) -> list[_Unit]:
    return [*_split(_whole(apart))]


_PAIRS = (("{", "}"), ("/*", "*/"), ("\n#if", "\n#endif"))
"""Pairs of signs that begin and end a part of a unit."""


def _split(text: str) -> Iterator[_Unit]:
    lines: list[str] = []
    for line in text.splitlines():
        lines.append(line)
        unit = "\n".join(lines)
        inside = any(f"\n{unit}".count(begin) - unit.count(end) for begin, end in _PAIRS)
        if inside or line.endswith("\\"):
            continue
        lines = []
        names = tuple(name for groups in _DEFINED.findall(unit) for name in groups if name)
        if names:
            yield _Unit(names, frozenset(_WORD.findall(unit)), unit)


@cache
def _whole(apart: bool) -> str:
    parts = [_HEAD, FRAME, APART if apart else TOGETHER]
    for bits in ("8", "16", "32", "64"):
        signed, unsigned = f"int{bits}_t", f"uint{bits}_t"
        parts.append(_integers(_SIGNED, f"i{bits}", signed, unsigned))
        parts.append(_integers(_UNSIGNED, f"u{bits}", unsigned, unsigned))
    for held, letter in (("float", "f"), ("double", "")):
        parts.append(re.sub(r"\bT\b", held, _FLOATING).replace("X(", f"{letter}("))
    parts.append(_SIGMOID)
    for suffix, held, letter, rounding in (
        ("f32", "float", "f", ""),
        ("f64", "double", "", ""),
        ("f16", "float", "f", "rlx_round_f16"),
        ("b16", "float", "f", "rlx_round_b16"),
    ):
        body = re.sub(r"\bT\b", held, _DIVISION).replace("X(", f"{letter}(")
        parts.append(body.replace("_S(", f"_{suffix}(").replace("ROUND", rounding))
    return "\n".join(parts)


def _integers(template: str, suffix: str, held: str, unsigned: str) -> str:
    body = re.sub(r"\bT\b", held, template)
    return re.sub(r"\bU\b", unsigned, body).replace("_S(", f"_{suffix}(")
