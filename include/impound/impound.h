/* impound: retries and dead letters for any queue, inside your own program.
 *
 * The library has two halves, and either can be used without the other.
 *
 *   Decisions   What is this failure, when is the next attempt, is it time to hold everything? A
 *               policy judges; time and chance are your arguments. No I/O, no threads, no clock.
 *   A worker    The whole engine: a durable store on disk, retries, breaker, budget, dead letters,
 *               and your callback for each message, on threads of the library's own.
 *
 * Rules that hold everywhere:
 *
 * - Texts that go in are NUL-terminated UTF-8, borrowed for the call: the library copies what it
 *   keeps. NULL is allowed where a comment says so.
 * - What a *_new or *_open function gives is yours, until you give it to the *_free of that name;
 *   *_free(NULL) does nothing.
 * - A function that can fail returns an enum impound_status, and says why in *error when `error` is
 *   not NULL. Nothing was changed then, unless its comment says otherwise. A message that fails is
 *   not an error of a function: it is what the library is for.
 * - A struct whose first member is `size` may grow in later versions: set it to sizeof, or begin
 *   with the *_INIT macro. All other structs are opaque or stay as they are.
 * - There is no global state: any number of policies and workers live side by side. Objects may go
 *   from thread to thread; which of them may be used by several threads at once is said with them.
 * - When memory is out the library writes one line to stderr and aborts, as there is nothing sound
 *   left to do. Warnings and errors of a worker go to stderr, one line each.
 *
 * Times are milliseconds. `now_ms` of budget and breaker is any clock that never goes back; the
 * `now_ms` of an attempt is the wall clock, since 1970. */
#ifndef IMPOUND_IMPOUND_H
#define IMPOUND_IMPOUND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==== version, status, errors ==================================================================*/

#define IMPOUND_VERSION_MAJOR 0
#define IMPOUND_VERSION_MINOR 1
#define IMPOUND_VERSION_PATCH 0

/* "0.1.0": of the library that runs, which may be newer than this header. Static memory. */
const char *impound_version(void);

enum impound_status {
    IMPOUND_OK = 0,
    IMPOUND_INVALID = 1,   /* an argument or a configuration is wrong; the error says which */
    IMPOUND_NOT_FOUND = 2, /* there is no such queue, message, letter, token or file */
    IMPOUND_CONFLICT = 3,  /* the id is held with another body, or several queues hold it */
    IMPOUND_TOO_LARGE = 4, /* the body is larger than server.max_body */
    IMPOUND_BUSY = 5,      /* not now: the store is open elsewhere, the worker is stopping */
    IMPOUND_IO = 6,        /* the disk did not take it; it may be tried again */
    IMPOUND_FULL = 7,      /* the disk is full; it may be tried again */
    IMPOUND_CORRUPT = 8,   /* stored data is damaged: see `impound doctor` */
    IMPOUND_NOT_YET = 9,   /* known, but not in this version */
    IMPOUND_INTERNAL = 10  /* a fault of the library */
};

#define IMPOUND_ERROR_TEXT_SIZE 508

struct impound_error {
    int status; /* enum impound_status */
    char text[IMPOUND_ERROR_TEXT_SIZE];
};

/* ==== words ====================================================================================*/

/* What kind of failure it was. */
enum impound_kind {
    IMPOUND_KIND_TIMEOUT = 0,
    IMPOUND_KIND_REFUSED = 1,
    IMPOUND_KIND_RESET = 2,
    IMPOUND_KIND_DNS = 3,
    IMPOUND_KIND_TLS = 4,
    IMPOUND_KIND_STATUS = 5,
    IMPOUND_KIND_EXIT = 6,
    IMPOUND_KIND_SIGNAL = 7,
    IMPOUND_KIND_EXPIRED = 8,
    IMPOUND_KIND_REPORTED = 9, /* the default: the worker says that it failed */
    IMPOUND_KIND_EDIT = 10,    /* a handler's edit failed */
    IMPOUND_KIND_ANSWER = 11   /* its answer was too large to be kept */
};

