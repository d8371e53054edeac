/* config: impound.yaml, read and checked (DESIGN §4). Every mistake is reported with
 * file:line:column, what was expected, and a hint; all of them, not only the first. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "core/policy.h"
#include "engine/engine.h"
#include "triage/adopt/adopt.h"
#include "triage/alerts/alert.h"
#include "triage/decide/retention.h"
#include "triage/rules/triage_rule.h"

enum {
    CONFIG_QUEUES_MAX = 10000,
    CONFIG_FALLBACKS_MAX = 8,
    CONFIG_ARGV_MAX = 64,
    CONFIG_HEADERS_MAX = 64,
    CONFIG_MISTAKES_MAX = 50,
};

/* How an exec handler's program is run. */
enum config_mode {
    MODE_PROCESS, /* once for each message */
    MODE_STREAM,  /* long-lived workers (docs/stream.md) */
};

/* Where answers go; at most one of the two is set. */
struct config_reply {
    int64_t store_ms; /* 0: they are not kept */
    struct bytes url; /* of a sink; empty: they are not published */
};

struct config_handler {
    enum handler_class kind;
    struct bytes url;                   /* http */
    struct bytes argv[CONFIG_ARGV_MAX]; /* exec */
    size_t argc;
    int64_t timeout_ms;          /* 30 s */
    struct rule_header *headers; /* http */
    size_t header_count;
    struct bytes ca_file;  /* http: `ca:`, a PEM file; empty: the system's */
    enum config_mode mode; /* exec */
    uint32_t workers;      /* stream: 4 */
    uint64_t max_messages; /* stream: 0, never */
    uint32_t batch;        /* http and stream: 1 */
    struct bytes edit;     /* a jq program on the body; empty: none */
    struct bytes
        version; /* of its code; empty: unless the handler tells it with an answer, it is unknown */
    struct config_reply reply;
};

/* What a dead letter means for later messages of its key (order: key). */
enum config_on_dead { ON_DEAD_CLOSE, ON_DEAD_CONTINUE };

enum { CONFIG_MAX_REPLAYS = 3, CONFIG_MAX_LAG = 1000 };

/* How long letters are kept, by their state. */
struct config_retention {
    int64_t keep_ms[RETENTION_COUNT]; /* RETENTION_NEVER: as long as the store is */
};

/* The triage rules of a DLQ. */
struct config_triage_rules {
    const struct triage_rule *list;
    size_t count;
};

/* Whether a letter is still worth a replay. */
struct config_fresh {
    int64_t within_ms;            /* 0: letters do not go stale by age */
    struct config_handler *check; /* NULL: none */
    struct bytes hash;            /* a path into the body; empty: none */
};

/* The settings of a DLQ that triage uses. */
struct config_triage {
    struct config_retention retention;
    struct config_triage_rules rules;
    uint32_t max_replays; /* 3 */
    struct config_fresh fresh;
};

struct config_queue {
    struct bytes name;
    struct bytes source;             /* "builtin" */
    struct config_handler *handlers; /* [0] the handler, then the fallbacks */
    size_t handler_count;
    struct config_handler *compensate; /* NULL: none */
    uint32_t concurrency;              /* 32; lease: ENGINE_UNLIMITED */
    struct policy policy;
    struct engine_dlq *dlqs;      /* every DLQ this queue can reach, its default first */
    struct config_triage *triage; /* of the same DLQs */
    size_t dlq_count;
    enum store_order order;
    enum config_on_dead on_dead;
    uint32_t blocked_limit; /* 1000 */
    struct engine_idempotency idempotency;
    struct flood_policy flood;
    struct bytes runbook;    /* for alerts about it; empty: none */
    uint64_t replay_max_lag; /* replay.max_lag, 1000 */
    size_t line;             /* where it stands in the file */
};

struct config_adopt {
    struct adopt_entry entry;
    size_t line, column; /* where it stands in the file */
};

/* A DLQ of the file; several queues may send to it. */
struct config_dlq {
    const struct engine_dlq *dlq;
    const struct config_triage *triage;
};

