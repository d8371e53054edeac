#include "app/wiring/runtime.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/wiring/adopt_wiring.h"
#include "app/alarm/alarm.h"
#include "app/what_if/behaviour.h"
#include "store/clock_record.h"
#include "app/wiring/config_current.h"
#include "store/instance.h"
#include "app/wiring/queue_wiring.h"
#include "app/wiring/origins.h"
#include "app/wiring/orphans.h"
#include "app/wiring/replay_wiring.h"
#include "app/wiring/telemetry.h"
#include "app/wiring/maintenance.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread/thread.h"
#include "broker/registry.h"
#include "handler/exec/exec.h"
#include "handler/http/http.h"
#include "jq/jq_pool.h"
#include "server/server.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"
#include "triage/groups/arrivals.h"
#include "triage/archive/spill_file.h"

enum { JQ_HELPERS = 2 };

struct runtime {
    struct config_current current;
    struct config *started; /* the configuration of the start: the running queues are its queues */
    struct body_memory *memory;
    struct store *store;
    struct http_pool *http;
    struct exec_pool *exec;
    struct jq *jq;
    struct spill *spill;
    struct telemetry *telemetry; /* NULL: tracing is off */
    struct sinks sinks;
    struct triage triage;
    struct replay_wiring *replays;
    struct maintenance *maintenance;
    struct adopt_wiring *adopt;
    struct engine *engine;
    struct alarm *alarm;
    struct queue_wiring *queues; /* in the order of the configuration */
    size_t queue_count;
    pthread_t engine_thread;
    bool engine_runs;
    pthread_mutex_t server_lock; /* guards the server: events may come while it stops */
    struct server *server;
    uint16_t port;
    char instance[INSTANCE_MAX];
    char url[512];
    char consumer[INSTANCE_MAX]; /* the consumer name used at brokers */
};

/* ---- wiring ---- */

static struct queue_wiring_parts store_internal_of(struct runtime *runtime) {
    return (struct queue_wiring_parts){.config = runtime->started,
                                       .store = runtime->store,
                                       .http = runtime->http,
                                       .exec = runtime->exec,
                                       .sinks = &runtime->sinks,
                                       .consumer = bytes_of(runtime->consumer),
                                       .memory = runtime->memory};
}

static enum status add_queues(struct runtime *runtime, struct err *err) {
    enum status status = STATUS_OK;
    struct queue_wiring_parts parts = store_internal_of(runtime);
    runtime->queues = memory_array(runtime->started->queue_count, sizeof *runtime->queues);
    for (size_t i = 0; i < runtime->started->queue_count && status == STATUS_OK; i++)
        status = queue_wiring_add(&runtime->queues[runtime->queue_count++], &parts,
                                  &runtime->started->queues[i], runtime->engine, err);
    return status;
}

static void on_event(void *arg, const struct engine_event *event) {
    struct runtime *runtime = arg;
    if (event->letter)
        replays_heard(replay_wiring_replays(runtime->replays), event->letter);
    pthread_mutex_lock(&runtime->server_lock);
    if (runtime->server)
        server_publish(runtime->server, event);
    if (runtime->alarm)
        alerts_wake(alarm_alerts(runtime->alarm));
    pthread_mutex_unlock(&runtime->server_lock);
}

/* Queues, their sources and `adopt` entries are those of the start. */
static struct sink *origin_of(void *arg, const struct envelope *letter) {
    struct runtime *runtime = arg;
    struct bytes url;
    char words[REPLAY_ORIGIN_SIZE];
    struct err err;
    return origins_find(runtime->started, letter, &url, words, &err) == STATUS_OK
               ? sinks_back(&runtime->sinks, url, &clock_system)
               : NULL;
}

static enum status open_store(struct runtime *runtime, struct err *err) {
    struct sqlite_store_options options = {.path = runtime->started->store_path.ptr,
                                           .disk = &disk_posix,
                                           .clock = &clock_system,
                                           .memory = runtime->memory,
                                           .large_bytes = runtime->started->max_body,
                                           .threads = true};
    enum status status = sqlite_store_open(&options, &runtime->store, err);
    if (status != STATUS_OK)
        return status;
    clock_record_save(options.path, &clock_system);
    return instance_consumer(options.path, runtime->consumer, err);
}

