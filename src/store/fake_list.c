#include "store/fake_list.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/decide.h"
#include "core/lifecycle.h"
#include "store/tables/mark.h"
#include "store/tables/list_page.h"

enum { ENVELOPE_MAX = 64 << 20 };

struct candidate {
    struct list_page_key key;
    const struct entry *entry;
};

struct fake_scan {
    const struct tables *tables;
    const struct letters_query *query;
    struct bytes words[LIST_PAGE_WORDS_MAX];
    size_t word_count;
    bool has_cursor;
    struct list_page_key after;
    struct candidate *found;
    size_t count;
};

static bool text_is(struct bytes wanted, struct bytes actual) {
    return wanted.len == 0 || bytes_eq(wanted, actual);
}

static bool words_match(const struct fake_scan *scan, const struct envelope *envelope) {
    for (size_t i = 0; i < scan->word_count; i++) {
        if (!bytes_has_nocase(envelope->error_type, scan->words[i]) &&
            !bytes_has_nocase(envelope->error_message, scan->words[i]))
            return false;
    }
    return true;
}

static bool time_matches(const struct letters_query *query, const struct envelope *envelope) {
    int64_t at = envelope->dead_at.ms ? envelope->dead_at.ms : envelope->created_at.ms;
    return (query->since.ms == 0 || at >= query->since.ms) &&
           (query->until.ms == 0 || at < query->until.ms);
}

static bool letter_matches(const struct letters_query *query, const struct envelope *envelope) {
    bool escalated = envelope->escalated_at.ms != 0;
    return (!query->letters || envelope->letter_id.len > 0) &&
           (!query->has_cause ||
            (envelope->letter_id.len > 0 && envelope->cause == query->cause)) &&
           (query->escalated == LETTERS_ANY || escalated == (query->escalated == LETTERS_YES));
}

static bool matches(const struct fake_scan *scan, const struct envelope *envelope,
                    enum state state) {
    const struct letters_query *query = scan->query;
    return text_is(query->queue, envelope->queue) && text_is(query->dlq, envelope->dlq) &&
           (query->states == 0 || (query->states >> state & 1u)) &&
           text_is(query->category, envelope->category) &&
           decide_reason_matches(envelope->reason, query->reason_prefix) &&
           text_is(query->error_type, envelope->error_type) && text_is(query->key, envelope->key) &&
           (!query->has_fingerprint ||
            (envelope->failed && envelope->fingerprint == query->fingerprint)) &&
           envelope->attempts >= query->min_attempts && time_matches(query, envelope) &&
           letter_matches(query, envelope) && words_match(scan, envelope);
}

static int newest_first(const void *a, const void *b) {
    const struct list_page_key *left = a, *right = b;
    if (left->dead_ms != right->dead_ms)
        return left->dead_ms > right->dead_ms ? -1 : 1;
    return left->seq > right->seq ? -1 : left->seq < right->seq;
}

static int oldest_first(const void *a, const void *b) {
    return newest_first(b, a);
}

static int (*order_of(const struct letters_query *query))(const void *, const void *) {
    return query->oldest_first ? oldest_first : newest_first;
}

static void consider(struct map_node *node, void *arg) {
    struct fake_scan *scan = arg;
    const struct entry *entry = CONTAINER_OF(node, struct entry, by_seq);
    if (entry->stage != ENTRY_HELD)
        return;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct envelope envelope;
    struct list_page_key key = {.seq = entry->seq};
    if (list_page_by_death(scan->query))
        key.dead_ms = entry->facts.dead_at.ms;
    if (envelope_restore(entry->envelope.bytes, &arena, &envelope, NULL) == STATUS_OK &&
        mark_read(entry_mark(entry), &arena, &envelope, NULL) == STATUS_OK &&
        matches(scan, &envelope, entry_state(entry)) &&
        (!scan->has_cursor || order_of(scan->query)(&key, &scan->after) > 0))
        scan->found[scan->count++] = (struct candidate){key, entry};
    arena_free(&arena);
}

static struct bytes row_envelope(const struct tables *tables, const struct entry *entry,
                                 struct arena *arena) {
    struct bytes stored = arena_dup(arena, entry->envelope.bytes);
    struct envelope envelope;
    struct bytes blocked_by = tables_blocked_by(tables, entry->seq, arena);
    bool as_stored =
        entry_state(entry) == entry->facts.state && !entry->mark && blocked_by.len == 0;
    if (as_stored || envelope_restore(stored, arena, &envelope, NULL) != STATUS_OK ||
        mark_read(entry_mark(entry), arena, &envelope, NULL) != STATUS_OK)
        return stored;
    struct buf text;
    buf_init_heap(&text, ENVELOPE_MAX);
    envelope.state = entry_state(entry);
    envelope.blocked_by = blocked_by;
    envelope_store(&envelope, &text);
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static void fill(const struct fake_scan *scan, struct arena *arena, struct letters_page *out) {
    size_t count = scan->count < scan->query->limit ? scan->count : scan->query->limit;
    *out = (struct letters_page){.count = count};
    out->rows = arena_alloc(arena, (count + 1) * sizeof *out->rows);
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = scan->found[i].entry;
        out->rows[i] = (struct letters_row){.seq = entry->seq,
                                            .envelope = row_envelope(scan->tables, entry, arena)};
    }
    if (count > 0 && scan->count > count)
        out->cursor = list_page_cursor(scan->query, scan->found[count - 1].key, arena);
}

enum status fake_list(const struct tables *tables, const struct letters_query *query,
                      struct arena *arena, struct letters_page *out, struct err *err) {
    struct fake_scan scan = {.tables = tables, .query = query};
    enum status status = list_page_cursor_parse(query, &scan.has_cursor, &scan.after, err);
    if (status == STATUS_OK && query->text.len > 0)
        status = list_page_words(query->text, scan.words, &scan.word_count, err);
    if (status != STATUS_OK)
        return status;
    scan.found = memory_array(tables->by_seq.count + 1, sizeof *scan.found);
    map_each(&tables->by_seq, consider, &scan);
    qsort(scan.found, scan.count, sizeof *scan.found, order_of(query));
    fill(&scan, arena, out);
    free(scan.found);
    return STATUS_OK;
}
