#include "test.h"

#include "base/rng.h"
#include "core/envelope/envelope.h"

enum { TEXT_MAX = 1 << 20 };

#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

/* Random envelopes. Texts are hostile, but UTF-8: what is not is replaced when it is written. */

static struct bytes some_text(struct arena *arena, struct rng *rng) {
    static const char *const atoms[] = {
        "a", "\"", "\\", "\n",   "\x01", "\xc3\xa9",    "\xf0\x9f\x98\x80",
        "/", "'",  "{",  "}",    "null", "\\u0041",     "<",
        " ", ":",  ",",  "\x7f", "0",    "\xef\xbf\xbd"};
    char memory[512];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    for (uint64_t n = 1 + rng_below(rng, 20); n > 0; n--) {
        if (rng_below(rng, 20) == 0)
            buf_char(&buf, '\0');
        buf_str(&buf, atoms[rng_below(rng, sizeof atoms / sizeof *atoms)]);
    }
    return arena_dup(arena, buf_view(&buf));
}

static struct bytes maybe_text(struct arena *arena, struct rng *rng) {
    return rng_below(rng, 3) ? some_text(arena, rng) : BYTES_NONE;
}

/* What brokers keep as keys and headers need not be text. */
static struct bytes some_bytes(struct arena *arena, struct rng *rng) {
    char bytes[12];
    size_t len = rng_below(rng, sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)rng_below(rng, 256);
    return rng_below(rng, 2) ? some_text(arena, rng) : arena_dup(arena, (struct bytes){bytes, len});
}

static struct wall some_time(struct rng *rng) {
    return rng_below(rng, 3) ? (struct wall){(int64_t)(1 + rng_below(rng, 4102444800000u))}
                             : WALL_NEVER;
}

static int maybe_int(struct rng *rng) {
    return rng_below(rng, 2) ? (int)rng_below(rng, 600) : 0;
}

static int64_t maybe_ms(struct rng *rng) {
    return (int64_t)rng_below(rng, 3) - 1 ? (int64_t)rng_below(rng, 1u << 30) : -1;
}

static void some_headers(struct arena *arena, struct rng *rng, struct envelope *envelope) {
    size_t count = rng_below(rng, 5);
    struct rule_header *headers = arena_alloc(arena, (count + 1) * sizeof *headers);
    for (size_t i = 0; i < count; i++)
        headers[i] = (struct rule_header){some_text(arena, rng), some_bytes(arena, rng)};
    envelope->headers = headers;
    envelope->header_count = count;
}

static void some_history(struct arena *arena, struct rng *rng, struct envelope *envelope) {
    for (uint64_t n = rng_below(rng, ENVELOPE_HISTORY_MAX + 10); n > 0; n--) {
        uint64_t ending = rng_below(rng, 4);
        struct envelope_note note = {.attempt = (uint32_t)rng_next(rng),
                                     .replay = (uint32_t)rng_below(rng, 4),
                                     .at = some_time(rng),
                                     .duration_ms = (int64_t)rng_below(rng, 100000),
                                     .counted = rng_below(rng, 2),
                                     .ok = ending == 0,
                                     .interrupted = ending == 1,
                                     .probe = rng_below(rng, 2),
                                     .category = maybe_text(arena, rng),
                                     .error_type = maybe_text(arena, rng),
                                     .error_message = maybe_text(arena, rng),
                                     .delay_ms = maybe_ms(rng)};
        note.verdict = ending > 1 ? (enum verdict)rng_below(rng, VERDICT_COUNT) : 0;
        assert_true(envelope_note(envelope, arena, &note));
    }
}