/* What a rule, or the handler itself, says is to be done about a failure. */
enum impound_verdict {
    IMPOUND_VERDICT_RETRY = 0,
    IMPOUND_VERDICT_FALLBACK = 1,
    IMPOUND_VERDICT_DLQ = 2,
    IMPOUND_VERDICT_DISCARD = 3,
    IMPOUND_VERDICT_HALT = 4
};

/* What is to become of the message. */
enum impound_action {
    IMPOUND_ACTION_DONE = 0,     /* it succeeded: forget it */
    IMPOUND_ACTION_RETRY = 1,    /* again after delay_ms */
    IMPOUND_ACTION_FALLBACK = 2, /* to the next handler at once, within this attempt */
    IMPOUND_ACTION_DEAD = 3,     /* into `dlq` */
    IMPOUND_ACTION_DISCARD = 4,  /* on the record, out of the way */
    IMPOUND_ACTION_HALT = 5,     /* back where it was; nothing more until a person says so */
    IMPOUND_ACTION_HAND_BACK = 6 /* back where it was: interrupted, or a probe that failed */
};

/* Why a message stopped. */
enum impound_cause {
    IMPOUND_CAUSE_NONE = -1, /* it did not */
    IMPOUND_CAUSE_TERMINAL = 0,
    IMPOUND_CAUSE_EXHAUSTED = 1,
    IMPOUND_CAUSE_EXPIRED = 2,
    IMPOUND_CAUSE_CRASH = 3,
    IMPOUND_CAUSE_BLOCKED = 4,
    IMPOUND_CAUSE_UNCLASSIFIED = 5,
    IMPOUND_CAUSE_UNROUTABLE = 6,
    IMPOUND_CAUSE_OPERATOR = 7,
    IMPOUND_CAUSE_REPORTED = 8,
    IMPOUND_CAUSE_ADOPTED = 9
};

/* Their spelling in logs, letters and configuration: "timeout", "dlq", "dead", "exhausted". Static
 * memory; "" for what is none of them. */
const char *impound_kind_text(enum impound_kind kind);
const char *impound_verdict_text(enum impound_verdict verdict);
const char *impound_action_text(enum impound_action action);
const char *impound_cause_text(enum impound_cause cause);

struct impound_header {
    const char *name, *value;
};

/* ==== outcome: how one attempt ended ===========================================================*/

/* One allocation, made by impound_outcome_new; the setters copy into it and never fail. Texts that
 * are longer than the library keeps (type 255 bytes, message 2 KiB, stack trace 16 KiB, reason 255)
 * are cut. Not to be used by two threads at once. */
struct impound_outcome;

struct impound_outcome *impound_outcome_new(void); /* ok */
void impound_outcome_free(struct impound_outcome *outcome);

/* It succeeded: forgets everything that was set. */
void impound_outcome_ok(struct impound_outcome *outcome);
/* It failed: forgets everything that was set; kind reported. Either text may be NULL. */
void impound_outcome_fail(struct impound_outcome *outcome, const char *error_type,
                          const char *error_message);
/* It was not carried out: neither an attempt nor a failure; the message comes again. */
void impound_outcome_interrupt(struct impound_outcome *outcome);

/* More about a failure; after impound_outcome_fail. */
void impound_outcome_set_kind(struct impound_outcome *outcome, enum impound_kind kind);
void impound_outcome_set_status(struct impound_outcome *outcome, int http_status);
void impound_outcome_set_exit_code(struct impound_outcome *outcome, int exit_code); /* kind exit */
void impound_outcome_set_signal(struct impound_outcome *outcome, int number); /* kind signal */
void impound_outcome_set_stack_trace(struct impound_outcome *outcome, const char *stack_trace);
/* Which release of your program failed; letters and groups show it. */
void impound_outcome_set_version(struct impound_outcome *outcome, const char *version);
/* The earliest time of the next attempt that the downstream asked for; −1: it asked for none. */
void impound_outcome_set_retry_after(struct impound_outcome *outcome, int64_t ms);
/* Overrides the rules. The reason may be NULL. */
void impound_outcome_set_verdict(struct impound_outcome *outcome, enum impound_verdict verdict,
                                 const char *reason);

