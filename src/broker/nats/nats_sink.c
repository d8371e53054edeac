/* All of a batch is sent, each item with a reply subject of its own, then the answers are read. The
 * server answers when a stream has stored the message, or that no stream has the subject.
 *
 * A message that failed may have been stored all the same; when it is published again, the server
 * drops the duplicate by its Nats-Msg-Id. */
#include "broker/nats/nats_sink.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/common/connection_state.h"
#include "broker/common/sink_thread.h"
#include "broker/nats/stream/nats_inbox.h"
#include "broker/nats/nats_message.h"

enum {
    NATS_CONFIRM_TIMEOUT_MS = 10000,
    NATS_LOOK_MS = 200, /* between checks of the connection */
    NATS_REPLY_MAX = 256,
};

struct nats_sink {
    struct sink_thread thread;
    struct nats_url url;
    struct mailbox answers;
    struct wakeup wakeup; /* the connection's: waited for only while it closes */

    /* The thread's own. */
    struct nats_connection connection;
    struct connection_state state;
    struct nats_inbox inbox; /* answers come to its NAME.<number> */
    uint64_t last_number;    /* of the last item that was published */
};

/* One answer that came. */
struct nats_reply {
    struct mail mail;
    natsMsg *message;
};

/* One item under way. */
struct nats_shipment {
    struct sink_item *item;
    uint64_t number;
    bool answered;
    struct err err; /* status OK: it arrived */
};

struct nats_group {
    struct nats_shipment shipments[SINK_THREAD_BATCH_MAX];
    size_t count, open;
};

static struct nats_sink *nats_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct nats_sink, thread.sink);
}

/* ---- the connection ---- */

static void on_answer(natsConnection *nc, natsSubscription *subscription, natsMsg *message,
                      void *arg) {
    struct nats_sink *nats = arg;
    struct nats_reply *reply = memory_new(sizeof *reply);
    (void)nc, (void)subscription;
    reply->message = message;
    mailbox_post(&nats->answers, &reply->mail);
}

/* Late answers belong to items that have failed. */
static void drop_answers(struct nats_sink *nats) {
    for (struct mail *mail = mailbox_take(&nats->answers), *next; mail; mail = next) {
        struct nats_reply *reply = CONTAINER_OF(mail, struct nats_reply, mail);
        next = mail->next;
        natsMsg_Destroy(reply->message);
        free(reply);
    }
}

static void disconnect(struct nats_sink *nats) {
    nats_inbox_close(&nats->inbox);
    nats_connection_close(&nats->connection);
    drop_answers(nats);
}

static void give_up_connection(struct nats_sink *nats, const struct err *err) {
    disconnect(nats);
    connection_state_lost(&nats->state, clock_now(nats->thread.clock).mono, err);
}

static bool open_sink(struct nats_sink *nats, struct err *err) {
    return nats_connection_open(&nats->connection, &nats->url, &nats->wakeup, NATS_WAIT_MS, err) &&
           nats_inbox_open(&nats->inbox, &nats->connection, on_answer, nats, err);
}

static bool connect_if_needed(struct nats_sink *nats, struct err *err) {
    if (nats->connection.nc && atomic_load(&nats->connection.end.ended))
        disconnect(nats);
    if (nats->connection.nc)
        return true;
    if (connection_state_waits(&nats->state, clock_now(nats->thread.clock).mono, err))
        return false;
    if (!open_sink(nats, err)) {
        give_up_connection(nats, err);
        return false;
    }
    connection_state_made(&nats->state, clock_now(nats->thread.clock).mono);
    return true;
}

/* ---- sending ---- */

static void answer(struct nats_group *group, struct nats_shipment *shipment) {
    shipment->answered = true;
    group->open--;
}

/* An item that cannot be sent is answered here; other errors end the connection. */
static bool send_one(struct nats_sink *nats, struct nats_group *group,
                     struct nats_shipment *shipment, struct err *err) {
    char reply[NATS_REPLY_MAX];
    shipment->number = ++nats->last_number;
    snprintf(reply, sizeof reply, "%s.%llu", nats->inbox.name,
             (unsigned long long)shipment->number);
    natsMsg *message = nats_message_make(shipment->item, nats->url.subject.ptr, reply);
    natsStatus status =
        message ? natsConnection_PublishMsg(nats->connection.nc, message) : NATS_INVALID_SUBJECT;
    natsMsg_Destroy(message);
    if (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_SUBJECT) {
        err_set(&shipment->err, STATUS_TOO_LARGE, "nats: %s",
                status == NATS_MAX_PAYLOAD ? "the message is larger than the server's max_payload"
                                           : "the message has no subject");
        answer(group, shipment);
        return true;
    }
    return nats_connection_did(&nats->connection, status, "publish", err);
}

