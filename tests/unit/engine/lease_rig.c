#include "lease_rig.h"

#include <stdio.h>

struct rig *lease_rig_new(struct rig_options options) {
    options.lease = true;
    struct rig *rig = rig_new(options);
    rig->concurrency = ENGINE_UNLIMITED;
    rig_open(rig);
    return rig;
}

static void on_fetched(struct engine_request *request, enum status status) {
    struct fetched *fetched = request->arg;
    fetched->asked->answers++;
    fetched->asked->status = status;
    fetched->count = fetched->lease.count;
    for (size_t i = 0; i < fetched->count; i++) {
        const struct engine_leased *leased = &fetched->room[i];
        snprintf(fetched->leases[i], ENGINE_LEASE_TEXT_SIZE, "%s", leased->lease);
        snprintf(fetched->ids[i], RIG_ID_SIZE, "%.*s", BYTES_ARG(leased->held->envelope.id));
        fetched->attempts[i] = leased->attempt;
        for (size_t h = 0; h < leased->header_count; h++)
            if (bytes_is(leased->headers[h].name, "traceparent"))
                traceparent_parse(leased->headers[h].value, &fetched->traces[i]);
    }
}

static bool is_gone(const struct engine_request *request) {
    return ((struct fetched *)request->arg)->gone;
}

void lease_rig_ask(struct rig *rig, struct fetched *out, uint32_t max, int64_t wait_ms) {
    *out = (struct fetched){.lease = {.max = max,
                                      .wait_ms = wait_ms,
                                      .lease_ms = LEASE_MS,
                                      .messages = out->room,
                                      .gone = is_gone}};
    out->asked = rig_request(rig, ENGINE_LEASE);
    out->asked->request.lease = &out->lease;
    out->asked->request.done = on_fetched;
    out->asked->request.arg = out;
    engine_ask(rig->engine, &out->asked->request);
}

void lease_rig_fetch(struct rig *rig, struct fetched *out, uint32_t max) {
    lease_rig_ask(rig, out, max, 0);
    rig_rest(rig);
}

void lease_rig_release(struct rig *rig, struct answered *out, enum engine_release_kind kind,
                       const char *lease) {
    bool failed = kind == RELEASE_FAIL;
    out->asked = rig_request(rig, ENGINE_RELEASE);
    out->release = (struct engine_release){.kind = kind,
                                           .lease = bytes_of(lease),
                                           .outcome = {.ending = failed ? ENDING_FAILED : ENDING_OK,
                                                       .kind = KIND_REPORTED,
                                                       .retry_after_ms = -1},
                                           .status = STATUS_INTERNAL};
    out->asked->request.release = &out->release;
    out->asked->request.release_count = 1;
    engine_ask(rig->engine, &out->asked->request);
}

static enum status finish(struct rig *rig, struct answered *answered) {
    rig_rest(rig);
    assert_int_equal(answered->asked->answers, 1);
    assert_int_equal(answered->asked->status, STATUS_OK);
    return answered->release.status;
}

enum status lease_rig_ack(struct rig *rig, const char *lease) {
    struct answered answered;
    lease_rig_release(rig, &answered, RELEASE_ACK, lease);
    return finish(rig, &answered);
}

enum status lease_rig_fail(struct rig *rig, const char *lease, const char *error_type) {
    struct answered answered;
    lease_rig_release(rig, &answered, RELEASE_FAIL, lease);
    answered.release.outcome.error_type = bytes_of(error_type);
    return finish(rig, &answered);
}

enum status lease_rig_extend(struct rig *rig, const char *lease, int64_t lease_ms) {
    struct answered answered;
    lease_rig_release(rig, &answered, RELEASE_EXTEND, lease);
    answered.release.lease_ms = lease_ms;
    return finish(rig, &answered);
}
