/* The three products for one kind of processor. rows.c includes this once for each kind, with its own

     NAME(x)        the name of a function for this kind
     TARGET         what the compiler may use
     NAME(load)     sixteen half-precision numbers as floats
*/

TARGET static inline float NAME(total)(const lanes *values) {
    float part[LANES];
    memcpy(part, values, sizeof part);
    for (int lane = 0; lane < 8; lane++) part[lane] += part[lane + 8];
    for (int lane = 0; lane < 4; lane++) part[lane] += part[lane + 4];
    return (part[0] + part[2]) + (part[1] + part[3]);
}

TARGET static void NAME(widen)(const half *from, int64_t count, float *to) {
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        lanes values = NAME(load)(from + j);
        memcpy(to + j, &values, sizeof values);
    }
    for (; j < count; j++) to[j] = from_half(from[j]);
}

TARGET static inline double NAME(dot)(const half *row, const float *vector, int64_t d) {
    lanes sum = {0};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) sum += NAME(load)(row + j) * *(const lanes *)(vector + j);
    float total = NAME(total)(&sum);
    for (; j < d; j++) total += from_half(row[j]) * vector[j];
    return total;
}

/* Four rows at once read the vector once; the next four are asked for meanwhile. */
TARGET static inline void NAME(four_dots)(const half *rows, const float *vector, int64_t d, double *to) {
    const half *row1 = rows + d, *row2 = rows + 2 * d, *row3 = rows + 3 * d;
    lanes sums[4] = {{0}, {0}, {0}, {0}};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        lanes part = *(const lanes *)(vector + j);
        __builtin_prefetch(rows + 4 * d + 4 * j);
        __builtin_prefetch(rows + 4 * d + 4 * j + 2 * LANES);
        sums[0] += NAME(load)(rows + j) * part;
        sums[1] += NAME(load)(row1 + j) * part;
        sums[2] += NAME(load)(row2 + j) * part;
        sums[3] += NAME(load)(row3 + j) * part;
    }
    for (int row = 0; row < 4; row++) {
        float total = NAME(total)(&sums[row]);
        for (int64_t rest = j; rest < d; rest++) total += from_half(rows[row * d + rest]) * vector[rest];
        to[row] = total;
    }
}

TARGET static void NAME(dots)(const half *rows, int64_t n, const float *vector, int64_t d, double *to) {
    int64_t row = 0;
    for (; row + 4 <= n; row += 4) NAME(four_dots)(rows + row * d, vector, d, to + row);
    for (; row < n; row++) to[row] = NAME(dot)(rows + row * d, vector, d);
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

TARGET static inline void NAME(add_four)(float *to, const half *const *rows, const float *weights, int64_t d) {
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        lanes sum;
        memcpy(&sum, to + j, sizeof sum);
        for (int row = 0; row < 4; row++) sum += weights[row] * NAME(load)(rows[row] + j);
        memcpy(to + j, &sum, sizeof sum);
    }
    for (; j < d; j++)
        for (int row = 0; row < 4; row++) to[j] += weights[row] * from_half(rows[row][j]);
}

/* One photo while its rows are in the cache: scores, softmax, weighted sum. See expect() in rows.c. */
TARGET static double NAME(expect_one)(const half *rows, int64_t n, const Looking *at, const float *coefficients,
                                      int64_t apart, const double *evidence, double *weights, float *sum,
                                      double *totals) {
    const float *own = coefficients, *center = own + apart, *mean = center + apart;
    double peak = -INFINITY, mass = 0.0;
    NAME(dots)(rows, n, at->vector, at->d, weights);
    for (int64_t r = 0; r < n; r++) {
        double cosine = own[r] * weights[r] - center[r] * at->center_part - mean[r] * at->mean_part;
        weights[r] = at->factor * cosine + evidence[r];
        peak = weights[r] > peak ? weights[r] : peak;
    }
    if (peak == -INFINITY) {
        memset(weights, 0, n * sizeof *weights);
        return peak;
    }
    NAME(exponentials)(weights, n, peak);
    for (int64_t r = 0; r < n; r++) mass += weights[r];
    memset(sum, 0, at->d * sizeof *sum);
    const half *some[4];
    float their[4];
    int count = 0;
    for (int64_t r = 0; r < n; r++) {
        weights[r] /= mass;
        if (weights[r] < TOO_LITTLE) continue;
        totals[at->d] += weights[r] * center[r];
        totals[at->d + 1] += weights[r] * mean[r];
        some[count] = rows + r * at->d;
        their[count++] = (float)(weights[r] * own[r]);
        if (count == 4) NAME(add_four)(sum, some, their, at->d), count = 0;
    }
    for (int row = count; count > 0 && row < 4; row++) some[row] = rows, their[row] = 0.0f;
    if (count > 0) NAME(add_four)(sum, some, their, at->d);
    for (int64_t j = 0; j < at->d; j++) totals[j] += sum[j];
    return peak + log(mass);
}