static struct envelope some_envelope(struct arena *arena, struct rng *rng) {
    struct envelope e = {.max_attempts = 5,
                         .retry_after_ms = -1,
                         .content_hash = HASH,
                         .source = BYTES("{\"kind\":\"builtin\"}")};
    struct bytes *texts[] = {&e.letter_id, &e.dlq,      &e.category,   &e.reason,      &e.key,
                             &e.why,       &e.instance, &e.version,    &e.task_id,     &e.task_type,
                             &e.owner,     &e.rule,     &e.blocked_by, &e.content_type};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = maybe_text(arena, rng);
    if (e.key.ptr)
        e.key = some_bytes(arena, rng);
    struct wall *times[] = {&e.created_at,      &e.first_attempt_at, &e.first_failure_at,
                            &e.last_failure_at, &e.dead_at,          &e.resolved_at,
                            &e.escalated_at,    &e.next_attempt_at};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = some_time(rng);
    e.id = some_text(arena, rng);
    e.queue = some_text(arena, rng);
    e.state = (enum state)rng_below(rng, STATE_COUNT);
    if (e.state >= STATE_PENDING_REVIEW)
        e.cause = (enum cause)rng_below(rng, CAUSE_COUNT);
    e.resolution = (enum resolution)rng_below(rng, RESOLUTION_COUNT);
    e.attempts = (uint32_t)rng_next(rng);
    e.probes = (uint32_t)rng_below(rng, 12);
    e.size = rng_below(rng, INT64_MAX);
    e.delay_ms = (int64_t)rng_below(rng, 1u << 30);
    some_headers(arena, rng, &e);
    some_history(arena, rng, &e);
    if (!rng_below(rng, 2))
        return e;
    e.failed = true;
    e.kind = (enum kind)rng_below(rng, KIND_COUNT);
    e.status = maybe_int(rng);
    e.exit_code = maybe_int(rng);
    e.signal = maybe_int(rng);
    e.error_type = maybe_text(arena, rng);
    e.error_message = maybe_text(arena, rng);
    e.stack_trace = maybe_text(arena, rng);
    e.fingerprint = rng_next(rng);
    e.retry_after_ms = maybe_ms(rng);
    return e;
}

#define ASSERT_TEXT(member)                                                                        \
    do {                                                                                           \
        assert_true(bytes_eq(a->member, b->member));                                               \
    } while (0)

static void assert_same_note(const struct envelope_note *a, const struct envelope_note *b) {
    assert_true(a->attempt == b->attempt && a->replay == b->replay && a->at.ms == b->at.ms);
    assert_true(a->duration_ms == b->duration_ms && a->delay_ms == b->delay_ms);
    assert_true(a->counted == b->counted && a->ok == b->ok && a->interrupted == b->interrupted);
    assert_true(a->probe == b->probe && a->verdict == b->verdict);
    ASSERT_TEXT(category);
    ASSERT_TEXT(error_type);
    ASSERT_TEXT(error_message);
}

static void assert_same_texts(const struct envelope *a, const struct envelope *b) {
    ASSERT_TEXT(letter_id);
    ASSERT_TEXT(dlq);
    ASSERT_TEXT(category);
    ASSERT_TEXT(reason);
    ASSERT_TEXT(id);
    ASSERT_TEXT(queue);
    ASSERT_TEXT(key);
    ASSERT_TEXT(content_type);
    ASSERT_TEXT(source);
    ASSERT_TEXT(error_type);
    ASSERT_TEXT(error_message);
    ASSERT_TEXT(stack_trace);
    ASSERT_TEXT(why);
    ASSERT_TEXT(instance);
    ASSERT_TEXT(version);
    ASSERT_TEXT(task_id);
    ASSERT_TEXT(task_type);
    ASSERT_TEXT(owner);
    ASSERT_TEXT(rule);
    ASSERT_TEXT(blocked_by);
    assert_int_equal(!a->key.ptr, !b->key.ptr);
    assert_string_equal(a->content_hash, b->content_hash);
}

