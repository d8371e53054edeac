/* One thread owns the connection: it pulls, acknowledges and renews. Messages arrive on a thread of
 * the library's, which only puts them in flight.
 *
 * A pull expires after a second, so that little arrives once messages are no longer wanted. A
 * message can be acknowledged on a later connection, so that deliveries stay in flight when one
 * ends. Giving a message back costs one of its deliveries: fetched messages stay in flight through
 * a short pause or an open breaker, and go back after NATS_HOLD_MS. */
#include "broker/nats/nats_source.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/common/ahead.h"
#include "broker/nats/stream/nats_advisory.h"
#include "broker/nats/stream/nats_consumer.h"
#include "broker/nats/stream/nats_inbox.h"
#include "broker/nats/nats_message.h"
#include "broker/nats/stream/nats_pointer.h"
#include "broker/common/returns.h"
#include "broker/common/source_thread.h"

enum {
    NATS_AT_HAND =
        512, /* messages fetched or asked for that the engine has not received, at most */
    NATS_PULL_LEAST = 128, /* fewer are asked for only while no pull is open */
    NATS_PULL_EXPIRES_MS = 1000,
    NATS_PULL_LATE_MS = 1000, /* after which a pull without an end counts as ended */
    NATS_ASK_MS = 1000,       /* between questions for the number of messages that wait */
    NATS_HOLD_MS = 60000,     /* after which unwanted messages go back */
    NATS_RENEW_LEAST_MS = 50,
    NATS_RENEWS = 3, /* renewals in the time after which the server redelivers */
    NATS_QUESTION_MAX = 2 * NATS_URL_NAME_MAX + 64,
    NATS_NS_PER_MS = 1000000,
};

struct nats_source {
    struct source_thread thread;
    struct nats_url url;
    struct inflight inflight;
    struct ahead ahead;
    struct returns returns; /* deliveries that returns caused do not count */

    /* Shared with the library's thread. */
    _Atomic int64_t asked; /* messages that pulls may still bring */
    atomic_bool look;      /* the server reported a change of the consumer: ask */
    atomic_bool refused;   /* a pull was refused */
    atomic_bool told;      /* the engine was notified, and has not looked yet */

    /* The thread's own. */
    struct nats_connection connection;
    struct nats_inbox inbox;
    bool fetching; /* messages are wanted, as last seen */
    struct mono ask_at, renew_at, pull_late_at, unwanted_at;
    int64_t renew_ms;
    int64_t pull_max, pull_ns; /* messages and time of one pull, as the consumer allows */
};

static struct nats_source *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct nats_source, thread.broker);
}

/* ---- what comes ---- */

/* The end of a pull, or a change of the consumer. */
static void take_status(struct nats_source *nats, natsMsg *message, const char *status) {
    const char *text = NULL;
    uint64_t left;
    if (bytes_is(bytes_of(status), "100"))
        return;
    if (natsMsgHeader_Get(message, "Nats-Pending-Messages", &text) == NATS_OK &&
        bytes_u64(bytes_of(text), &left))
        atomic_fetch_sub(&nats->asked, (int64_t)left);
    else
        atomic_store(&nats->asked, 0);
    if (bytes_is(bytes_of(status), "409"))
        atomic_store(&nats->refused, true);
    if (!bytes_is(bytes_of(status), "404") && !bytes_is(bytes_of(status), "408"))
        atomic_store(&nats->look, true);
}

/* An advisory that cannot be followed now is redelivered: it is not acknowledged. */
static void put(struct nats_source *nats, const char *subject, struct delivery *delivery) {
    struct err err;
    returns_deduct(&nats->returns, delivery->held);
    delivery->unannounced = nats_advisory_is(bytes_of(subject));
    bool followed = nats_pointer_follow(&nats->connection, bytes_of(subject), delivery->held, &err);
    if (followed)
        ahead_note(&nats->ahead, delivery->held);
    if (!followed)
        delivery_free(delivery);
    else if (inflight_put(&nats->inflight, delivery, true, true) &&
             !atomic_exchange(&nats->told, true))
        connection_state_notify(&nats->thread.state);
}

