/* alerts_state: private to the alerts_*.c files. Everything belongs to the thread of alerts_run,
 * which holds `mutex` for the length of a turn; other threads take it to read. */
#ifndef TRIAGE_ALERTS_ALERTS_STATE_H
#define TRIAGE_ALERTS_ALERTS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/containers/list.h"
#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "base/rng.h"
#include "port/handler.h"
#include "triage/alerts/alert_notice.h"
#include "triage/alerts/alerts.h"

/* Mail to the alert thread, which calls `open`. */
struct alerts_post {
    struct mail mail;
    void (*open)(struct alerts *alerts, struct alerts_post *post);
};

/* The alert of one rule for one subject. */
struct alert {
    struct map_node node;
    struct list link; /* in alerts->all */
    const struct alert_rule *rule;
    struct bytes subject, words, letters, owner, runbook; /* owned */
    double value;
    const struct bytes *to; /* as in the sample */
    size_t to_count;
    struct alert_state state;
    bool breached; /* by a sample of the current turn */
    bool changed;  /* since the last save */
    bool saving;
    size_t owed;
    size_t unsaved; /* notices that were sent, which the store does not know yet */
};

/* An unsent notice, in its receiver's list. */
struct owed {
    struct list link;
    struct alert *alert;
    enum alert_step step;
    double value;
    struct wall since, at;
};

/* A receiver with its unsent notices, oldest first; one at a time is in flight. */
struct outbox {
    struct alerts *alerts;
    const struct alert_receiver *receiver;
    struct list owed;
    struct alerts_post post; /* posted when the call has ended … */
    bool refused;            /* … and the notice was rejected for good, or … */
    bool failed;             /* … failed, and may be retried */
    char trouble[256];
    struct call call;
    struct buf body;
    bool calling;
    uint32_t failures;    /* consecutive */
    struct mono again;    /* earliest time of the next try after a failure */
    struct wall reminded; /* Alertmanager: last time at which all firing alerts were repeated */
};

struct alerts {
    struct alerts_options options;
    struct rng rng;
    struct list all;
    struct map by_name;
    struct outbox *outboxes;
    size_t owed;
    size_t under_way; /* saves and calls in flight */
    struct mailbox mailbox;
    struct mono next_sample;
    atomic_bool woken, stopping;
    pthread_mutex_t mutex;
};

/* alerts.c */
struct alert *alerts_add(struct alerts *alerts, const struct alert_rule *rule,
                         struct bytes subject);
/* The firing alert that inhibits this one; NULL: none. */
const struct alert *alerts_inhibitor(struct alerts *alerts, const struct alert *alert);
void alerts_drop(struct alerts *alerts,
                 struct alert *alert); /* it has no unsent notice and no save in flight */

/* alerts_outbox.c */
void alerts_outbox_init(struct alerts *alerts);
void alerts_outbox_free(struct alerts *alerts);
/* Adds the notice to the outbox of every receiver that is to get it. */
void alerts_outbox_owe(struct alerts *alerts, struct alert *alert, enum alert_step step,
                       struct wall since, struct wall at);
/* Adds a notice loaded from the store; does nothing if the receiver is no longer configured. */
void alerts_outbox_restore(struct alerts *alerts, struct bytes to, const struct owed *owed);
void alerts_outbox_send(struct alerts *alerts, struct instant now);
void alerts_outbox_cancel(struct alerts *alerts);
/* When the next notice may be sent. */
struct mono alerts_outbox_next(const struct alerts *alerts);

/* alerts_save.c */
void alerts_save_changed(struct alerts *alerts);
enum status alerts_save_load(struct alerts *alerts, struct err *err);

#endif
