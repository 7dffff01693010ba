/* The yardsticks: a tight loop for each kind of policy, playing the same algorithm on the same game as fairlib does.

   ./loops KIND K L D T RUNS SEED MERIT A B DELAY

   plays RUNS runs of T rounds and prints the nanoseconds of processor time a round, then what each run came to: the sum
   of the gaps of the arms played, or the fairness regret where the game has one. By these figures the benchmark checks
   that both sides do the same (games.py has the same games).

   On arms the K means fall evenly from .9 to .1 and rewards are 0 or 1; L arms are played each round, and with DELAY
   above 0 what they bring arrives after a geometric number of rounds. With contexts there are K of them with D numbers
   each. MERIT is e for exp(A x), p for 1 + A x^B and 0 for none. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 1024 /* arms */
enum kind { UNIFORM, GREEDY, UCB1, THOMPSON, FAIR_UCB, FAIRX_UCB, FAIRX_TS, CUCB_D, MP_TS_D, FCUCB_D, FCTS_D,
            LINUCB, LINTS, FAIRX_LINUCB, ELLIPSOID, GRADIENT, FAIR_GREEDY, KINDS };
static const char *names[KINDS] = {"uniform", "epsilon-greedy", "ucb1", "thompson", "fair-ucb", "fairx-ucb", "fairx-ts",
    "cucb-d", "mp-ts-d", "fcucb-d", "fcts-d", "linucb", "lints", "fairx-linucb", "fairx-linucb-ellipsoid",
    "fairx-linucb-gradient", "fair-greedy"};
#define INLINED static inline __attribute__((always_inline))

static int K, L, D;
static long T;
static char shape;
static double A, B, late;

/* Chance: xoshiro256++ of Blackman and Vigna; ziggurat for normals; Marsaglia and Tsang for gammas, as NumPy has it. */

static uint64_t s[4];

static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t bits(void) {
    uint64_t r = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotl(s[3], 45);
    return r;
}

static inline double uniform(void) { return (bits() >> 11) * 0x1.0p-53; }