static enum status make_engine(struct runtime *runtime, struct err *err) {
    struct jq_pool_options jq = {.program = "/proc/self/exe",
                                 .helpers = JQ_HELPERS,
                                 .timeout_ms = runtime->started->jq_timeout_ms};
    char *attempt_log_path;
    runtime->http = http_pool_new(&clock_system, BYTES(IMPOUND_VERSION));
    runtime->telemetry =
        telemetry_start(runtime->started, runtime->http, bytes_of(runtime->instance));
    runtime->exec = exec_pool_new(&clock_system);
    runtime->jq = jq_pool_new(&jq);
    runtime->spill = spill_file_new(runtime->started->dir);
    runtime->triage.store = runtime->store;
    runtime->triage.jq = runtime->jq;
    if (asprintf(&attempt_log_path, "%s.d/flight", runtime->started->store_path.ptr) < 0)
        abort();
    struct engine_options options = {.store = runtime->store,
                                     .clock = &clock_system,
                                     .jq = runtime->jq,
                                     .spill = runtime->spill,
                                     .spans = telemetry_spans(runtime->telemetry),
                                     .brokers = registry_kinds,
                                     .memory = runtime->memory,
                                     .seed = random_seed(),
                                     .attempt_log_path = attempt_log_path,
                                     .instance = bytes_of(runtime->instance),
                                     .event = on_event,
                                     .event_arg = runtime,
                                     .origin = origin_of,
                                     .origin_arg = runtime};
    runtime->engine = engine_new(&options);
    enum status status = add_queues(runtime, err);
    if (status == STATUS_OK)
        status = engine_recover(runtime->engine, err);
    free(attempt_log_path);
    return status;
}

/* ---- replays ---- */

static struct handler *make_check(void *arg, const struct config_handler *config) {
    struct queue_wiring_parts parts = store_internal_of(arg);
    return queue_wiring_handler(&parts, config);
}

static enum status make_replays(struct runtime *runtime, struct err *err) {
    struct replay_wiring_options options = {.triage = &runtime->triage,
                                            .engine = runtime->engine,
                                            .current = &runtime->current,
                                            .make_handler = make_check,
                                            .publish = on_event,
                                            .arg = runtime};
    return replay_wiring_new(&options, &runtime->replays, err);
}

/* ---- maintenance ---- */

/* Has the alerts evaluated again, if they have been started. */
static void on_news(void *arg) {
    struct runtime *runtime = arg;
    pthread_mutex_lock(&runtime->server_lock);
    if (runtime->alarm)
        alerts_wake(alarm_alerts(runtime->alarm));
    pthread_mutex_unlock(&runtime->server_lock);
}

static enum status start_maintenance(struct runtime *runtime, struct err *err) {
    struct maintenance_options options = {.triage = &runtime->triage,
                                          .replays = replay_wiring_replays(runtime->replays),
                                          .base_dir = runtime->started->dir,
                                          .current = &runtime->current,
                                          .news = on_news,
                                          .arg = runtime};
    return maintenance_start(&options, &runtime->maintenance, err);
}

static void start_adoption(struct runtime *runtime) {
    struct adopt_wiring_options options = {.triage = &runtime->triage,
                                           .current = &runtime->current,
                                           .consumer = bytes_of(runtime->consumer),
                                           .publish = on_event,
                                           .arg = runtime};
    runtime->adopt = adopt_wiring_start(&options);
}

static void *engine_thread(void *arg) {
    engine_run(arg);
    return NULL;
}

static enum status start_alarm(struct runtime *runtime, struct err *err) {
    struct alarm_options options = {.config = &runtime->started->alerts,
                                    .triage = &runtime->triage,
                                    .store = runtime->store,
                                    .engine = runtime->engine,
                                    .replays = replay_wiring_replays(runtime->replays),
                                    .rules = maintenance_rules(runtime->maintenance),
                                    .clock = &clock_system,
                                    .http = runtime->http,
                                    .seed = random_seed(),
                                    .dlq = config_current_dlq,
                                    .about = config_current_about,
                                    .arg = &runtime->current};
    struct alarm *alarm;
    enum status status = alarm_start(&options, &alarm, err);
    if (status != STATUS_OK)
        return status;
    pthread_mutex_lock(&runtime->server_lock);
    runtime->alarm = alarm;
    pthread_mutex_unlock(&runtime->server_lock);
    return STATUS_OK;
}