/* ==== decisions ================================================================================*/

/* A queue's classify, retry, breaker and poison, as in impound.yaml. Judging with one policy is
 * safe from any number of threads at once; changing it while another thread judges is not. */
struct impound_policy;

/* Every default filled in, with the presets http and errors. The queue's name (letters, digits,
 * dots, underscores and hyphens, up to 200) stands in the names of its rules and DLQs. */
enum impound_status impound_policy_new(const char *queue, struct impound_policy **out,
                                       struct impound_error *error);
void impound_policy_free(struct impound_policy *policy);
/* Reads YAML over what the policy says: a mapping with any of the keys classify, retry, breaker and
 * poison, spelled as in impound.yaml, for example "retry: {attempts: 3, base: 1s}". Every mistake
 * is told with its line and column, as far as the error has room. A rule with jq is refused: jq
 * needs the helper processes of a worker. Allocates. */
enum impound_status impound_policy_read(struct impound_policy *policy, const char *yaml,
                                        struct impound_error *error);

enum impound_setting {
    IMPOUND_RETRY_ATTEMPTS = 0,              /* 5 */
    IMPOUND_RETRY_BASE_MS = 1,               /* 200 */
    IMPOUND_RETRY_CAP_MS = 2,                /* 30 s */
    IMPOUND_RETRY_MAX_AGE_MS = 3,            /* 24 h */
    IMPOUND_RETRY_AFTER_CAP_MS = 4,          /* 1 h */
    IMPOUND_RETRY_BUDGET_PERMILLE = 5,       /* 200: 20 % of first attempts; 4294967295: off */
    IMPOUND_RETRY_BUDGET_FLOOR_PERMILLE = 6, /* 3000: 3/s */
    IMPOUND_BREAKER_FAILURE_PERMILLE = 7,    /* 500: 50 % */
    IMPOUND_BREAKER_WINDOW_MS = 8,           /* 10 s */
    IMPOUND_BREAKER_MIN_ATTEMPTS = 9,        /* 20 */
    IMPOUND_BREAKER_CONSECUTIVE = 10,        /* 5 */
    IMPOUND_BREAKER_OPEN_MS = 11,            /* 30 s */
    IMPOUND_POISON_CRASHES = 12              /* 3 */
};

/* One number, within the limits that impound.yaml has for it. INVALID: it is outside of them. */
enum impound_status impound_policy_set(struct impound_policy *policy, enum impound_setting setting,
                                       int64_t value, struct impound_error *error);
int64_t impound_policy_get(const struct impound_policy *policy, enum impound_setting setting);

/* Chance, from a seed of yours: the same seed gives the same delays. One thread at a time. */
struct impound_rng {
    uint64_t state;
};
void impound_rng_seed(struct impound_rng *rng, uint64_t seed);

/* The delay after failed attempt `attempt` (from 1): the policy's backoff and jitter, and no less
 * than retry_after_ms (−1: none), as far as its cap allows. `previous_ms` is the delay before this
 * attempt, 0 at the first. No allocation. */
int64_t impound_backoff_ms(const struct impound_policy *policy, uint32_t attempt,
                           int64_t previous_ms, int64_t retry_after_ms, struct impound_rng *rng);

#define IMPOUND_CATEGORY_SIZE 64
#define IMPOUND_REASON_SIZE   320
#define IMPOUND_NAME_SIZE     256

