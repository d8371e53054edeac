/* envelope: all facts of one message, in any state, except its body (DESIGN §7).
 *
 * The API shows it as JSON with the body; the store keeps it in a binary form, which is a third of
 * the size and of the work. Texts are borrowed: from the bytes that were read after envelope_decode
 * and envelope_restore, otherwise from the place where they were set. */
#ifndef CORE_ENVELOPE_ENVELOPE_H
#define CORE_ENVELOPE_ENVELOPE_H

#include "base/arena.h"
#include "base/instant.h"
#include "base/json/json.h"
#include "core/outcome.h"
#include "core/rule.h"

enum {
    ENVELOPE_HISTORY_MAX = 64,       /* the newest are kept */
    ENVELOPE_HEADERS_MAX = 256,      /* of one message */
    ENVELOPE_NOTE_MESSAGE_MAX = 512, /* bytes of error_message in a line of history */
};

/* One line of history. */
struct envelope_note {
    uint32_t attempt; /* its number */
    uint32_t replay;  /* its round: 0 before the first replay */
    struct wall at;   /* start of the hand-over */
    int64_t duration_ms;
    bool counted;
    bool ok;          /* it succeeded (possible for a duplicate hand-over): verdict "ok" */
    bool interrupted; /* verdict "interrupted" */
    bool probe;
    bool compensation;    /* by the compensating handler */
    enum verdict verdict; /* otherwise */
    struct bytes category;
    struct bytes error_type;
    struct bytes error_message;
    int64_t delay_ms; /* -1: no retry followed */
};

struct envelope {
    struct bytes letter_id; /* empty until it first dies */
    struct bytes dlq;
    enum state state;
    enum cause cause; /* of a letter */
    struct bytes category, reason;

    struct bytes id, queue, key; /* key.ptr NULL: none */
    const struct rule_header *headers;
    size_t header_count;
    struct bytes content_type;
    char content_hash[65];  /* hex of SHA-256, or "" */
    uint64_t size;          /* of the body */
    struct bytes body_file; /* file of a large body, filled in by the store on reading */
    bool body_damaged;      /* the body was lost to damage: it is empty; hash and size are of the
                               original */

    struct bytes source; /* JSON object: {"kind":"builtin"} */

    bool failed; /* the failure below is set */
    enum kind kind;
    int status, exit_code, signal;
    struct bytes error_type, error_message, stack_trace;
    uint64_t fingerprint;
    int64_t retry_after_ms; /* -1: none */

    uint32_t attempts, max_attempts, crashes, replays;
    uint32_t probes; /* failed probes of this round without evidence of an outage (SEMANTICS 4.2) */
    struct envelope_note *history; /* oldest first; in the arena given to envelope_note */
    size_t history_count;

    struct wall created_at, first_attempt_at, first_failure_at, last_failure_at, dead_at,
        resolved_at;
    struct wall escalated_at, next_attempt_at; /* next_attempt_at: due time */
    struct wall replayed_at; /* start of its present or last replay; max_age runs from then */
    int64_t delay_ms;        /* the delay that led to next_attempt_at */
    enum resolution resolution;
    struct bytes why; /* of the last decision by a person, or of a halt */

    struct bytes instance, version;  /* consumer */
    struct bytes task_id, task_type; /* reports */
    struct bytes context;            /* JSON; empty: {} */
    struct bytes owner, rule;
    struct bytes blocked_by; /* the letter that closes its key, filled in by the store on reading */
    bool closes_key;         /* a letter of an ordered queue: its key waits for it */

    uint64_t lease;      /* the last lease's secret half; 0: never leased */
    int64_t lease_ms;    /* > 0: it is leased now, for this long at a time */
    bool suspect;        /* in flight when its worker died: it runs alone */
    struct bytes replay; /* the id of the replay that last sent it */
    bool read_only; /* adopted with mode: peek; its broker still has it, and it cannot be changed
                       here */
    bool edited;    /* an edit replaced its body; the original is kept */
    uint32_t compensating; /* replaying: number of the next compensation attempt; 0: none */
    bool to_origin; /* replaying: it is sent to its origin; resolved: it is there (comeback.h) */
    bool refused; /* its last hand-over ended in `halt`: other messages go first (second_opinion.h)
                   */
};

