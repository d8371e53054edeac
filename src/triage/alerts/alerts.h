/* alerts: evaluates alert rules, and sends notices to receivers.
 *
 *   samples ──▶ one alert for each rule and subject (alert_state.h) ──▶ outbox ──▶ receivers
 *                          │
 *                          └─ saved in the store (SPACE_ALERT) before anything is sent
 *
 * Unsent notices survive a restart and a receiver that cannot be reached. Delivery is at least
 * once: a notice that was sent, but not yet recorded as sent when the server crashed, is sent
 * again, with the same identity.
 *
 * One thread runs alerts_run and owns the state; other threads may call alerts_wake, alerts_json,
 * alerts_try and alerts_stop. */
#ifndef TRIAGE_ALERTS_ALERTS_H
#define TRIAGE_ALERTS_ALERTS_H

#include "base/arena.h"
#include "port/clock.h"
#include "core/note_space.h"
#include "port/letters.h"
#include "triage/alerts/alert.h"

enum {
    ALERTS_IDLE_MS = 10 * 1000, /* between samples when nothing happens */
    ALERTS_SOON_MS = 1000,      /* … and the least time between samples when something does */
    ALERTS_OWED_MAX = 10000,    /* unsent notices; beyond them repeats are left out */
};

struct alerts;

struct alerts_options {
    struct store *store;
    struct clock *clock;
    const struct alert_rule *rules; /* rules and receivers outlive the alerts */
    size_t rule_count;
    const struct alert_receiver *receivers;
    size_t receiver_count;
    /* All current samples, in the arena. */
    size_t (*sample)(void *arg, struct wall now, struct arena *arena, struct alert_sample **out);
    /* Fills in owner, runbook and counterpart of the DLQ or queue; texts outlive the alerts. NULL:
     * unknown. */
    void (*about)(void *arg, bool dlq, struct bytes name, struct alert_about *out);
    void *arg;
    uint64_t seed; /* of the jitter between retries */
};

/* Loads the alerts and unsent notices from the store. */
enum status alerts_new(const struct alerts_options *options, struct alerts **out, struct err *err);
/* Runs one turn; returns when the next is due unless alerts_wake is called. */
struct mono alerts_turn(struct alerts *alerts, struct instant now);
/* Runs turns on the calling thread until alerts_stop. */
void alerts_run(struct alerts *alerts);
/* Requests a sample soon; any thread, never waits. */
void alerts_wake(struct alerts *alerts);
/* alerts_run returns once no call and no save is in flight. */
void alerts_stop(struct alerts *alerts);
/* After alerts_run has returned, while the store is still open. NULL-safe. */
void alerts_free(struct alerts *alerts);

/* {"alerts":[…],"rules":[…],"cursor":null}: pending and firing alerts, the most severe first, and
 * every rule; any thread. */
void alerts_json(struct alerts *alerts, struct buf *out);

/* ---- test notices ---- */

/* Owned by the caller; must live until `done`. */
struct alerts_trial {
    struct bytes to; /* empty: every receiver */
    /* Called once, on any thread, or from inside alerts_try if no receiver matches. */
    void (*done)(struct alerts_trial *trial);
    void *arg;
    struct buf *out; /* gets {"results":[{"to":…,"ok":true}|{"to":…,"ok":false,"problem":…}]} */
    size_t tried;    /* 0: there is no such receiver */
};
void alerts_try(struct alerts *alerts, struct alerts_trial *trial);

#endif