static enum status open_port(struct runtime *runtime, struct err *err) {
    struct server_options options = {.host = runtime->started->listen_host.ptr,
                                     .port = runtime->started->listen_port,
                                     .max_body = runtime->started->max_body,
                                     .memory = runtime->memory,
                                     .engine = runtime->engine,
                                     .store = runtime->store,
                                     .clock = &clock_system,
                                     .jq = runtime->jq,
                                     .triage = &runtime->triage,
                                     .base_dir = runtime->started->dir,
                                     .replays = replay_wiring_replays(runtime->replays),
                                     .rules = maintenance_rules(runtime->maintenance),
                                     .alerts = alarm_alerts(runtime->alarm),
                                     .spans = telemetry_spans(runtime->telemetry),
                                     .adopt = adopt_wiring_adopt(runtime->adopt),
                                     .config = config_current_view(&runtime->current),
                                     .version = BYTES(IMPOUND_VERSION),
                                     .payloads_hidden =
                                         runtime->started->payloads == PAYLOADS_HIDDEN,
                                     .seed = random_seed()};
    struct server *server;
    enum status status = server_start(&options, &server, err);
    if (status != STATUS_OK)
        return status;
    runtime->port = server_port(server);
    pthread_mutex_lock(&runtime->server_lock);
    runtime->server = server;
    pthread_mutex_unlock(&runtime->server_lock);
    return STATUS_OK;
}

/* The URL of this server in notices. */
static void set_url(struct runtime *runtime, const struct config *config) {
    bool ipv6 = bytes_find(config->listen_host, BYTES(":")) < config->listen_host.len;
    snprintf(runtime->url, sizeof runtime->url, "http://%s%.*s%s:%u", ipv6 ? "[" : "",
             BYTES_ARG(config->listen_host), ipv6 ? "]" : "", (unsigned)config->listen_port);
    runtime->triage.url = bytes_of(runtime->url);
}

enum status runtime_start(struct config *config, struct runtime **out, struct err *err) {
    struct runtime *runtime = memory_new(sizeof *runtime);
    config_current_init(&runtime->current, config);
    runtime->started = config;
    pthread_mutex_init(&runtime->server_lock, NULL);
    instance_name(runtime->instance);
    runtime->memory = body_memory_new(config->body_memory);
    clock_record_load(config->store_path.ptr, &clock_system);
    triage_init(&runtime->triage, &clock_system, random_seed());
    set_url(runtime, config);
    enum status status = open_store(runtime, err);
    if (status == STATUS_OK)
        status = make_engine(runtime, err);
    if (status == STATUS_OK)
        status = make_replays(runtime, err);
    if (status == STATUS_OK)
        status = arrivals_new(&runtime->triage, &runtime->triage.arrivals, err);
    if (status == STATUS_OK) {
        thread_start(&runtime->engine_thread, "engine", engine_thread, runtime->engine);
        runtime->engine_runs = true;
        replay_wiring_run(runtime->replays);
        status = start_maintenance(runtime, err);
    }
    if (status == STATUS_OK)
        status = start_alarm(runtime, err);
    if (status == STATUS_OK)
        start_adoption(runtime);
    if (status == STATUS_OK) {
        orphans_release(runtime->store, config, triage_now(&runtime->triage));
        status = open_port(runtime, err);
    }
    if (status != STATUS_OK) {
        runtime_stop(runtime);
        return status;
    }
    orphans_tell(runtime->store, config);
    behaviour_started(&runtime->triage, config);
    *out = runtime;
    return STATUS_OK;
}

uint16_t runtime_port(const struct runtime *runtime) {
    return runtime->port;
}

/* ---- reload ---- */

struct reload {
    struct engine_request request;
    struct engine_rules rules;
    sem_t *answered;
    enum status status;
};

static void on_reloaded(struct engine_request *request, enum status status) {
    struct reload *reload = request->arg;
    reload->status = status;
    sem_post(reload->answered);
}

