/* POST /v1/messages/{id}/bury, /discard and /retry, and the same in bulk: messages that wait or are
 * leased (SEMANTICS 4.8). The engine takes the messages out of its queues, or makes them due;
 * triage takes them out of queues that are no longer configured. This file selects them. */
#include "server/api/call.h"

#include <assert.h>
#include <pthread.h>

#include "base/json/json_member.h"
#include "server/api/json/decision_order.h"
#include "server/api/json/view_json.h"
#include "server/api/name_check.h"
#include "triage/decide/orphan_removal.h"

/* The engine holds the bodies of all messages of one request in memory. */
enum { AT_ONCE = 500, BYTES_AT_ONCE = 16 << 20, PER_CALL_MAX = 10000 };

#define WAITING_STATES                                                                             \
    (1u << STATE_QUEUED | 1u << STATE_PENDING_RETRY | 1u << STATE_RUNNING | 1u << STATE_RETRYING)

struct removal_action {
    const char *name, *audited;
    const char *after; /* the new state, for the audit */
};

static const struct removal_action *action_of(enum engine_request_kind kind) {
    static const struct removal_action bury = {"bury", "message.bury",
                                               "{\"state\":\"pending_review\"}"},
                                       discard = {"discard", "message.discard",
                                                  "{\"state\":\"discarded\"}"},
                                       retry = {"retry", "message.retry",
                                                "{\"state\":\"pending_retry\"}"};
    return kind == ENGINE_BURY ? &bury : kind == ENGINE_RETRY ? &retry : &discard;
}

static struct audit_entry audit_of(struct request *request, enum engine_request_kind kind,
                                   struct bytes why) {
    struct audit_entry entry = {.who = request->actor,
                                .what = action_of(kind)->audited,
                                .why = why,
                                .after = bytes_of(action_of(kind)->after)};
    audit_begin(request->server->options.triage, &entry);
    return entry;
}

static const struct store_keep *keep_of(const struct audit_entry *entry, struct arena *arena) {
    struct store_op *op = arena_alloc(arena, sizeof *op);
    *op = audit_op(entry, arena);
    return &op->keep;
}

/* A retry needs no reason. */
static enum decision_why why_of(enum engine_request_kind kind) {
    return kind == ENGINE_RETRY ? WHY_OPTIONAL : WHY_NEEDED;
}

/* ---- one ---- */

/* Runs on the engine's thread; a worker reads the store. */
static void removed(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    struct engine_removal *removal = asked->removal;
    if (status == STATUS_OK && removal->status == STATUS_OK && removal->spilled.len > 0) {
        buf_bytes(&request->out, buf_view(&removal->spilled));
        buf_free(&removal->spilled);
        request_answer(request, 200);
    } else if (status == STATUS_OK && removal->status == STATUS_OK) {
        request->work = call_messages_show;
        workers_pass(request->server->workers, request);
    } else if (status == STATUS_OK) {
        request_problem(request, removal->status, "message \"%.*s\": %s",
                        BYTES_ARG(bytes_clip(request->params[0], REQUEST_QUOTE_MAX)),
                        removal->err.text);
    } else {
        request_problem(request, status, "%s", asked->err.text);
    }
}

static struct bytes state_json(enum state state, struct arena *arena) {
    enum { SIZE = 64 };
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, SIZE), SIZE);
    buf_printf(&text, "{\"state\":\"%s\"}", state_text(state));
    return buf_view(&text);
}

/* The queue is no longer configured: the engine does not have it. */
static bool is_orphan(const struct request *request, struct bytes queue) {
    uint32_t number;
    return !queue_index_find(request->server->queues, queue, &number);
}

/* Why the message cannot be retried now; NULL: it can, or no retry was requested. The engine checks
 * again, since the message may change meanwhile. */
static const char *keeps_from_retry(const struct request *request, enum engine_request_kind kind,
                                    const struct envelope *envelope) {
    if (kind != ENGINE_RETRY)
        return NULL;
    if (is_orphan(request, envelope->queue))
        return "its queue is not in the configuration; nothing can be handed over";
    return envelope_keeps_from_retry(envelope);
}

static void remove_orphan(struct request *request, bool bury, uint64_t seq,
                          const struct audit_entry *entry) {
    struct orphan_order order = {.bury = bury, .why = entry->why, .entry = entry};
    struct err outcome, err;
    enum status status =
        orphan_remove(request->server->options.triage, &order, &seq, 1, &outcome, &err);
    if (status != STATUS_OK)
        request_problem(request, status, "%s", err.text);
    else if (outcome.status != STATUS_OK)
        request_problem(request, outcome.status, "message \"%.*s\": %s",
                        BYTES_ARG(bytes_clip(request->params[0], REQUEST_QUOTE_MAX)), outcome.text);
    else
        call_messages_show(request);
}

