/* alarm: runs the alerts: a thread, samples of engine and store, and a handler for each receiver.
 */
#ifndef APP_ALARM_H
#define APP_ALARM_H

#include "config/config.h"
#include "handler/http/http.h"
#include "triage/alerts/alerts.h"
#include "triage/replay/replays.h"
#include "triage/rules/triage_rules.h"

struct alarm;

struct alarm_options {
    const struct config_alerts *config; /* outlives the alarm */
    struct triage *triage;
    struct store *store;
    struct engine *engine;
    struct replays *replays;
    struct triage_rules *rules;
    struct clock *clock;
    struct http_pool *http;
    uint64_t seed;
    /* A DLQ's present configuration. */
    bool (*dlq)(void *arg, struct bytes name, struct engine_dlq *out);
    /* The owner and the runbook of a DLQ or a queue. */
    void (*about)(void *arg, bool dlq, struct bytes name, struct alert_about *out);
    void *arg;
};

enum status alarm_start(const struct alarm_options *options, struct alarm **out, struct err *err);
struct alerts *alarm_alerts(struct alarm *alarm);
/* To be called before the engine and the store are freed. NULL-safe. */
void alarm_stop(struct alarm *alarm);

#endif
