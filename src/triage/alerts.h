/* alerts: watches what is measured, tells people once, and remembers whom it owes a notice.
 *
 *   samples ──▶ one alert for each rule and subject (alert_state.h) ──▶ outbox ──▶ receivers
 *                          │
 *                          └─ kept in the store (SPACE_ALERT) before anything is sent
 *
 * What is owed survives a restart and a receiver that cannot be reached. A notice that was sent but
 * not yet noted as sent when we died is sent again: it carries its identity. */
#ifndef TRIAGE_ALERTS_H
#define TRIAGE_ALERTS_H

#include "base/arena.h"
#include "port/clock.h"
#include "core/note_space.h"
#include "port/letters.h"
#include "triage/alert.h"

enum {
    ALERTS_IDLE_MS = 10 * 1000, /* how often all is read when nothing happens */
    ALERTS_SOON_MS = 1000,      /* … and when something did, at most this often */
    ALERTS_OWED_MAX = 10000,    /* notices that wait; beyond them repeats are left out */
};

struct alerts;

struct alerts_options {
    struct store *store;
    struct clock *clock;
    const struct alert_rule *rules; /* all of them; they and the receivers outlive the alerts */
    size_t rule_count;
    const struct alert_receiver *receivers;
    size_t receiver_count;
    /* Every reading of the moment, in the arena. */
    size_t (*sample)(void *arg, struct wall now, struct arena *arena, struct alert_sample **out);
    /* Whose the DLQ or the queue is, and what to do; texts outlive the alerts. NULL: not known. */
    void (*about)(void *arg, bool dlq, struct bytes name, struct alert_about *out);
    void *arg;
    uint64_t seed; /* of the jitter between tries */
};

/* Reads what the last run left. */
enum status alerts_new(const struct alerts_options *options, struct alerts **out, struct err *err);
/* One turn; returns when the next is wanted if nobody wakes it. */
struct mono alerts_turn(struct alerts *alerts, struct instant now);
/* Turns until alerts_stop. */
void alerts_run(struct alerts *alerts);
/* Something happened that may be worth an alert; any thread, never waits. */
void alerts_wake(struct alerts *alerts);
/* alerts_run returns once nothing is under way. */
void alerts_stop(struct alerts *alerts);
/* After alerts_run has returned; the store is open still. */
void alerts_free(struct alerts *alerts);

/* {"alerts":[…],"rules":[…],"cursor":null}: pending and firing ones, the worst first, and every
 * rule; any thread. */
void alerts_json(struct alerts *alerts, struct buf *out);

/* ---- trying receivers out ---- */

/* The caller's until done. */
struct alerts_trial {
    struct bytes to; /* empty: every receiver */
    /* Called once, from any thread, possibly from inside alerts_try when no receiver matches. */
    void (*done)(struct alerts_trial *trial);
    void *arg;
    struct buf *out; /* gets {"results":[{"to":…,"ok":true}|{"to":…,"ok":false,"problem":…}]} */
    size_t tried;    /* 0: there is no such receiver */
};
void alerts_try(struct alerts *alerts, struct alerts_trial *trial);

#endif