/* ---- answers ---- */

static enum status no_stream(const struct nats_url *url, struct err *err) {
    return err_set(err, STATUS_NOT_FOUND, "nats: no stream takes subject %.*s",
                   BYTES_ARG(url->subject));
}

/* More than the stream's max_msg_size. */
static bool is_too_large(struct json verdict) {
    struct json error, code;
    return json_get(verdict, "error", &error) && json_get(error, "err_code", &code) &&
           bytes_is(code.text, "10054");
}

static void read_verdict(struct nats_sink *nats, natsMsg *message, struct nats_shipment *shipment) {
    struct bytes data = {natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message)};
    struct arena arena;
    struct json verdict;
    struct bytes words;
    arena_init_heap(&arena, 512);
    if (natsMsg_IsNoResponders(message))
        no_stream(&nats->url, &shipment->err);
    else if (json_parse(data, &verdict, NULL) != STATUS_OK)
        err_set(&shipment->err, STATUS_BUSY, "nats: unexpected answer of the server");
    else if (nats_connection_refused(verdict, &arena, &words))
        err_set(&shipment->err, is_too_large(verdict) ? STATUS_TOO_LARGE : STATUS_BUSY,
                "nats: %.*s", BYTES_ARG(bytes_clip(words, 300)));
    arena_free(&arena);
}

static void take_answer(struct nats_sink *nats, struct nats_group *group, natsMsg *message) {
    struct bytes subject = bytes_of(natsMsg_GetSubject(message));
    size_t prefix = bytes_of(nats->inbox.name).len + 1;
    uint64_t number;
    if (!bytes_u64(bytes_cut(subject, prefix, subject.len), &number))
        return;
    for (size_t i = 0; i < group->count; i++) {
        struct nats_shipment *shipment = &group->shipments[i];
        if (shipment->number != number || shipment->answered)
            continue;
        read_verdict(nats, message, shipment);
        answer(group, shipment);
    }
}

static void take_answers(struct nats_sink *nats, struct nats_group *group) {
    for (struct mail *mail = mailbox_take(&nats->answers), *next; mail; mail = next) {
        struct nats_reply *reply = CONTAINER_OF(mail, struct nats_reply, mail);
        next = mail->next;
        take_answer(nats, group, reply->message);
        natsMsg_Destroy(reply->message);
        free(reply);
    }
}

static bool read_answers(struct nats_sink *nats, struct nats_group *group, struct err *err) {
    struct mono now = clock_now(nats->thread.clock).mono,
                end = mono_after(now, NATS_CONFIRM_TIMEOUT_MS);
    while (group->open > 0) {
        natsStatus status = NATS_OK;
        if (atomic_load(&nats->connection.end.ended))
            status = NATS_CONNECTION_CLOSED;
        else if (now.ms >= end.ms)
            status = NATS_TIMEOUT;
        if (!nats_connection_did(&nats->connection, status, "wait for a confirm", err))
            return false;
        mailbox_wait(&nats->answers, mono_earlier(end, mono_after(now, NATS_LOOK_MS)));
        take_answers(nats, group);
        now = clock_now(nats->thread.clock).mono;
    }
    return true;
}

/* ---- a group ---- */

static void finish(struct nats_group *group, bool well, const struct err *err) {
    for (size_t i = 0; i < group->count; i++) {
        struct nats_shipment *shipment = &group->shipments[i];
        if (!well && !shipment->answered)
            shipment->err = *err;
        bool arrived = shipment->err.status == STATUS_OK;
        shipment->item->done(shipment->item, shipment->err.status, arrived ? NULL : &shipment->err);
    }
}

