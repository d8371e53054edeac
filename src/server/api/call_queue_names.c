/* /v1/queues/{queue}/rename and /remove: moves a queue's data in the store to another name, or
 * deletes the store's data about an empty queue. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json/json_member.h"
#include "server/api/json/member.h"
#include "server/http/request.h"
#include "triage/decide/queue_move.h"

enum { WHY_MAX = 255, NAME_MAX_BYTES = 255, REFUSAL_MAX = 64 << 10 };

struct queue_names_call {
    struct bytes to, why;
    bool dry_run;
};

static enum status set_to(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, NAME_MAX_BYTES, arena, &((struct queue_names_call *)into)->to,
                       err);
}

static enum status set_why(void *into, struct json value, struct arena *arena, struct err *err) {
    if (value.type == JSON_NULL)
        return STATUS_OK;
    return member_text(value, 0, WHY_MAX, arena, &((struct queue_names_call *)into)->why, err);
}

static enum status set_dry_run(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    (void)arena;
    if (value.type != JSON_TRUE && value.type != JSON_FALSE)
        return err_set(err, STATUS_INVALID, "must be true or false");
    ((struct queue_names_call *)into)->dry_run = value.type == JSON_TRUE;
    return STATUS_OK;
}

static bool read_members(struct request *request, const struct member *members, size_t count,
                         struct queue_names_call *out) {
    struct json object;
    struct err err;
    if (!request_json(request, true, &object))
        return false;
    if (member_read(members, count, object, out, &request->arena, &err) == STATUS_OK)
        return true;
    request_problem(request, STATUS_INVALID, "%s", err.text);
    return false;
}

/* The queue's data in the store, and whether the queue is configured. False: answered. */
static bool look(struct request *request, struct queue_holding *holding, bool *configured) {
    struct bytes queue = request->params[0];
    struct engine_queue_view view;
    struct err err;
    enum status status = queue_move_holding(request->server->options.triage, queue, holding, &err);
    if (status != STATUS_OK) {
        request_problem(request, status, "%s", err.text);
        return false;
    }
    *configured = engine_view(request->server->options.engine, queue, &view);
    if (!*configured && holding->number == 0) {
        name_check_no_queue(request, queue);
        return false;
    }
    if (*configured && view.state != QUEUE_PAUSED) {
        request_problem(request, STATUS_CONFLICT, "queue %.*s is %s: pause it first",
                        BYTES_ARG(queue), queue_state_text(view.state));
        return false;
    }
    if (holding->taken > 0 || (*configured && view.in_flight > 0)) {
        request_problem(request, STATUS_CONFLICT,
                        "queue %.*s has messages in flight or leased: wait for them",
                        BYTES_ARG(queue));
        return false;
    }
    return true;
}

static struct audit_entry audited(struct request *request, const char *what, struct bytes why) {
    struct audit_entry entry = {
        .who = request->actor, .what = what, .why = why, .subject = request->params[0]};
    audit_begin(request->server->options.triage, &entry);
    return entry;
}

static struct bytes name_json(struct bytes name, struct arena *arena) {
    enum { SIZE = 8 * NAME_MAX_BYTES };
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, SIZE), SIZE);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "queue");
    json_put(&json, name);
    json_close(&json, '}');
    return buf_view(&text);
}

static void put_count(struct json_out *json, const char *key, uint64_t count) {
    json_key(json, key);
    json_put_i64(json, (int64_t)count);
}

/* ---- rename ---- */

static bool may_take(struct request *request, struct bytes to) {
    struct engine_queue_view view;
    if (bytes_eq(to, request->params[0])) {
        request_problem(request, STATUS_INVALID, "to: that is the queue's name already");
        return false;
    }
    if (!engine_view(request->server->options.engine, to, &view)) {
        request_problem(request, STATUS_CONFLICT,
                        "queue %.*s is not in the configuration: add it there, reload, and rename "
                        "then",
                        BYTES_ARG(to));
        return false;
    }
    return true;
}

static void put_named(struct buf *out, const struct queue_left *left, const char *is) {
    enum { IDS_MAX = 3, ID_SHOWN_MAX = 60 };
    for (uint64_t i = 0; i < left->count && i < IDS_MAX; i++)
        buf_printf(out, "%s\"%.*s\" %s", i ? ", " : "",
                   BYTES_ARG(bytes_clip(left->ids[i], ID_SHOWN_MAX)), is);
    if (left->count > IDS_MAX)
        buf_printf(out, ", and %" PRIu64 " more", left->count - IDS_MAX);
}