static void assert_same(const struct envelope *a, const struct envelope *b) {
    assert_same_texts(a, b);
    assert_true(a->state == b->state && a->cause == b->cause && a->resolution == b->resolution);
    assert_true(a->size == b->size && a->delay_ms == b->delay_ms);
    assert_true(a->failed == b->failed && a->kind == b->kind && a->status == b->status);
    assert_true(a->exit_code == b->exit_code && a->signal == b->signal);
    assert_true(a->fingerprint == b->fingerprint && a->retry_after_ms == b->retry_after_ms);
    assert_true(a->attempts == b->attempts && a->max_attempts == b->max_attempts);
    assert_true(a->crashes == b->crashes && a->replays == b->replays);
    assert_int_equal(a->probes, b->probes);
    assert_true(a->created_at.ms == b->created_at.ms && a->dead_at.ms == b->dead_at.ms);
    assert_true(a->first_attempt_at.ms == b->first_attempt_at.ms);
    assert_true(a->first_failure_at.ms == b->first_failure_at.ms);
    assert_true(a->last_failure_at.ms == b->last_failure_at.ms);
    assert_true(a->resolved_at.ms == b->resolved_at.ms);
    assert_true(a->escalated_at.ms == b->escalated_at.ms);
    assert_true(a->next_attempt_at.ms == b->next_attempt_at.ms);
    assert_int_equal(a->header_count, b->header_count);
    for (size_t i = 0; i < a->header_count; i++) {
        ASSERT_TEXT(headers[i].name);
        ASSERT_TEXT(headers[i].value);
    }
    assert_int_equal(a->history_count, b->history_count);
    for (size_t i = 0; i < a->history_count; i++)
        assert_same_note(&a->history[i], &b->history[i]);
}

static void what_is_stored_comes_back(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 20261115);
    for (int i = 0; i < 500; i++) {
        struct arena arena;
        struct buf text;
        arena_init_heap(&arena, 1 << 16);
        buf_init_heap(&text, TEXT_MAX);
        struct envelope envelope = some_envelope(&arena, &rng), back;
        envelope_store(&envelope, &text);
        assert_false(text.overflow);
        assert_int_equal(envelope_restore(buf_view(&text), &arena, &back, NULL), STATUS_OK);
        assert_same(&envelope, &back);
        buf_free(&text);
        arena_free(&arena);
    }
}

static void facts_come_back_without_what_is_long(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 20261117);
    for (int i = 0; i < 100; i++) {
        struct arena arena;
        struct buf text;
        arena_init_heap(&arena, 1 << 16);
        buf_init_heap(&text, TEXT_MAX);
        struct envelope envelope = some_envelope(&arena, &rng), back;
        envelope_store(&envelope, &text);
        assert_int_equal(envelope_restore_facts(buf_view(&text), &arena, &back, NULL), STATUS_OK);
        assert_int_equal(back.header_count + back.history_count, 0);
        back.headers = envelope.headers;
        back.header_count = envelope.header_count;
        back.history = envelope.history;
        back.history_count = envelope.history_count;
        back.source = envelope.source;
        back.context = envelope.context;
        assert_same(&envelope, &back);
        buf_free(&text);
        arena_free(&arena);
    }
}

static void stored_bytes_that_end_too_early_are_refused(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 20261116);
    struct arena arena;
    struct buf text;
    arena_init_heap(&arena, 1 << 16);
    buf_init_heap(&text, TEXT_MAX);
    struct envelope envelope = some_envelope(&arena, &rng), back;
    envelope_store(&envelope, &text);
    size_t refused = 0;
    for (size_t len = 0; len < text.len; len++) {
        struct bytes cut = {text.ptr, len};
        refused += envelope_restore(cut, &arena, &back, NULL) == STATUS_CORRUPT;
    }
    assert_true(refused > text.len / 2); /* between two members it is merely shorter */
    buf_free(&text);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_comes_back),
        cmocka_unit_test(facts_come_back_without_what_is_long),
        cmocka_unit_test(stored_bytes_that_end_too_early_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