static void ask_one(struct request *request, enum engine_request_kind kind,
                    const struct message *held, struct bytes why) {
    struct arena *arena = &request->arena;
    struct engine_request *asked = arena_alloc(arena, sizeof *asked);
    struct engine_removal *removal = arena_alloc(arena, sizeof *removal);
    struct audit_entry entry = audit_of(request, kind, why);
    entry.subject = held->envelope.id;
    entry.count = 1;
    entry.before = state_json(held->envelope.state, arena);
    if (is_orphan(request, held->envelope.queue)) {
        assert(kind != ENGINE_RETRY);
        remove_orphan(request, kind == ENGINE_BURY, held->seq, &entry);
        return;
    }
    *removal = (struct engine_removal){.seq = held->seq};
    *asked = (struct engine_request){.kind = kind,
                                     .queue = arena_dup(arena, held->envelope.queue),
                                     .why = why,
                                     .keep = keep_of(&entry, arena),
                                     .removal = removal,
                                     .removal_count = 1,
                                     .done = removed,
                                     .arg = request};
    engine_ask(request->server->options.engine, asked);
}

static void refuse_letter(struct request *request, enum engine_request_kind kind,
                          const struct envelope *envelope) {
    request_problem(request, STATUS_CONFLICT, "\"%.*s\" is a letter already (%s)%s",
                    BYTES_ARG(bytes_clip(request->params[0], REQUEST_QUOTE_MAX)),
                    state_text(envelope->state),
                    kind == ENGINE_RETRY ? "; use replay to try it again" : "");
}

static bool refuse_retry(struct request *request, enum engine_request_kind kind,
                         const struct envelope *envelope) {
    const char *why = keeps_from_retry(request, kind, envelope);
    if (why)
        request_problem(request, STATUS_CONFLICT, "message \"%.*s\": %s",
                        BYTES_ARG(bytes_clip(request->params[0], REQUEST_QUOTE_MAX)), why);
    return why != NULL;
}

static void remove_one(struct request *request, enum engine_request_kind kind) {
    struct store *store = request->server->options.store;
    struct message *held = NULL;
    struct decision_order order;
    struct err err;
    if (!name_check_queue(request, request_arg(request, "queue")))
        return;
    enum status status =
        letters_get(store->letters, request_arg(request, "queue"), request->params[0], &held, &err);
    if (status == STATUS_NOT_FOUND)
        request_problem(request, status,
                        "impound holds no message \"%.*s\": it may still be at its broker, have "
                        "succeeded, or have been spilled",
                        BYTES_ARG(bytes_clip(request->params[0], REQUEST_QUOTE_MAX)));
    else if (status != STATUS_OK)
        request_problem(request, status, "%s", err.text);
    else if (held->envelope.letter_id.len > 0 && kind == ENGINE_DISCARD)
        call_letter_discard(request);
    else if (held->envelope.letter_id.len > 0)
        refuse_letter(request, kind, &held->envelope);
    else if (!refuse_retry(request, kind, &held->envelope) &&
             decision_order_read_one(request, why_of(kind), &order))
        ask_one(request, kind, held, order.why);
    message_free(held);
}

void call_message_bury(struct request *request) {
    remove_one(request, ENGINE_BURY);
}

void call_message_discard(struct request *request) {
    remove_one(request, ENGINE_DISCARD);
}

void call_message_retry(struct request *request) {
    remove_one(request, ENGINE_RETRY);
}

/* ---- many messages ---- */

struct removal_bulk {
    struct request *request;
    enum engine_request_kind kind;
    const struct decision_order *order;
    struct audit_entry entry;
    struct engine_removal removals[AT_ONCE]; /* all of one queue */
    size_t count;
    uint64_t bytes;     /* of their bodies */
    struct bytes queue; /* in the request's arena */
    uint64_t matched, changed, busy;
    bool audited;
    enum status status;
    struct err *err;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool answered; /* under the mutex */
};

static void on_answer(struct engine_request *asked, enum status status) {
    struct removal_bulk *bulk = asked->arg;
    pthread_mutex_lock(&bulk->mutex);
    bulk->status = status;
    bulk->answered = true;
    pthread_cond_signal(&bulk->cond);
    pthread_mutex_unlock(&bulk->mutex);
}

static void await(struct removal_bulk *bulk) {
    pthread_mutex_lock(&bulk->mutex);
    while (!bulk->answered)
        pthread_cond_wait(&bulk->cond, &bulk->mutex);
    pthread_mutex_unlock(&bulk->mutex);
}

