#include "rig.h"

#include <stdio.h>

#include "base/memory.h"
#include "broker/builtin/builtin.h"
#include "fake_broker.h"
#include "broker/registry.h"
#include "rig_fakes.h"
#include "store/fake_store.h"

enum { MONO_START_MS = 1000, CONCURRENCY = 4, RETRY_BASE_MS = 1000, CAP = 1000 };
static const int64_t wall_start_ms = 1700000000000;

/* ---- building ---- */

static struct instant read_clock(struct clock *clock) {
    struct rig *rig = CONTAINER_OF(clock, struct rig, clock);
    if (rig->tick)
        rig->tick(rig);
    return rig->now;
}

static void set_defaults(struct rig *rig) {
    policy_init(&rig->policy, BYTES("q"), BYTES("q.dlq"),
                rig->options.lease ? HANDLER_LEASE : HANDLER_HTTP);
    rig->policy.retry.jitter = JITTER_NONE;
    rig->policy.retry.base_ms = RETRY_BASE_MS;
    rig->dlqs[0] = (struct engine_dlq){
        .name = BYTES("q.dlq"), .cap = CAP, .owner = BYTES("people"), .archive = BYTES("archive")};
    rig->dlqs[1] = (struct engine_dlq){.name = BYTES("q.bad"), .cap = CAP};
    rig->concurrency = CONCURRENCY;
}

struct rig *rig_new(struct rig_options options) {
    struct rig *rig = memory_new(sizeof *rig);
    rig->options = options;
    if (!rig->options.queues)
        rig->options.queues = 1;
    if (!rig->options.handlers && !rig->options.lease)
        rig->options.handlers = 1;
    rig->clock.now = read_clock;
    rig->now = (struct instant){{wall_start_ms}, {MONO_START_MS}};
    rig->store = fake_store_new(!options.deferred);
    rig->calls = memory_array(RIG_CALLS_MAX, sizeof *rig->calls);
    rig->ids = memory_array(RIG_IDS_MAX, sizeof *rig->ids);
    rig->brokers = memory_array(rig->options.queues, sizeof *rig->brokers);
    buf_init_heap(&rig->log, RIG_LOG_MAX);
    buf_init_heap(&rig->events, RIG_LOG_MAX);
    buf_init_heap(&rig->spilled, RIG_LOG_MAX);
    rig->server = fake_server_new();
    set_defaults(rig);
    rig_fakes_init(rig);
    return rig;
}

static void on_event(void *arg, const struct engine_event *event) {
    struct rig *rig = arg;
    buf_bytes(&rig->events, event->json);
    buf_char(&rig->events, '\n');
}

static void queue_name(size_t i, char name[RIG_ID_SIZE]) {
    if (i == 0)
        snprintf(name, RIG_ID_SIZE, "q");
    else
        snprintf(name, RIG_ID_SIZE, "q%zu", i);
}

static void add_queue(struct rig *rig, size_t i) {
    char name[RIG_ID_SIZE];
    queue_name(i, name);
    uint32_t number = rig->store->vtable->queue_number(rig->store, bytes_of(name));
    rig->brokers[i].inner =
        rig->options.server ? fake_broker_new(rig->server) : builtin_new(rig->store, number);
    struct engine_queue_options options = {
        .name = bytes_of(name),
        .rules = rig->rules,
        .broker = &rig->brokers[i].broker,
        .group = bytes_of(rig->group),
        .handlers = rig->handler_list,
        .handler_count = rig->options.handlers,
        .mirrors = rig->mirrors,
        .mirror_count = rig->mirror_count,
    };
    options.rules.policy = &rig->policy;
    options.rules.concurrency = rig->concurrency;
    options.rules.dlqs = rig->dlqs;
    options.rules.dlq_count = 2;
    assert_int_equal(engine_add(rig->engine, &options, NULL), STATUS_OK);
}

static struct sink *origin_of(void *arg, const struct envelope *letter) {
    assert_true(letter->to_origin);
    return ((struct rig *)arg)->origin;
}

