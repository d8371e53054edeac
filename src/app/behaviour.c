#include "app/behaviour.h"

#include "base/json.h"
#include "base/log.h"

enum { CHUNK = 1024, NOTE_MAX = 256, LINES_MAX = 16 * 1024 };

#define NOTE BYTES("started") /* SPACE_VERSION: {"version": …, "changes": rows of the table} */

/* ---- what a configuration uses ---- */

static bool queue_uses_errors(const struct config_queue *queue) {
    for (size_t i = 0; i < queue->policy.preset_count; i++)
        if (queue->policy.presets[i] == PRESET_ERRORS)
            return true;
    return false;
}

static bool queue_calls_http(const struct config_queue *queue) {
    return queue->handler_count > 0 && queue->handlers[0].kind == HANDLER_HTTP;
}

static bool queue_has_triage(const struct config_queue *queue) {
    for (size_t i = 0; i < queue->dlq_count; i++)
        if (queue->triage && queue->triage[i].rules.count > 0)
            return true;
    return false;
}

/* Rows are added at the end and never taken away: a store notes how many it knows. */
static const struct {
    const char *since;   /* the first version with it */
    const char *setting; /* as docs/config.md writes it */
    const char *now;     /* what it means now */
    bool (*concerns)(const struct config_queue *queue);
} changes[] = {
    {"0.1.0", "classify.presets: errors",
     "judges the exceptions of common clients by family; those that are retried count for the "
     "breaker, also from an exec worker that exits with 1; refused credentials halt the queue",
     queue_uses_errors},
    {"0.1.0", "poison.crashes",
     "a connection reset counts only while the breaker is closed and another message succeeded "
     "within the last minute on a connection opened later",
     queue_calls_http},
    {"0.1.0", "dlq.triage",
     "a rule's replay judges each letter by itself, without canary and abort unless the rule says "
     "canary, and its limit takes the oldest letters",
     queue_has_triage},
};
enum { CHANGES = sizeof changes / sizeof *changes };

void behaviour_put(const struct config *config, size_t from, struct buf *out) {
    for (size_t i = from; i < CHANGES; i++) {
        size_t count = 0;
        struct bytes first = BYTES_NONE;
        for (size_t q = 0; q < config->queue_count; q++) {
            if (!changes[i].concerns(&config->queues[q]))
                continue;
            if (count++ == 0)
                first = config->queues[q].name;
        }
        if (count == 0)
            continue;
        buf_printf(out, "changed in %s: %s (queue %.*s", changes[i].since, changes[i].setting,
                   BYTES_ARG(first));
        if (count > 1)
            buf_printf(out, " and %zu more", count - 1);
        buf_printf(out, "): %s\n", changes[i].now);
    }
}

/* ---- the store's note ---- */

/* How many rows of the table the store knows. */
static size_t rows_known(struct triage *triage, bool *noted) {
    struct store *store = triage->store;
    struct arena arena;
    struct json note, value;
    struct bytes text;
    struct err err;
    int64_t rows = 0;
    arena_init_heap(&arena, CHUNK);
    *noted = store->vtable->kept(store, 0, SPACE_VERSION, NOTE, triage_now(triage).wall, &arena,
                                 &text, &err) == STATUS_OK;
    if (!*noted || json_parse(text, &note, NULL) != STATUS_OK ||
        !json_get(note, "changes", &value) || !json_i64(value, &rows) || rows < 0)
        rows = 0;
    arena_free(&arena);
    return (size_t)rows < CHANGES ? (size_t)rows : CHANGES;
}

static void note(struct triage *triage) {
    char memory[NOTE_MAX];
    struct buf text;
    struct err err;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "{\"version\":\"%s\",\"changes\":%d}", IMPOUND_VERSION, (int)CHANGES);
    struct store_op op = {
        .kind = STORE_KEEP,
        .keep = {
            .space = SPACE_VERSION, .name = NOTE, .value = buf_view(&text), .expires = WALL_NEVER}};
    if (triage_commit(triage, &op, 1, &err) != STATUS_OK)
        log_warn("the version that started was not noted: %s", err.text);
}

static void log_changes(const struct config *config, size_t from) {
    struct buf text;
    buf_init_heap(&text, LINES_MAX);
    behaviour_put(config, from, &text);
    struct bytes rest = buf_view(&text), line;
    while (bytes_line(&rest, &line))
        log_warn("%.*s", BYTES_ARG(line));
    buf_free(&text);
}

static bool is_new(struct store *store) {
    return store->vtable->next_seq(store) <= 1;
}

void behaviour_started(struct triage *triage, const struct config *config) {
    bool noted;
    size_t known = rows_known(triage, &noted);
    if (noted && known == CHANGES)
        return;
    if (noted || !is_new(triage->store))
        log_changes(config, known);
    note(triage);
}
