#include "app/what_if/what_if_tally.h"

#include <inttypes.h>

#include "cli/view/table.h"
#include "cli/view/terminal.h"

enum { CHUNK = 16 * 1024, TEXT_MAX = 4096 };

struct what_if_row {
    struct map_node node;
    struct list link;
    struct what_if_fate was, would;
    bool same;
    uint64_t count;
    struct bytes letters[WHAT_IF_SAMPLES], messages[WHAT_IF_SAMPLES];
    struct bytes rule; /* of the first letter */
};

void what_if_tally_init(struct what_if_tally *tally) {
    *tally = (struct what_if_tally){.letters = 0};
    arena_init_heap(&tally->arena, CHUNK);
    list_init(&tally->order);
}

void what_if_tally_free(struct what_if_tally *tally) {
    map_free(&tally->rows);
    arena_free(&tally->arena);
}

/* ---- adding ---- */

static struct what_if_fate fate_was(const struct envelope *envelope) {
    return (struct what_if_fate){
        .verdict = envelope->state == STATE_DISCARDED ? VERDICT_DISCARD : VERDICT_DLQ,
        .category = envelope->category,
        .reason = envelope->reason,
        .dlq = envelope->dlq,
    };
}

/* A retry whose attempts are used up is a letter; one with attempts left is not. */
static struct what_if_fate fate_would(const struct decision *decision, struct arena *arena) {
    char memory[DECIDE_REASON_MAX];
    struct what_if_fate fate = {.verdict = decision->verdict,
                                .category = decision->category,
                                .reason = arena_dup(arena, decide_reason(decision, memory))};
    if (decision->action == ACTION_DEAD || decision->action == ACTION_DISCARD)
        fate.dlq = decision->dlq;
    if (decision->action == ACTION_DEAD)
        fate.verdict = VERDICT_DLQ;
    return fate;
}

static bool same_fate(const struct what_if_fate *a, const struct what_if_fate *b) {
    return a->verdict == b->verdict && bytes_eq(a->category, b->category) &&
           bytes_eq(a->reason, b->reason) && bytes_eq(a->dlq, b->dlq);
}

static uint64_t hash_of(const struct what_if_fate *was, const struct what_if_fate *would) {
    return bytes_hash(was->reason) * 31 + bytes_hash(was->dlq) * 17 +
           bytes_hash(would->reason) * 7 + bytes_hash(would->dlq);
}

static struct what_if_fate keep(const struct what_if_fate *fate, struct arena *arena) {
    return (struct what_if_fate){fate->verdict, arena_dup(arena, fate->category),
                                 arena_dup(arena, fate->reason), arena_dup(arena, fate->dlq)};
}

static struct what_if_row *row_of(struct what_if_tally *tally, const struct what_if_fate *was,
                                  const struct what_if_fate *would, struct bytes rule) {
    uint64_t hash = hash_of(was, would);
    for (struct map_node *at = map_first(&tally->rows, hash); at; at = map_next(at)) {
        struct what_if_row *row = CONTAINER_OF(at, struct what_if_row, node);
        if (same_fate(&row->was, was) && same_fate(&row->would, would))
            return row;
    }
    struct what_if_row *row = arena_alloc(&tally->arena, sizeof *row);
    row->was = keep(was, &tally->arena);
    row->would = keep(would, &tally->arena);
    row->same = same_fate(was, would);
    row->rule = arena_dup(&tally->arena, rule);
    list_push_back(&tally->order, &row->link);
    map_insert(&tally->rows, &row->node, hash);
    return row;
}

/* Rules see up to 4 MiB of an answer that looked like a success; a letter stores less. */
static bool is_cut(const struct envelope *envelope) {
    enum { LONGEST_CHARACTER = 4 };
    return envelope->kind == KIND_ANSWER &&
           envelope->error_message.len > OUTCOME_MESSAGE_MAX - LONGEST_CHARACTER;
}

void what_if_tally_add(struct what_if_tally *tally, const struct envelope *envelope,
                       const struct decision *decision) {
    struct arena scratch;
    arena_init_heap(&scratch, TEXT_MAX);
    struct what_if_fate was = fate_was(envelope), would = fate_would(decision, &scratch);
    struct what_if_row *row = row_of(tally, &was, &would, decision->rule_name);
    if (row->count < WHAT_IF_SAMPLES) {
        row->letters[row->count] = arena_dup(&tally->arena, envelope->letter_id);
        row->messages[row->count] = arena_dup(&tally->arena, envelope->id);
    }
    row->count++;
    tally->letters++;
    tally->changed += !row->same;
    tally->cut += is_cut(envelope);
    arena_free(&scratch);
}

