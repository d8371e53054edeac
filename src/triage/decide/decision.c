/* decision: decisions about letters. A decision and its audit entry are in one commit. The store
 * skips letters that are no longer pending_review (`from`); the audit entry's count is corrected
 * for these afterwards. */
#include "triage/decide/decision.h"

#include "base/memory.h"
#include "triage/query/audit.h"
#include "triage/decide/compensation_op.h"
#include "triage/decide/escalation.h"
#include "triage/decide/read_only.h"

#include <assert.h>
#include <stdlib.h>

enum {
    OPS_PER_COMMIT = 1000,
    OPS_BESIDE = 2 /* the audit entry and the note */,
    AUDIT_ARENA_CHUNK = 4096
};

static const struct {
    const char *name;
    struct store_mark mark;
    struct bytes after;
} kinds[] = {
    [DECISION_RESOLVE] = {"resolve",
                          {.state = STATE_RESOLVED, .resolution = RESOLUTION_BY_HAND},
                          BYTES("{\"state\":\"resolved\",\"resolution\":\"by_hand\"}")},
    [DECISION_DISCARD] = {"discard",
                          {.state = STATE_DISCARDED},
                          BYTES("{\"state\":\"discarded\"}")},
    [DECISION_ESCALATE] = {"escalate",
                           {.state = STATE_PENDING_REVIEW, .escalated = true},
                           BYTES("{\"state\":\"pending_review\",\"escalated\":true}")},
    [DECISION_COMPENSATE] = {"compensate",
                             {.state = STATE_REPLAYING},
                             BYTES("{\"state\":\"replaying\",\"compensating\":true}")},
};

const char *decision_text(enum decision_kind kind) {
    assert(kind <= DECISION_COMPENSATE);
    return kinds[kind].name;
}

static struct store_op mark_op(const struct letter_decision *ruling, uint32_t queue, uint64_t seq,
                               struct wall now) {
    struct store_op op = {.kind = STORE_MARK,
                          .queue = queue,
                          .seq = seq,
                          .from = 1u << STATE_PENDING_REVIEW,
                          .mark = kinds[ruling->kind].mark};
    op.mark.at = now;
    op.mark.why = ruling->why;
    return op;
}

static struct store_op op_of(const struct letter_decision *ruling, uint32_t queue,
                             struct message *held, struct wall now) {
    return ruling->kind == DECISION_COMPENSATE ? compensate_op(held, queue, ruling->why, now)
                                               : mark_op(ruling, queue, held->seq, now);
}

static bool can_compensate(const struct letter_decision *ruling, struct bytes queue) {
    assert(ruling->kind != DECISION_COMPENSATE || ruling->compensates);
    return ruling->kind != DECISION_COMPENSATE || ruling->compensates(ruling->arg, queue);
}

static struct audit_entry audit_of(struct triage *triage, const struct letter_decision *ruling) {
    struct audit_entry entry = {.who = ruling->who,
                                .what = kinds[ruling->kind].name,
                                .why = ruling->why,
                                .before = BYTES("{\"state\":\"pending_review\"}"),
                                .after = kinds[ruling->kind].after};
    audit_begin(triage, &entry);
    return entry;
}

/* ---- escalations ---- */

static struct escalation *escalation_of(struct triage *triage, const struct letter_decision *ruling,
                                        struct bytes dlq, struct wall now) {
    char id[UUID_TEXT_SIZE], memory[ESCALATION_WORDS_MAX];
    struct buf words;
    buf_init_fixed(&words, memory, sizeof memory);
    buf_printf(&words, "escalated by %.*s", BYTES_ARG(bytes_clip(ruling->who, 64)));
    if (ruling->why.len > 0)
        buf_printf(&words, ": %.*s", BYTES_ARG(bytes_clip(ruling->why, 160)));
    if (ruling->ticket.len == 0)
        triage_new_id(triage, now, id);
    return escalation_new(triage, ruling->ticket.len > 0 ? ruling->ticket : bytes_of(id), dlq,
                          buf_view(&words), ruling->ticket.len > 0);
}