static size_t publish(struct sink *sink, struct sink_item **items, size_t count) {
    struct nats_sink *nats = nats_of(sink);
    struct nats_group group = {.count = count, .open = count};
    struct err err;
    bool connected = connect_if_needed(nats, &err), well = connected;
    for (size_t i = 0; i < count; i++)
        group.shipments[i].item = items[i];
    for (size_t i = 0; well && i < count; i++)
        well = send_one(nats, &group, &group.shipments[i], &err);
    well = well && read_answers(nats, &group, &err);
    if (connected && !well)
        give_up_connection(nats, &err);
    finish(&group, well, &err);
    return count;
}

static void end(struct sink *sink) {
    disconnect(nats_of(sink));
}

/* ---- the outside ---- */

static void nats_free(struct sink *sink) {
    struct nats_sink *nats = nats_of(sink);
    sink_thread_free(&nats->thread);
    mailbox_free(&nats->answers);
    connection_state_free(&nats->state);
    wakeup_free(&nats->wakeup);
    free(nats);
}

static const struct sink_vtable vtable = {
    .kind = "nats", .publish = sink_thread_publish, .free = nats_free};

static const struct sink_thread_work work = {.name = "nats-sink", .publish = publish, .end = end};

enum status nats_sink_check(struct bytes url, struct err *err) {
    struct nats_url parsed;
    return nats_url_sink(url, NULL, &parsed, err);
}

/* A user who may publish need not be allowed to look up streams. The check is left out then, and
 * err says so. */
static bool look_refused(struct nats_connection *connection, struct err *err) {
    const char *words = NULL;
    if (natsConnection_GetLastError(connection->nc, &words) != NATS_NOT_PERMITTED)
        return false;
    err_set(err, STATUS_OK, "the stream of subject %.*s may not be looked up: %.300s",
            BYTES_ARG(connection->url->subject), words ? words : "");
    return true;
}

static enum status look(struct nats_connection *connection, struct arena *arena, struct err *err) {
    struct buf subject;
    struct json answer, total;
    int64_t count;
    buf_init_heap(&subject, URL_TEXT_MAX * 2);
    struct json_out json = json_out(&subject);
    json_open(&json, '{');
    json_key(&json, "subject");
    json_put(&json, connection->url->subject);
    json_close(&json, '}');
    struct nats_question question = {connection->url->domain, "STREAM.NAMES", buf_cstr(&subject)};
    enum status status = nats_connection_ask(connection, &question, arena, &answer, err);
    if (status == STATUS_UNREACHABLE && look_refused(connection, err))
        status = STATUS_OK;
    else if (status == STATUS_OK &&
             (!json_get(answer, "total", &total) || !json_i64(total, &count)))
        status = nats_connection_odd(connection, err);
    else if (status == STATUS_OK && count == 0)
        status = no_stream(connection->url, err);
    buf_free(&subject);
    return status;
}

enum status nats_sink_connect(const struct sink_options *options, struct err *err) {
    struct arena arena;
    struct nats_url url;
    struct wakeup wakeup;
    struct nats_connection connection = {.nc = NULL};
    arena_init_heap(&arena, URL_TEXT_MAX);
    wakeup_init(&wakeup);
    enum status status = nats_url_sink(options->url, &arena, &url, err);
    bool open =
        status == STATUS_OK && nats_connection_open(&connection, &url, &wakeup, NATS_WAIT_MS, err);
    status = open ? look(&connection, &arena, err) : err->status;
    nats_connection_close(&connection);
    wakeup_free(&wakeup);
    arena_free(&arena);
    return status;
}

struct sink *nats_sink_new(const struct sink_options *options) {
    struct nats_sink *nats = memory_new(sizeof *nats);
    struct arena *arena = &nats->thread.arena;
    struct err err;
    sink_thread_init(&nats->thread, &vtable, &work, options);
    enum status status = options->source ? nats_url_peek(options->url, arena, &nats->url, &err)
                                         : nats_url_sink(options->url, arena, &nats->url, &err);
    assert(status == STATUS_OK);
    (void)status;
    connection_state_init(&nats->state, BYTES("sink nats"), options->seed);
    wakeup_init(&nats->wakeup);
    nats->connection.closing = &nats->thread.closing;
    mailbox_init(&nats->answers);
    sink_thread_start(&nats->thread);
    return &nats->thread.sink;
}
