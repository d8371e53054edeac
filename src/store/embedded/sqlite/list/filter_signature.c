#include "store/embedded/sqlite/list/filter_signature.h"

#include "core/fingerprint.h"
#include "store/embedded/journal/crc32c.h"
#include "store/embedded/sqlite/database.h"

#define TRAIT_PLACE(name, first, bits) {first, bits},
static const struct { int first, bits; } places[TRAIT_COUNT] = {TRAITS(TRAIT_PLACE)};
#undef TRAIT_PLACE

static uint64_t most(enum trait trait) {
    return (UINT64_C(1) << places[trait].bits) - 1;
}

uint32_t filter_signature_part(int64_t traits, enum trait trait) {
    return (uint32_t)((uint64_t)traits >> places[trait].first & most(trait));
}

static int64_t put(enum trait trait, uint64_t value) {
    return (int64_t)((value & most(trait)) << places[trait].first);
}

static int64_t put_text(enum trait trait, struct bytes text) {
    return put(trait, crc32c(0, text.ptr, text.len));
}

/* The value for attempts beyond the highest number. */
static int64_t put_attempts(uint64_t attempts) {
    return put(TRAIT_ATTEMPTS, attempts < most(TRAIT_ATTEMPTS) ? attempts : most(TRAIT_ATTEMPTS));
}

/* The properties of a letter or of its row. */
struct known {
    bool escalated;
    uint32_t queue;
    struct bytes cause, category, reason, error_type, key;
    uint64_t fingerprint, attempts;
};

static int64_t fold(const struct known *known) {
    return put(TRAIT_ESCALATED, known->escalated) | put_text(TRAIT_CAUSE, known->cause) |
           put(TRAIT_QUEUE, known->queue) | put_text(TRAIT_CATEGORY, known->category) |
           put_text(TRAIT_REASON, known->reason) | put_text(TRAIT_ERROR_TYPE, known->error_type) |
           put(TRAIT_FINGERPRINT, known->fingerprint) | put_text(TRAIT_KEY, known->key) |
           put_attempts(known->attempts);
}

int64_t filter_signature_of(const struct envelope *envelope, uint32_t queue) {
    bool letter = envelope->letter_id.len > 0;
    return fold(&(struct known){
        .escalated = envelope->escalated_at.ms != 0,
        .queue = queue,
        .cause = letter ? bytes_of(cause_text(envelope->cause)) : BYTES_NONE,
        .category = envelope->category,
        .reason = envelope->reason,
        .error_type = envelope->error_type,
        .key = envelope->key,
        .fingerprint = envelope->failed ? envelope->fingerprint : 0,
        .attempts = envelope->attempts,
    });
}

int64_t filter_signature_escalated(void) {
    return put(TRAIT_ESCALATED, 1);
}

/* ---- conditions ---- */

static void want(struct filter_signature_wanted *wanted, enum trait trait, bool is_asked,
                 int64_t value) {
    if (!is_asked)
        return;
    wanted->mask |= put(trait, most(trait));
    wanted->value |= value;
}

static void want_text(struct filter_signature_wanted *wanted, enum trait trait, struct bytes text) {
    want(wanted, trait, text.len > 0, put_text(trait, text));
}

struct filter_signature_wanted filter_signature_wanted(const struct letters_query *query,
                                                       uint32_t queue) {
    struct filter_signature_wanted wanted = {.least = put_attempts(query->min_attempts)};
    want(&wanted, TRAIT_ESCALATED, query->escalated != LETTERS_ANY,
         put(TRAIT_ESCALATED, query->escalated == LETTERS_YES));
    if (query->has_cause)
        want_text(&wanted, TRAIT_CAUSE, bytes_of(cause_text(query->cause)));
    want(&wanted, TRAIT_QUEUE, query->queue.len > 0, put(TRAIT_QUEUE, queue));
    want_text(&wanted, TRAIT_CATEGORY, query->category);
    want_text(&wanted, TRAIT_ERROR_TYPE, query->error_type);
    want(&wanted, TRAIT_FINGERPRINT, query->has_fingerprint,
         put(TRAIT_FINGERPRINT, query->fingerprint));
    want_text(&wanted, TRAIT_KEY, query->key);
    return wanted;
}

bool filter_signature_is_wanted(const struct filter_signature_wanted *wanted, enum trait trait) {
    return filter_signature_part(wanted->mask, trait) != 0;
}

int64_t filter_signature_reason_mask(void) {
    return put(TRAIT_REASON, most(TRAIT_REASON));
}

int64_t filter_signature_reason(struct bytes reason) {
    return put_text(TRAIT_REASON, reason);
}

/* ---- in SQL ---- */

enum {
    OF_QUEUE,
    OF_CAUSE,
    OF_CATEGORY,
    OF_REASON,
    OF_ERROR_TYPE,
    OF_FINGERPRINT,
    OF_KEY,
    OF_ATTEMPTS,
    OF_ESCALATED,
    ARGUMENTS
};

static struct bytes text_of(sqlite3_value *value) {
    const void *text = sqlite3_value_text(value);
    return text ? (struct bytes){text, (size_t)sqlite3_value_bytes(value)} : BYTES_NONE;
}

static void letter_traits(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    struct known known = {
        .escalated = sqlite3_value_int64(values[OF_ESCALATED]) != 0,
        .queue = (uint32_t)sqlite3_value_int64(values[OF_QUEUE]),
        .cause = text_of(values[OF_CAUSE]),
        .category = text_of(values[OF_CATEGORY]),
        .reason = text_of(values[OF_REASON]),
        .error_type = text_of(values[OF_ERROR_TYPE]),
        .key = text_of(values[OF_KEY]),
        .attempts = (uint64_t)sqlite3_value_int64(values[OF_ATTEMPTS]),
    };
    (void)fingerprint_parse(text_of(values[OF_FINGERPRINT]), &known.fingerprint);
    sqlite3_result_int64(context, fold(&known));
}

enum status filter_signature_register(sqlite3 *db, struct err *err) {
    if (sqlite3_create_function_v2(db, "letter_traits", ARGUMENTS,
                                   SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC, NULL,
                                   letter_traits, NULL, NULL, NULL) != SQLITE_OK)
        return database_trouble(db, "letter_traits", err);
    return STATUS_OK;
}