/* ---- one ---- */

static enum status refuse_closed(const struct message *held, struct bytes id, struct err *err) {
    const struct envelope *envelope = &held->envelope;
    if (envelope->letter_id.len == 0)
        return err_set(err, STATUS_CONFLICT, "\"%.*s\" is not a dead letter; its state is %s",
                       BYTES_ARG(id), state_text(envelope->state));
    if (envelope->state == STATE_REPLAYING && envelope->compensating)
        return err_set(err, STATUS_CONFLICT, "letter \"%.*s\" is being compensated; wait for it",
                       BYTES_ARG(id));
    if (envelope->state == STATE_REPLAYING)
        return err_set(err, STATUS_CONFLICT,
                       "letter \"%.*s\" is being replayed by replay %.*s; wait for it",
                       BYTES_ARG(id), BYTES_ARG(envelope->replay));
    return err_set(err, STATUS_CONFLICT, "letter \"%.*s\" is %s already", BYTES_ARG(id),
                   state_text(envelope->state));
}

static enum status get(struct triage *triage, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err) {
    enum status status = letters_get(triage->store->letters, queue, id, out, err);
    if (status == STATUS_NOT_FOUND)
        return err_set(err, status, "impound holds no letter \"%.*s\"", BYTES_ARG(id));
    return status;
}

static enum status mark_one(struct triage *triage, const struct letter_decision *ruling,
                            struct message *held, bool *skipped, struct err *err) {
    assert(held->envelope.state == STATE_PENDING_REVIEW && !held->envelope.read_only);
    struct arena arena;
    arena_init_heap(&arena, AUDIT_ARENA_CHUNK);
    struct audit_entry entry = audit_of(triage, ruling);
    entry.subject = held->envelope.letter_id;
    entry.count = 1;
    uint32_t queue = triage->store->vtable->queue_number(triage->store, held->envelope.queue);
    struct store_op ops[3] = {op_of(ruling, queue, held, entry.at), audit_op(&entry, &arena)};
    size_t count = 2;
    if (ruling->kind == DECISION_ESCALATE) {
        struct escalation *told = escalation_of(triage, ruling, held->envelope.dlq, entry.at);
        escalation_add(told, &held->envelope);
        ops[count++] = escalation_op(told, entry.at, &arena);
        escalation_free(told);
    }
    enum status status = triage_commit(triage, ops, count, err);
    *skipped = ops[0].skipped;
    if (status == STATUS_OK && *skipped) {
        struct store_op drops[2] = {audit_drop(&entry, &arena)};
        if (count == 3)
            drops[1] = escalation_drop_op(ops[2].keep.name);
        status = triage_commit(triage, drops, count - 1, err);
    }
    arena_free(&arena);
    return status;
}

enum status decision_one(struct triage *triage, const struct letter_decision *ruling,
                         struct bytes queue, struct bytes id, struct message **held_out,
                         struct err *err) {
    struct message *held = NULL;
    bool skipped = false;
    enum status status = get(triage, queue, id, &held, err);
    if (status != STATUS_OK)
        return status;
    if (held->envelope.state != STATE_PENDING_REVIEW)
        status = refuse_closed(held, id, err);
    else if (held->envelope.read_only)
        status = read_only_refuse(&held->envelope, id, err);
    else if (!can_compensate(ruling, held->envelope.queue))
        status = err_set(err, STATUS_CONFLICT, "queue \"%.*s\" has no compensate handler",
                         BYTES_ARG(held->envelope.queue));
    else if (ruling->kind == DECISION_COMPENSATE && held->envelope.body_damaged)
        status = err_set(err, STATUS_CONFLICT,
                         "the body of letter \"%.*s\" is damaged; it cannot be compensated",
                         BYTES_ARG(id));
    else
        status = mark_one(triage, ruling, held, &skipped, err);
    struct bytes letter = held->envelope.letter_id, home = held->envelope.queue;
    if (status == STATUS_OK)
        status = get(triage, home, letter, held_out, err);
    if (status == STATUS_OK && skipped) {
        status = refuse_closed(*held_out, id, err);
        message_free(*held_out);
        *held_out = NULL;
    }
    message_free(held);
    return status;
}

