#include "app/wiring/telemetry.h"

#ifdef IMPOUND_OTLP

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread/thread.h"
#include "telemetry/exporter.h"

enum { TIMEOUT_MS = 10 * 1000, URL_MAX = 8 << 10 };

#define TRACES_PATH "/v1/traces"

struct telemetry {
    struct handler *handler;
    struct exporter *exporter;
    pthread_t thread;
};

/* The receiver is configured by its address, and the path for traces is appended, unless the URL
 * has it already. */
static struct handler *post_to(struct http_pool *http, const struct config_telemetry *config) {
    struct buf url;
    struct bytes base = config->otlp;
    buf_init_heap(&url, base.len + URL_MAX);
    bool whole = bytes_ends(base, BYTES(TRACES_PATH));
    while (!whole && bytes_ends(base, BYTES("/")))
        base = bytes_cut(base, 0, base.len - 1);
    buf_bytes(&url, base);
    buf_str(&url, whole ? "" : TRACES_PATH);
    struct http_options options = {.url = buf_view(&url),
                                   .timeout_ms = TIMEOUT_MS,
                                   .headers = config->headers,
                                   .header_count = config->header_count,
                                   .ca_file = config->ca_file};
    struct handler *handler = http_new(http, &options);
    buf_free(&url);
    return handler;
}

static void *run(void *arg) {
    exporter_run(arg);
    return NULL;
}

struct telemetry *telemetry_start(const struct config *config, struct http_pool *http,
                                  struct bytes instance) {
    if (config->telemetry.otlp.len == 0)
        return NULL;
    struct telemetry *telemetry = memory_new(sizeof *telemetry);
    telemetry->handler = post_to(http, &config->telemetry);
    struct exporter_options options = {
        .handler = telemetry->handler,
        .clock = &clock_system,
        .origin = {config->telemetry.service, BYTES(IMPOUND_VERSION), instance},
        .sample_permille = config->telemetry.sample_permille,
        .seed = random_seed()};
    telemetry->exporter = exporter_new(&options);
    thread_start(&telemetry->thread, "telemetry", run, telemetry->exporter);
    return telemetry;
}

struct spans *telemetry_spans(struct telemetry *telemetry) {
    return telemetry ? exporter_spans(telemetry->exporter) : NULL;
}

void telemetry_stop(struct telemetry *telemetry) {
    if (!telemetry)
        return;
    exporter_stop(telemetry->exporter);
    pthread_join(telemetry->thread, NULL);
    exporter_free(telemetry->exporter);
    telemetry->handler->vtable->free(telemetry->handler);
    free(telemetry);
}

#else

/* A build without protobuf-c refuses the configuration's telemetry. */
struct telemetry *telemetry_start(const struct config *config, struct http_pool *http,
                                  struct bytes instance) {
    (void)config, (void)http, (void)instance;
    return NULL;
}

struct spans *telemetry_spans(struct telemetry *telemetry) {
    (void)telemetry;
    return NULL;
}

void telemetry_stop(struct telemetry *telemetry) {
    (void)telemetry;
}

#endif
