#include "app/plant.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/adopt_plant.h"
#include "app/alarm.h"
#include "app/behaviour.h"
#include "store/clock_record.h"
#include "app/config_current.h"
#include "config/config_find.h"
#include "store/instance.h"
#include "app/line.h"
#include "app/origins.h"
#include "app/orphans.h"
#include "app/reload.h"
#include "app/replay_plant.h"
#include "app/telemetry.h"
#include "app/upkeep.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "broker/registry.h"
#include "handler/exec.h"
#include "handler/http.h"
#include "jq/jq_pool.h"
#include "server/server.h"
#include "store/disk_posix.h"
#include "store/sqlite/sqlite_store.h"
#include "triage/arrivals.h"
#include "triage/spill_file.h"

enum { JQ_HELPERS = 2 };

struct plant {
    struct config_current current;
    struct config *started; /* the one it was made from: its queues are those that run */
    struct body_memory *memory;
    struct store *store;
    struct http_pool *http;
    struct exec_pool *exec;
    struct jq *jq;
    struct spill *spill;
    struct telemetry *telemetry; /* NULL: nobody traces */
    struct sinks sinks;
    struct triage triage;
    struct replay_plant *replays;
    struct upkeep *upkeep;
    struct adopt_plant *adopt;
    struct engine *engine;
    struct alarm *alarm;
    struct line *lines; /* in the order of the configuration */
    size_t line_count;
    pthread_t engine_thread;
    bool engine_runs;
    pthread_mutex_t server_lock; /* events may come while the server stops */
    struct server *server;
    uint16_t port;
    char instance[INSTANCE_MAX];
    char url[512];
    char consumer[INSTANCE_MAX]; /* our name at brokers */
};

/* ---- wiring ---- */

static struct line_parts parts_of(struct plant *plant) {
    return (struct line_parts){.config = plant->started,
                               .store = plant->store,
                               .http = plant->http,
                               .exec = plant->exec,
                               .sinks = &plant->sinks,
                               .consumer = bytes_of(plant->consumer),
                               .memory = plant->memory};
}

static enum status add_queues(struct plant *plant, struct err *err) {
    enum status status = STATUS_OK;
    struct line_parts parts = parts_of(plant);
    plant->lines = memory_array(plant->started->queue_count, sizeof *plant->lines);
    for (size_t i = 0; i < plant->started->queue_count && status == STATUS_OK; i++)
        status = line_add(&plant->lines[plant->line_count++], &parts, &plant->started->queues[i],
                          plant->engine, err);
    return status;
}

static void on_event(void *arg, const struct engine_event *event) {
    struct plant *plant = arg;
    if (event->letter)
        replays_heard(replay_plant_replays(plant->replays), event->letter);
    pthread_mutex_lock(&plant->server_lock);
    if (plant->server)
        server_publish(plant->server, event);
    if (plant->alarm)
        alerts_wake(alarm_alerts(plant->alarm));
    pthread_mutex_unlock(&plant->server_lock);
}

/* Queues, their sources and what is adopted are those of the start. */
static struct sink *origin_of(void *arg, const struct envelope *letter) {
    struct plant *plant = arg;
    struct bytes url;
    char words[REPLAY_ORIGIN_SIZE];
    struct err err;
    return origins_find(plant->started, letter, &url, words, &err) == STATUS_OK
               ? sinks_back(&plant->sinks, url, &clock_system)
               : NULL;
}

static enum status open_store(struct plant *plant, struct err *err) {
    struct sqlite_store_options options = {.path = plant->started->store_path.ptr,
                                           .disk = &disk_posix,
                                           .clock = &clock_system,
                                           .memory = plant->memory,
                                           .large_bytes = plant->started->max_body,
                                           .threads = true};
    enum status status = sqlite_store_open(&options, &plant->store, err);
    if (status != STATUS_OK)
        return status;
    clock_record_save(options.path, &clock_system);
    return instance_consumer(options.path, plant->consumer, err);
}

static enum status make_engine(struct plant *plant, struct err *err) {
    struct jq_pool_options jq = {.program = "/proc/self/exe",
                                 .helpers = JQ_HELPERS,
                                 .timeout_ms = plant->started->jq_timeout_ms};
    char *flight_path;
    plant->http = http_pool_new(&clock_system, BYTES(IMPOUND_VERSION));
    plant->telemetry = telemetry_start(plant->started, plant->http, bytes_of(plant->instance));
    plant->exec = exec_pool_new(&clock_system);
    plant->jq = jq_pool_new(&jq);
    plant->spill = spill_file_new(plant->started->dir);
    plant->triage.store = plant->store;
    plant->triage.jq = plant->jq;
    if (asprintf(&flight_path, "%s.d/flight", plant->started->store_path.ptr) < 0)
        abort();
    struct engine_options options = {.store = plant->store,
                                     .clock = &clock_system,
                                     .jq = plant->jq,
                                     .spill = plant->spill,
                                     .spans = telemetry_spans(plant->telemetry),
                                     .brokers = registry_kinds,
                                     .memory = plant->memory,
                                     .seed = random_seed(),
                                     .flight_path = flight_path,
                                     .instance = bytes_of(plant->instance),
                                     .event = on_event,
                                     .event_arg = plant,
                                     .origin = origin_of,
                                     .origin_arg = plant};
    plant->engine = engine_new(&options);
    enum status status = add_queues(plant, err);
    if (status == STATUS_OK)
        status = engine_recover(plant->engine, err);
    free(flight_path);
    return status;
}