/* What a failure is, by the first rule that matches it. */
struct impound_classification {
    size_t size;
    enum impound_verdict verdict;
    int unclassified; /* no rule matched: verdict dlq */
    char category[IMPOUND_CATEGORY_SIZE];
    char reason[IMPOUND_REASON_SIZE];
    char dlq[IMPOUND_NAME_SIZE];  /* where it would go, were it dead */
    char rule[IMPOUND_NAME_SIZE]; /* "orders.rules[1]", "preset:http[3]"; "" when none matched */
};
#define IMPOUND_CLASSIFICATION_INIT                                                                \
    { sizeof(struct impound_classification), IMPOUND_VERDICT_RETRY, 0, "", "", "", "" }

/* What judgement knows of the message and of the world around the attempt that has just ended. */
struct impound_attempt {
    size_t size;
    uint32_t attempt;                     /* its number, from 1; only counted ones count */
    uint32_t max_attempts;                /* 0: the policy's */
    uint32_t crashes;                     /* before this attempt */
    int64_t now_ms;                       /* wall clock */
    int64_t first_failure_ms;             /* wall clock; 0: this is the first failure */
    int64_t previous_delay_ms;            /* before this attempt; 0 at the first */
    int probe;                            /* it was a breaker's probe */
    int breaker_open;                     /* the breaker was not closed when the outcome arrived */
    int fallback_left;                    /* another handler stands behind the one that failed */
    const struct impound_header *headers; /* the message's, for rules that look at them */
    size_t header_count;
    /* Where `size` ends before these three, a failed probe is uncounted without any bound. */
    uint32_t probes;      /* of the message that failed before: the sum of decisions' `probed` */
    int others_succeeded; /* another message succeeded since this one's own last failure */
    int outage;           /* a probe: impound_breaker_outage, asked before the breaker is told */
};
#define IMPOUND_ATTEMPT_INIT                                                                       \
    { sizeof(struct impound_attempt), 1, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0 }

struct impound_decision {
    size_t size;
    enum impound_action action;
    enum impound_verdict verdict; /* as classified */
    enum impound_cause cause;     /* of DEAD and DISCARD; else NONE */
    int counted;                  /* attempts + 1 */
    int crashed;                  /* crashes + 1 */
    int breaker_failure;          /* tell the breaker that it failed */
    int64_t delay_ms;             /* of RETRY */
    char category[IMPOUND_CATEGORY_SIZE];
    char reason[IMPOUND_REASON_SIZE]; /* "max_attempts:timeout" when attempts are used up */
    char dlq[IMPOUND_NAME_SIZE];      /* of DEAD and DISCARD */
    char rule[IMPOUND_NAME_SIZE];
    /* With HALT. 1: a preset halts (401, 403, an exhausted quota), which may be the fault of this
     * message alone. Hand over up to three other messages, one at a time, before you stop: if none
     * succeeds, stop; if one succeeds, hand this message over once more, and dead-letter it if it
     * is refused again. 0: stop at once. */
    int suspect;
    int probed; /* probes + 1: a probe that failed without evidence of an outage */
};
#define IMPOUND_DECISION_INIT                                                                      \
    {                                                                                              \
        sizeof(struct impound_decision), IMPOUND_ACTION_DONE, IMPOUND_VERDICT_RETRY,               \
            IMPOUND_CAUSE_NONE, 0, 0, 0, 0, "", "", "", "", 0, 0                                   \
    }

/* Both are pure but for the rng: the same arguments give the same answer. INVALID: a size is not
 * set, the outcome has not failed (classify), or there are more than 256 headers. */
enum impound_status impound_classify(const struct impound_policy *policy,
                                     const struct impound_outcome *outcome,
                                     const struct impound_attempt *attempt,
                                     struct impound_classification *out,
                                     struct impound_error *error);
enum impound_status impound_decide(const struct impound_policy *policy,
                                   const struct impound_outcome *outcome,
                                   const struct impound_attempt *attempt, struct impound_rng *rng,
                                   struct impound_decision *out, struct impound_error *error);

/* ---- budget: retries bounded to a share of first attempts. One thread at a time. ---- */

struct impound_budget;