void rig_open(struct rig *rig) {
    struct err err = {STATUS_OK, ""};
    struct engine_options options = {
        .store = rig->store,
        .clock = &rig->clock,
        .jq = rig->options.jq ? &rig->jq : NULL,
        .spill = rig->options.spill ? &rig->spill : NULL,
        .spans = rig->spans,
        .brokers = registry_kinds,
        .seed = 1,
        .attempt_log_path = rig->options.attempt_log_path,
        .instance = BYTES("bench"),
        .event = on_event,
        .event_arg = rig,
        .origin = origin_of,
        .origin_arg = rig,
    };
    rig->engine = engine_new(&options);
    for (size_t i = 0; i < rig->options.queues; i++)
        add_queue(rig, i);
    assert_int_equal(engine_recover(rig->engine, &err), STATUS_OK);
}

static void close_engine(struct rig *rig) {
    engine_free(rig->engine);
    rig->engine = NULL;
    rig->store->vtable->listen(rig->store, NULL, NULL);
    for (size_t i = 0; i < rig->options.queues; i++)
        if (rig->brokers[i].inner)
            rig->brokers[i].inner->vtable->free(rig->brokers[i].inner);
    for (size_t i = 0; i < rig->call_count; i++)
        rig->calls[i].call = NULL;
    rig->group_count = 0;
}

void rig_restart(struct rig *rig) {
    close_engine(rig);
    rig_open(rig);
}

static void copy_file(const char *from, const char *to) {
    char data[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t got; (got = fread(data, 1, sizeof data, in)) > 0;)
        assert_int_equal(fwrite(data, 1, got, out), got);
    fclose(in);
    fclose(out);
}

static void give_everything_back(struct rig *rig) {
    for (size_t seq = 0; seq < RIG_IDS_MAX; seq++) {
        struct message *held;
        if (rig->ids[seq][0] && letters_get(rig->store->letters, BYTES_NONE,
                                            bytes_of(rig->ids[seq]), &held, NULL) == STATUS_OK)
            rig->store->vtable->give_back(rig->store, held, rig->now.mono);
    }
}

void rig_die(struct rig *rig) {
    char kept[256];
    snprintf(kept, sizeof kept, "%s.kept", rig->options.attempt_log_path);
    copy_file(rig->options.attempt_log_path, kept);
    close_engine(rig);
    assert_int_equal(rename(kept, rig->options.attempt_log_path), 0);
    give_everything_back(rig);
    rig_open(rig);
}

void rig_free(struct rig *rig) {
    close_engine(rig);
    fake_server_free(rig->server);
    message_free(rig->looked_at);
    rig->store->vtable->close(rig->store);
    buf_free(&rig->log);
    buf_free(&rig->events);
    buf_free(&rig->spilled);
    for (size_t i = 0; i < rig->request_count; i++) {
        message_free(rig->requests[i]->request.held_take);
        free(rig->requests[i]);
    }
    free(rig->calls);
    free(rig->ids);
    free(rig->brokers);
    free(rig);
}

/* ---- time ---- */

void rig_turn(struct rig *rig) {
    rig->next = engine_turn(rig->engine, rig->now);
}

static bool has_mail(const struct rig *rig) {
    return rig->engine->mailbox.first != NULL || !list_empty(&rig->engine->woken);
}

void rig_rest(struct rig *rig) {
    for (size_t turns = 0; turns < RIG_TURNS_MAX; turns++) {
        rig_turn(rig);
        if (!has_mail(rig) && rig->next.ms > rig->now.mono.ms)
            return;
    }
    fail_msg("the engine spins");
}

void rig_pass(struct rig *rig, int64_t ms) {
    rig->now.mono.ms += ms;
    rig->now.wall.ms += ms;
    rig_rest(rig);
}

void rig_store(struct rig *rig) {
    fake_store_step(rig->store);
    rig_rest(rig);
}

/* ---- messages ---- */