/* Some messages have moved, the others stay. */
static void refuse_rest(struct request *request, const struct queue_moved *moved, struct bytes to,
                        enum status status, const struct err *err) {
    char held[sizeof " is held by queue " + NAME_MAX_BYTES];
    struct buf text;
    snprintf(held, sizeof held, "is held by queue %.*s", BYTES_ARG(to));
    buf_init_heap(&text, REFUSAL_MAX);
    put_named(&text, &moved->same_id, held);
    buf_str(&text, moved->same_id.count && moved->busy.count ? "; " : "");
    put_named(&text, &moved->busy, "is in flight or being replayed");
    buf_str(&text, text.len && moved->damaged.count ? "; " : "");
    put_named(&text, &moved->damaged, "cannot be read");
    buf_str(&text, text.len && status != STATUS_OK ? "; " : "");
    buf_str(&text, status != STATUS_OK ? err->text : "");
    request_problem(request, status != STATUS_OK ? status : STATUS_CONFLICT,
                    "moved %" PRIu64 " message%s and %" PRIu64
                    " letter%s; the rest stays in queue %.*s: %s",
                    moved->messages, moved->messages == 1 ? "" : "s", moved->letters,
                    moved->letters == 1 ? "" : "s", BYTES_ARG(request->params[0]), buf_cstr(&text));
    buf_free(&text);
}

static void put_renamed(struct request *request, const struct queue_moved *moved, struct bytes to,
                        bool configured) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "queue");
    json_put(&json, to);
    json_key(&json, "renamed_from");
    json_put(&json, request->params[0]);
    put_count(&json, "messages", moved->messages);
    put_count(&json, "letters", moved->letters);
    json_key(&json, "configured");
    json_put_bool(&json, configured);
    if (moved->damaged.count > 0) {
        uint64_t count = moved->damaged.count;
        json_member_names(&json, "damaged", moved->damaged.ids,
                          count < QUEUE_LEFT_NAMED_MAX ? (size_t)count : QUEUE_LEFT_NAMED_MAX);
        put_count(&json, "damaged_count", count);
    }
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_queue_rename(struct request *request) {
    static const struct member members[] = {{"to", set_to}, {"why", set_why}};
    struct queue_names_call asked = {0};
    struct queue_holding holding;
    bool configured;
    if (!read_members(request, members, 2, &asked))
        return;
    if (asked.to.len == 0) {
        request_problem(request, STATUS_INVALID, "to: the new name is missing");
        return;
    }
    if (!look(request, &holding, &configured) || !may_take(request, asked.to))
        return;
    if (holding.replaying > 0) {
        request_problem(request, STATUS_CONFLICT,
                        "%" PRIu64 " letter%s of queue %.*s %s being replayed: wait for the "
                        "replay, or abort it",
                        holding.replaying, holding.replaying == 1 ? "" : "s",
                        BYTES_ARG(request->params[0]), holding.replaying == 1 ? "is" : "are");
        return;
    }
    struct audit_entry entry = audited(request, "queue.rename", asked.why);
    entry.before = name_json(request->params[0], &request->arena);
    entry.after = name_json(asked.to, &request->arena);
    struct queue_moved moved;
    struct err err;
    enum status status = queue_move_rename(request->server->options.triage, &entry, asked.to,
                                           &request->arena, &moved, &err);
    if (status != STATUS_OK || moved.same_id.count + moved.busy.count > 0)
        refuse_rest(request, &moved, asked.to, status, &err);
    else
        put_renamed(request, &moved, asked.to, configured);
}

/* ---- remove ---- */

static void put_holds(const struct queue_holding *holding, struct buf *out) {
    uint64_t letters = holding->letters + holding->replaying;
    buf_printf(out, "it holds %" PRIu64 " waiting message%s and %" PRIu64 " unresolved letter%s",
               holding->waiting, holding->waiting == 1 ? "" : "s", letters,
               letters == 1 ? "" : "s");
}

static void put_removal(struct request *request, const struct queue_holding *holding,
                        bool configured, bool removed) {
    bool empty = holding->waiting + holding->letters + holding->replaying == 0;
    char memory[160];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "queue");
    json_put(&json, request->params[0]);
    json_key(&json, "removed");
    json_put_bool(&json, removed);
    put_count(&json, "messages", holding->waiting);
    put_count(&json, "letters", holding->letters + holding->replaying);
    json_key(&json, "configured");
    json_put_bool(&json, configured);
    json_key(&json, "why");
    if (!empty)
        put_holds(holding, &why);
    json_put(&json, empty ? BYTES_NONE : buf_view(&why));
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_queue_remove(struct request *request) {
    static const struct member members[] = {{"dry_run", set_dry_run}, {"why", set_why}};
    struct queue_names_call asked = {0};
    struct queue_holding holding;
    bool configured;
    if (!read_members(request, members, 2, &asked) || !look(request, &holding, &configured))
        return;
    if (asked.dry_run) {
        put_removal(request, &holding, configured, false);
        return;
    }
    if (holding.waiting + holding.letters + holding.replaying > 0) {
        char memory[160];
        struct buf why;
        buf_init_fixed(&why, memory, sizeof memory);
        put_holds(&holding, &why);
        request_problem(request, STATUS_CONFLICT,
                        "queue %.*s is not empty: %s. Let it run dry, discard or resolve them, or "
                        "move them with rename",
                        BYTES_ARG(request->params[0]), buf_cstr(&why));
        return;
    }
    struct audit_entry entry = audited(request, "queue.remove", asked.why);
    struct err err;
    enum status status = queue_move_remove(request->server->options.triage, &entry, &holding, &err);
    if (status == STATUS_OK)
        put_removal(request, &holding, configured, true);
    else
        request_problem(request, status, "the queue was not removed: %s", err.text);
}