static void seed(uint64_t number) { /* splitmix64 */
    for (int i = 0; i < 4; i++) {
        uint64_t z = (number += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9, z = (z ^ (z >> 27)) * 0x94d049bb133111eb, s[i] = z ^ (z >> 31);
    }
}

#define LAYERS 256
static const double tail = 3.6541528853610088;
static double edge[LAYERS + 1], inside[LAYERS];

static void make_layers(void) {
    const double area = 0.00492867323399;
    double height = exp(-0.5 * tail * tail);
    edge[0] = area / height, edge[1] = tail, edge[LAYERS] = 0;
    for (int i = 2; i < LAYERS; i++) {
        edge[i] = sqrt(-2 * log(area / edge[i - 1] + height));
        height = exp(-0.5 * edge[i] * edge[i]);
    }
    for (int i = 0; i < LAYERS; i++) inside[i] = edge[i + 1] / edge[i];
}

static double in_a_corner(int i, double u);

static inline double normal(void) {
    uint64_t r = bits();
    int i = r & (LAYERS - 1);
    double u = (r >> 11) * 0x1.0p-52 - 1;
    return fabs(u) < inside[i] ? u * edge[i] : in_a_corner(i, u);
}

static __attribute__((noinline)) double in_a_corner(int i, double u) { /* about one normal in a hundred */
    for (;;) {
        double x = u * edge[i];
        if (fabs(u) < inside[i]) return x;
        if (i == 0) {
            double y;
            do x = -log(1 - uniform()) / tail, y = -log(1 - uniform()); while (2 * y < x * x);
            return u < 0 ? -tail - x : tail + x;
        }
        double low = exp(-0.5 * (edge[i] * edge[i] - x * x)), high = exp(-0.5 * (edge[i + 1] * edge[i + 1] - x * x));
        if (high + uniform() * (low - high) < 1) return x;
        uint64_t r = bits();
        i = r & (LAYERS - 1), u = (r >> 11) * 0x1.0p-52 - 1;
    }
}

static inline double gamma_of(double k) { /* k >= 1 */
    double b = k - 1.0 / 3, c = 1 / sqrt(9 * b);
    for (;;) {
        double x = normal(), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = uniform(), xx = x * x;
        if (u < 1 - 0.0331 * xx * xx || log(u) < 0.5 * xx + b * (1 - v + log(v))) return b * v;
    }
}

static inline double beta(double a, double b) {
    double x = gamma_of(a);
    return x / (x + gamma_of(b));
}

static inline int largest(const double *p) {
    int best = 0;
    for (int a = 1; a < K; a++) if (p[a] > p[best]) best = a;
    return best;
}

/* Merit, and the optimistic step in a box. */

static inline double power(double x) { return B == 4 ? x * x * (x * x) : pow(x, B); }

INLINED double merit(double x) { return shape == 'e' ? exp(A * x) : 1 + A * power(x); }

static inline void shares(const double *mu, double *p) {
    double whole = 0;
    for (int a = 0; a < K; a++) whole += p[a] = merit(mu[a]);
    for (int a = 0; a < K; a++) p[a] *= L / whole;
}

static double low[MOST], high[MOST], mu[MOST], below[MOST], turn[MOST];
static int order[MOST];

static int by_turn(const void *one, const void *two) {
    double x = turn[*(const int *)one], y = turn[*(const int *)two];
    return (x > y) - (x < y);
}

static void exponential_box(void) { /* sort and scan */
    double shift = high[0], earned = 0, weight = 0;
    for (int a = 0; a < K; a++) {
        double width = high[a] - low[a];
        shift = fmax(shift, high[a]);
        turn[a] = -high[a] - (A * width > 1e-12 ? width / expm1(A * width) : 1 / A);
        order[a] = a;
    }
    if (K > 64) qsort(order, K, sizeof(int), by_turn);
    else for (int i = 1; i < K; i++) {
        int a = order[i], j = i;
        for (; j > 0 && turn[order[j - 1]] > turn[a]; j--) order[j] = order[j - 1];
        order[j] = a;
    }
    for (int a = 0; a < K; a++) {
        weight += below[a] = exp(A * (low[a] - shift));
        earned += below[a] * low[a];
        mu[a] = low[a];
    }
    double best = earned / weight;
    int taken = 0;
    for (int i = 0; i < K; i++) {
        int a = order[i];
        double above = exp(A * (high[a] - shift));
        weight += above - below[a], earned += above * high[a] - below[a] * low[a];
        if (earned / weight > best) best = earned / weight, taken = i + 1;
    }
    for (int i = 0; i < taken; i++) mu[order[i]] = high[order[i]];
}

static double power_best(double l, double h, double c) {
    double chosen = h, most = merit(h) * (h - c), other = merit(l) * (l - c);
    if (other > most) chosen = l, most = other;
    if (B > 1 && c > 0 && A * power(c) * pow((B - 1) / (B + 1), B - 1) > 1) {
        double root = fmax(pow(A * B * c, -1 / (B - 1)), 1e-300);
        for (int i = 0; i < 100; i++) {
            double rest = B * c - (B + 1) * root;
            double step = (log(A) + (B - 1) * log(root) + log(rest)) / ((B - 1) / root - (B + 1) / rest);
            if (!(root - step > root)) break;
            root -= step;
        }
        double x = fmin(fmax(root, l), h);
        if (merit(x) * (x - c) > most) chosen = x;
    }
    return chosen;
}

static void power_box(void) { /* Dinkelbach's iteration */
    double c = -INFINITY;
    for (int a = 0; a < K; a++) mu[a] = high[a];
    for (int i = 0; i < 100; i++) {
        double earned = 0, weight = 0;
        for (int a = 0; a < K; a++) {
            double value = merit(mu[a]);
            weight += value, earned += value * mu[a];
        }
        if (!(earned / weight > c)) break;
        c = earned / weight;
        for (int a = 0; a < K; a++) mu[a] = power_best(low[a], high[a], c);
    }
}

static void best_in_box(void) { shape == 'e' ? exponential_box() : power_box(); }

static inline void choose(const double *p, int *chosen) { /* systematic sampling */
    double u = uniform(), end = 0;
    int found = 0;
    for (int a = 0; a < K; a++) {
        end += p[a];
        if (found < L && end > u + found) chosen[found++] = a;
    }
    while (found < L) chosen[found++] = K - 1;
}

/* Games on arms. */

static double mean[MOST], optimal[MOST], p[MOST], total[MOST];
static long selected[MOST], observed[MOST];

/* Feedback under way: messages in chains, one chain for each round in which they are due, modulo their number. */
#define CHAINS (1 << 12)
static int first[CHAINS], *following, *arm_of, spare, used;
static long *due;
static double *reward_of;

static int untried;
INLINED void tell(int a, double x) { untried -= observed[a] == 0, observed[a]++, total[a] += x; }

static inline void send(int a, double x, long round) {
    int m = spare ? spare : ++used, chain = round & (CHAINS - 1);
    if (spare) spare = following[m];
    arm_of[m] = a, reward_of[m] = x, due[m] = round, following[m] = first[chain], first[chain] = m;
}

static inline void arrive(long t) {
    for (int *link = &first[t & (CHAINS - 1)]; *link;) {
        int m = *link;
        if (due[m] > t) link = &following[m];
        else *link = following[m], following[m] = spare, spare = m, tell(arm_of[m], reward_of[m]);
    }
}

INLINED void take_top(int *chosen) {
    for (int j = 0; j < L; j++) p[chosen[j] = largest(p)] = -INFINITY;
    for (int a = 0; a < K; a++) p[a] = p[a] == -INFINITY;
}

INLINED int an_untried(void) {
    for (int a = 0; a < K; a++) if (observed[a] == 0) return a;
    return -1;
}

INLINED int ucb1(long t) {
    if (untried) return an_untried();
    double width = 2 * log((double)t);
    for (int a = 0; a < K; a++) p[a] = total[a] / observed[a] + sqrt(width / observed[a]);
    return largest(p);
}

INLINED double play_arms(const enum kind kind) {
    const int several = kind == CUCB_D || kind == MP_TS_D || kind == FCUCB_D || kind == FCTS_D;
    const int judged = several || kind == FAIRX_UCB || kind == FAIRX_TS; /* by its probabilities */
    int chosen[MOST];
    double fairness = 0, reward = 0, signed_regret = 0, gaps = 0, violation = 0, deficit = 0, share = 0.5 / K;
    const double scale = 1 / log1p(-late);
    for (int a = 0; a < K; a++) selected[a] = observed[a] = 0, total[a] = 0;
    for (int a = 0; a < K; a++) mean[a] = K > 1 ? 0.9 - 0.8 * a / (K - 1) : 0.9;
    if (judged) shares(mean, optimal);
    memset(first, 0, sizeof first), spare = used = 0, untried = K;
    for (long t = 1; t <= T; t++) {
        int arm, drawn = 0; /* drawn: by the probabilities in p */
        if (kind == UNIFORM) {
            for (int a = 0; a < K; a++) p[a] = (double)L / K;
            drawn = 1;
        } else if (kind == GREEDY) {
            for (int a = 0; a < K; a++) p[a] = observed[a] ? total[a] / observed[a] : INFINITY;
            int best = largest(p);
            for (int a = 0; a < K; a++) p[a] = 0.1 / K;
            p[best] += 0.9, drawn = 1;
        } else if (kind == UCB1) {
            chosen[0] = ucb1(t);
        } else if (kind == FAIR_UCB) {
            for (int a = 0; a < K; a++) p[a] = share * (t - 1) - selected[a];
            int a = largest(p);
            chosen[0] = p[a] > 10 ? a : ucb1(t);
        } else if (kind == THOMPSON) {
            for (int a = 0; a < K; a++) p[a] = beta(1 + total[a], 1 + observed[a] - total[a]);
            chosen[0] = largest(p);
        } else if (kind == FAIRX_UCB) {
            if ((arm = an_untried()) >= 0) {
                for (int a = 0; a < K; a++) p[a] = a == arm;
            } else {
                for (int a = 0; a < K; a++) {
                    double centre = total[a] / observed[a], w = 0.3 / sqrt((double)observed[a]);
                    low[a] = fmin(fmax(centre - w, 0), 1), high[a] = fmin(fmax(centre + w, 0), 1);
                }
                best_in_box(), shares(mu, p);
            }
            drawn = 1;
        } else if (kind == FAIRX_TS || kind == FCTS_D || kind == MP_TS_D) {
            for (int a = 0; a < K; a++) p[a] = beta(1 + total[a], 1 + observed[a] - total[a]);
            if (kind == MP_TS_D) take_top(chosen);
            else shares(p, p), drawn = 1;
        } else if ((t - 1) * L < K) { /* the delayed ones begin with each arm in turn */
            for (int a = 0; a < K; a++) p[a] = 0;
            for (int j = 0; j < L; j++) p[((t - 1) * L + j) % K] = 1;
            drawn = 1;
        } else if (kind == CUCB_D) {
            double width = 1.5 * log((double)t);
            for (int a = 0; a < K; a++) {
                double each = 1 / fmax(observed[a], 1);
                p[a] = total[a] * each + sqrt(width * each);
            }
            take_top(chosen);
        } else { /* FCUCB-D */
            double width = log(4.0 * L * K) + log((double)t);
            for (int a = 0; a < K; a++) {
                double m = fmax(observed[a], 1), centre = total[a] / m, c = sqrt(width / m);
                high[a] = fmin(centre + c, 1), low[a] = fmax(centre - c, 0);
            }
            best_in_box(), shares(mu, p), drawn = 1;
        }
        if (drawn) choose(p, chosen);
        for (int j = 0; j < L; j++) {
            int a = chosen[j];
            double x = uniform() < mean[a];
            selected[a]++, gaps += mean[0] - mean[a];
            if (!several || late <= 0) {
                tell(a, x);
            } else {
                long wait = 1 + (long)(log(1 - uniform()) * scale);
                if (wait <= T - t) send(a, x, t + wait);
            }
        }
        if (several && late > 0) arrive(t);
        if (judged) { /* what the game sums */
            double lost = 0;
            for (int a = 0; a < K; a++) lost += (optimal[a] - p[a]) * mean[a], fairness += fabs(optimal[a] - p[a]);
            reward += fmax(lost, 0), signed_regret += lost;
        } else if (kind == FAIR_UCB) {
            for (int a = 0; a < K; a++) {
                double owed = share * t;
                violation = fmax(violation, floor(owed + 1e-9) - selected[a]);
                deficit = fmax(deficit, owed - selected[a]);
            }
        }
    }
    volatile double kept = reward + signed_regret + violation + deficit; /* nothing of it may be left out */
    (void)kept;
    return judged ? fairness : gaps;
}

/* Games with contexts: ridge regression by rank-one steps on a square root of the inverse. */

static double *contexts, *root, *estimate, *v, *weights, means[MOST], rewards[MOST];

static inline double dot(const double *x, const double *y) {
    double one = 0, two = 0, three = 0, four = 0;
    int i = 0;
    for (; i + 3 < D; i += 4)
        one += x[i] * y[i], two += x[i + 1] * y[i + 1], three += x[i + 2] * y[i + 2], four += x[i + 3] * y[i + 3];
    for (; i < D; i++) one += x[i] * y[i];
    return (one + two) + (three + four);
}

static inline double width_of(const double *x) {
    for (int j = 0; j < D; j++) v[j] = root[j] * x[0];
    for (int i = 1; i < D; i++) for (int j = 0; j < D; j++) v[j] += root[i * D + j] * x[i];
    return sqrt(dot(v, v));
}

static inline void absorb(const double *x, double reward) {
    double w = width_of(x), scale = 1 + w * w, surprise = (reward - dot(estimate, x)) / scale;
    double shrink = 1 / (scale + sqrt(scale));
    for (int i = 0; i < D; i++) {
        double gain = dot(root + i * D, v);
        estimate[i] += gain * surprise;
        for (int j = 0; j < D; j++) root[i * D + j] -= gain * shrink * v[j];
    }
}

static void start_ridge(double regulariser) {
    memset(root, 0, sizeof(double) * D * D), memset(estimate, 0, sizeof(double) * D);
    for (int i = 0; i < D; i++) root[i * D + i] = 1 / sqrt(regulariser);
}

/* The optimistic step in the ellipsoid itself, for merit on [-1, 1]: ten steps along the gradient, or a search. */

static double *point, *slope, *there, *other, *step, *change, *turned, *up, *place, *favourable, *square;

static inline double cut(double x) { return fmin(fmax(x, -1), 1); }

static double earned(const double *at, double *gradient) {
    static double z[MOST], push[MOST];
    const double h = 2e-6;
    double weight = 0, sum = 0;
    for (int a = 0; a < K; a++) {
        z[a] = dot(at, contexts + a * D);
        weight += push[a] = merit(cut(z[a])), sum += push[a] * z[a];
    }
    for (int i = 0; i < D; i++) gradient[i] = 0;
    for (int a = 0; a < K; a++) {
        const double *x = contexts + a * D;
        if (-1 <= z[a] && z[a] <= 1)
            push[a] += (merit(cut(z[a] + h)) - merit(cut(z[a] - h))) / (2 * h) * (z[a] - sum / weight);
        for (int i = 0; i < D; i++) gradient[i] += push[a] / weight * x[i];
    }
    return sum / weight;
}

static void ten_steps(double radius, double *at) {
    for (int i = 0; i < D; i++) { /* Cholesky's root of the inverse */
        at[i] = estimate[i];
        for (int j = 0; j <= i; j++) {
            double rest = dot(root + i * D, root + j * D);
            for (int k = 0; k < j; k++) rest -= square[i * D + k] * square[j * D + k];
            square[i * D + j] = j < i ? rest / square[j * D + j] : sqrt(rest);
        }
    }
    for (int steps = 0; steps < 10; steps++) {
        earned(at, slope);
        for (int i = 0; i < D; i++) {
            at[i] += 0.01 * slope[i];
            double rest = at[i] - estimate[i];
            for (int j = 0; j < i; j++) rest -= square[i * D + j] * change[j];
            change[i] = rest / square[i * D + i];
        }
        double length = sqrt(dot(change, change));
        if (length > radius) for (int i = 0; i < D; i++) at[i] = estimate[i] + radius / length * (at[i] - estimate[i]);
    }
}

static double in_ellipsoid(double radius, const double *u, double *at, double *gradient) {
    double shrink = 2 / (1 + dot(u, u));
    for (int i = 0; i < D; i++) at[i] = estimate[i] + radius * shrink * dot(root + i * D, u);
    double value = earned(at, up);
    width_of(up);
    double outward = shrink * dot(v, u);
    for (int i = 0; i < D; i++) gradient[i] = radius * shrink * (v[i] - outward * u[i]);
    return value;
}

static double climb(double radius, double *u, double *at) { /* BFGS */
    double scale = 1, best = in_ellipsoid(radius, u, at, slope);
    for (int i = 0; i < D; i++) for (int j = 0; j < D; j++) square[i * D + j] = i == j;
    for (int trial = 0; trial < 300; trial++) {
        for (int i = 0; i < D; i++) step[i] = scale * dot(square + i * D, slope), there[i] = u[i] + step[i];
        if (!(dot(step, slope) > 2e-10)) break;
        double value = in_ellipsoid(radius, there, at, other);
        if (!(value > best)) {
            scale *= 0.5;
            continue;
        }
        for (int i = 0; i < D; i++) change[i] = slope[i] - other[i], u[i] = there[i], slope[i] = other[i];
        double bend = dot(step, change);
        best = value, scale = bend > 0 ? 1 : 2 * scale;
        if (bend > 0) {
            for (int i = 0; i < D; i++) turned[i] = dot(square + i * D, change);
            double along = (1 + dot(change, turned) / bend) / bend;
            for (int i = 0; i < D; i++) for (int j = 0; j < D; j++)
                square[i * D + j] += along * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / bend;
        }
    }
    return best;
}

static void best_in_ellipsoid(double radius, double *at) {
    double best = -INFINITY;
    for (int start = -1; start < K; start++) {
        if (start < 0) memset(point, 0, sizeof(double) * D);
        else {
            double length = width_of(contexts + start * D);
            for (int i = 0; i < D; i++) point[i] = 0.9 * v[i] / length;
        }
        double value = climb(radius, point, place);
        if (value > best) best = in_ellipsoid(radius, point, at, slope);
    }
}

INLINED double play_contexts(const enum kind kind) { /* on the unit sphere */
    const int judged = kind == FAIRX_LINUCB || kind == ELLIPSOID || kind == GRADIENT; /* by its probabilities */
    double regret = 0, fairness = 0, reward = 0, fair[MOST], *drawn = malloc(sizeof(double) * 2 * D), *z = drawn + D;
    start_ridge(1);
    for (long t = 1; t <= T; t++) {
        for (int a = 0; a < K; a++) {
            double length = 0, *x = contexts + a * D;
            for (int i = 0; i < D; i++) x[i] = normal(), length += x[i] * x[i];
            length = sqrt(length), means[a] = 0;
            for (int i = 0; i < D; i++) x[i] /= length, means[a] += x[i] / sqrt((double)D);
            rewards[a] = means[a] + normal();
        }
        int arm;
        if (kind == LINTS) {
            for (int i = 0; i < D; i++) z[i] = 0.5 * normal();
            for (int i = 0; i < D; i++) drawn[i] = estimate[i] + dot(root + i * D, z);
            for (int a = 0; a < K; a++) p[a] = dot(drawn, contexts + a * D);
            arm = largest(p);
        } else if (kind == ELLIPSOID || kind == GRADIENT) {
            if (kind == ELLIPSOID) best_in_ellipsoid(0.5, favourable);
            else ten_steps(0.5, favourable);
            for (int a = 0; a < K; a++) mu[a] = cut(dot(favourable, contexts + a * D));
            shares(mu, p), choose(p, &arm);
        } else {
            for (int a = 0; a < K; a++) {
                double centre = dot(estimate, contexts + a * D), reach = 0.5 * width_of(contexts + a * D);
                p[a] = centre + reach;
                low[a] = fmin(fmax(centre - reach, -1), 1), high[a] = fmin(fmax(centre + reach, -1), 1);
            }
            if (kind == LINUCB) arm = largest(p);
            else best_in_box(), shares(mu, p), choose(p, &arm);
        }
        absorb(contexts + arm * D, rewards[arm]);
        regret += means[largest(means)] - means[arm];
        if (judged) {
            shares(means, fair);
            for (int a = 0; a < K; a++) reward += (fair[a] - p[a]) * means[a], fairness += fabs(fair[a] - p[a]);
        }
    }
    volatile double kept = reward;
    (void)kept;
    free(drawn);
    return judged ? fairness : regret;
}

/* Fair-Greedy, on one candidate from each of K groups: four uniforms with the group's weights, and its bias. */

static double rank_of(int group, double reward) { /* the share of the group's candidates that bring no more */
    double rank = 0, x = reward - 16.0 / 3 * group, *w = weights + 4 * group;
    for (int set = 0; set < 16; set++) {
        double rest = x;
        int sign = 1;
        for (int i = 0; i < 4; i++) if (set >> i & 1) rest -= w[i], sign = -sign;
        if (rest > 0) rank += sign * rest * rest * rest * rest;
    }
    return rank / (24 * w[0] * w[1] * w[2] * w[3]);
}

static double fair_greedy(void) {
    double *past = malloc(sizeof(double) * T * K * D), *gained = malloc(sizeof(double) * T);
    double fairness = 0, value[MOST], ranks[MOST];
    int *played = malloc(sizeof(int) * T);
    double *noisy = calloc(D, sizeof(double));
    long known = 0;
    for (int g = 0; g < K; g++) for (int i = 0; i < 4; i++) weights[4 * g + i] = 1 + (g + i) % 3;
    start_ridge(0.1);
    for (long t = 1; t <= T; t++) {
        double *now = past + (t - 1) * K * D;
        for (int a = 0; a < K; a++) {
            double *x = now + a * D;
            memset(x, 0, sizeof(double) * D);
            means[a] = x[D - 1] = 16.0 / 3 * a;
            for (int i = 0; i < 4; i++) x[4 * a + i] = uniform(), means[a] += weights[4 * a + i] * x[4 * a + i];
            rewards[a] = means[a] + 2 * normal();
        }
        long start = (t - 1) / 2;
        if (start > known) {
            for (; known < start; known++) absorb(past + (known * K + played[known]) * D, gained[known]);
            for (int i = 0; i < D; i++) noisy[i] = estimate[i] + 1e-3 / (D * sqrt((double)start)) * normal();
        }
        for (int a = 0; a < K; a++) value[a] = dot(noisy, now + a * D), p[a] = 0;
        for (double *x = past + start * K * D; x < now; x += K * D) /* this is where the time goes */
            for (int a = 0; a < K; a++) p[a] += dot(noisy, x + a * D) <= value[a];
        int best = largest(p), ties = 0, arm = best;
        for (int a = 0; a < K; a++) if (p[a] == p[best] && uniform() * ++ties < 1) arm = a;
        played[t - 1] = arm, gained[t - 1] = rewards[arm];
        for (int a = 0; a < K; a++) ranks[a] = rank_of(a, means[a]);
        fairness += ranks[largest(ranks)] - ranks[arm];
    }
    free(past), free(gained), free(played), free(noisy);
    return fairness;
}

static double play(enum kind kind) { /* a loop of its own for each kind */
    switch (kind) {
    case UNIFORM: return play_arms(UNIFORM);
    case GREEDY: return play_arms(GREEDY);
    case UCB1: return play_arms(UCB1);
    case THOMPSON: return play_arms(THOMPSON);
    case FAIR_UCB: return play_arms(FAIR_UCB);
    case FAIRX_UCB: return play_arms(FAIRX_UCB);
    case FAIRX_TS: return play_arms(FAIRX_TS);
    case CUCB_D: return play_arms(CUCB_D);
    case MP_TS_D: return play_arms(MP_TS_D);
    case FCUCB_D: return play_arms(FCUCB_D);
    case FCTS_D: return play_arms(FCTS_D);
    case LINUCB: return play_contexts(LINUCB);
    case LINTS: return play_contexts(LINTS);
    case FAIRX_LINUCB: return play_contexts(FAIRX_LINUCB);
    case ELLIPSOID: return play_contexts(ELLIPSOID);
    case GRADIENT: return play_contexts(GRADIENT);
    default: return fair_greedy();
    }
}

int main(int count, char **given) {
    int kind = 0;
    while (count > 1 && kind < KINDS && strcmp(given[1], names[kind])) kind++;
    if (count != 12 || kind == KINDS) return fprintf(stderr, "loops KIND K L D T RUNS SEED MERIT A B DELAY\n"), 2;
    K = atoi(given[2]), L = atoi(given[3]), D = atoi(given[4]), T = atol(given[5]);
    int runs = atoi(given[6]);
    shape = given[8][0], A = atof(given[9]), B = atof(given[10]), late = atof(given[11]);
    if (K < 1 || K > MOST || L < 1 || L > K || T < 1 || runs < 1) return fprintf(stderr, "out of range\n"), 2;
    if (kind == FAIR_GREEDY) D = 4 * K + 1;
    long under_way = late > 0 ? T * L + 1 : 1;
    following = malloc(sizeof(int) * under_way), arm_of = malloc(sizeof(int) * under_way);
    due = malloc(sizeof(long) * under_way), reward_of = malloc(sizeof(double) * under_way);
    contexts = malloc(sizeof(double) * K * D), root = malloc(sizeof(double) * D * D), v = malloc(sizeof(double) * D);
    estimate = malloc(sizeof(double) * D), weights = malloc(sizeof(double) * 4 * K);
    double **vectors[] = {&point, &slope, &there, &other, &step, &change, &turned, &up, &place, &favourable};
    for (int i = 0; i < 10; i++) *vectors[i] = malloc(sizeof(double) * D);
    square = malloc(sizeof(double) * D * D);
    double *came_to = malloc(sizeof(double) * runs);
    make_layers();
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (int run = 0; run < runs; run++) seed(atol(given[7]) + 1000003L * run), came_to[run] = play(kind);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("%.3f", ((end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec) / ((double)T * runs));
    for (int run = 0; run < runs; run++) printf(" %.9g", came_to[run]);
    puts("");
    return 0;
}