static void on_committed(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

void rig_commit(struct rig *rig, struct store_op *op) {
    struct store_commit commit = {.ops = op, .count = 1, .done = on_committed};
    rig->submit(rig->store, &commit);
    fake_store_step(rig->store);
}

static struct store_op op_on(struct rig *rig, const char *id, enum store_op_kind kind) {
    rig_look(rig, id);
    return (struct store_op){.kind = kind,
                             .queue = rig->store->vtable->queue_number(rig->store, BYTES("q")),
                             .seq = rig->looked_at->seq};
}

void rig_replay(struct rig *rig, const char *id) {
    struct store_op op = op_on(rig, id, STORE_UPDATE);
    struct envelope letter = rig->looked_at->envelope;
    letter.state = STATE_REPLAYING;
    letter.replays++;
    letter.attempts = 0;
    letter.replayed_at = rig->now.wall;
    op.envelope = &letter;
    rig_commit(rig, &op);
}

void rig_mark(struct rig *rig, const char *id, enum state state) {
    struct store_op op = op_on(rig, id, STORE_MARK);
    op.mark = (struct store_mark){.state = state, .at = rig->now.wall};
    rig_commit(rig, &op);
    rig_rest(rig);
}

void rig_push_and_fail(struct rig *rig, const char *id, int status) {
    rig_push(rig, id);
    rig_rest(rig);
    rig_fail(rig, id, status);
}

uint64_t rig_depth(struct rig *rig, const char *dlq) {
    return rig->store->vtable->dlq_depth(rig->store, bytes_of(dlq));
}

/* Any 64 digits do, as long as other bodies have others. */
static void put_hash(struct envelope *envelope, struct bytes body) {
    snprintf(envelope->content_hash, sizeof envelope->content_hash, "%016llx%048d",
             (unsigned long long)bytes_hash(body), 0);
}

static void push(struct rig *rig, const char *queue, const char *id, const char *key,
                 struct bytes body) {
    struct envelope envelope = {.id = bytes_of(id),
                                .queue = bytes_of(queue),
                                .key = bytes_of(key),
                                .content_type = BYTES("application/json"),
                                .source =
                                    bytes_of(rig->source ? rig->source : "{\"kind\":\"builtin\"}"),
                                .headers = rig->headers,
                                .header_count = rig->header_count,
                                .size = body.len,
                                .retry_after_ms = -1,
                                .created_at = rig->now.wall};
    put_hash(&envelope, body);
    struct store_op op = {
        .kind = STORE_PUT,
        .queue = rig->store->vtable->queue_number(rig->store, bytes_of(queue)),
        .envelope = &envelope,
        .body = body,
        .check_id = true,
    };
    rig_commit(rig, &op);
    assert_true(op.seq < RIG_IDS_MAX);
    snprintf(rig->ids[op.seq], RIG_ID_SIZE, "%s", id);
}

void rig_push_to(struct rig *rig, const char *queue, const char *id) {
    push(rig, queue, id, NULL, BYTES("{}"));
}

void rig_push(struct rig *rig, const char *id) {
    rig_push_to(rig, "q", id);
}

void rig_push_message(struct rig *rig, const char *id, const char *key, const char *body) {
    push(rig, "q", id, key, body ? bytes_of(body) : BYTES("{}"));
}

void rig_push_many(struct rig *rig, size_t count) {
    for (size_t i = 1; i <= count; i++) {
        char id[RIG_ID_SIZE];
        snprintf(id, sizeof id, "m%zu", i);
        rig_push(rig, id);
    }
}

const struct envelope *rig_look(struct rig *rig, const char *id) {
    message_free(rig->looked_at);
    rig->looked_at = NULL;
    enum status status =
        letters_get(rig->store->letters, BYTES_NONE, bytes_of(id), &rig->looked_at, NULL);
    return status == STATUS_OK ? &rig->looked_at->envelope : NULL;
}

enum state rig_state(struct rig *rig, const char *id) {
    const struct envelope *envelope = rig_look(rig, id);
    assert_non_null(envelope);
    return envelope->state;
}

void rig_assert_gone(struct rig *rig, const char *id) {
    assert_null(rig_look(rig, id));
}

/* ---- calls ---- */

size_t rig_open_calls(const struct rig *rig) {
    size_t count = 0;
    for (size_t i = 0; i < rig->call_count; i++)
        count += rig->calls[i].call != NULL;
    return count;
}

struct rig_call *rig_call(struct rig *rig, const char *id) {
    for (size_t i = rig->call_count; i-- > 0;)
        if (rig->calls[i].call && strcmp(rig->calls[i].id, id) == 0)
            return &rig->calls[i];
    return NULL;
}

struct outcome rig_outcome(enum kind kind, int status) {
    return (struct outcome){.ending = ENDING_FAILED,
                            .kind = kind,
                            .status = status,
                            .error_type = BYTES("Upstream"),
                            .error_message = BYTES("it said no"),
                            .retry_after_ms = -1,
                            .duration_ms = 7};
}

void rig_answer(struct rig *rig, const char *id, struct outcome outcome) {
    struct rig_call *open = rig_call(rig, id);
    assert_non_null(open);
    struct call *call = open->call;
    open->call = NULL;
    call->done(call, &outcome);
}

void rig_succeed(struct rig *rig, const char *id) {
    rig_answer(rig, id, (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1});
    rig_rest(rig);
}

void rig_fail(struct rig *rig, const char *id, int status) {
    rig_answer(rig, id, rig_outcome(KIND_STATUS, status));
    rig_rest(rig);
}

static void answer_all(struct rig *rig, struct outcome outcome) {
    for (size_t i = 0; i < rig->call_count; i++)
        if (rig->calls[i].call)
            rig_answer(rig, rig->calls[i].id, outcome);
    rig_rest(rig);
}

void rig_succeed_all(struct rig *rig) {
    answer_all(rig, (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1});
}

void rig_fail_all(struct rig *rig, int status) {
    answer_all(rig, rig_outcome(KIND_STATUS, status));
}

void rig_break_down(struct rig *rig) {
    static const char *const ids[] = {"f1", "f2", "f3", "f4", "f5"};
    assert_true(rig->concurrency >= 5);
    for (size_t i = 0; i < 5; i++)
        rig_push(rig, ids[i]);
    rig_rest(rig);
    for (size_t i = 0; i < 5; i++)
        rig_answer(rig, ids[i], rig_outcome(KIND_STATUS, 503));
    rig_rest(rig);
    assert_int_equal(rig_view(rig).breaker, BREAKER_OPEN);
}

/* ---- people ---- */

static void on_answer(struct engine_request *request, enum status status) {
    struct rig_request *asked = CONTAINER_OF(request, struct rig_request, request);
    asked->answers++;
    asked->status = status;
}

struct rig_request *rig_request(struct rig *rig, enum engine_request_kind kind) {
    struct rig_request *asked = memory_new(sizeof *asked);
    assert_true(rig->request_count < RIG_REQUESTS_MAX);
    rig->requests[rig->request_count++] = asked;
    asked->request = (struct engine_request){.kind = kind, .queue = BYTES("q"), .done = on_answer};
    return asked;
}

struct rig_request *rig_ask(struct rig *rig, enum engine_request_kind kind, const char *why) {
    struct rig_request *asked = rig_request(rig, kind);
    asked->request.why = bytes_of(why);
    engine_ask(rig->engine, &asked->request);
    return asked;
}

struct rig_request *rig_report(struct rig *rig, const char *id, const char *body, uint32_t attempts,
                               struct outcome outcome) {
    struct rig_request *asked = rig_request(rig, ENGINE_REPORT);
    struct message *held = message_new();
    held->body = arena_dup(&held->arena, bytes_of(body));
    held->envelope = (struct envelope){.id = arena_dup(&held->arena, bytes_of(id)),
                                       .queue = BYTES("q"),
                                       .content_type = BYTES("text/plain"),
                                       .source = BYTES("{\"kind\":\"report\"}"),
                                       .size = held->body.len,
                                       .attempts = attempts,
                                       .retry_after_ms = -1,
                                       .created_at = rig->now.wall};
    put_hash(&held->envelope, held->body);
    asked->request.held_take = held;
    asked->request.outcome = outcome;
    engine_ask(rig->engine, &asked->request);
    return asked;
}

struct engine_queue_view rig_view(struct rig *rig) {
    struct engine_queue_view view;
    assert_true(engine_view(rig->engine, BYTES("q"), &view));
    return view;
}

/* ---- what happened ---- */

void rig_assert_log(struct rig *rig, const char *words) {
    assert_string_equal(buf_cstr(&rig->log), words);
    rig_clear_log(rig);
}

void rig_clear_log(struct rig *rig) {
    buf_clear(&rig->log);
}

bool rig_saw_event(const struct rig *rig, const char *part) {
    struct bytes events = buf_view(&rig->events);
    return bytes_find(events, bytes_of(part)) < events.len;
}