struct impound_budget *impound_budget_new(void);
void impound_budget_free(struct impound_budget *budget);
/* A first attempt is made. */
void impound_budget_first(struct impound_budget *budget, int64_t now_ms);
/* 1: a retry may be made, and is counted. 0: not now; ask again at *again_ms (may be NULL). */
int impound_budget_retry(struct impound_budget *budget, const struct impound_policy *policy,
                         int64_t now_ms, int64_t *again_ms);
/* From 1 (nothing was used) to 0. */
double impound_budget_remaining(struct impound_budget *budget, const struct impound_policy *policy,
                                int64_t now_ms);

/* ---- breaker: holds everything while the downstream is down. One thread at a time. ---- */

enum impound_breaker_state {
    IMPOUND_BREAKER_CLOSED = 0,
    IMPOUND_BREAKER_OPEN = 1,
    IMPOUND_BREAKER_HALF_OPEN = 2
};

struct impound_breaker;

struct impound_breaker *impound_breaker_new(void); /* closed */
void impound_breaker_free(struct impound_breaker *breaker);
/* An ordinary attempt ended, whatever the breaker's state. `message` is any number that tells
 * messages apart; `failed` is the decision's breaker_failure, retry_after_ms the outcome's (−1:
 * none). Returns the new state. */
enum impound_breaker_state impound_breaker_note(struct impound_breaker *breaker,
                                                const struct impound_policy *policy, int64_t now_ms,
                                                uint64_t message, int failed,
                                                int64_t retry_after_ms);
/* How many probes may be started now: 0 while closed (send everything) and before its time. */
uint32_t impound_breaker_probes(struct impound_breaker *breaker,
                                const struct impound_policy *policy, int64_t now_ms);
void impound_breaker_probe_started(struct impound_breaker *breaker);
/* A probe that was interrupted: its place is free again. */
void impound_breaker_probe_withdrawn(struct impound_breaker *breaker);
/* A probe of that message ended; `concurrency` is how many attempts you make at once. Returns the
 * new state. */
enum impound_breaker_state impound_breaker_probe_ended_for(struct impound_breaker *breaker,
                                                           const struct impound_policy *policy,
                                                           int64_t now_ms, uint32_t concurrency,
                                                           uint64_t message, int failed,
                                                           int64_t retry_after_ms);
/* The same without saying which message it was: each is taken for one that was not seen before. */
enum impound_breaker_state impound_breaker_probe_ended(struct impound_breaker *breaker,
                                                       const struct impound_policy *policy,
                                                       int64_t now_ms, uint32_t concurrency,
                                                       int failed, int64_t retry_after_ms);
enum impound_breaker_state impound_breaker_state(const struct impound_breaker *breaker);
/* While open: when probing may begin. */
int64_t impound_breaker_until(const struct impound_breaker *breaker);
/* 1: there is evidence of an outage, now that `message` has failed as well: 5 distinct messages
 * have failed since the last success. */
int impound_breaker_outage(const struct impound_breaker *breaker, uint64_t message);
/* A message that was never attempted waits. While open without evidence of an outage that ends the
 * wait, at most once a second and not before a Retry-After: 1, and impound_breaker_probes says so.
 * 0: it changes nothing. */
int impound_breaker_arrived(struct impound_breaker *breaker, int64_t now_ms);
/* A person wants it to be tried: an open breaker may be probed now. */
void impound_breaker_resume(struct impound_breaker *breaker, int64_t now_ms);

/* ==== worker ===================================================================================*/

/* An engine with its store, and your handlers. Its functions may be called from any thread at once,
 * except that free comes last, alone, and that stop and free are not for handlers. */
struct impound_worker;

/* One hand-over, as a handler sees it. Valid, with all that it points at, until the handler
 * returns; whoever completes later copies what it needs. */
struct impound_message;

const char *impound_message_queue(const struct impound_message *message);
const char *impound_message_id(const struct impound_message *message);
const char *impound_message_key(const struct impound_message *message); /* NULL: none */
const char *impound_message_content_type(const struct impound_message *message);
/* The exact bytes that were pushed; may contain NUL, and does not end in one. */
const void *impound_message_body(const struct impound_message *message, size_t *len);
size_t impound_message_header_count(const struct impound_message *message);
/* False (0) when there is no such place. */
int impound_message_header(const struct impound_message *message, size_t place,
                           struct impound_header *out);
