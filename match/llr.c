// SPDX-License-Identifier: GPL-3.0-or-later
// Both fits come down to one equation in one unknown: maximising sum p_i log q_i under sum q_i = 1 and
// sum q_i phi_i = 0 gives q_i = p_i / (1 + theta phi_i), with theta the root of sum p_i phi_i / (1 + theta phi_i).
// For a mean, phi_i = a_i - score. For a deviation phi depends on q through its mean and variance (it is the
// constraint linearised at q), so that the equation is solved again and again until q stays.
#include "match/llr.h"

#include <assert.h>
#include <math.h>

enum { MAX_ROOT_STEPS = 200, MAX_FIT_STEPS = 500 };

// A fit has settled when no share changes by more than the first of these, or when the changes, below the
// second, stop falling: what is left then is rounding, which one-sided samples magnify.
static const double FitTolerance = 1e-13, FitNoise = 1e-9;

// Value and slope at theta of the equation above times (1 + theta low) (1 + theta high), which takes away the
// poles at both ends of the bracket and keeps the root.
typedef struct Secular {
    double value, slope;
} Secular;

static Secular secular_at(const Sample *p, const double *phi, double low, double high, double theta) {
    double sum = 0, sum_slope = 0;
    for (int i = 0; i < p->classes; i++) {
        double ratio = phi[i] / (1 + theta * phi[i]);
        sum += p->count[i] * ratio;
        sum_slope -= p->count[i] * ratio * ratio;
    }
    double weight = (1 + theta * low) * (1 + theta * high);
    double weight_slope = low + high + 2 * theta * low * high;
    return (Secular){sum * weight, sum_slope * weight + sum * weight_slope};
}

// The root theta for shares p: Newton from 0, kept inside a bracket that each step narrows.
static bool solve_theta(const Sample *p, const double *phi, double *root, Error *error) {
    double low = phi[0], high = phi[0];
    for (int i = 1; i < p->classes; i++) {
        low = fmin(low, phi[i]);
        high = fmax(high, phi[i]);
    }
    if (!(low < 0 && high > 0)) return error_set(error, "log-likelihood ratio: nothing obeys the hypothesis");
    double left = -1 / high, right = -1 / low, theta = 0;  // value > 0 at left, < 0 at right
    for (int step = 0; step < MAX_ROOT_STEPS; step++) {
        Secular f = secular_at(p, phi, low, high, theta);
        if (f.value == 0) break;
        if (f.value > 0) left = theta;
        else right = theta;
        double next = theta - f.value / f.slope;
        if (!(next > left && next < right)) next = left + (right - left) / 2;
        if (next == theta || next <= left || next >= right) break;  // the bracket holds no number any more
        double move = fabs(next - theta);
        theta = next;
        if (move <= 1e-15 * fabs(theta)) break;
    }
    *root = theta;
    return isfinite(theta) || error_set(error, "log-likelihood ratio: the equation has no finite root");
}

static Sample shares_of(const Sample *sample) {
    Sample p = *sample;
    double size = sample_size(sample);
    for (int i = 0; i < p.classes; i++) {
        assert(p.count[i] > 0);
        p.count[i] /= size;
    }
    return p;
}

bool fit_mean(const Sample *sample, double score, Fit *fit, Error *error) {
    Sample p = shares_of(sample);
    double phi[PENTA_CLASSES], theta;
    for (int i = 0; i < p.classes; i++) phi[i] = sample_value(&p, i) - score;
    if (!solve_theta(&p, phi, &theta, error)) return false;
    for (int i = 0; i < p.classes; i++) fit->log_ratio[i] = log1p(theta * phi[i]);
    return true;
}

bool fit_deviation(const Sample *sample, double t, Fit *fit, Error *error) {
    Sample p = shares_of(sample), q = p;
    for (int i = 0; i < q.classes; i++) q.count[i] = 1.0 / q.classes;
    double last_change = INFINITY;
    for (int step = 0; step < MAX_FIT_STEPS; step++) {
        Moments m = sample_moments(&q);
        double sigma = sqrt(m.variance), phi[PENTA_CLASSES], theta, change = 0;
        for (int i = 0; i < p.classes; i++) {
            double a = sample_value(&p, i), z = (a - m.mean) / sigma;
            phi[i] = a - 0.5 - t * sigma * (1 + z * z) / 2;
        }
        if (!solve_theta(&p, phi, &theta, error)) return false;
        for (int i = 0; i < p.classes; i++) {
            double share = p.count[i] / (1 + theta * phi[i]);
            fit->log_ratio[i] = log1p(theta * phi[i]);
            change = fmax(change, fabs(share - q.count[i]));
            q.count[i] = share;
        }
        if (change < FitTolerance || (change < FitNoise && change >= last_change)) return true;
        last_change = change;
    }
    return error_set(error, "log-likelihood ratio: the fit at t = %g did not settle", t);
}

double fit_llr(const Sample *sample, const Fit *fit0, const Fit *fit1) {
    double sum = 0;
    for (int i = 0; i < sample->classes; i++)
        sum += sample->count[i] * (fit0->log_ratio[i] - fit1->log_ratio[i]);
    return sum;
}
