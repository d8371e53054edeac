/* selection: walks the letters that a filter, ids or `all` select. */
#include "triage/query/selection.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/decide/read_only.h"
#include "triage/query/jq_filter.h"

#define PAGE_ARENA_CHUNK ((size_t)64 * 1024)
enum { LIST_WAIT_MS = 2000, LIST_TRIES = 30, ID_SHOWN_MAX = 255 };

#define OPEN_STATES (1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING)

/* ---- setting it ---- */

void selection_init(struct selection *selection) {
    *selection = (struct selection){.all = false};
    query_init(&selection->query, QUERY_LETTERS);
}

enum status selection_set(struct selection *selection, struct bytes name, struct bytes value,
                          struct wall now, struct arena *arena, struct err *err) {
    if (bytes_is(name, "limit") || bytes_is(name, "cursor"))
        return err_set(err, STATUS_INVALID,
                       "filter: %.*s is not part of a filter; put it next to the filter",
                       BYTES_ARG(name));
    selection->filtered = true;
    return query_set(&selection->query, name, value, now, arena, err);
}

enum status selection_finish(struct selection *selection, struct err *err) {
    if (selection->id_count > 0 && (selection->filtered || selection->all))
        return err_set(err, STATUS_INVALID, "ids and a filter are mutually exclusive");
    if (selection->has_order && selection->limit == 0 && !selection->has_limit)
        return err_set(err, STATUS_INVALID, "order: only with limit");
    if (selection->filtered && selection->all)
        return err_set(err, STATUS_INVALID, "\"all\" and a filter are mutually exclusive");
    if (selection->id_count == 0 && !selection->filtered && !selection->all)
        return err_set(err, STATUS_INVALID,
                       "a filter is missing; set \"all\": true to select every letter");
    uint32_t *states = &selection->query.filter.states;
    if (selection->reading) {
        if (!selection->all)
            query_finish(&selection->query);
        return STATUS_OK;
    }
    if (*states != 0 && (*states & OPEN_STATES) == 0)
        return err_set(err, STATUS_INVALID,
                       "state: resolved and discarded letters cannot be changed; only letters in "
                       "pending_review can be selected");
    if (*states == 0)
        *states = OPEN_STATES;
    *states &= OPEN_STATES;
    return STATUS_OK;
}

/* Prefix of the cursor of a walk that went oldest first. */
#define OLDEST_MARK BYTES("oldest.")

bool selection_oldest_first(const struct selection *selection) {
    return (selection->limit > 0 || selection->behind_oldest) && !selection->newest &&
           !selection->as_given;
}

void selection_set_cursor(struct selection *selection, struct bytes cursor) {
    selection->behind_oldest = bytes_starts(cursor, OLDEST_MARK);
    selection->query.filter.cursor =
        bytes_cut(cursor, selection->behind_oldest ? OLDEST_MARK.len : 0, cursor.len);
}

static struct bytes mark_cursor(const struct selection *selection, struct bytes cursor,
                                struct arena *arena) {
    struct buf text;
    if (!cursor.ptr || !selection_oldest_first(selection))
        return cursor;
    size_t size = OLDEST_MARK.len + cursor.len;
    buf_init_fixed(&text, arena_alloc(arena, size + 1), size + 1);
    buf_bytes(&text, OLDEST_MARK);
    buf_bytes(&text, cursor);
    return buf_view(&text);
}

/* ---- by filter ---- */

struct selection_walk {
    struct triage *triage;
    const struct selection *selection;
    selection_visit *visit;
    void *arg;
    struct selection_result *result;
    bool enough;
    struct err *err;
};

static bool at_limit(const struct selection_walk *walk) {
    return walk->selection->limit > 0 && walk->result->visited == walk->selection->limit;
}

static void visit_letter(struct selection_walk *walk, uint64_t seq,
                         const struct envelope *envelope) {
    if (envelope->read_only && !walk->selection->reading) {
        walk->result->read_only++;
        return;
    }
    /* The time that `until` refers to: the arrival, for a message that is not dead. */
    int64_t at = envelope->dead_at.ms ? envelope->dead_at.ms : envelope->created_at.ms;
    if (walk->result->visited++ == 0 || at >= walk->result->until.ms)
        walk->result->until.ms = at + 1;
    walk->enough =
        !walk->visit(walk->arg, &(struct selection_letter){seq, envelope}) || at_limit(walk);
}

static void note_damaged(struct selection_walk *walk, const struct letters_row *row) {
    walk->result->damaged++;
    log_warn("letter %.*s (number %llu) is damaged, skipping it; run impound doctor for details",
             BYTES_ARG(bytes_clip(row->id, ID_SHOWN_MAX)), (unsigned long long)row->seq);
}