uint32_t impound_message_attempt(const struct impound_message *message); /* from 1 in each round */
uint32_t impound_message_replay(const struct impound_message *message);  /* 0: never replayed */
/* Names this hand-over for impound_complete. */
uint64_t impound_message_token(const struct impound_message *message);
/* 1: the worker is stopping and its drain time is over. A handler that runs long asks now and then,
 * and returns soon with impound_outcome_interrupt. */
int impound_message_cancelled(const struct impound_message *message);

enum impound_handled {
    IMPOUND_HANDLED = 0, /* *outcome says how it ended */
    IMPOUND_LATER = 1    /* impound_complete will say so */
};

/* Called on a thread of the worker's, at most `threads` at once. *outcome is ok at first. Any other
 * return value is a failure that no rule knows, unless *outcome has failed.
 *
 * A handler that brings the process down (a signal, abort, exit) is found out: at the next start
 * those that were inside run one at a time while others flow, and a message that dies in its turn
 * poison.crashes times is dead with cause crash. The same message may come twice, after such a
 * death or a power cut: at least once is what a queue can promise. */
typedef int impound_handler(const struct impound_message *message, struct impound_outcome *outcome,
                            void *arg);

/* Exactly one of config_file and config_text is given: an impound.yaml whose queues have
 * `handler: callback`. Relative paths in it are relative to the file, or to the current folder. */
struct impound_worker_options {
    size_t size;
    const char *config_file;
    const char *config_text;
    const char *store;   /* "sqlite:PATH", in place of the configuration's; NULL: as it says */
    const char *program; /* the impound program, whose helper processes run the jq of rules; NULL:
                            a configuration with jq is refused */
};
#define IMPOUND_WORKER_OPTIONS_INIT                                                                \
    { sizeof(struct impound_worker_options), NULL, NULL, NULL, NULL }

/* Reads the configuration, opens the store and recovers it; nothing runs yet, but messages can be
 * pushed. INVALID (every mistake with its line and column, as far as the error has room), NOT_FOUND
 * (the file), BUSY (another process has the store), IO, CORRUPT. */
enum impound_status impound_worker_open(const struct impound_worker_options *options,
                                        struct impound_worker **out, struct impound_error *error);
/* Who handles a queue; before start. `threads`: how many of its own the queue gets, 0: as many as
 * its concurrency. NOT_FOUND: no such queue. INVALID: it has one already, or the worker runs. */
enum impound_status impound_worker_handle(struct impound_worker *worker, const char *queue,
                                          uint32_t threads, impound_handler *handler, void *arg,
                                          struct impound_error *error);
/* Starts threads and returns. INVALID: a queue has no handler, or it was started before. */
enum impound_status impound_worker_start(struct impound_worker *worker,
                                         struct impound_error *error);
/* Graceful: hands nothing more over, waits for what is under way, at most server.drain for what
 * completes later and as long as it takes for handlers that run. What did not finish comes again at
 * the next start. Returns when all is durable and no handler runs. A worker is started once. */
void impound_worker_stop(struct impound_worker *worker);
/* Stops it if need be, and closes the store. */
void impound_worker_free(struct impound_worker *worker);

/* Ends a hand-over that was answered with IMPOUND_LATER; from any thread, also before the handler
 * has returned. NOT_FOUND: it has ended already, or was interrupted by a stop. */
enum impound_status impound_complete(struct impound_worker *worker, uint64_t token,
                                     const struct impound_outcome *outcome);

/* ---- pushing ---- */

#define IMPOUND_ID_SIZE 256