/* ---- replays ---- */

static struct handler *make_check(void *arg, const struct config_handler *config) {
    struct line_parts parts = parts_of(arg);
    return line_handler(&parts, config);
}

static enum status make_replays(struct plant *plant, struct err *err) {
    struct replay_plant_options options = {.triage = &plant->triage,
                                           .engine = plant->engine,
                                           .current = &plant->current,
                                           .make_handler = make_check,
                                           .publish = on_event,
                                           .arg = plant};
    return replay_plant_new(&options, &plant->replays, err);
}

/* ---- upkeep ---- */

/* Alerts look again, if they look at all by now. */
static void on_news(void *arg) {
    struct plant *plant = arg;
    pthread_mutex_lock(&plant->server_lock);
    if (plant->alarm)
        alerts_wake(alarm_alerts(plant->alarm));
    pthread_mutex_unlock(&plant->server_lock);
}

static enum status start_upkeep(struct plant *plant, struct err *err) {
    struct upkeep_options options = {.triage = &plant->triage,
                                     .replays = replay_plant_replays(plant->replays),
                                     .base_dir = plant->started->dir,
                                     .current = &plant->current,
                                     .news = on_news,
                                     .arg = plant};
    return upkeep_start(&options, &plant->upkeep, err);
}

static void start_adoption(struct plant *plant) {
    struct adopt_plant_options options = {.triage = &plant->triage,
                                          .current = &plant->current,
                                          .consumer = bytes_of(plant->consumer),
                                          .publish = on_event,
                                          .arg = plant};
    plant->adopt = adopt_plant_start(&options);
}

static void *engine_thread(void *arg) {
    engine_run(arg);
    return NULL;
}

static enum status start_alarm(struct plant *plant, struct err *err) {
    struct alarm_options options = {.config = &plant->started->alerts,
                                    .triage = &plant->triage,
                                    .store = plant->store,
                                    .engine = plant->engine,
                                    .replays = replay_plant_replays(plant->replays),
                                    .rules = upkeep_rules(plant->upkeep),
                                    .clock = &clock_system,
                                    .http = plant->http,
                                    .seed = random_seed(),
                                    .dlq = config_current_dlq,
                                    .about = config_current_about,
                                    .arg = &plant->current};
    struct alarm *alarm;
    enum status status = alarm_start(&options, &alarm, err);
    if (status != STATUS_OK)
        return status;
    pthread_mutex_lock(&plant->server_lock);
    plant->alarm = alarm;
    pthread_mutex_unlock(&plant->server_lock);
    return STATUS_OK;
}

static enum status open_port(struct plant *plant, struct err *err) {
    struct server_options options = {.host = plant->started->listen_host.ptr,
                                     .port = plant->started->listen_port,
                                     .max_body = plant->started->max_body,
                                     .memory = plant->memory,
                                     .engine = plant->engine,
                                     .store = plant->store,
                                     .clock = &clock_system,
                                     .jq = plant->jq,
                                     .triage = &plant->triage,
                                     .base_dir = plant->started->dir,
                                     .replays = replay_plant_replays(plant->replays),
                                     .rules = upkeep_rules(plant->upkeep),
                                     .alerts = alarm_alerts(plant->alarm),
                                     .spans = telemetry_spans(plant->telemetry),
                                     .adopt = adopt_plant_adopt(plant->adopt),
                                     .config = config_current_view(&plant->current),
                                     .version = BYTES(IMPOUND_VERSION),
                                     .payloads_hidden = plant->started->payloads == PAYLOADS_HIDDEN,
                                     .seed = random_seed()};
    struct server *server;
    enum status status = server_start(&options, &server, err);
    if (status != STATUS_OK)
        return status;
    plant->port = server_port(server);
    pthread_mutex_lock(&plant->server_lock);
    plant->server = server;
    pthread_mutex_unlock(&plant->server_lock);
    return STATUS_OK;
}

/* Where notices send people to. */
static void set_url(struct plant *plant, const struct config *config) {
    bool ipv6 = bytes_find(config->listen_host, BYTES(":")) < config->listen_host.len;
    snprintf(plant->url, sizeof plant->url, "http://%s%.*s%s:%u", ipv6 ? "[" : "",
             BYTES_ARG(config->listen_host), ipv6 ? "]" : "", (unsigned)config->listen_port);
    plant->triage.url = bytes_of(plant->url);
}

