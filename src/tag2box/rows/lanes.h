/* The three products for one kind of processor. rows.c includes this once for each kind, with its own

     NAME(x)        the name of something for this kind
     TARGET         what the compiler may use
     LANES          how many floats it computes with at once, NAME(lanes) being so many
     NAME(load)     so many half-precision numbers as floats
     NAME(totals)   the sum of each of BLOCK times so many floats
*/

TARGET static void NAME(widen)(const half *from, int64_t count, float *to) {
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        NAME(lanes) values = NAME(load)(from + j);
        memcpy(to + j, &values, sizeof values);
    }
    for (; j < count; j++) to[j] = from_half(from[j]);
}

/* A block of rows with the vector, which is read once; the rows of the next block are asked for meanwhile. Where there is
   room in `wide`, the rows are left there as floats, `padded(d)` from one to the next. */
TARGET static inline void NAME(block_dots)(const half *const *rows, const float *vector, int64_t d, float *wide, double *to) {
    NAME(lanes) sums[BLOCK] = {{0}};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        NAME(lanes) part = *(const NAME(lanes) *)(vector + j);
        for (int ahead = 0; ahead < BLOCK * LANES; ahead += 32) __builtin_prefetch(rows[0] + BLOCK * (d + j) + ahead);
#pragma GCC unroll 8
        for (int row = 0; row < BLOCK; row++) {
            NAME(lanes) values = NAME(load)(rows[row] + j);
            if (wide) *(NAME(lanes) *)(wide + row * padded(d) + j) = values;
            sums[row] += values * part;
        }
    }
    float totals[BLOCK];
    NAME(totals)(sums, totals);
    for (int row = 0; row < BLOCK; row++) {
        for (int64_t rest = j; rest < d; rest++) {
            float value = from_half(rows[row][rest]);
            if (wide) wide[row * padded(d) + rest] = value;
            totals[row] += value * vector[rest];
        }
        to[row] = totals[row];
    }
}

TARGET static void NAME(dots)(const half *rows, int64_t n, const float *vector, int64_t d, double *to) {
    const half *some[BLOCK];
    double found[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        int count = block_of(some, rows, first, n, d);
        NAME(block_dots)(some, vector, d, 0, found);
        memcpy(to + first, found, count * sizeof *found);
    }
}

/* exp(x - peak) for x <= peak: to a power of two and a remainder, and a Taylor sum of the remainder. */
TARGET static void NAME(exponentials)(double *x, int64_t n, double peak) {
    for (int64_t i = 0; i < n; i++) {
        double power = x[i] - peak, bounded = power < LOWEST ? LOWEST : power;
        double shifted = bounded * 0x1.71547652b82fep0 + 0x1.8p52, whole = shifted - 0x1.8p52; /* log2(e), rounding */
        double rest = bounded - whole * 0x1.62e42fefa3800p-1 - whole * 0x1.ef35793c76730p-45;  /* ln 2 in two parts */
        double sum = 1.0 / 479001600.0;
        for (int k = 12; k > 0; k--) sum = sum * rest + FACTORIALS[k - 1];
        int64_t bits, exponent;
        memcpy(&bits, &sum, 8);
        memcpy(&exponent, &shifted, 8);
        bits += (int64_t)((uint64_t)exponent << 52);
        memcpy(&sum, &bits, 8);
        x[i] = power < LOWEST ? 0.0 : sum;
    }
}

/* to += the sum of a block of rows, each times its weight. */
TARGET static inline void NAME(add_block)(float *to, const float *wide, const float *weights, int64_t d) {
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        NAME(lanes) sum = *(const NAME(lanes) *)(to + j);
#pragma GCC unroll 8
        for (int row = 0; row < BLOCK; row++) sum += weights[row] * *(const NAME(lanes) *)(wide + row * padded(d) + j);
        *(NAME(lanes) *)(to + j) = sum;
    }
    for (; j < d; j++)
        for (int row = 0; row < BLOCK; row++) to[j] += weights[row] * wide[row * padded(d) + j];
}

/* One photo, read once: the softmax goes by the highest evidence so far, and what was summed up before is scaled down
   when a higher one comes. See expect() in rows.c. */
TARGET static double NAME(expect_one)(const half *rows, int64_t n, const Looking *at, const float *coefficients,
                                      int64_t apart, const double *evidence, double *weights, int64_t *best,
                                      float *sum, double *totals) {
    const float *own = coefficients, *center = own + apart, *mean = center + apart;
    const int64_t d = at->d;
    const half *some[BLOCK];
    float *wide = sum + padded(d);
    double peak = -INFINITY, mass = 0.0, center_sum = 0.0, mean_sum = 0.0;
    memset(sum, 0, d * sizeof *sum);
    *best = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int count = block_of(some, rows, first, n, d);
        double shares[BLOCK], highest = peak;
        float factors[BLOCK] = {0.0f};
        NAME(block_dots)(some, at->vector, d, wide, shares);
        for (int row = count; row < BLOCK; row++) shares[row] = -INFINITY;
        for (int row = 0; row < count; row++) {
            int64_t r = first + row;
            double cosine = own[r] * shares[row] - center[r] * at->center_part - mean[r] * at->mean_part;
            weights[r] = shares[row] = at->factor * cosine + evidence[r];
            if (shares[row] > highest) highest = shares[row], *best = r;
        }
        if (highest == -INFINITY) continue;
        if (highest > peak) {
            double scale = exp(peak - highest);
            for (int64_t j = 0; j < d; j++) sum[j] *= (float)scale;
            mass *= scale, center_sum *= scale, mean_sum *= scale;
            peak = highest;
        }
        NAME(exponentials)(shares, BLOCK, peak);
        int matters = 0;
        for (int row = 0; row < count; row++) {
            mass += shares[row];
            center_sum += shares[row] * center[first + row];
            mean_sum += shares[row] * mean[first + row];
            factors[row] = (float)(shares[row] * own[first + row]);
            matters |= shares[row] > TOO_LITTLE;
        }
        if (matters) NAME(add_block)(sum, wide, factors, d);
    }
    if (peak == -INFINITY) {
        memset(weights, 0, n * sizeof *weights);
        return peak;
    }
    NAME(exponentials)(weights, n, peak);
    for (int64_t r = 0; r < n; r++) weights[r] /= mass;
    for (int64_t j = 0; j < d; j++) totals[j] += sum[j] / mass;
    totals[d] += center_sum / mass;
    totals[d + 1] += mean_sum / mass;
    return peak + log(mass);
}