static void on_row(void *arg, const struct letters_row *row) {
    struct selection_walk *walk = arg;
    struct arena arena;
    struct envelope envelope;
    if (walk->enough)
        return;
    arena_init_heap(&arena, PAGE_ARENA_CHUNK);
    if (row->envelope.ptr && envelope_restore(row->envelope, &arena, &envelope, NULL) == STATUS_OK)
        visit_letter(walk, row->seq, &envelope);
    else
        note_damaged(walk, row);
    arena_free(&arena);
}

static enum status list_page(struct selection_walk *walk, const struct query *query,
                             struct arena *page, struct jq_filter_result *out) {
    struct store *store = walk->triage->store;
    struct letters_page rows;
    if (query->where.len > 0)
        return jq_filter_run(store, walk->triage->jq, query, page, on_row, walk, out, walk->err);
    enum status status = letters_list(store->letters, &query->filter, page, &rows, walk->err);
    if (status != STATUS_OK)
        return status;
    *out = (struct jq_filter_result){.cursor = rows.cursor, .behind = rows.unlisted};
    for (size_t i = 0; i < rows.count; i++)
        on_row(walk, &rows.rows[i]);
    return STATUS_OK;
}

static size_t page_size(const struct selection_walk *walk) {
    assert(walk->selection->limit == 0 || walk->result->visited < walk->selection->limit);
    uint64_t limit = walk->selection->limit;
    uint64_t left = limit > 0 ? limit - walk->result->visited : QUERY_LIMIT_MAX;
    return left < QUERY_LIMIT_MAX ? (size_t)left : QUERY_LIMIT_MAX;
}

static void note_skipped(struct selection_result *result, const struct jq_filter_result *page) {
    if (result->skipped == 0)
        result->first_skipped = page->first_skipped;
    result->skipped += page->skipped;
}

/* A lagging list answers after LIST_WAIT_MS with what it has. That is enough for reading, but a
 * change must see all letters committed before it began: it asks until a list answers in time. */
static enum status wait_for_lists(struct selection_walk *walk) {
    struct store *store = walk->triage->store;
    struct letters_query query = {.limit = 1, .letters = true, .states = OPEN_STATES};
    enum status status = STATUS_OK;
    for (int tries = 0; tries < LIST_TRIES && status == STATUS_OK; tries++) {
        struct arena page;
        struct letters_page rows;
        struct mono asked = triage_now(walk->triage).mono;
        arena_init_heap(&page, PAGE_ARENA_CHUNK);
        status = letters_list(store->letters, &query, &page, &rows, walk->err);
        arena_free(&page);
        if (triage_now(walk->triage).mono.ms - asked.ms < LIST_WAIT_MS)
            break;
    }
    return status;
}

/* A `where` given by a person may run for SELECTION_WHERE_MS. */
static bool is_out_of_time(const struct selection_walk *walk, struct mono begun) {
    return walk->selection->query.where.len > 0 && !walk->selection->by_rule &&
           triage_now(walk->triage).mono.ms - begun.ms >= SELECTION_WHERE_MS;
}

static enum status report_out_of_time(struct selection_walk *walk, uint64_t looked_at) {
    if (walk->selection->in_parts)
        return STATUS_OK;
    return err_set(walk->err, STATUS_INVALID,
                   "where: examined %llu letters in %d s, and there are more; narrow the selection "
                   "with dlq, reason, category, fingerprint, since or until, which use an index",
                   (unsigned long long)looked_at, SELECTION_WHERE_MS / 1000);
}

static enum status walk_page(struct selection_walk *walk, struct query *query, struct arena *arena,
                             uint64_t *looked_at) {
    struct arena page;
    struct jq_filter_result listed;
    arena_init_heap(&page, PAGE_ARENA_CHUNK);
    query->filter.limit = page_size(walk);
    enum status status = list_page(walk, query, &page, &listed);
    if (status == STATUS_OK) {
        query->filter.cursor = listed.cursor.ptr ? arena_dup(arena, listed.cursor) : BYTES_NONE;
        walk->result->behind = listed.behind;
        note_skipped(walk->result, &listed);
        *looked_at += listed.looked_at;
    }
    arena_free(&page);
    return status;
}

