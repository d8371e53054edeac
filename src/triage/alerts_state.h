/* alerts_state: what the files of the alerts share and nobody else sees. All of it belongs to the
 * thread of alerts_run; `mutex` is held for the length of a turn, for those who look. */
#ifndef TRIAGE_ALERTS_STATE_H
#define TRIAGE_ALERTS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "base/rng.h"
#include "port/handler.h"
#include "triage/alert_notice.h"
#include "triage/alerts.h"

/* Mail to the alerts: `open` is called on their thread. */
struct alerts_post {
    struct mail mail;
    void (*open)(struct alerts *alerts, struct alerts_post *post);
};

/* One rule about one subject. */
struct alert {
    struct map_node node;
    struct list link; /* in alerts->all */
    const struct alert_rule *rule;
    struct bytes subject, words, letters, owner, runbook; /* owned */
    double value;
    const struct bytes *to; /* as in the sample */
    size_t to_count;
    struct alert_state state;
    bool breached; /* by a sample of this turn */
    bool changed;  /* since it was last saved */
    bool saving;
    size_t owed;
    size_t unsaved; /* notices that were taken, which the store does not know yet */
};

/* A notice that is yet to be told, in its receiver's list. */
struct owed {
    struct list link;
    struct alert *alert;
    enum alert_step step;
    double value;
    struct wall since, at;
};

/* A receiver with what it is owed, oldest first; one notice at a time is under way. */
struct outbox {
    struct alerts *alerts;
    const struct alert_receiver *receiver;
    struct list owed;
    struct alerts_post post; /* the call has ended … */
    bool refused;            /* … and will never be taken, or … */
    bool failed;             /* … may be tried again */
    char trouble[256];
    struct call call;
    struct buf body;
    bool calling;
    uint32_t failures;    /* in a row */
    struct mono again;    /* after a failure, not before this */
    struct wall reminded; /* Alertmanager: of all that fires */
};

struct alerts {
    struct alerts_options options;
    struct rng rng;
    struct list all;
    struct map by_name;
    struct outbox *outboxes;
    size_t owed;
    size_t under_way; /* saves and calls that have not been answered */
    struct mailbox mailbox;
    struct mono next_sample;
    atomic_bool woken, stopping;
    pthread_mutex_t mutex;
};

/* alerts.c */
struct alert *alerts_add(struct alerts *alerts, const struct alert_rule *rule,
                         struct bytes subject);
/* The rule's alert that keeps this one from being told; NULL: none. */
const struct alert *alerts_inhibitor(struct alerts *alerts, const struct alert *alert);
void alerts_drop(struct alerts *alerts, struct alert *alert); /* nobody is owed anything of it */

/* alerts_outbox.c */
void alerts_outbox_init(struct alerts *alerts);
void alerts_outbox_free(struct alerts *alerts);
/* Everyone who is to hear of it is owed it. */
void alerts_outbox_owe(struct alerts *alerts, struct alert *alert, enum alert_step step,
                       struct wall since, struct wall at);
/* As it was before a restart; nothing when there is no such receiver any more. */
void alerts_outbox_restore(struct alerts *alerts, struct bytes to, const struct owed *owed);
void alerts_outbox_send(struct alerts *alerts, struct instant now);
void alerts_outbox_cancel(struct alerts *alerts);
/* When something may be sent again. */
struct mono alerts_outbox_next(const struct alerts *alerts);

/* alerts_save.c */
void alerts_save_changed(struct alerts *alerts);
enum status alerts_save_load(struct alerts *alerts, struct err *err);

#endif
