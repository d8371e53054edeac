#include "app/alarm/alarm.h"

#include <pthread.h>
#include <stdlib.h>

#include "app/alarm/alarm_sample.h"
#include "base/memory.h"
#include "base/thread/thread.h"

enum { TIMEOUT_MS = 10 * 1000 };

struct alarm {
    struct alarm_sampler sampler;
    struct alert_receiver *receivers;
    size_t receiver_count;
    struct alerts *alerts;
    pthread_t thread;
    bool runs;
};

/* Alertmanager is configured by its address; the path of its API is appended. */
static struct handler *post_to(struct http_pool *http, const struct config_receiver *receiver) {
    char memory[2048];
    struct buf url;
    buf_init_fixed(&url, memory, sizeof memory);
    buf_bytes(&url, receiver->url);
    if (receiver->kind == RECEIVER_ALERTMANAGER)
        buf_str(&url, bytes_ends(receiver->url, BYTES("/")) ? "api/v2/alerts" : "/api/v2/alerts");
    struct http_options options = {.url = buf_view(&url),
                                   .timeout_ms = TIMEOUT_MS,
                                   .headers = receiver->headers,
                                   .header_count = receiver->header_count,
                                   .secret = receiver->secret};
    return http_new(http, &options);
}

static void make_receivers(struct alarm *alarm, const struct alarm_options *options) {
    const struct config_alerts *config = options->config;
    alarm->receivers = memory_array(config->receiver_count, sizeof *alarm->receivers);
    for (size_t i = 0; i < config->receiver_count; i++) {
        const struct config_receiver *receiver = &config->receivers[i];
        alarm->receivers[alarm->receiver_count++] =
            (struct alert_receiver){.name = receiver->name,
                                    .kind = receiver->kind,
                                    .key = receiver->key,
                                    .severity = receiver->severity,
                                    .queue = receiver->queue,
                                    .dlq = receiver->dlq,
                                    .owner = receiver->owner,
                                    .handler = post_to(options->http, receiver)};
    }
}

static void *run(void *arg) {
    alerts_run(arg);
    return NULL;
}

enum status alarm_start(const struct alarm_options *options, struct alarm **out, struct err *err) {
    struct alarm *alarm = memory_new(sizeof *alarm);
    alarm->sampler = (struct alarm_sampler){.triage = options->triage,
                                            .store = options->store,
                                            .engine = options->engine,
                                            .replays = options->replays,
                                            .rules = options->rules,
                                            .dlq = options->dlq,
                                            .about = options->about,
                                            .arg = options->arg};
    make_receivers(alarm, options);
    struct alerts_options wanted = {.store = options->store,
                                    .clock = options->clock,
                                    .rules = options->config->rules,
                                    .rule_count = options->config->rule_count,
                                    .receivers = alarm->receivers,
                                    .receiver_count = alarm->receiver_count,
                                    .sample = alarm_sample,
                                    .about = alarm_about,
                                    .arg = &alarm->sampler,
                                    .seed = options->seed};
    enum status status = alerts_new(&wanted, &alarm->alerts, err);
    if (status != STATUS_OK) {
        alarm_stop(alarm);
        return status;
    }
    thread_start(&alarm->thread, "alerts", run, alarm->alerts);
    alarm->runs = true;
    *out = alarm;
    return STATUS_OK;
}

struct alerts *alarm_alerts(struct alarm *alarm) {
    return alarm->alerts;
}

void alarm_stop(struct alarm *alarm) {
    if (!alarm)
        return;
    if (alarm->runs) {
        alerts_stop(alarm->alerts);
        pthread_join(alarm->thread, NULL);
    }
    alerts_free(alarm->alerts);
    for (size_t i = 0; i < alarm->receiver_count; i++)
        alarm->receivers[i].handler->vtable->free(alarm->receivers[i].handler);
    free(alarm->receivers);
    alarm_sampler_free(&alarm->sampler);
    free(alarm);
}