struct config_receiver {
    struct bytes name;
    enum alert_receiver_kind kind;
    struct bytes url;
    struct bytes key;            /* PagerDuty's routing key */
    struct rule_header *headers; /* a webhook's, as `secret` is */
    size_t header_count;
    struct bytes secret; /* signs every notice */
    enum alert_severity severity;
    struct bytes queue, dlq, owner; /* globs; empty: any */
};

struct config_alerts {
    struct config_receiver *receivers;
    size_t receiver_count;
    struct alert_rule *rules; /* the file's, then the defaults that it does not replace */
    size_t rule_count, own_rule_count;
    unsigned no_defaults;
};

/* Where spans go. */
struct config_telemetry {
    bool off;          /* it was written out, whatever the environment says */
    struct bytes otlp; /* the receiver's URL; empty: there is none */
    struct rule_header *headers;
    size_t header_count;
    bool headers_of_environment; /* they are not in the file */
    struct bytes ca_file;        /* a PEM file; empty: the system's */
    struct bytes service;        /* impound */
    uint32_t sample_permille;    /* 1000 */
};

/* A jq program and where it stands in the file. */
struct config_program {
    struct config_program *next;
    struct bytes text;
    size_t line, column;
};

struct config {
    struct bytes path, dir;   /* of the file; relative paths inside are relative to dir */
    struct bytes listen_host; /* 127.0.0.1 */
    uint16_t listen_port;     /* 7070 */
    bool auth_none;           /* server.auth: none was written out */
    uint64_t max_body;        /* 4 MiB */
    uint64_t body_memory;     /* 256 MiB; of all bodies in memory together */
    int64_t drain_ms;         /* 10 s */
    int64_t jq_timeout_ms;    /* 1 s */
    enum config_payloads { PAYLOADS_SHOWN, PAYLOADS_HIDDEN } payloads; /* on the dashboard */
    enum log_format log;                                               /* text */
    enum log_level log_level;                                          /* info */
    struct config_telemetry telemetry;
    struct bytes store_path; /* of "sqlite:PATH", made absolute by dir */
    struct config_queue *queues;
    size_t queue_count;
    struct config_adopt *adopts;
    size_t adopt_count;
    struct config_dlq *dlqs; /* each once: the queues', then those of `adopt` alone */
    size_t dlq_count;
    struct config_alerts alerts;
    struct config_program *programs; /* in the order of the file */
    struct config_written *written;  /* texts as they stood before ${NAME} was filled in */
    struct arena arena;              /* owns all of it */
};

/* Reads a file. INVALID: `mistakes` has one line each, "file:line:column: what, expected what.
 * hint". NOT_FOUND: there is no such file. Free *out with config_free in any case. ${NAME} comes
 * from the environment; one that is not set is a mistake. */
enum status config_load(const char *path, struct config **out, struct buf *mistakes);
enum status config_parse(struct bytes yaml, const char *path, struct config **out,
                         struct buf *mistakes);
void config_free(struct config *config);
/* NULL: there is none. Its place is its distance from config->queues. */
const struct config_queue *config_find_queue(const struct config *config, struct bytes name);
/* What is said of a DLQ that a queue or an entry of `adopt` can reach. NULL: none does. */
const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name);
const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq);
/* What the engine is told of a queue; borrows from the configuration. */
struct engine_rules config_rules(const struct config_queue *queue);
/* Nothing but defaults; for config_read_policy. */
struct config *config_new(const char *path);
/* Reads classify, retry, breaker and poison, as they stand in a queue, over what *policy says. Its
 * texts live as long as `config`. INVALID: as with config_load; *policy is filled in part. */
enum status config_read_policy(struct config *config, struct bytes yaml, struct policy *policy,
                               struct buf *mistakes);

/* The effective policy of each queue, every default filled in, as YAML that config_parse takes
 * back. */
void config_print(const struct config *config, struct buf *out);
/* One line for each difference that a reload cannot apply ("server.listen changed: restart to
 * apply"). */
void config_restart_needed(const struct config *old, const struct config *new, struct buf *out);

#endif