/* ---- many ---- */

struct decision_batch {
    struct triage *triage;
    const struct letter_decision *ruling;
    struct decision_result *result;
    struct audit_entry entry;
    struct store_op *ops;           /* marks, then the audit entry, note and escalations */
    struct store_keep note;         /* for the next commit */
    struct escalation *escalations; /* one for each DLQ */
    size_t escalation_count;
    size_t count;
    struct message *held[DECISION_COMPENSATIONS_MAX]; /* letters of compensations */
    enum status status;
    struct err *err;
};

/* The audit entry counts the submitted marks; where the store skipped some, the next commit or a
 * last one corrects it. */
static void flush(struct decision_batch *bulk) {
    assert(bulk->count > 0 && bulk->count <= OPS_PER_COMMIT);
    struct arena arena;
    arena_init_heap(&arena, AUDIT_ARENA_CHUNK);
    bulk->entry.count = bulk->result->changed + bulk->count;
    size_t count = bulk->count;
    bulk->ops[count++] = audit_op(&bulk->entry, &arena);
    if (bulk->note.name.len > 0)
        bulk->ops[count++] = (struct store_op){.kind = STORE_KEEP, .keep = bulk->note};
    for (const struct escalation *told = bulk->escalations; told; told = told->next)
        bulk->ops[count++] = escalation_op(told, triage_now(bulk->triage).wall, &arena);
    bulk->status = triage_commit(bulk->triage, bulk->ops, count, bulk->err);
    bulk->note = (struct store_keep){.name = BYTES_NONE};
    for (size_t i = 0; i < bulk->count && bulk->status == STATUS_OK; i++) {
        bulk->result->changed += !bulk->ops[i].skipped;
        bulk->result->busy += bulk->ops[i].skipped;
    }
    for (size_t i = 0; i < DECISION_COMPENSATIONS_MAX; i++) {
        message_free(bulk->held[i]);
        bulk->held[i] = NULL;
    }
    bulk->count = 0;
    arena_free(&arena);
}

/* Reads the letter again, since the list may lag. */
static void add_compensation(struct decision_batch *bulk, const struct envelope *listed,
                             uint32_t queue) {
    assert(bulk->count < DECISION_COMPENSATIONS_MAX && !bulk->held[bulk->count]);
    struct store *store = bulk->triage->store;
    struct message **held = &bulk->held[bulk->count];
    enum status status =
        letters_get(store->letters, listed->queue, listed->letter_id, held, bulk->err);
    if (status == STATUS_NOT_FOUND) {
        bulk->result->busy++;
    } else if (status != STATUS_OK) {
        bulk->status = status;
    } else if ((*held)->envelope.body_damaged) {
        message_free(*held);
        *held = NULL;
    } else {
        bulk->ops[bulk->count++] = compensate_op(*held, queue, bulk->ruling->why, bulk->entry.at);
    }
    if (bulk->count == DECISION_COMPENSATIONS_MAX)
        flush(bulk);
}

static void note_escalation(struct decision_batch *bulk, const struct envelope *letter) {
    struct escalation *told = bulk->escalations;
    while (told && !bytes_eq(told->dlq, letter->dlq))
        told = told->next;
    if (!told) {
        told = escalation_of(bulk->triage, bulk->ruling, letter->dlq, bulk->entry.at);
        told->next = bulk->escalations;
        bulk->escalations = told;
        bulk->escalation_count++;
        bulk->ops = memory_grow(bulk->ops, (OPS_PER_COMMIT + OPS_BESIDE + bulk->escalation_count) *
                                               sizeof *bulk->ops);
    }
    escalation_add(told, letter);
}

static void free_escalations(struct decision_batch *bulk) {
    struct escalation *next;
    for (struct escalation *told = bulk->escalations; told; told = next) {
        next = told->next;
        escalation_free(told);
    }
}

