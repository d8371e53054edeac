/* config: impound.yaml, read and checked (DESIGN §4). Every mistake is reported, not only the
 * first, with file:line:column, the expected value, and a hint. */
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
    MODE_PROCESS, /* a process for each message */
    MODE_STREAM,  /* long-lived workers (docs/stream.md) */
};

/* Where answers go; at most one of the two is set. */
struct config_reply {
    int64_t store_ms; /* 0: answers are not kept */
    struct bytes url; /* of a sink; empty: answers are not published */
};

struct config_handler {
    enum handler_class kind;
    struct bytes url;                   /* http */
    struct bytes argv[CONFIG_ARGV_MAX]; /* exec */
    size_t argc;
    int64_t timeout_ms;          /* default: 30 s */
    struct rule_header *headers; /* http */
    size_t header_count;
    struct bytes ca_file;  /* http: `ca:`, a PEM file; empty: the system's */
    enum config_mode mode; /* exec */
    uint32_t workers;      /* stream; default: 4 */
    uint64_t max_messages; /* stream; default: 0, no limit */
    uint32_t batch;        /* http and stream; default: 1 */
    struct bytes edit;     /* a jq program on the body; empty: none */
    struct bytes version;  /* of its code; empty: unknown, unless the handler's answer states one */
    struct config_reply reply;
};

/* The effect of a dead letter on later messages of its key (order: key). */
enum config_on_dead { ON_DEAD_CLOSE, ON_DEAD_CONTINUE };

enum { CONFIG_MAX_REPLAYS = 3, CONFIG_MAX_LAG = 1000 };

/* How long letters are kept, by their state. */
struct config_retention {
    int64_t keep_ms[RETENTION_COUNT]; /* RETENTION_NEVER: never deleted */
};

/* The triage rules of a DLQ. */
struct config_triage_rules {
    const struct triage_rule *list;
    size_t count;
};

/* Whether a letter is still fresh enough for a replay. */
struct config_fresh {
    int64_t within_ms;            /* 0: no limit of age */
    struct config_handler *check; /* NULL: none */
    struct bytes hash;            /* a path into the body; empty: none */
};

/* The settings of a DLQ that triage uses. */
struct config_triage {
    struct config_retention retention;
    struct config_triage_rules rules;
    uint32_t max_replays; /* default: 3 */
    struct config_fresh fresh;
};

struct config_queue {
    struct bytes name;
    struct bytes source;             /* default: "builtin" */
    struct config_handler *handlers; /* [0] the handler, then the fallbacks */
    size_t handler_count;
    struct config_handler *compensate; /* NULL: none */
    uint32_t concurrency;              /* default: 32; lease: ENGINE_UNLIMITED */
    struct policy policy;
    struct engine_dlq *dlqs;      /* every DLQ this queue can reach, its default first */
    struct config_triage *triage; /* of the same DLQs */
    size_t dlq_count;
    enum store_order order;
    enum config_on_dead on_dead;
    uint32_t blocked_limit; /* default: 1000 */
    struct engine_idempotency idempotency;
    struct flood_policy flood;
    struct bytes runbook;    /* for alerts about the queue; empty: none */
    uint64_t replay_max_lag; /* replay.max_lag; default: 1000 */
    size_t line;             /* its line in the file */
};

struct config_adopt {
    struct adopt_entry entry;
    size_t line, column; /* its position in the file */
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
    struct rule_header *headers; /* of a webhook, as `secret` is */
    size_t header_count;
    struct bytes secret; /* signs every notice */
    enum alert_severity severity;
    struct bytes queue, dlq, owner; /* globs; empty: any */
};

struct config_alerts {
    struct config_receiver *receivers;
    size_t receiver_count;
    struct alert_rule *rules; /* the file's rules, then the defaults that it does not replace */
    size_t rule_count, own_rule_count;
    unsigned no_defaults;
};

/* Where spans go. */
struct config_telemetry {
    bool off;          /* the file says off, which overrides the environment */
    struct bytes otlp; /* the receiver's URL; empty: none */
    struct rule_header *headers;
    size_t header_count;
    bool headers_of_environment; /* the headers are from the environment */
    struct bytes ca_file;        /* a PEM file; empty: the system's */
    struct bytes service;        /* default: impound */
    uint32_t sample_permille;    /* default: 1000 */
};

/* A jq program and its position in the file. */
struct config_program {
    struct config_program *next;
    struct bytes text;
    size_t line, column;
};

struct config {
    struct bytes path, dir;   /* path of the file; relative paths in it are relative to dir */
    struct bytes listen_host; /* default: 127.0.0.1 */
    uint16_t listen_port;     /* default: 7070 */
    bool auth_none;           /* the file has server.auth: none */
    uint64_t max_body;        /* default: 4 MiB */
    uint64_t body_memory;     /* default: 256 MiB; limit of all bodies in memory */
    int64_t drain_ms;         /* default: 10 s */
    int64_t jq_timeout_ms;    /* default: 1 s */
    enum config_payloads { PAYLOADS_SHOWN, PAYLOADS_HIDDEN } payloads; /* on the dashboard */
    enum log_format log;                                               /* default: text */
    enum log_level log_level;                                          /* default: info */
    struct config_telemetry telemetry;
    struct bytes store_path; /* the path of "sqlite:PATH", absolute */
    struct config_queue *queues;
    size_t queue_count;
    struct config_adopt *adopts;
    size_t adopt_count;
    struct config_dlq *dlqs; /* each once: the queues', then those of `adopt` only */
    size_t dlq_count;
    struct config_alerts alerts;
    struct config_program *programs; /* in the order of the file */
    struct config_written *written;  /* texts before ${NAME} was expanded */
    struct arena arena;              /* owns all of it */
};

/* Reads a file. INVALID: `mistakes` has a line for each, "file:line:column: what, expected what.
 * hint". NOT_FOUND: there is no such file. *out must be freed with config_free in any case. ${NAME}
 * is expanded from the environment; a variable that is not set is a mistake. */
enum status config_load(const char *path, struct config **out, struct buf *mistakes);
enum status config_parse(struct bytes yaml, const char *path, struct config **out,
                         struct buf *mistakes);
void config_free(struct config *config);
/* NULL: there is none. Its index is its distance from config->queues. */
const struct config_queue *config_find_queue(const struct config *config, struct bytes name);
/* The settings of a DLQ that a queue or an entry of `adopt` can reach. NULL: none can. */
const struct engine_dlq *config_find_dlq(const struct config *config, struct bytes name);
const struct config_triage *config_find_triage(const struct config *config, struct bytes dlq);
/* The engine's settings of a queue; borrows from the configuration. */
struct engine_rules config_rules(const struct config_queue *queue);
/* A configuration with defaults only; for config_read_policy. */
struct config *config_new(const char *path);
/* Reads classify, retry, breaker and poison, as in a queue, over the values of *policy. Its texts
 * live as long as `config`. INVALID: as with config_load; *policy is filled in part. */
enum status config_read_policy(struct config *config, struct bytes yaml, struct policy *policy,
                               struct buf *mistakes);

/* Prints the effective policy of each queue, with every default, as YAML that config_parse can
 * read. */
void config_print(const struct config *config, struct buf *out);
/* One line for each difference that a reload cannot apply ("server.listen changed: restart to
 * apply"). */
void config_restart_needed(const struct config *old, const struct config *new, struct buf *out);

#endif
