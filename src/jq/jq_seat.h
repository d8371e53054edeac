/* jq_seat: a slot for one helper process, as the pool sees it. It has a deadline unless it is idle
 * or empty:
 *
 *   empty ──start──▶ starting ──greeting──▶ idle ──ask──▶ busy ──answer──▶ idle
 *     ▲                 │                    │             │
 *     └──────end────────┴────────────────────┴─────────────┘ */
#ifndef JQ_JQ_SEAT_H
#define JQ_JQ_SEAT_H

#include "base/instant.h"
#include "jq/jq_pool.h"
#include "jq/jq_process.h"
#include "jq/jq_talk.h"

enum jq_seat_state { JQ_SEAT_EMPTY, JQ_SEAT_STARTING, JQ_SEAT_IDLE, JQ_SEAT_BUSY };

struct jq_ticket;

struct jq_seat {
    enum jq_seat_state state;
    struct jq_process process;
    struct jq_talk talk;
    struct mono deadline;     /* MONO_NEVER: idle or empty */
    struct jq_ticket *ticket; /* the pool's; NULL unless busy */
};

void jq_seat_init(struct jq_seat *seat);
/* False: no process could be started, and the slot is still empty. */
bool jq_seat_start(struct jq_seat *seat, const struct jq_pool_options *options, struct mono now);
/* The greeting was received, or the answer was taken. */
void jq_seat_rest(struct jq_seat *seat);
/* Gives an idle helper a job; both are borrowed until it rests or ends. */
void jq_seat_ask(struct jq_seat *seat, struct jq_ticket *ticket, const struct jq_job *job,
                 int64_t timeout_ms, struct mono now);
/* Ends the process; the ticket stays for the caller to take. */
enum jq_end jq_seat_end(struct jq_seat *seat);

#endif