enum envelope_part {
    ENVELOPE_WITH_BODY, /* with message.body or message.body_base64 */
    ENVELOPE_ROW,       /* a row of a list: without body, stack_trace and history */
    ENVELOPE_LINE, /* with the body, on one line that preserves every byte: a body that JSON cannot
                      show exactly, or only over several lines, is base64 */
};

/* Writes JSON. The body is copied unchanged if it is JSON (content_type application/json, text/json
 * or with the suffix +json, and it parses), a JSON string if it is other UTF-8 text, and
 * body_base64 if it is not UTF-8. */
void envelope_encode(const struct envelope *envelope, enum envelope_part part, struct bytes body,
                     struct buf *out);
/* Whether a body is copied unchanged: it is declared as JSON and parses. */
bool envelope_is_json(struct bytes content_type, struct bytes body);
/* Writes a member "body" or "body_base64" by the same rule, into another object. */
void envelope_put_body(struct json_out *out, struct bytes content_type, struct bytes body);
/* Writes a key or a header's value, which may be any bytes: a string, or {"base64":…} if it is not
 * text (not UTF-8, or with a NUL). Null: there is none. */
void envelope_put_any(struct json_out *out, struct bytes value);
/* The member "headers": an object of such values by name, each name once with its last value. If a
 * name is repeated, also the member "header_pairs": all of them in their order, as [name, value].
 */
void envelope_put_headers(struct json_out *out, const struct rule_header *headers, size_t count);
/* Reads the JSON of envelope_encode. Slices of `json` and of the arena. STATUS_CORRUPT: not such a
 * text. */
enum status envelope_decode(struct bytes json, struct arena *arena, struct envelope *out,
                            struct err *err);

/* Writes the stored form: everything but the body (docs/store.md has the bytes). */
void envelope_store(const struct envelope *envelope, struct buf *out);
/* Reads the stored form, and the JSON of older stores. As envelope_decode. */
enum status envelope_restore(struct bytes stored, struct arena *arena, struct envelope *out,
                             struct err *err);
/* The same without the long members: headers, history, source and context may be left out, and are
 * then not verified. */
enum status envelope_restore_facts(struct bytes stored, struct arena *arena, struct envelope *out,
                                   struct err *err);

/* True if the message was judged dead and its DLQ is full: it is stored as pending_retry with
 * `dlq`, cause, category and reason set, is not handed over again, and becomes a letter once `dlq`
 * has room (SEMANTICS 4.4). No other live message has a DLQ and no time of its next attempt. */
static inline bool envelope_awaits_room(const struct envelope *envelope) {
    return (envelope->state == STATE_PENDING_RETRY || envelope->state == STATE_RETRYING) &&
           envelope->dlq.len > 0 && envelope->next_attempt_at.ms == WALL_NEVER.ms;
}

/* Why a waiting message cannot be retried now; NULL: it can. */
static inline const char *envelope_keeps_from_retry(const struct envelope *envelope) {
    if (envelope_awaits_room(envelope))
        return "it was judged dead and waits for room in its DLQ";
    if (envelope->state == STATE_QUEUED)
        return "it is queued and has not failed yet";
    return NULL;
}

/* Judged hand-overs of its present round: of its compensation, if it has one. */
static inline uint32_t envelope_tries(const struct envelope *envelope) {
    return envelope->compensating ? envelope->compensating - 1 : envelope->attempts;
}

/* Adds a history line, dropping the oldest beyond ENVELOPE_HISTORY_MAX; its error_message is
 * clipped to ENVELOPE_NOTE_MESSAGE_MAX. False: a fixed arena is used up. */
bool envelope_note(struct envelope *envelope, struct arena *arena,
                   const struct envelope_note *note);
/* Copies a failed outcome into the envelope's failure (clipped to the limits of outcome.h),
 * computes its fingerprint, and sets first_failure_at / last_failure_at. Texts stay borrowed. */
void envelope_fail(struct envelope *envelope, const struct outcome *outcome, struct wall now);

#endif