static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *message, void *arg) {
    struct nats_source *nats = arg;
    const char *status = NULL;
    (void)nc, (void)sub;
    struct delivery *delivery = nats_message_read(message);
    if (delivery) {
        atomic_fetch_sub(&nats->asked, 1);
        put(nats, natsMsg_GetSubject(message), delivery);
    } else if (natsMsgHeader_Get(message, "Status", &status) == NATS_OK) {
        take_status(nats, message, status);
    }
    natsMsg_Destroy(message);
    if (status || atomic_load(&nats->asked) <= 0)
        wakeup_ring(&nats->thread.wakeup);
}

/* ---- asking ---- */

static int64_t within(int64_t limit, int64_t ours) {
    return limit > 0 && limit < ours ? limit : ours;
}

/* Deliveries to other clients that are not acknowledged are lag too: they may be redelivered. */
static bool read_consumer(struct nats_source *nats, struct json info, struct err *err) {
    struct nats_consumer consumer;
    if (nats_consumer_read(info, &consumer, err) != STATUS_OK)
        return false;
    int64_t elsewhere = consumer.ack_pending - (int64_t)inflight_count(&nats->inflight);
    atomic_store(&nats->thread.waiting,
                 (uint64_t)(consumer.pending + (elsewhere > 0 ? elsewhere : 0)));
    nats->pull_max = within(consumer.max_batch, NATS_AT_HAND);
    nats->pull_ns = within(consumer.max_expires_ns, (int64_t)NATS_PULL_EXPIRES_MS * NATS_NS_PER_MS);
    nats->renew_ms = consumer.ack_wait_ms / NATS_RENEWS;
    if (nats->renew_ms < NATS_RENEW_LEAST_MS)
        nats->renew_ms = NATS_RENEW_LEAST_MS;
    return true;
}

/* Also finds out that the stream or consumer is missing, and that earlier acknowledgements have
 * arrived: the server handles one message after the other. */
static bool ask_consumer(struct nats_source *nats, struct mono now, struct err *err) {
    struct arena arena;
    struct json info;
    arena_init_heap(&arena, 4096);
    atomic_store(&nats->look, false);
    bool well = nats_connection_ask_consumer(&nats->connection, &arena, &info, err) == STATUS_OK &&
                read_consumer(nats, info, err);
    arena_free(&arena);
    nats->ask_at = mono_after(now, NATS_ASK_MS);
    if (well)
        inflight_acknowledged(&nats->inflight);
    return well;
}

/* ---- fetching ---- */

static bool send_pull(struct nats_source *nats, int64_t batch, struct mono now, struct err *err) {
    char question[NATS_QUESTION_MAX], request[128], subject[NATS_QUESTION_MAX + NATS_URL_NAME_MAX];
    struct buf text, whole;
    char reply[NATS_QUESTION_MAX];
    snprintf(reply, sizeof reply, "%s.pull", nats->inbox.name);
    buf_init_fixed(&text, question, sizeof question);
    buf_printf(&text, "CONSUMER.MSG.NEXT.%.*s.%.*s", BYTES_ARG(nats->url.stream),
               BYTES_ARG(nats->url.consumer));
    buf_init_fixed(&whole, subject, sizeof subject);
    nats_connection_subject(nats->url.domain, buf_cstr(&text), &whole);
    buf_init_fixed(&text, request, sizeof request);
    buf_printf(&text, "{\"batch\":%" PRId64 ",\"expires\":%" PRId64 "}", batch, nats->pull_ns);
    atomic_fetch_add(&nats->asked, batch);
    nats->pull_late_at = mono_after(now, NATS_PULL_EXPIRES_MS + NATS_PULL_LATE_MS);
    return nats_connection_did(&nats->connection,
                               natsConnection_PublishRequestString(
                                   nats->connection.nc, buf_cstr(&whole), reply, buf_cstr(&text)),
                               "pull", err);
}

