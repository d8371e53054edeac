/* server: the HTTP API (DESIGN §6), on libmicrohttpd. The connection of a request that waits for a
 * commit, for the engine or for a slow query is suspended; no HTTP thread waits for it.
 *
 *     http/       connections, requests and answers; knows nothing of queues
 *     api/        the calls, their routes and their description; api/json/ reads and writes JSON
 *     metrics/    /metrics
 *     dashboard/  the files of the web page */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "engine/engine.h"
#include "port/clock.h"
#include "port/jq.h"
#include "port/letters.h"
#include "port/live_config.h"
#include "triage/adopt/adopt.h"
#include "triage/alerts/alerts.h"
#include "triage/replay/replays.h"
#include "triage/triage.h"
#include "triage/rules/triage_rules.h"

struct server;

struct server_options {
    const char *host;
    uint16_t port; /* 0: any free one */
    uint64_t max_body;
    struct body_memory *memory; /* limits the bodies of requests and answers; NULL: no limit */
    int64_t idle_ms; /* time limit for a request's head and for an idle connection; 0: 30 s */
    struct engine *engine;
    struct store *store;
    struct clock *clock;
    struct jq *jq;
    struct triage *triage;
    struct bytes base_dir; /* relative paths of archives start here */
    struct replays *replays;
    struct triage_rules *rules;
    struct alerts *alerts;
    struct spans *spans; /* NULL: tracing is off */
    struct adopt *adopt; /* NULL: nothing is adopted */
    struct live_config config;
    struct bytes version;
    bool payloads_hidden; /* the dashboard shows bodies only on demand */
    uint64_t seed;        /* for message ids */
};

/* Listening when it returns OK. BUSY: the address is in use. */
enum status server_start(const struct server_options *options, struct server **out,
                         struct err *err);
uint16_t server_port(const struct server *server);
/* Sends an engine's event to all clients of /v1/events; from any thread. */
void server_publish(struct server *server, const struct engine_event *event);
/* Accepts no more connections, answers the requests in progress, closes. */
void server_stop(struct server *server);

#endif
