#include "broker/kafka/kafka_place.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    KAFKA_PLACE_YOUNG_MS = 5000, /* since a pointer was written */
    KAFKA_PLACE_WHY_MAX = 400,   /* bytes of why a record is gone */
};

bool kafka_place_done(const struct kafka_place *place) {
    return place->next == place->count;
}

int64_t kafka_place_next(const struct kafka_place *place) {
    return place->wants[place->next].to.offset;
}

bool kafka_place_young(const struct kafka_place *place, struct wall now) {
    for (size_t i = place->next; i < place->count; i++) {
        int64_t age_ms = now.ms - place->wants[i].record->held->envelope.created_at.ms;
        if (age_ms < KAFKA_PLACE_YOUNG_MS && age_ms > -KAFKA_PLACE_YOUNG_MS)
            return true;
    }
    return false;
}

/* ---- answers ---- */

static void gone(const struct kafka_want *want, const char *why) {
    char words[sizeof(struct err) + 64];
    snprintf(words, sizeof words, "its record cannot be read any more: %s", why);
    kafka_pointer_gone(want->record->held, words);
}

static void gone_below(struct kafka_place *place, int64_t offset, const char *why) {
    while (!kafka_place_done(place) && kafka_place_next(place) < offset)
        gone(&place->wants[place->next++], why);
}

static const char *say(const struct kafka_place *place, char why[KAFKA_PLACE_WHY_MAX],
                       const char *verb, int64_t offset) {
    snprintf(why, KAFKA_PLACE_WHY_MAX, "partition %d of topic %s %s at offset %" PRId64,
             (int)place->partition, place->url.topic.ptr, verb, offset);
    return why;
}

void kafka_place_pass(struct kafka_place *place, int64_t offset) {
    char why[KAFKA_PLACE_WHY_MAX];
    snprintf(why, sizeof why, "partition %d of topic %s does not have that offset",
             (int)place->partition, place->url.topic.ptr);
    gone_below(place, offset, why);
}

void kafka_place_missing(struct kafka_place *place, const char *why) {
    while (!kafka_place_done(place))
        gone(&place->wants[place->next++], why);
}

/* From the last one down: those inside stay to be read. */
static void gone_from(struct kafka_place *place, int64_t high) {
    char why[KAFKA_PLACE_WHY_MAX];
    say(place, why, "ends", high);
    while (!kafka_place_done(place) && place->wants[place->count - 1].to.offset >= high)
        gone(&place->wants[--place->count], why);
}

void kafka_place_span(struct kafka_place *place, int64_t low, int64_t high) {
    char why[KAFKA_PLACE_WHY_MAX];
    gone_below(place, low, say(place, why, "begins", low));
    gone_from(place, high);
}

/* Two pointers may tell of one record. */
void kafka_place_take(struct kafka_place *place, const rd_kafka_message_t *record) {
    kafka_place_pass(place, record->offset);
    while (!kafka_place_done(place) && kafka_place_next(place) == record->offset) {
        struct kafka_hand_record *pointer = place->wants[place->next++].record;
        pointer->held = kafka_pointer_become(pointer->held,
                                             kafka_message_new(record, &place->head, place->pool));
    }
}
