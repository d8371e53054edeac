#include "app/bench_letters.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

enum { KINDS = 10, ENVELOPE_MAX = 64 << 10 };

static const struct {
    const char *category, *reason, *error_type, *error_message;
} kinds[KINDS] = {
    {"validation", "bad_request", "ValidationError", "field amount is missing"},
    {"timeout", "max_attempts:timeout", "Timeout", "no answer within 10 s"},
    {"transient", "max_attempts:upstream_busy", "ServiceUnavailable", "try again later"},
    {"bug", "missing_key", "KeyError", "'customer'"},
    {"not_found", "not_found", "NotFound", "no such order"},
    {"unknown", "unclassified", "RuntimeError", "something happened"},
    {"unknown", "upstream_5xx", "InternalServerError", "see the log"},
    {"crash", "signal", "Signal", "killed by signal 11"},
    {"rate_limit", "max_attempts:rate_limit", "TooManyRequests", "slow down"},
    {"external", "refused_card", "CardError", "the bank said no"},
};

static const char hash[] = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

struct bench_letters *bench_letters_new(void) {
    struct bench_letters *letters = memory_new(sizeof *letters);
    for (size_t i = 0; i < LETTERS_BODY; i++)
        letters->body[i] = (char)('a' + i * 7 % 26);
    for (size_t i = 0; i < LETTERS_TEXTS; i++)
        snprintf(letters->messages[i], sizeof letters->messages[i], "%s (customer %zu)",
                 kinds[i % KINDS].error_message, i / KINDS);
    return letters;
}

static char *put_hex(char *to, uint64_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
    return to + digits;
}

/* Ids that grow with time, as UUIDv7 do. Cheap, because the generation of letters is not to be
 * measured. */
static void make_id(char *to, uint64_t number, uint64_t mark, int64_t ms) {
    uint64_t mixed = number * UINT64_C(0x9E3779B97F4A7C15);
    const struct {
        uint64_t value;
        int digits;
    } parts[] = {{(uint64_t)ms >> 16, 8},
                 {(uint64_t)ms, 4},
                 {0x7000 | (number & 0xfff), 4},
                 {mark << 12 | mixed >> 52, 4},
                 {mixed, 12}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (i > 0)
            *to++ = '-';
        to = put_hex(to, parts[i].value, parts[i].digits);
    }
    *to = '\0';
}

static void fill_failure(struct bench_letters *letters, size_t at, uint64_t number,
                         struct wall when) {
    struct envelope *envelope = &letters->envelopes[at];
    size_t kind = number % KINDS;
    envelope->category = bytes_of(kinds[kind].category);
    envelope->reason = bytes_of(kinds[kind].reason);
    envelope->failed = true;
    envelope->kind = KIND_STATUS;
    envelope->status = 500;
    envelope->error_type = bytes_of(kinds[kind].error_type);
    envelope->error_message = bytes_of(letters->messages[number % LETTERS_TEXTS]);
    envelope->fingerprint = (kind + 1) * UINT64_C(0x9E3779B97F4A7C15);
    letters->notes[at] = (struct envelope_note){.attempt = 1,
                                                .at = when,
                                                .duration_ms = 12,
                                                .counted = true,
                                                .verdict = VERDICT_DLQ,
                                                .category = envelope->category,
                                                .error_type = envelope->error_type,
                                                .error_message = envelope->error_message,
                                                .delay_ms = -1};
    envelope->history = &letters->notes[at];
    envelope->history_count = 1;
}

static void fill_one(struct bench_letters *letters, size_t at, uint32_t queue, uint64_t number,
                     struct wall when) {
    struct envelope *envelope = &letters->envelopes[at];
    make_id(letters->ids[at][0], number, 0x8, when.ms);
    make_id(letters->ids[at][1], number, 0xb, when.ms);
    *envelope = (struct envelope){.letter_id = bytes_of(letters->ids[at][1]),
                                  .dlq = LETTERS_DLQ,
                                  .state = STATE_PENDING_REVIEW,
                                  .cause = CAUSE_TERMINAL,
                                  .id = bytes_of(letters->ids[at][0]),
                                  .queue = LETTERS_QUEUE,
                                  .content_type = BYTES("application/json"),
                                  .size = LETTERS_BODY,
                                  .source = BYTES("{\"kind\":\"builtin\"}"),
                                  .retry_after_ms = -1,
                                  .attempts = 1,
                                  .max_attempts = 5,
                                  .created_at = when,
                                  .first_attempt_at = when,
                                  .first_failure_at = when,
                                  .last_failure_at = when,
                                  .dead_at = when,
                                  .rule = BYTES("http")};
    memcpy(envelope->content_hash, hash, sizeof hash);
    fill_failure(letters, at, number, when);
    letters->ops[at] = (struct store_op){.kind = STORE_PUT,
                                         .queue = queue,
                                         .envelope = envelope,
                                         .body = {letters->body, LETTERS_BODY}};
}

void bench_letters_fill(struct bench_letters *letters, uint32_t queue, uint64_t first, size_t count,
                        struct wall dead_at) {
    for (size_t i = 0; i < count; i++)
        fill_one(letters, i, queue, first + i, dead_at);
    letters->commit.ops = letters->ops;
    letters->commit.count = count;
}

size_t bench_letters_size(struct bench_letters *letters) {
    struct buf text;
    buf_init_heap(&text, ENVELOPE_MAX);
    bench_letters_fill(letters, 1, 1, 1, (struct wall){1700000000000});
    envelope_store(&letters->envelopes[0], &text);
    size_t size = text.len + LETTERS_BODY;
    buf_free(&text);
    return size;
}