/* A handler that becomes `lease` does so at a restart; until then the old limit applies. */
static struct engine_rules reloaded_rules(const struct config_queue *started,
                                          const struct config_queue *queue) {
    struct engine_rules rules = config_rules(queue);
    if (rules.concurrency == ENGINE_UNLIMITED)
        rules.concurrency = started->concurrency;
    return rules;
}

static enum status reload_queue(struct engine *engine, const struct config_queue *started,
                                const struct config_queue *queue, struct err *err) {
    sem_t answered;
    sem_init(&answered, 0, 0);
    struct reload reload = {.rules = reloaded_rules(started, queue), .answered = &answered};
    reload.request = (struct engine_request){.kind = ENGINE_RELOAD,
                                             .queue = queue->name,
                                             .done = on_reloaded,
                                             .arg = &reload,
                                             .rules = &reload.rules};
    engine_ask(engine, &reload.request);
    while (sem_wait(&answered) != 0)
        continue;
    sem_destroy(&answered);
    if (reload.status != STATUS_OK)
        *err = reload.request.err;
    return reload.status;
}

/* A queue that is new in the file needs a restart; config_restart_needed reports it. */
enum status runtime_reload(struct runtime *runtime, struct config *config, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < config->queue_count && status == STATUS_OK; i++) {
        const struct config_queue *queue = &config->queues[i];
        const struct config_queue *started = config_find_queue(runtime->started, queue->name);
        if (started)
            status = reload_queue(runtime->engine, started, queue, err);
    }
    if (status == STATUS_OK)
        config_current_replace(&runtime->current, config);
    else
        config_current_refuse(&runtime->current, config);
    maintenance_reload(runtime->maintenance);
    return status;
}

/* ---- stopping, in the reverse order of starting ---- */

static void close_port(struct runtime *runtime) {
    pthread_mutex_lock(&runtime->server_lock);
    struct server *server = runtime->server;
    runtime->server = NULL;
    pthread_mutex_unlock(&runtime->server_lock);
    if (server)
        server_stop(server);
}

/* After the port is closed, because requests may test receivers. */
static void stop_alarm(struct runtime *runtime) {
    pthread_mutex_lock(&runtime->server_lock);
    struct alarm *alarm = runtime->alarm;
    runtime->alarm = NULL;
    pthread_mutex_unlock(&runtime->server_lock);
    alarm_stop(alarm);
}

/* The engine is held first, so that nothing new starts while the last requests are answered. */
void runtime_stop(struct runtime *runtime) {
    if (runtime->engine_runs)
        engine_hold(runtime->engine, runtime->current.config->drain_ms);
    close_port(runtime);
    adopt_wiring_stop(runtime->adopt);
    adopt_wiring_free(runtime->adopt);
    maintenance_stop(runtime->maintenance);
    replay_wiring_stop(runtime->replays);
    if (runtime->engine_runs) {
        engine_stop(runtime->engine);
        pthread_join(runtime->engine_thread, NULL);
    }
    stop_alarm(runtime);
    telemetry_stop(runtime->telemetry);
    maintenance_free(runtime->maintenance);
    /* Before the engine is freed, because brokers and the store may still report ready messages to
     * it. */
    for (size_t i = 0; i < runtime->queue_count; i++)
        runtime->queues[i].broker->vtable->free(runtime->queues[i].broker);
    if (runtime->store)
        runtime->store->vtable->close(runtime->store);
    engine_free(runtime->engine);
    replay_wiring_free(runtime->replays);
    for (size_t i = 0; i < runtime->queue_count; i++)
        queue_wiring_free(&runtime->queues[i]);
    free(runtime->queues);
    if (runtime->http)
        http_pool_free(runtime->http);
    if (runtime->exec)
        exec_pool_free(runtime->exec);
    if (runtime->jq)
        runtime->jq->vtable->free(runtime->jq);
    if (runtime->spill)
        runtime->spill->vtable->free(runtime->spill);
    sinks_free(&runtime->sinks);
    arrivals_free(runtime->triage.arrivals);
    triage_free(&runtime->triage);
    pthread_mutex_destroy(&runtime->server_lock);
    config_current_free(&runtime->current);
    body_memory_free(runtime->memory);
    free(runtime);
}