static void ask_engine(struct removal_bulk *bulk) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct engine_request asked = {.kind = bulk->kind,
                                   .queue = bulk->queue,
                                   .why = bulk->order->why,
                                   .keep = keep_of(&bulk->entry, &arena),
                                   .removal = bulk->removals,
                                   .removal_count = bulk->count,
                                   .done = on_answer,
                                   .arg = bulk};
    bulk->answered = false;
    engine_ask(bulk->request->server->options.engine, &asked);
    await(bulk);
    if (bulk->status != STATUS_OK)
        *bulk->err = asked.err;
    arena_free(&arena);
}

static void remove_orphans(struct removal_bulk *bulk) {
    assert(bulk->kind != ENGINE_RETRY);
    struct orphan_order order = {
        .bury = bulk->kind == ENGINE_BURY, .why = bulk->order->why, .entry = &bulk->entry};
    uint64_t seqs[ORPHAN_REMOVALS_MAX];
    struct err outcomes[ORPHAN_REMOVALS_MAX];
    for (size_t from = 0, count; from < bulk->count && bulk->status == STATUS_OK; from += count) {
        count = bulk->count - from;
        count = count < ORPHAN_REMOVALS_MAX ? count : ORPHAN_REMOVALS_MAX;
        for (size_t i = 0; i < count; i++)
            seqs[i] = bulk->removals[from + i].seq;
        bulk->status = orphan_remove(bulk->request->server->options.triage, &order, seqs, count,
                                     outcomes, bulk->err);
        for (size_t i = 0; i < count; i++)
            bulk->removals[from + i].status = outcomes[i].status;
    }
}

/* The audit entry has the number of messages requested; if some were left unchanged, finish
 * corrects it. */
static void flush(struct removal_bulk *bulk) {
    if (bulk->count == 0)
        return;
    bulk->entry.count = bulk->changed + bulk->count;
    if (is_orphan(bulk->request, bulk->queue))
        remove_orphans(bulk);
    else
        ask_engine(bulk);
    for (size_t i = 0; i < bulk->count && bulk->status == STATUS_OK; i++) {
        bulk->changed += bulk->removals[i].status == STATUS_OK;
        bulk->busy += bulk->removals[i].status != STATUS_OK;
        buf_free(&bulk->removals[i].spilled);
    }
    bulk->audited = true;
    bulk->count = 0;
    bulk->bytes = 0;
}

static bool is_full(const struct removal_bulk *bulk, uint64_t size) {
    return bulk->count == AT_ONCE || (bulk->count > 0 && bulk->bytes + size > BYTES_AT_ONCE);
}

static bool add(struct removal_bulk *bulk, uint64_t seq, struct bytes queue, uint64_t size) {
    bulk->matched++;
    if (bulk->order->dry_run) {
        bulk->changed++;
        return true;
    }
    if (is_full(bulk, size) || !bytes_eq(bulk->queue, queue))
        flush(bulk);
    if (!bytes_eq(bulk->queue, queue))
        bulk->queue = arena_dup(&bulk->request->arena, queue);
    bulk->removals[bulk->count++] = (struct engine_removal){.seq = seq};
    bulk->bytes += size;
    return bulk->status == STATUS_OK;
}

static bool visit(void *arg, const struct selection_letter *message) {
    struct removal_bulk *bulk = arg;
    if (keeps_from_retry(bulk->request, bulk->kind, message->envelope)) {
        bulk->matched++;
        bulk->busy++;
        return true;
    }
    return add(arg, message->seq, message->envelope->queue, message->envelope->size);
}

/* ---- by id ---- */

struct named {
    uint64_t seq;
    struct bytes queue;
    uint64_t size;
};

static enum status find(struct removal_bulk *bulk, struct bytes id, struct named *out) {
    struct store *store = bulk->request->server->options.store;
    struct message *held = NULL;
    enum status status = letters_get(store->letters, BYTES_NONE, id, &held, bulk->err);
    if (status == STATUS_NOT_FOUND)
        status = err_set(bulk->err, status, "impound holds no message \"%.*s\"", BYTES_ARG(id));
    if (status == STATUS_OK && held->envelope.letter_id.len > 0)
        status = err_set(bulk->err, STATUS_CONFLICT, "\"%.*s\" is a letter (%s)", BYTES_ARG(id),
                         state_text(held->envelope.state));
    const char *why =
        status == STATUS_OK ? keeps_from_retry(bulk->request, bulk->kind, &held->envelope) : NULL;
    if (why)
        status = err_set(bulk->err, STATUS_CONFLICT, "message \"%.*s\": %s", BYTES_ARG(id), why);
    if (status == STATUS_OK)
        *out = (struct named){held->seq, arena_dup(&bulk->request->arena, held->envelope.queue),
                              held->envelope.size};
    message_free(held);
    return status;
}

