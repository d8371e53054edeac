#include "store/tables/counters/ages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MERGE_MIN = 2048, FIRST_CAP = 16 };

void ages_free(struct ages *ages) {
    free(ages->spans);
    *ages = (struct ages){0};
}

static int64_t floor_to(int64_t ms, int64_t width) {
    int64_t rest = ms % width;
    return ms - (rest < 0 ? rest + width : rest);
}

/* The first span that ends after `ms`: the span that contains it, or the one before which a new
 * span is inserted. */
static size_t place_of(const struct ages *ages, int64_t ms) {
    size_t low = 0, high = ages->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ages->spans[middle].end_ms <= ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(const struct ages *ages, size_t place, int64_t ms) {
    return place < ages->count && ages->spans[place].start_ms <= ms;
}

/* The width for a span of this age, relative to the newest span. */
static int64_t width_at(int64_t age_ms) {
    return age_ms > AGES_COARSE_MS ? AGES_OLD_SPAN_MS
           : age_ms > AGES_FINE_MS ? AGES_COARSE_SPAN_MS
                                   : AGES_FINE_SPAN_MS;
}

/* A span is widened only if all of its new width is old enough, so that spans never overlap. */
static void widen(struct ages_span *span, int64_t newest_ms) {
    int64_t width = width_at(newest_ms - span->end_ms);
    int64_t start = floor_to(span->start_ms, width);
    while (width > span->end_ms - span->start_ms && width_at(newest_ms - start - width) < width) {
        width = width == AGES_OLD_SPAN_MS ? AGES_COARSE_SPAN_MS : AGES_FINE_SPAN_MS;
        start = floor_to(span->start_ms, width);
    }
    if (width > span->end_ms - span->start_ms) {
        span->start_ms = start;
        span->end_ms = start + width;
    }
}

/* Removes empty spans, and widens spans that are old relative to the newest to minutes and hours.
 */
static void merge(struct ages *ages) {
    int64_t newest = ages->spans[ages->count - 1].end_ms;
    size_t kept = 0;
    for (size_t i = 0; i < ages->count; i++) {
        struct ages_span span = ages->spans[i];
        if (span.count == 0)
            continue;
        widen(&span, newest);
        struct ages_span *last = kept ? &ages->spans[kept - 1] : NULL;
        if (last && last->start_ms == span.start_ms)
            last->count += span.count;
        else
            ages->spans[kept++] = span;
    }
    ages->count = kept;
    ages->merge_at = 2 * kept > MERGE_MIN ? 2 * kept : MERGE_MIN;
    ages->merged = true;
}

static void insert_span(struct ages *ages, size_t place, int64_t start_ms, int64_t end_ms) {
    if (ages->count == ages->cap) {
        ages->cap = ages->cap ? 2 * ages->cap : FIRST_CAP;
        ages->spans = memory_grow(ages->spans, ages->cap * sizeof *ages->spans);
    }
    memmove(&ages->spans[place + 1], &ages->spans[place],
            (ages->count - place) * sizeof *ages->spans);
    ages->spans[place] = (struct ages_span){.start_ms = start_ms, .end_ms = end_ms};
    ages->count++;
}

static void count_in(struct ages_span *span, int64_t dead_ms, uint64_t count) {
    if (span->count == 0 || dead_ms < span->oldest_ms)
        span->oldest_ms = dead_ms;
    span->count += count;
    span->changed = true;
}

bool ages_restore(struct ages *ages, const struct ages_span *span) {
    size_t place = ages->count;
    if (span->end_ms <= span->start_ms ||
        (place > 0 && ages->spans[place - 1].end_ms > span->start_ms))
        return false;
    insert_span(ages, place, span->start_ms, span->end_ms);
    count_in(&ages->spans[place], span->oldest_ms, span->count);
    ages->spans[place].changed = false;
    return true;
}

/* Spans begin and end on whole seconds, so they never overlap in part. */
static void insert_second(struct ages *ages, size_t place, int64_t start_ms) {
    insert_span(ages, place, start_ms, start_ms + AGES_FINE_SPAN_MS);
}

void ages_add(struct ages *ages, int64_t dead_ms) {
    if (ages->count > 0 && ages->count >= ages->merge_at)
        merge(ages);
    size_t place = place_of(ages, dead_ms);
    if (!holds(ages, place, dead_ms))
        insert_second(ages, place, floor_to(dead_ms, AGES_FINE_SPAN_MS));
    count_in(&ages->spans[place], dead_ms, 1);
}

bool ages_remove(struct ages *ages, int64_t dead_ms) {
    size_t place = place_of(ages, dead_ms);
    if (!holds(ages, place, dead_ms) || ages->spans[place].count == 0)
        return false;
    ages->spans[place].count--;
    ages->spans[place].changed = true;
    return true;
}

struct wall ages_oldest(const struct ages *ages) {
    for (size_t i = 0; i < ages->count; i++) {
        if (ages->spans[i].count > 0)
            return (struct wall){ages->spans[i].oldest_ms};
    }
    return WALL_NEVER;
}

uint64_t ages_after(const struct ages *ages, int64_t since_ms) {
    uint64_t sum = 0;
    for (size_t i = ages->count; i > 0 && ages->spans[i - 1].end_ms > since_ms; i--) {
        if (ages->spans[i - 1].oldest_ms > since_ms)
            sum += ages->spans[i - 1].count;
    }
    return sum;
}