static bool pull(struct nats_source *nats, struct mono now, struct err *err) {
    struct connection_state *state = &nats->thread.state;
    if (atomic_exchange(&nats->refused, false))
        connection_state_refused(state, now);
    if (now.ms < state->next_question.ms)
        return true;
    if (now.ms >= nats->pull_late_at.ms)
        atomic_store(&nats->asked, 0);
    int64_t asked = atomic_load(&nats->asked);
    if (asked < 0)
        atomic_store(&nats->asked, asked = 0);
    int64_t ready = (int64_t)inflight_ready(&nats->inflight), batch = NATS_AT_HAND - asked - ready;
    if (batch > 0)
        batch = (int64_t)ahead_count(&nats->ahead, (size_t)asked, (size_t)ready, (size_t)batch);
    if (batch <= 0 || (batch < NATS_PULL_LEAST && asked > 0))
        return true;
    return send_pull(nats, within(nats->pull_max, batch), now, err);
}

static bool follow_wish(struct nats_source *nats, struct mono now, struct err *err) {
    bool wanted = atomic_load(&nats->thread.wanted);
    if (nats->fetching && !wanted)
        nats->unwanted_at = now;
    nats->fetching = wanted;
    return !wanted || pull(nats, now, err);
}

/* ---- telling ---- */

static bool say(struct nats_source *nats, const char *reply, const char *words, struct err *err) {
    return nats_connection_did(&nats->connection,
                               natsConnection_PublishString(nats->connection.nc, reply, words),
                               "acknowledge", err);
}

static bool send_settled(struct nats_source *nats, struct err *err) {
    bool well = true;
    for (struct delivery_ack word; well && inflight_send(&nats->inflight, &word);) {
        well = say(nats, word.reply, word.letter ? "+TERM" : "+ACK", err);
        free(word.reply);
    }
    return well;
}

/* Replies are copied under the lock of the deliveries and sent outside of it. */
struct replies {
    struct arena arena;
    struct reply {
        struct reply *next;
        const char *text;
    } * first;
};

static void note_reply(const struct delivery *delivery, void *arg) {
    struct replies *replies = arg;
    struct reply *reply = arena_alloc(&replies->arena, sizeof *reply);
    reply->text = arena_cstr(&replies->arena, bytes_of(delivery->reply));
    reply->next = replies->first;
    replies->first = reply;
}

static bool say_to_open(struct nats_source *nats, const char *words, struct err *err) {
    struct replies replies = {.first = NULL};
    bool well = true;
    arena_init_heap(&replies.arena, 4096);
    inflight_each_open(&nats->inflight, note_reply, &replies);
    for (const struct reply *at = replies.first; at && well; at = at->next)
        well = say(nats, at->text, words, err);
    arena_free(&replies.arena);
    return well;
}

static bool renew(struct nats_source *nats, struct mono now, struct err *err) {
    if (now.ms < nats->renew_at.ms)
        return true;
    nats->renew_at = mono_after(now, nats->renew_ms);
    return say_to_open(nats, "+WPI", err);
}

static bool return_unwanted(struct nats_source *nats, struct mono now, struct err *err) {
    bool well = true;
    if (nats->fetching || now.ms < nats->unwanted_at.ms + NATS_HOLD_MS)
        return true;
    for (struct delivery *delivery; well && (delivery = inflight_return(&nats->inflight, true));) {
        char words[64];
        struct buf text;
        int64_t left = delivery->due.ms > now.ms ? delivery->due.ms - now.ms : 0;
        buf_init_fixed(&text, words, sizeof words);
        buf_printf(&text, "-NAK {\"delay\": %" PRId64 "}", left * NATS_NS_PER_MS);
        well = say(nats, delivery->reply, buf_cstr(&text), err);
        returns_note(&nats->returns, delivery->id);
        delivery_free(delivery);
    }
    return well;
}

/* ---- the thread ---- */

static void sleep_until(struct nats_source *nats, struct mono until) {
    wakeup_wait(&nats->thread.wakeup, -1, until.ms - clock_now(nats->thread.clock).mono.ms);
}

/* Acknowledgements that may not have arrived are sent again. */
static void give_up_connection(struct nats_source *nats, const struct err *err) {
    nats_inbox_close(&nats->inbox);
    nats_connection_close(&nats->connection);
    inflight_send_again(&nats->inflight);
    connection_state_lost(&nats->thread.state, clock_now(nats->thread.clock).mono, err);
}

