/* alarm_sample: the state of engine and store as readings for alerts. */
#ifndef APP_ALARM_SAMPLE_H
#define APP_ALARM_SAMPLE_H

#include "triage/alerts/alert_escalations.h"
#include "app/alarm/alarm_motion.h"
#include "base/containers/map.h"
#include "engine/engine.h"
#include "triage/alerts/alert.h"
#include "triage/triage.h"
#include "triage/replay/replays.h"
#include "triage/rules/triage_rules.h"

struct alarm_sampler {
    struct triage *triage;
    struct store *store;
    struct engine *engine;
    struct replays *replays;
    struct triage_rules *rules;
    bool (*dlq)(void *arg, struct bytes name, struct engine_dlq *out);
    void (*about)(void *arg, bool dlq, struct bytes name, struct alert_about *out);
    void *arg;
    struct map reasons;      /* the usual rate of each reason */
    bool counted;            /* the reasons were counted once: one that appears later is new */
    struct wall read_before; /* when the reasons were last counted */
    struct alert_escalations escalations;
    struct alarm_motion motion;
};

/* All readings for alerts, in the arena; the callback `sample` of struct alerts_options. */
size_t alarm_sample(void *arg, struct wall now, struct arena *arena, struct alert_sample **out);
void alarm_about(void *arg, bool dlq, struct bytes name, struct alert_about *out);
void alarm_sampler_free(struct alarm_sampler *sampler);

#endif
