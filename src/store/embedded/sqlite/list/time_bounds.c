#include "store/embedded/sqlite/list/time_bounds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

/* Both ends inclusive; empty if `to` is less than `from`. */
struct death_span {
    int64_t from, to;
};

static const struct death_span nowhere = {INT64_MAX, INT64_MIN}, anywhere = {INT64_MIN, INT64_MAX};

struct time_bounds {
    pthread_mutex_t mutex;
    bool whole; /* true: the rows of the file are included */
    atomic_bool stopping;
    struct death_span spans[TRAIT_COUNT][FILTER_SIGNATURE_VALUES];
};

struct time_bounds *time_bounds_new(void) {
    struct time_bounds *spread = memory_new(sizeof *spread);
    pthread_mutex_init(&spread->mutex, NULL);
    for (size_t trait = 0; trait < TRAIT_COUNT; trait++)
        for (size_t value = 0; value < FILTER_SIGNATURE_VALUES; value++)
            spread->spans[trait][value] = nowhere;
    return spread;
}

void time_bounds_free(struct time_bounds *spread) {
    if (!spread)
        return;
    pthread_mutex_destroy(&spread->mutex);
    free(spread);
}

/* ---- ranges ---- */

static struct death_span join(struct death_span a, struct death_span b) {
    return (struct death_span){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

static struct death_span meet(struct death_span a, struct death_span b) {
    return (struct death_span){a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};
}

static void add(struct time_bounds *spread, const struct time_bounds_letter *letter) {
    for (int trait = 0; trait < TRAIT_COUNT; trait++) {
        struct death_span *span =
            &spread->spans[trait][filter_signature_part(letter->traits, (enum trait)trait)];
        *span = join(*span, (struct death_span){letter->dead_ms, letter->dead_ms});
    }
}

void time_bounds_add(struct time_bounds *spread, const struct time_bounds_letter *letters,
                     size_t count) {
    if (!spread || count == 0)
        return;
    pthread_mutex_lock(&spread->mutex);
    for (size_t i = 0; i < count; i++)
        add(spread, &letters[i]);
    pthread_mutex_unlock(&spread->mutex);
}

/* Letters that are written meanwhile are added by time_bounds_add, so it does not matter which of
 * them this read finds. */
enum status time_bounds_read(struct time_bounds *spread, struct database *database,
                             struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_TRAITS);
    enum status status = STATUS_OK;
    while (!atomic_load(&spread->stopping) && database_next(database, stmt, &status, err)) {
        struct time_bounds_letter letter = {sqlite3_column_int64(stmt, 0),
                                            sqlite3_column_int64(stmt, 1)};
        time_bounds_add(spread, &letter, 1);
    }
    pthread_mutex_lock(&spread->mutex);
    spread->whole = status == STATUS_OK && !atomic_load(&spread->stopping);
    pthread_mutex_unlock(&spread->mutex);
    return status;
}

void time_bounds_stop(struct time_bounds *spread) {
    atomic_store(&spread->stopping, true);
}

/* ---- queries ---- */

static struct death_span of_reasons(const struct time_bounds *spread, const struct bytes *reasons,
                                    size_t count) {
    struct death_span span = count > 0 ? nowhere : anywhere;
    for (size_t i = 0; i < count; i++)
        span = join(span, spread->spans[TRAIT_REASON][filter_signature_part(
                              filter_signature_reason(reasons[i]), TRAIT_REASON)]);
    return span;
}

static struct death_span of_attempts(const struct time_bounds *spread, int64_t least) {
    struct death_span span = nowhere;
    for (uint32_t value = filter_signature_part(least, TRAIT_ATTEMPTS);
         value < FILTER_SIGNATURE_VALUES; value++)
        span = join(span, spread->spans[TRAIT_ATTEMPTS][value]);
    return span;
}

static struct death_span of_wanted(const struct time_bounds *spread,
                                   const struct filter_signature_wanted *wanted) {
    struct death_span span = wanted->least > 0 ? of_attempts(spread, wanted->least) : anywhere;
    for (int trait = 0; trait < TRAIT_COUNT; trait++)
        if (filter_signature_is_wanted(wanted, (enum trait)trait))
            span =
                meet(span,
                     spread->spans[trait][filter_signature_part(wanted->value, (enum trait)trait)]);
    return span;
}

static void narrow(struct letters_query *query, struct death_span span) {
    if (span.from > query->since.ms)
        query->since.ms = span.from;
    if (span.to < INT64_MAX && (query->until.ms == 0 || span.to + 1 < query->until.ms))
        query->until.ms = span.to + 1;
}

bool time_bounds_narrow(struct time_bounds *spread, const struct filter_signature_wanted *wanted,
                        const struct bytes *reasons, size_t reason_count,
                        struct letters_query *query) {
    if (wanted->mask == 0 && wanted->least == 0 && reason_count == 0)
        return true;
    pthread_mutex_lock(&spread->mutex);
    struct death_span span =
        spread->whole ? meet(of_wanted(spread, wanted), of_reasons(spread, reasons, reason_count))
                      : anywhere;
    pthread_mutex_unlock(&spread->mutex);
    if (span.from > span.to)
        return false;
    narrow(query, span);
    return true;
}