static void connect_again(struct nats_source *nats, struct mono now) {
    struct err err;
    if (now.ms < nats->thread.state.next_try.ms) {
        sleep_until(nats, nats->thread.state.next_try);
        return;
    }
    nats->unwanted_at = now;
    nats->renew_at = now;
    atomic_store(&nats->asked, 0);
    if (nats_connection_open(&nats->connection, &nats->url, &nats->thread.wakeup, NATS_WAIT_MS,
                             &err) &&
        ask_consumer(nats, now, &err) &&
        nats_inbox_open(&nats->inbox, &nats->connection, on_message, nats, &err))
        connection_state_made(&nats->thread.state, now);
    else
        give_up_connection(nats, &err);
}

static bool still_there(struct nats_source *nats, struct err *err) {
    return nats_connection_did(
        &nats->connection,
        atomic_load(&nats->connection.end.ended) ? NATS_CONNECTION_CLOSED : NATS_OK, "listen", err);
}

static struct mono next_turn(const struct nats_source *nats, struct mono now) {
    struct mono pull_at = nats->thread.state.next_question;
    struct mono next = mono_earlier(nats->ask_at, nats->renew_at);
    return pull_at.ms > now.ms ? mono_earlier(next, pull_at) : next;
}

static void work(struct nats_source *nats, struct mono now) {
    struct err err;
    bool due = now.ms >= nats->ask_at.ms || atomic_load(&nats->look);
    bool well = still_there(nats, &err) && send_settled(nats, &err) &&
                (!due || ask_consumer(nats, now, &err)) && follow_wish(nats, now, &err) &&
                renew(nats, now, &err) && return_unwanted(nats, now, &err);
    if (well)
        sleep_until(nats, next_turn(nats, now));
    else
        give_up_connection(nats, &err);
}

/* A pull whose inbox is gone would be served for a while, and its messages lost until redelivery.
 */
static void await_pulls(struct nats_source *nats) {
    while (nats->connection.nc && !atomic_load(&nats->connection.end.ended) &&
           atomic_load(&nats->asked) > 0 &&
           clock_now(nats->thread.clock).mono.ms < nats->pull_late_at.ms)
        sleep_until(nats, nats->pull_late_at);
}

/* Messages that will not be settled any more go back to the next consumer that asks. */
static void close_source(struct broker *broker) {
    struct nats_source *nats = self(broker);
    struct err err;
    await_pulls(nats);
    nats_inbox_close(&nats->inbox);
    if (nats->connection.nc && send_settled(nats, &err) && say_to_open(nats, "-NAK", &err))
        natsConnection_FlushTimeout(nats->connection.nc, NATS_FLUSH_TIMEOUT_MS);
    nats_connection_close(&nats->connection);
}

static void turn(struct broker *broker) {
    struct nats_source *nats = self(broker);
    struct mono now = clock_now(nats->thread.clock).mono;
    if (nats->connection.nc)
        work(nats, now);
    else
        connect_again(nats, now);
}

static const struct source_thread_work thread_work = {"nats-source", turn, close_source};

/* ---- the outside ---- */

/* Received messages leave room for more. Every message after this is notified again. */
static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    atomic_store(&self(broker)->told, false);
    size_t count = source_thread_receive(broker, now, out, max);
    if (count > 0)
        wakeup_ring(&self(broker)->thread.wakeup);
    return count;
}

static void nats_free(struct broker *broker) {
    source_thread_free(&self(broker)->thread);
    returns_free(&self(broker)->returns);
    free(self(broker));
}

static const struct broker_vtable vtable = {
    .kind = "nats",
    .receive = receive,
    SOURCE_THREAD_INFLIGHT,
    SOURCE_THREAD_VTABLE,
    .free = nats_free,
};

enum status nats_source_check(struct bytes url, struct err *err) {
    struct nats_url parsed;
    return nats_url_source(url, NULL, &parsed, err);
}

struct broker *nats_source_new(const struct broker_options *options) {
    struct nats_source *nats = memory_new(sizeof *nats);
    source_thread_init(&nats->thread, &vtable, &thread_work, &nats->inflight, options);
    returns_init(&nats->returns);
    ahead_init(&nats->ahead, options);
    enum status status = nats_url_source(options->url, &nats->thread.arena, &nats->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    nats->connection.closing = &nats->thread.closing;
    return &nats->thread.broker;
}