static void add(struct decision_batch *bulk, const struct selection_letter *letter) {
    struct store *store = bulk->triage->store;
    uint32_t queue = store->vtable->queue_number(store, letter->envelope->queue);
    if (bulk->ruling->kind == DECISION_COMPENSATE) {
        add_compensation(bulk, letter->envelope, queue);
        return;
    }
    if (bulk->ruling->kind == DECISION_ESCALATE)
        note_escalation(bulk, letter->envelope);
    bulk->ops[bulk->count++] = mark_op(bulk->ruling, queue, letter->seq, bulk->entry.at);
    if (bulk->count == OPS_PER_COMMIT)
        flush(bulk);
}

static bool visit(void *arg, const struct selection_letter *letter) {
    struct decision_batch *bulk = arg;
    bulk->result->matched++;
    if (letter->envelope->state != STATE_PENDING_REVIEW) {
        bulk->result->busy++;
    } else if (!can_compensate(bulk->ruling, letter->envelope->queue)) {
        bulk->result->unable++;
    } else if (bulk->ruling->dry_run) {
        bulk->result->changed++;
    } else {
        add(bulk, letter);
    }
    return bulk->status == STATUS_OK;
}

static enum status correct_audit(struct decision_batch *bulk) {
    struct arena arena;
    arena_init_heap(&arena, AUDIT_ARENA_CHUNK);
    bulk->entry.count = bulk->result->changed;
    struct store_op op =
        bulk->entry.count > 0 ? audit_op(&bulk->entry, &arena) : audit_drop(&bulk->entry, &arena);
    enum status status = triage_commit(bulk->triage, &op, 1, bulk->err);
    arena_free(&arena);
    return status;
}

/* Whether the store's counters are enough, so that the letters need not be listed. */
static bool is_countable(const struct letter_decision *ruling) {
    const struct selection *selection = &ruling->selection;
    return ruling->dry_run && ruling->kind != DECISION_COMPENSATE && selection->id_count == 0 &&
           selection->limit == 0 && selection->page_max == 0 && selection->query.where.len == 0 &&
           selection->query.filter.cursor.len == 0;
}

/* Counts a dry run by the store's counters. False: the letters must be listed, because only
 * envelopes say which adopted letters are read-only, or because the lists lag (walking waits for
 * them). */
static bool count(struct triage *triage, const struct letter_decision *ruling,
                  struct decision_result *result) {
    struct letters_sum sum;
    struct err err;
    struct wall now = triage_now(triage).wall;
    if (!is_countable(ruling) ||
        letters_sum(triage->store->letters, &ruling->selection.query.filter, &sum, &err) !=
            STATUS_OK ||
        sum.adopted > 0 || sum.unlisted > 0)
        return false;
    result->changed = sum.count[STATE_PENDING_REVIEW];
    result->busy = sum.count[STATE_REPLAYING];
    result->matched = result->walked.visited = result->changed + result->busy;
    result->walked.until = result->matched > 0 ? (struct wall){sum.newest.ms + 1} : now;
    return true;
}

enum status decision_many(struct triage *triage, const struct letter_decision *ruling,
                          struct arena *arena, struct decision_result *result, struct err *err) {
    *result = (struct decision_result){.matched = 0};
    if (count(triage, ruling, result))
        return STATUS_OK;
    struct decision_batch bulk = {.triage = triage,
                                  .ruling = ruling,
                                  .result = result,
                                  .entry = audit_of(triage, ruling),
                                  .ops =
                                      memory_array(OPS_PER_COMMIT + OPS_BESIDE, sizeof *bulk.ops),
                                  .note = ruling->note,
                                  .err = err};
    bulk.entry.filter = ruling->selection.as_json;
    enum status status =
        selection_walk(triage, &ruling->selection, visit, &bulk, arena, &result->walked, err);
    if (bulk.count > 0 && bulk.status == STATUS_OK)
        flush(&bulk);
    if (bulk.status != STATUS_OK)
        status = bulk.status;
    if (status == STATUS_OK && bulk.entry.count != result->changed && !ruling->dry_run)
        status = correct_audit(&bulk);
    free(bulk.ops);
    free_escalations(&bulk);
    return status;
}
