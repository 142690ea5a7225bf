/* Products with half-precision rows, as a feature store has them: they are widened in registers, and read once.

   products.py says the same in numpy, and calls this where it was built. Sums of one photo are floats,
   sums of several photos are doubles in their order: the answer does not depend on who computes which photos.
*/

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LOWEST -700.0      /* exp of less is nothing */
#define TOO_LITTLE 1e-11   /* of the highest weight: a thousand such rows are less than the rounding of the sum */

#define BLOCK 8            /* rows that are looked at together */
#define LINE 16            /* floats in a line of the cache */

typedef uint16_t half;
#define FLOATS(count) __attribute__((vector_size(4 * count), aligned(4))) float

typedef struct {
    const float *vector;
    int64_t d;
    double factor, center_part, mean_part;
} Looking;

static const double FACTORIALS[12] = {1.0,         1.0,          1.0 / 2.0,     1.0 / 6.0,      1.0 / 24.0,      1.0 / 120.0,
                                      1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0};

static float from_half(half bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff, wide;
    float value = (float)rest * 0x1p-24f; /* what is smaller than every normal half */
    if (rest >= 0x400) {
        wide = (rest << 13) + (rest >= 0x7c00 ? 224u << 23 : 112u << 23);
        memcpy(&value, &wide, sizeof value);
    }
    memcpy(&wide, &value, sizeof wide);
    wide |= sign;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Floats from one row to the next where rows are kept: each begins with a line of the cache. */
static int64_t padded(int64_t d) { return (d + LINE - 1) / LINE * LINE; }

/* The rows from `first` on, a block of them; where there are fewer left, the last one again. How many there are. */
static int block_of(const half **some, const half *rows, int64_t first, int64_t n, int64_t d) {
    const int64_t left = n - first;
    for (int row = 0; row < BLOCK; row++) some[row] = rows + (first + (row < left ? row : left - 1)) * d;
    return left < BLOCK ? (int)left : BLOCK;
}

#define TARGET
#define LANES 4
#define NAME(x) x##_anywhere
typedef FLOATS(LANES) lanes_anywhere;
static inline lanes_anywhere load_anywhere(const half *from) {
    lanes_anywhere values;
    for (int lane = 0; lane < LANES; lane++) {
#if defined(__aarch64__)
        __fp16 value;
        memcpy(&value, from + lane, sizeof value);
        values[lane] = (float)value;
#else
        values[lane] = from_half(from[lane]);
#endif
    }
    return values;
}
static inline void totals_anywhere(const lanes_anywhere *sums, float *to) {
    for (int row = 0; row < BLOCK; row++) to[row] = (sums[row][0] + sums[row][2]) + (sums[row][1] + sums[row][3]);
}
#include "lanes.h"
#undef TARGET
#undef LANES
#undef NAME

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define LANES 8
#define NAME(x) x##_avx2
typedef FLOATS(LANES) lanes_avx2;
TARGET static inline lanes_avx2 load_avx2(const half *from) {
    return (lanes_avx2)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}
/* Neighbours are added up until one of each row is left in either half of the fours. */
TARGET static inline void totals_avx2(const lanes_avx2 *sums, float *to) {
    __m256 fours[2];
    for (int place = 0; place < 2; place++) {
        const lanes_avx2 *some = sums + 4 * place;
        __m256 first = _mm256_hadd_ps((__m256)some[0], (__m256)some[1]), second = _mm256_hadd_ps((__m256)some[2], (__m256)some[3]);
        fours[place] = _mm256_hadd_ps(first, second);
    }
    __m256 lower = _mm256_permute2f128_ps(fours[0], fours[1], 0x20), upper = _mm256_permute2f128_ps(fours[0], fours[1], 0x31);
    _mm256_storeu_ps(to, _mm256_add_ps(lower, upper));
}
#include "lanes.h"
#undef TARGET
#undef LANES
#undef NAME

#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma,f16c")))
#define LANES 16
#define NAME(x) x##_avx512
typedef FLOATS(LANES) lanes_avx512;
TARGET static inline lanes_avx512 load_avx512(const half *from) {
    return (lanes_avx512)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}
TARGET static inline void totals_avx512(const lanes_avx512 *sums, float *to) {
    lanes_avx2 halves[BLOCK];
    for (int row = 0; row < BLOCK; row++) {
        __m512 both = (__m512)sums[row];
        halves[row] = (lanes_avx2)_mm256_add_ps(_mm512_castps512_ps256(both), _mm512_extractf32x8_ps(both, 1));
    }
    totals_avx2(halves, to);
}
#include "lanes.h"
#undef TARGET
#undef LANES
#undef NAME

#define FOR_THIS_KIND(kind, call) (kind == 2 ? call(avx512) : kind == 1 ? call(avx2) : call(anywhere))

/* 2 for AVX-512, 1 for AVX2, 0 for any other processor. */
int kind_of_processor(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 0;
}

/* Whether it adds up products of bytes without overflow: AVX512-VNNI or AVX-VNNI. */
int multiplies_bytes(void) {
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && c >> 11 & 1) return 1;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}
#else
#define FOR_THIS_KIND(kind, call) call(anywhere)
int kind_of_processor(void) { return 0; }
int multiplies_bytes(void) { return 1; }
#endif

/* How many floats expect() needs room for: a sum and a block of rows, from the next line of the cache on. */
int64_t room_for(int64_t d) { return LINE + padded(d) * (1 + BLOCK); }

void widen(int kind, const half *from, int64_t count, float *to) {
#define CALL(suffix) widen_##suffix(from, count, to)
    FOR_THIS_KIND(kind, CALL);
#undef CALL
}

/* to[r] = rows[r] . vector */
void dots(int kind, const half *rows, int64_t n, const float *vector, int64_t d, double *to) {
#define CALL(suffix) dots_##suffix(rows, n, vector, d, to)
    FOR_THIS_KIND(kind, CALL);
#undef CALL
}

/* Photo i owns the rows offsets[i] to offsets[i + 1] of coefficients (three columns, `apart` floats from one to the
   next), evidence and weights; its features begin at rows[i]. For each row

     cosine = own * (row . vector) - center * center_part - mean * mean_part
     weight = softmax within the photo of factor * cosine + evidence

   best[i] is the photo's first row of the highest weight, 0 if all its evidence is -INFINITY; and to the totals is added: sum of weight * own * row (d numbers), of weight * center, of weight * mean.
   `room` has place for as many floats as room_for(d) says. */
void expect(int kind, int64_t photos, const half *const *rows, const int64_t *offsets, const float *coefficients,
            int64_t apart, const double *evidence, const float *vector, int64_t d, double factor, double center_part,
            double mean_part, double *weights, int64_t *best, double *log_sums, float *room, double *totals) {
    Looking at = {vector, d, factor, center_part, mean_part};
    float *sum = (float *)(((uintptr_t)room + 4 * LINE - 1) / (4 * LINE) * (4 * LINE));
    for (int64_t i = 0; i < photos; i++) {
        int64_t first = offsets[i], n = offsets[i + 1] - first;
#define CALL(suffix)                                                                                               \
    expect_one_##suffix(rows[i], n, &at, coefficients + first, apart, evidence + first, weights + first, best + i, sum, \
                        totals)
        log_sums[i] = FOR_THIS_KIND(kind, CALL);
#undef CALL
    }
}