enum status plant_start(struct config *config, struct plant **out, struct err *err) {
    struct plant *plant = memory_new(sizeof *plant);
    config_current_init(&plant->current, config);
    plant->started = config;
    pthread_mutex_init(&plant->server_lock, NULL);
    instance_name(plant->instance);
    plant->memory = body_memory_new(config->body_memory);
    clock_record_load(config->store_path.ptr, &clock_system);
    triage_init(&plant->triage, &clock_system, random_seed());
    set_url(plant, config);
    enum status status = open_store(plant, err);
    if (status == STATUS_OK)
        status = make_engine(plant, err);
    if (status == STATUS_OK)
        status = make_replays(plant, err);
    if (status == STATUS_OK)
        status = arrivals_new(&plant->triage, &plant->triage.arrivals, err);
    if (status == STATUS_OK) {
        thread_start(&plant->engine_thread, "engine", engine_thread, plant->engine);
        plant->engine_runs = true;
        replay_plant_run(plant->replays);
        status = start_upkeep(plant, err);
    }
    if (status == STATUS_OK)
        status = start_alarm(plant, err);
    if (status == STATUS_OK)
        start_adoption(plant);
    if (status == STATUS_OK) {
        orphans_release(plant->store, config, triage_now(&plant->triage));
        status = open_port(plant, err);
    }
    if (status != STATUS_OK) {
        plant_stop(plant);
        return status;
    }
    orphans_tell(plant->store, config);
    behaviour_started(&plant->triage, config);
    *out = plant;
    return STATUS_OK;
}

uint16_t plant_port(const struct plant *plant) {
    return plant->port;
}

/* ---- reload ---- */

/* A queue that is new in the file waits for a restart; config_restart_needed says so. */
enum status plant_reload(struct plant *plant, struct config *config, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < config->queue_count && status == STATUS_OK; i++) {
        const struct config_queue *queue = &config->queues[i];
        const struct config_queue *started = config_find_queue(plant->started, queue->name);
        if (started)
            status = reload_queue(plant->engine, started, queue, err);
    }
    if (status == STATUS_OK)
        config_current_replace(&plant->current, config);
    else
        config_current_refuse(&plant->current, config);
    upkeep_reload(plant->upkeep);
    return status;
}

/* ---- stopping, in the reverse of the order of starting ---- */

static void close_port(struct plant *plant) {
    pthread_mutex_lock(&plant->server_lock);
    struct server *server = plant->server;
    plant->server = NULL;
    pthread_mutex_unlock(&plant->server_lock);
    if (server)
        server_stop(server);
}

/* After the port: requests try receivers out. */
static void stop_alarm(struct plant *plant) {
    pthread_mutex_lock(&plant->server_lock);
    struct alarm *alarm = plant->alarm;
    plant->alarm = NULL;
    pthread_mutex_unlock(&plant->server_lock);
    alarm_stop(alarm);
}

/* The engine holds first, so that nothing new starts while the last requests are answered. */
void plant_stop(struct plant *plant) {
    if (plant->engine_runs)
        engine_hold(plant->engine, plant->current.config->drain_ms);
    close_port(plant);
    adopt_plant_stop(plant->adopt);
    adopt_plant_free(plant->adopt);
    upkeep_stop(plant->upkeep);
    replay_plant_stop(plant->replays);
    if (plant->engine_runs) {
        engine_stop(plant->engine);
        pthread_join(plant->engine_thread, NULL);
    }
    stop_alarm(plant);
    telemetry_stop(plant->telemetry);
    upkeep_free(plant->upkeep);
    /* Before the engine is freed: brokers and the store may still be about to tell it what is
     * ready. */
    for (size_t i = 0; i < plant->line_count; i++)
        plant->lines[i].broker->vtable->free(plant->lines[i].broker);
    if (plant->store)
        plant->store->vtable->close(plant->store);
    engine_free(plant->engine);
    replay_plant_free(plant->replays);
    for (size_t i = 0; i < plant->line_count; i++)
        line_free(&plant->lines[i]);
    free(plant->lines);
    if (plant->http)
        http_pool_free(plant->http);
    if (plant->exec)
        exec_pool_free(plant->exec);
    if (plant->jq)
        plant->jq->vtable->free(plant->jq);
    if (plant->spill)
        plant->spill->vtable->free(plant->spill);
    sinks_free(&plant->sinks);
    arrivals_free(plant->triage.arrivals);
    triage_free(&plant->triage);
    pthread_mutex_destroy(&plant->server_lock);
    config_current_free(&plant->current);
    body_memory_free(plant->memory);
    free(plant);
}