/* ---- printing ---- */

static bool is_retried(const struct what_if_fate *fate) {
    return fate->verdict == VERDICT_RETRY || fate->verdict == VERDICT_FALLBACK;
}

static void put_fate(const struct what_if_fate *fate, struct table *table) {
    char memory[TEXT_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%s %.*s/%.*s", verdict_text(fate->verdict), BYTES_ARG(fate->category),
               BYTES_ARG(fate->reason));
    if (fate->dlq.len)
        buf_printf(&text, " in %.*s", BYTES_ARG(fate->dlq));
    table_cell(table, buf_view(&text));
}

static void put_row(const struct what_if_row *row, struct table *table) {
    char count[32];
    struct buf text;
    buf_init_fixed(&text, count, sizeof count);
    buf_printf(&text, "%" PRIu64, row->count);
    table_cell(table, buf_view(&text));
    put_fate(&row->was, table);
    if (row->same)
        table_cell(table, BYTES("the same"));
    else
        put_fate(&row->would, table);
    table_cell(table, is_retried(&row->would) ? BYTES("yes") : BYTES("no"));
    table_cell(table, row->rule.len ? row->rule : BYTES("none"));
    table_cell(table, row->messages[0]);
}

void what_if_tally_print(const struct what_if_tally *tally, const struct cli_env *env,
                         struct buf *out) {
    static const struct table_column columns[] = {{"LETTERS", true},   {"WAS", false},
                                                  {"WOULD BE", false}, {"RETRY", false},
                                                  {"RULE", false},     {"SUCH AS", false}};
    struct table table;
    table_init(&table, columns, sizeof columns / sizeof *columns, terminal_width(), env->color);
    LIST_EACH(at, &tally->order)
    put_row(CONTAINER_OF(at, struct what_if_row, link), &table);
    if (!list_empty(&tally->order))
        table_print(&table, out);
    table_free(&table);
    buf_printf(out, "%" PRIu64 " of %" PRIu64 " letters would become something else.\n",
               tally->changed, tally->letters);
    if (tally->no_queue)
        buf_printf(out, "%" PRIu64 " are of queues that the file does not have.\n",
                   tally->no_queue);
    if (tally->no_failure)
        buf_printf(out, "%" PRIu64 " did not die of a failure that rules look at.\n",
                   tally->no_failure);
    if (tally->cut)
        buf_printf(out,
                   "%" PRIu64
                   " have only the first 2 KiB of their answer, and were judged by them.\n",
                   tally->cut);
    buf_str(out, "Nothing was changed.\n");
}

static void json_fate(struct json_out *json, const char *key, const struct what_if_fate *fate) {
    json_key(json, key);
    json_open(json, '{');
    json_key(json, "verdict");
    json_put_str(json, verdict_text(fate->verdict));
    json_key(json, "category");
    json_put(json, fate->category);
    json_key(json, "reason");
    json_put(json, fate->reason);
    json_key(json, "dlq");
    json_put(json, fate->dlq.len ? fate->dlq : BYTES_NONE);
    json_key(json, "retry");
    json_put_bool(json, is_retried(fate));
    json_close(json, '}');
}

static void json_row(struct json_out *json, const struct what_if_row *row) {
    json_open(json, '{');
    json_fate(json, "was", &row->was);
    json_fate(json, "would_be", &row->would);
    json_key(json, "same");
    json_put_bool(json, row->same);
    json_key(json, "rule");
    json_put(json, row->rule.len ? row->rule : BYTES_NONE);
    json_key(json, "count");
    json_put_i64(json, (int64_t)row->count);
    json_key(json, "samples");
    json_open(json, '[');
    for (size_t i = 0; i < WHAT_IF_SAMPLES && i < row->count; i++)
        json_put(json, row->letters[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void what_if_tally_json(const struct what_if_tally *tally, uint64_t jq_errors, struct buf *out) {
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"letters", tally->letters},
                   {"changed", tally->changed},
                   {"same", tally->letters - tally->changed},
                   {"no_queue", tally->no_queue},
                   {"no_failure", tally->no_failure},
                   {"cut", tally->cut},
                   {"jq_errors", jq_errors}};
    struct json_out json = json_out(out);
    json_open(&json, '{');
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_key(&json, numbers[i].key);
        json_put_i64(&json, (int64_t)numbers[i].value);
    }
    json_key(&json, "changes");
    json_open(&json, '[');
    LIST_EACH(at, &tally->order)
    json_row(&json, CONTAINER_OF(at, struct what_if_row, link));
    json_close(&json, ']');
    json_close(&json, '}');
    buf_char(out, '\n');
}