/* All ids are looked up before the first message is changed. */
static enum status walk_ids(struct removal_bulk *bulk) {
    const struct selection *selection = &bulk->order->selection;
    struct named *named = arena_alloc(&bulk->request->arena, selection->id_count * sizeof *named);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < selection->id_count && status == STATUS_OK; i++)
        status = find(bulk, selection->ids[i], &named[i]);
    for (size_t i = 0; i < selection->id_count && status == STATUS_OK; i++)
        if (!add(bulk, named[i].seq, named[i].queue, named[i].size))
            break;
    return status;
}

static enum status finish(struct removal_bulk *bulk) {
    struct triage *triage = bulk->request->server->options.triage;
    if (bulk->status == STATUS_OK)
        flush(bulk);
    if (bulk->status != STATUS_OK || !bulk->audited || bulk->entry.count == bulk->changed)
        return bulk->status;
    bulk->entry.count = bulk->changed;
    struct store_op op = bulk->changed > 0 ? audit_op(&bulk->entry, &bulk->request->arena)
                                           : audit_drop(&bulk->entry, &bulk->request->arena);
    return triage_commit(triage, &op, 1, bulk->err);
}

static void put_result(const struct removal_bulk *bulk, const struct selection_result *walked) {
    struct request *request = bulk->request;
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "action");
    json_put_str(&json, action_of(bulk->kind)->name);
    json_key(&json, "dry_run");
    json_put_bool(&json, bulk->order->dry_run);
    view_json_number(&json, "matched", bulk->matched);
    view_json_number(&json, "count", bulk->changed);
    view_json_number(&json, "busy", bulk->busy);
    json_key(&json, "cursor");
    json_put(&json, walked->cursor);
    view_json_walked(&json, walked);
    if (bulk->order->dry_run && bulk->order->selection.id_count == 0)
        json_member_time(&json, "until", walked->until);
    json_close(&json, '}');
    request_answer(request, 200);
}

/* Letters are left out: /v1/letters has their calls. */
static enum status choose(struct selection *selection, enum engine_request_kind kind,
                          struct err *err) {
    uint32_t may_be = kind == ENGINE_RETRY ? 1u << STATE_PENDING_RETRY : WAITING_STATES;
    selection->reading = true;
    enum status status = selection_finish(selection, err);
    uint32_t *states = &selection->query.filter.states;
    if (status != STATUS_OK)
        return status;
    if (*states != 0 && (*states & ~may_be) != 0)
        return err_set(err, STATUS_INVALID,
                       kind == ENGINE_RETRY
                           ? "state: must be pending_retry; letters are tried again by /v1/replays"
                           : "state: must be queued, pending_retry, running or retrying; letters "
                             "are decided about with /v1/letters");
    if (*states == 0)
        *states = may_be;
    if (selection->limit == 0 || selection->limit > PER_CALL_MAX)
        selection->limit = PER_CALL_MAX;
    return STATUS_OK;
}

static void remove_many(struct request *request, enum engine_request_kind kind) {
    struct decision_order order;
    struct selection_result walked = {.visited = 0};
    struct err err;
    if (!decision_order_read_many(request, QUERY_MESSAGES, why_of(kind), &order))
        return;
    struct removal_bulk bulk = {.request = request, .kind = kind, .order = &order, .err = &err};
    pthread_mutex_init(&bulk.mutex, NULL);
    pthread_cond_init(&bulk.cond, NULL);
    enum status status = choose(&order.selection, kind, &err);
    if (status == STATUS_OK) {
        bulk.entry = audit_of(request, kind, order.why);
        bulk.entry.filter = order.selection.as_json;
        status = order.selection.id_count > 0
                     ? walk_ids(&bulk)
                     : selection_walk(request->server->options.triage, &order.selection, visit,
                                      &bulk, &request->arena, &walked, &err);
    }
    if (status == STATUS_OK)
        status = finish(&bulk);
    if (status == STATUS_OK)
        put_result(&bulk, &walked);
    else
        request_problem(request, status, "%s", err.text);
    pthread_cond_destroy(&bulk.cond);
    pthread_mutex_destroy(&bulk.mutex);
}

void call_messages_bury(struct request *request) {
    remove_many(request, ENGINE_BURY);
}

void call_messages_discard(struct request *request) {
    remove_many(request, ENGINE_DISCARD);
}

void call_messages_retry(struct request *request) {
    remove_many(request, ENGINE_RETRY);
}