struct impound_push {
    size_t size;
    const char *id;  /* 1 to 255 bytes of printable UTF-8; NULL: the library makes a UUIDv7 */
    const char *key; /* NULL: none */
    const void *body;
    size_t body_len;
    const char *content_type; /* NULL: application/octet-stream */
    const struct impound_header *headers;
    size_t header_count;
    int64_t delay_ms; /* 0: at once */
};
#define IMPOUND_PUSH_INIT                                                                          \
    { sizeof(struct impound_push), NULL, NULL, NULL, 0, NULL, NULL, 0, 0 }

struct impound_receipt {
    char id[IMPOUND_ID_SIZE];
    int duplicate; /* the id is held already, with the same body: nothing was added */
};

/* Durable (fsynced) when it returns OK. `receipt` may be NULL. CONFLICT: the id is held with
 * another body. */
enum impound_status impound_push(struct impound_worker *worker, const char *queue,
                                 const struct impound_push *message,
                                 struct impound_receipt *receipt, struct impound_error *error);
/* All or nothing, with one sync for all: much faster than one by one. Every item has the `size` of
 * the first. `receipts` is NULL or has room for `count`. The error names the place of a bad item.
 */
enum impound_status impound_push_batch(struct impound_worker *worker, const char *queue,
                                       const struct impound_push *messages, size_t count,
                                       struct impound_receipt *receipts,
                                       struct impound_error *error);

/* ---- looking ---- */

enum impound_queue_state {
    IMPOUND_QUEUE_RUNNING = 0,
    IMPOUND_QUEUE_PAUSED = 1,
    IMPOUND_QUEUE_HALTED = 2
};

struct impound_stats {
    size_t size;
    enum impound_queue_state state;
    enum impound_breaker_state breaker;
    uint64_t depth; /* held and not dead: queued + pending_retry + in hand */
    uint64_t in_flight, queued, pending_retry;
    uint64_t ok, retried, dead, discarded, halted, interrupted; /* attempts since start, by end */
    double budget_remaining;                                    /* 1 to 0 */
    char why[IMPOUND_NAME_SIZE];                                /* it is paused or halted; "" */
};
#define IMPOUND_STATS_INIT                                                                         \
    {                                                                                              \
        sizeof(struct impound_stats), IMPOUND_QUEUE_RUNNING, IMPOUND_BREAKER_CLOSED, 0, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, 0, ""                                                                \
    }

/* NOT_FOUND: no such queue. INVALID: the worker was not started yet. */
enum impound_status impound_worker_stats(struct impound_worker *worker, const char *queue,
                                         struct impound_stats *out, struct impound_error *error);
/* Waits until no queue holds anything that is not dead, at most timeout_ms (−1: for ever). OK, or
 * BUSY when the time is over. A queue that is paused or halted holds what it holds. */
enum impound_status impound_worker_wait_idle(struct impound_worker *worker, int64_t timeout_ms,
                                             struct impound_error *error);

/* A message in any state as JSON (the envelope, with its body), by message id or letter id. `queue`
 * NULL: in any. *json is NUL-terminated and yours; free it with impound_text_free. CONFLICT:
 * several queues hold the id. */
enum impound_status impound_worker_get(struct impound_worker *worker, const char *queue,
                                       const char *id, char **json, struct impound_error *error);
/* Letters as JSON: {"letters":[…],"cursor":"…"|null}, newest first. `filter` is what the API takes
 * behind the question mark, not escaped: "dlq=orders.dlq&reason=timeout&limit=10"; NULL: all that
 * wait for a person. Freed as above. */
enum impound_status impound_worker_letters(struct impound_worker *worker, const char *filter,
                                           char **json, struct impound_error *error);
void impound_text_free(char *text);

/* Durable, also over a restart; after start. `why` may be NULL. A halted queue is resumed too. */
enum impound_status impound_worker_pause(struct impound_worker *worker, const char *queue,
                                         const char *why, struct impound_error *error);
enum impound_status impound_worker_resume(struct impound_worker *worker, const char *queue,
                                          struct impound_error *error);

#ifdef __cplusplus
}
#endif

#endif
