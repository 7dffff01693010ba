/* UCB1 on ten Bernoulli arms as a tight loop in C: the yardstick for the engine. Prints nanoseconds a round. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define K 10
#define T 1000000

static uint64_t s[4] = {1, 2, 3, 4};

static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(void) { /* xoshiro256++ of Blackman and Vigna */
    uint64_t r = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotl(s[3], 45);
    return (r >> 11) * 0x1.0p-53;
}

int main(void) {
    double mean[K], total[K] = {0};
    long plays[K] = {0};
    struct timespec start, end;
    for (int a = 0; a < K; a++) mean[a] = 0.9 - 0.05 * a;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int t = 1; t <= T; t++) {
        int best = 0;
        if (t <= K) {
            best = t - 1;
        } else {
            double largest = -1, width = 2 * log((double)t);
            for (int a = 0; a < K; a++) {
                double index = total[a] / plays[a] + sqrt(width / plays[a]);
                if (index > largest) largest = index, best = a;
            }
        }
        plays[best]++;
        total[best] += uniform() < mean[best];
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f %ld\n", ((end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec) / T, plays[0]);
    return 0;
}
