#include "config/triage/config_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_MAX = 64 }; /* bytes of a number */

static const struct {
    struct bytes suffix;
    enum config_limit_unit unit;
    double factor;
} suffixes[] = {
    {BYTES("/s"), LIMIT_PER_MINUTE, 60}, {BYTES("/min"), LIMIT_PER_MINUTE, 1},
    {BYTES("/m"), LIMIT_PER_MINUTE, 1},  {BYTES("/h"), LIMIT_PER_MINUTE, 1.0 / 60},
    {BYTES("%"), LIMIT_SHARE, 0.01},
};

static bool number(struct bytes text, double *out) {
    char memory[NUMBER_MAX], *end;
    if (text.len == 0 || text.len >= sizeof memory)
        return false;
    snprintf(memory, sizeof memory, "%.*s", BYTES_ARG(text));
    *out = strtod(memory, &end);
    return end == memory + text.len && isfinite(*out) && *out >= 0;
}

bool config_limit_parse(struct bytes text, double *out, enum config_limit_unit *unit) {
    int64_t ms;
    *unit = LIMIT_NUMBER;
    if (number(text, out))
        return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        struct bytes suffix = suffixes[i].suffix;
        if (!bytes_ends(text, suffix))
            continue;
        *unit = suffixes[i].unit;
        if (!number(bytes_trim(bytes_cut(text, 0, text.len - suffix.len)), out))
            return false;
        *out *= suffixes[i].factor;
        return isfinite(*out);
    }
    *unit = LIMIT_DURATION;
    if (!duration_parse(text, &ms))
        return false;
    *out = (double)ms / 1000;
    return true;
}

enum config_limit_unit config_limit_unit_of(enum alert_metric metric) {
    switch ((int)metric) {
    case METRIC_DLQ_OLDEST:
    case METRIC_BREAKER_OPEN:
    case METRIC_QUEUE_STALLED:
    case METRIC_SOURCE_UNREACHABLE:
        return LIMIT_DURATION;
    case METRIC_DLQ_ARRIVALS:
        return LIMIT_PER_MINUTE;
    case METRIC_DLQ_CAP_RATIO:
    case METRIC_SUCCESS_RATIO:
        return LIMIT_SHARE;
    default:
        return LIMIT_NUMBER;
    }
}
