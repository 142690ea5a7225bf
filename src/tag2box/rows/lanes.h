/* The three products for one kind of processor. rows.c includes this once for each kind, with its own

     NAME(x)        the name of something for this kind
     TARGET         what the compiler may use
     LANES          how many floats it computes with at once, NAME(lanes) being so many
     NAME(load)     so many half-precision numbers as floats
*/

TARGET static inline float NAME(total)(const NAME(lanes) *values) {
    float part[LANES];
    memcpy(part, values, sizeof part);
    for (int count = LANES / 2; count > 0; count /= 2)
        for (int lane = 0; lane < count; lane++) part[lane] += part[lane + count];
    return part[0];
}

TARGET static void NAME(widen)(const half *from, int64_t count, float *to) {
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        NAME(lanes) values = NAME(load)(from + j);
        memcpy(to + j, &values, sizeof values);
    }
    for (; j < count; j++) to[j] = from_half(from[j]);
}

TARGET static inline double NAME(dot)(const half *row, const float *vector, int64_t d) {
    NAME(lanes) sum = {0};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) sum += NAME(load)(row + j) * *(const NAME(lanes) *)(vector + j);
    float total = NAME(total)(&sum);
    for (; j < d; j++) total += from_half(row[j]) * vector[j];
    return total;
}

/* Four rows at once read the vector once; those after the next four are asked for meanwhile. */
TARGET static inline void NAME(four_dots)(const half *rows, const float *vector, int64_t d, double *to) {
    const half *row1 = rows + d, *row2 = rows + 2 * d, *row3 = rows + 3 * d;
    NAME(lanes) sums[4] = {{0}, {0}, {0}, {0}};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        NAME(lanes) part = *(const NAME(lanes) *)(vector + j);
        for (int ahead = 0; ahead < 4 * LANES; ahead += 32) __builtin_prefetch(rows + 8 * d + 4 * j + ahead);
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

TARGET static inline void NAME(add_four)(float *to, const half *rows, const float *weights, int64_t d) {
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        NAME(lanes) sum;
        memcpy(&sum, to + j, sizeof sum);
        for (int row = 0; row < 4; row++) sum += weights[row] * NAME(load)(rows + row * d + j);
        memcpy(to + j, &sum, sizeof sum);
    }
    for (; j < d; j++)
        for (int row = 0; row < 4; row++) to[j] += weights[row] * from_half(rows[row * d + j]);
}

TARGET static inline void NAME(add)(float *to, const half *row, float weight, int64_t d) {
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        NAME(lanes) sum;
        memcpy(&sum, to + j, sizeof sum);
        sum += weight * NAME(load)(row + j);
        memcpy(to + j, &sum, sizeof sum);
    }
    for (; j < d; j++) to[j] += weight * from_half(row[j]);
}

/* One photo, read once: the softmax goes by the highest evidence so far, and what was summed up before is scaled down
   when a higher one comes. See expect() in rows.c. */
TARGET static double NAME(expect_one)(const half *rows, int64_t n, const Looking *at, const float *coefficients,
                                      int64_t apart, const double *evidence, double *weights, int64_t *best,
                                      float *sum, double *totals) {
    const float *own = coefficients, *center = own + apart, *mean = center + apart;
    const int64_t d = at->d;
    double peak = -INFINITY, mass = 0.0, center_sum = 0.0, mean_sum = 0.0;
    memset(sum, 0, d * sizeof *sum);
    *best = 0;
    for (int64_t first = 0; first < n; first += 4) {
        const half *some = rows + first * d;
        const int count = n - first < 4 ? (int)(n - first) : 4;
        double shares[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, highest = peak;
        float factors[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (count == 4) NAME(four_dots)(some, at->vector, d, shares);
        for (int row = 0; row < count; row++) {
            int64_t r = first + row;
            if (count < 4) shares[row] = NAME(dot)(some + row * d, at->vector, d);
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
        NAME(exponentials)(shares, 4, peak);
        int matters = 0;
        for (int row = 0; row < count; row++) {
            mass += shares[row];
            center_sum += shares[row] * center[first + row];
            mean_sum += shares[row] * mean[first + row];
            factors[row] = (float)(shares[row] * own[first + row]);
            matters |= shares[row] > TOO_LITTLE;
        }
        if (matters && count == 4) NAME(add_four)(sum, some, factors, d);
        for (int row = 0; matters && count < 4 && row < count; row++) NAME(add)(sum, some + row * d, factors[row], d);
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
