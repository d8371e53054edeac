#include "broker/kafka/consume/partition_fetch.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PARTITION_FETCH_YOUNG_MS = 5000, /* since a pointer was written */
    PARTITION_FETCH_WHY_MAX = 400,   /* bytes of the reason */
};

bool partition_fetch_done(const struct partition_fetch *fetch) {
    return fetch->next == fetch->count;
}

int64_t partition_fetch_next(const struct partition_fetch *fetch) {
    return fetch->wants[fetch->next].to.offset;
}

bool partition_fetch_young(const struct partition_fetch *fetch, struct wall now) {
    for (size_t i = fetch->next; i < fetch->count; i++) {
        int64_t age_ms = now.ms - fetch->wants[i].record->held->envelope.created_at.ms;
        if (age_ms < PARTITION_FETCH_YOUNG_MS && age_ms > -PARTITION_FETCH_YOUNG_MS)
            return true;
    }
    return false;
}

/* ---- answers ---- */

static void gone(const struct kafka_want *want, const char *why) {
    char words[sizeof(struct err) + 64];
    snprintf(words, sizeof words, "the record can no longer be read: %s", why);
    kafka_pointer_gone(want->record->held, words);
}

static void gone_below(struct partition_fetch *fetch, int64_t offset, const char *why) {
    while (!partition_fetch_done(fetch) && partition_fetch_next(fetch) < offset)
        gone(&fetch->wants[fetch->next++], why);
}

static const char *say(const struct partition_fetch *fetch, char why[PARTITION_FETCH_WHY_MAX],
                       const char *verb, int64_t offset) {
    snprintf(why, PARTITION_FETCH_WHY_MAX, "partition %d of topic %s %s at offset %" PRId64,
             (int)fetch->partition, fetch->url.topic.ptr, verb, offset);
    return why;
}

void partition_fetch_pass(struct partition_fetch *fetch, int64_t offset) {
    char why[PARTITION_FETCH_WHY_MAX];
    snprintf(why, sizeof why, "partition %d of topic %s does not have that offset",
             (int)fetch->partition, fetch->url.topic.ptr);
    gone_below(fetch, offset, why);
}

void partition_fetch_missing(struct partition_fetch *fetch, const char *why) {
    while (!partition_fetch_done(fetch))
        gone(&fetch->wants[fetch->next++], why);
}

/* From the last one down: those inside the log are still to be read. */
static void gone_from(struct partition_fetch *fetch, int64_t high) {
    char why[PARTITION_FETCH_WHY_MAX];
    say(fetch, why, "ends", high);
    while (!partition_fetch_done(fetch) && fetch->wants[fetch->count - 1].to.offset >= high)
        gone(&fetch->wants[--fetch->count], why);
}

void partition_fetch_span(struct partition_fetch *fetch, int64_t low, int64_t high) {
    char why[PARTITION_FETCH_WHY_MAX];
    gone_below(fetch, low, say(fetch, why, "begins", low));
    gone_from(fetch, high);
}

/* Two pointers may refer to one record. */
void partition_fetch_take(struct partition_fetch *fetch, const rd_kafka_message_t *record) {
    partition_fetch_pass(fetch, record->offset);
    while (!partition_fetch_done(fetch) && partition_fetch_next(fetch) == record->offset) {
        struct kafka_inflight_record *pointer = fetch->wants[fetch->next++].record;
        pointer->held = kafka_pointer_become(pointer->held,
                                             kafka_message_new(record, &fetch->head, fetch->pool));
    }
}
