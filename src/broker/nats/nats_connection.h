/* nats_connection: a connection to NATS. Every wait is bounded; errors are texts for people. Used
 * by one thread, except where stated. */
#ifndef BROKER_NATS_CONNECTION_H
#define BROKER_NATS_CONNECTION_H

#include <nats/nats.h>
#include <stdatomic.h>

#include "base/json/json.h"
#include "base/thread/wakeup.h"
#include "broker/nats/nats_url.h"

enum {
    NATS_WAIT_MS = 5000, /* for a connection, and for the answer to a question */
    NATS_PING_MS = 5000, /* two without an answer end the connection */
    NATS_PINGS_MAX = 2,
    NATS_FLUSH_TIMEOUT_MS = 2000,
};

/* Set by a thread of the library when it has ended something of ours. */
struct nats_end {
    atomic_bool ended;
    atomic_bool left; /* and no longer touches anything of ours */
};

struct nats_connection {
    natsConnection *nc; /* NULL: not open */
    const struct nats_url *url;
    const struct url_host *host; /* the last that was tried */
    const atomic_bool *closing;  /* then no other host is tried; NULL: never */
    struct wakeup *wakeup;       /* rung when it ends by itself */
    int64_t wait_ms;             /* time limit for each server */
    struct nats_end end;
};

/* A request to JetStream's API. */
struct nats_question {
    struct bytes domain; /* empty: the server's own */
    const char *text;    /* such as CONSUMER.INFO.ORDERS.pricing */
    const char *body;    /* "": none */
};

void nats_end_begin(struct nats_end *end);
/* From the library's thread: rings the wakeup. */
void nats_end_tell(struct nats_end *end, struct wakeup *wakeup);
/* The wakeup may be freed afterwards. */
void nats_end_await(struct nats_end *end, struct wakeup *wakeup);

/* Tries the hosts of the URL, from the one behind the last that was tried on, each for as long as
 * `wait_ms`. The URL and the wakeup must outlive the connection. False: err says why, of the last.
 */
bool nats_connection_open(struct nats_connection *connection, const struct nats_url *url,
                          struct wakeup *wakeup, int64_t wait_ms, struct err *err);
/* Does nothing when it is not open. None of our functions is called from the library's threads
 * afterwards. */
void nats_connection_close(struct nats_connection *connection);

/* False: `status` is an error, and err says what was being done. */
bool nats_connection_did(struct nats_connection *connection, natsStatus status, const char *doing,
                         struct err *err);
/* The answer to a request is a JSON object that lives in the arena. NOT_FOUND: the stream, consumer
 * or message does not exist. UNREACHABLE: anything else. err has the server's own text where there
 * is one. May be called from any thread while the connection is open. */
enum status nats_connection_ask(struct nats_connection *connection,
                                const struct nats_question *question, struct arena *arena,
                                struct json *answer, struct err *err);
/* CONSUMER.INFO and STREAM.INFO of what the URL names. */
enum status nats_connection_ask_consumer(struct nats_connection *connection, struct arena *arena,
                                         struct json *answer, struct err *err);
enum status nats_connection_ask_stream(struct nats_connection *connection, struct arena *arena,
                                       struct json *answer, struct err *err);
/* UNREACHABLE: the answer is not as expected. */
enum status nats_connection_odd(struct nats_connection *connection, struct err *err);
/* The text of an answer of JetStream that is an error; false: it is none. */
bool nats_connection_refused(struct json answer, struct arena *arena, struct bytes *words);
/* The subject of a request to JetStream in a domain (empty: the server's own). */
void nats_connection_subject(struct bytes domain, const char *question, struct buf *out);

#endif
