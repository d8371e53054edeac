/* request: one HTTP request, from its head to its answer.
 *
 *     begun ──▶ body comes ──▶ dispatched ──▶ answered ──▶ sent, freed
 *                                  │              ▲
 *                                  └─ suspended ──┘ (store, engine or worker holds it)
 *
 * A call (call_*.c) sees a complete request and ends it with exactly one request_answer or
 * request_problem, from whatever thread; nothing of the request may be touched afterwards. */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "base/json/json.h"
#include "base/containers/list.h"
#include "server/dashboard/asset.h"
#include "server/http/route.h"
#include "server/server_state.h"

struct MHD_Connection;

enum {
    REQUEST_ANSWER_MAX = 256 * 1024 * 1024, /* bytes of one answer */
    REQUEST_QUOTE_MAX = 255,                /* bytes of the client's text that a problem quotes */
    REQUEST_ACTOR_MAX = 255,                /* … and of its name in the audit */
    REQUEST_BULK_MAX = 128 * 1024 * 1024,   /* bytes of the body of a ROUTE_BULK */
    REQUEST_HEAD_MAX = 32 * 1024,           /* bytes of request line and headers */
    REQUEST_TARGET_MAX = 16 * 1024,         /* … of path and query */
    REQUEST_FIELDS_MAX = 256,               /* header lines */
    REQUEST_ARGS_MAX = 64,                  /* query parameters */
};

#define REQUEST_ACTOR_HEADER "Impound-Actor"

struct request_arg {
    struct bytes name, value;
};

struct request {
    struct server *server;
    struct MHD_Connection *connection;
    struct arena arena;
    const struct route *route;
    struct bytes method, path;             /* path: as received, still percent-encoded */
    struct bytes params[ROUTE_PARAMS_MAX]; /* decoded, in the order of the template */
    struct request_arg args[REQUEST_ARGS_MAX];
    size_t arg_count;
    struct bytes content_type; /* the media type without parameters; empty: none was given */
    struct bytes actor;        /* the client's name as it gives it (Impound-Actor); not verified */
    bool takes_zstd;           /* Accept: application/zstd */
    struct buf body;
    uint64_t announced; /* Content-Length; 0: none */
    uint64_t discarded; /* bytes of a refused body that were read and discarded */
    struct mono begun;
    struct list link;                      /* link in the workers' queue … */
    void (*work)(struct request *request); /* … and the function that they call */
    struct events_listener *listener;      /* GET /v1/events: the answer is a stream */

    bool started, suspended;
    bool stays;     /* the connection may be kept open after the answer */
    bool malformed; /* the head is ambiguous or exceeds a limit: the connection is closed and
                       nothing more is read from it */
    bool answered;
    unsigned status;
    struct buf out;
    size_t out_counted;            /* bytes of the answer in server.options.memory */
    int out_file;                  /* the answer instead of `out`; -1: none */
    const struct asset *out_asset; /* … or this; NULL: none */
    struct asset_wish wish;
    const char *out_type;
    char allow[ROUTE_ALLOW_SIZE]; /* the Allow header; empty: none */
    size_t line;                  /* line of a problem in NDJSON; 0: none */
    uint64_t skipped;             /* Impound-Skipped, for answers that are not JSON; 0: none */
    uint64_t damaged;             /* Impound-Damaged, the same */
};

/* request_free accepts NULL. Both update the server's count of requests. */
struct request *request_new(struct server *server, struct MHD_Connection *connection,
                            const char *method, const char *path);
void request_free(struct request *request);
/* Counts bytes that were added to the body. False: the memory for bodies is exhausted by other
 * requests. */
bool request_count_body(struct request *request, size_t bytes);
/* Frees the body of a request that was answered early. */
void request_drop_body(struct request *request);

/* The query parameter of that name; BYTES_NONE if it is missing. */
struct bytes request_arg(const struct request *request, const char *name);
/* The query parameter `limit`, from 1 to `most`. On an error the request is answered and false
 * returned. */
bool request_limit(struct request *request, size_t usual, size_t most, size_t *out);
/* Whether the client of a suspended request has disconnected; the argument is the request. */
bool request_gone(const void *request);
/* The time, by the server's clock. */
struct wall request_now(const struct request *request);
/* The time that does not jump with the wall clock (base/steady.h), for expiry. */
struct wall request_steady_now(const struct request *request);
/* True if the Content-Type means JSON, or is absent or curl's default. */
bool request_means_json(const struct request *request);
/* The body as one JSON object, if the Content-Type means JSON. An empty body gives an empty object
 * if `optional`. On an error the request is answered and false returned. */
bool request_json(struct request *request, bool optional, struct json *out);

/* Ends the request with the contents of request->out, as JSON or as `type`. */
void request_answer(struct request *request, unsigned status);
void request_answer_as(struct request *request, unsigned status, const char *type);
/* Ends it with 200 and the file's content. Takes ownership of the descriptor. */
void request_answer_file(struct request *request, int fd_take, const char *type);
/* Ends it with a file of the dashboard, or with 304 if the client has it. */
void request_answer_asset(struct request *request, const struct asset *asset);
/* The largest allowed size of its body. */
uint64_t request_body_max(const struct request *request);
/* Ends the request with an RFC 9457 problem document. */
__attribute__((format(printf, 3, 4))) void
request_problem(struct request *request, enum status status, const char *format, ...);

#endif