static enum status walk_filter(struct selection_walk *walk, struct arena *arena) {
    struct query query = walk->selection->query;
    struct instant begun = triage_now(walk->triage);
    size_t pages = 0, most = walk->selection->page_max;
    uint64_t looked_at = 0;
    bool late = false;
    enum status status = wait_for_lists(walk);
    query.clock = walk->triage->clock;
    query.filter.oldest_first |= selection_oldest_first(walk->selection);
    walk->result->until = begun.wall;
    while (status == STATUS_OK && !late) {
        status = walk_page(walk, &query, arena, &looked_at);
        if (!query.filter.cursor.ptr || walk->enough || ++pages == most)
            break;
        if (status == STATUS_OK && query.gone && query.gone(query.asker))
            status = err_set(walk->err, STATUS_BUSY, "the client disconnected");
        late = is_out_of_time(walk, begun.mono);
    }
    walk->result->cursor = mark_cursor(walk->selection, query.filter.cursor, arena);
    return status == STATUS_OK && late ? report_out_of_time(walk, looked_at) : status;
}

/* ---- by id ---- */

static enum status check_letter(const struct selection_walk *walk, const struct message *held,
                                struct bytes id) {
    const struct envelope *envelope = &held->envelope;
    struct err *err = walk->err;
    if (envelope->letter_id.len == 0)
        return err_set(err, STATUS_CONFLICT, "\"%.*s\" is not a dead letter", BYTES_ARG(id));
    if (!walk->selection->reading && envelope->read_only)
        return read_only_refuse(envelope, id, err);
    if (!walk->selection->reading && !(OPEN_STATES >> envelope->state & 1u))
        return err_set(err, STATUS_CONFLICT, "letter \"%.*s\" is %s already", BYTES_ARG(id),
                       state_text(envelope->state));
    return STATUS_OK;
}

/* A selected letter, by its index in `ids`. Bodies are not kept in memory, since there may be many
 * ids. */
struct selected_letter {
    uint64_t seq;
    size_t place;
};

static int newest_first(const void *a, const void *b) {
    const struct selected_letter *left = a, *right = b;
    return left->seq > right->seq ? -1 : left->seq < right->seq;
}

static int oldest_first(const void *a, const void *b) {
    return newest_first(b, a);
}

static enum status find(struct selection_walk *walk, struct bytes id, struct message **out) {
    struct store *store = walk->triage->store;
    enum status status = letters_get(store->letters, BYTES_NONE, id, out, walk->err);
    if (status == STATUS_NOT_FOUND)
        return err_set(walk->err, status, "impound holds no letter \"%.*s\"", BYTES_ARG(id));
    return status;
}

static enum status choose(struct selection_walk *walk, struct selected_letter *out) {
    for (size_t i = 0; i < walk->selection->id_count; i++) {
        struct bytes id = walk->selection->ids[i];
        struct message *held = NULL;
        enum status status = find(walk, id, &held);
        if (status != STATUS_OK)
            return status;
        status = check_letter(walk, held, id);
        out[i] = (struct selected_letter){held->seq, i};
        message_free(held);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* A duplicate id is one letter; a letter that was removed since is skipped. */
static void visit_chosen(struct selection_walk *walk, const struct selected_letter *chosen,
                         size_t count) {
    for (size_t i = 0; i < count && !walk->enough; i++) {
        struct message *held = NULL;
        if (i > 0 && chosen[i].seq == chosen[i - 1].seq)
            continue;
        if (find(walk, walk->selection->ids[chosen[i].place], &held) == STATUS_OK)
            visit_letter(walk, held->seq, &held->envelope);
        message_free(held);
    }
}

static enum status walk_ids(struct selection_walk *walk) {
    assert(walk->selection->id_count > 0);
    size_t count = walk->selection->id_count;
    struct selected_letter *chosen = memory_array(count, sizeof *chosen);
    enum status status = choose(walk, chosen);
    if (status == STATUS_OK) {
        if (!walk->selection->as_given)
            qsort(chosen, count, sizeof *chosen,
                  selection_oldest_first(walk->selection) ? oldest_first : newest_first);
        visit_chosen(walk, chosen, count);
    }
    free(chosen);
    return status;
}

/* After a cursor, letters may have been visited before. */
static bool is_all_read_only(const struct selection *selection,
                             const struct selection_result *result) {
    return result->visited == 0 && result->read_only > 0 && !selection->by_rule &&
           selection->query.filter.cursor.len == 0;
}

enum status selection_walk(struct triage *triage, const struct selection *selection,
                           selection_visit *visit, void *arg, struct arena *arena,
                           struct selection_result *result, struct err *err) {
    struct selection_walk walk = {triage, selection, visit, arg, result, false, err};
    *result = (struct selection_result){.visited = 0};
    enum status status = selection->id_count > 0 ? walk_ids(&walk) : walk_filter(&walk, arena);
    if (status == STATUS_OK && is_all_read_only(selection, result))
        status = read_only_refuse_all(result->read_only, err);
    return status;
}
