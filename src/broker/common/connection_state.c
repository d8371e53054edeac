#include "broker/common/connection_state.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/backoff.h"

enum { CONNECTION_STATE_KIND_MAX = 64 };

static const struct retry_policy pace = {.base_ms = CONNECTION_STATE_RETRY_FIRST_MS,
                                         .cap_ms = CONNECTION_STATE_RETRY_LAST_MS,
                                         .jitter = JITTER_FULL,
                                         .shape = BACKOFF_EXPONENTIAL};

void connection_state_init(struct connection_state *state, struct bytes name, uint64_t seed) {
    *state = (struct connection_state){.name = bytes_dup(name)};
    pthread_mutex_init(&state->mutex, NULL);
    rng_seed(&state->rng, seed);
}

void connection_state_init_source(struct connection_state *state, const char *kind,
                                  const struct broker_options *options) {
    struct buf name;
    buf_init_heap(&name, options->queue.len + CONNECTION_STATE_KIND_MAX);
    buf_printf(&name, "queue %.*s: %s", BYTES_ARG(options->queue), kind);
    connection_state_init(state, buf_view(&name), options->seed);
    state->quiet = options->quiet;
    buf_free(&name);
}

void connection_state_free(struct connection_state *state) {
    pthread_mutex_destroy(&state->mutex);
    free(state->name);
}

void connection_state_listen(struct connection_state *state, void (*ready)(void *arg), void *arg) {
    pthread_mutex_lock(&state->mutex);
    state->ready = ready;
    state->arg = arg;
    pthread_mutex_unlock(&state->mutex);
}

void connection_state_notify(struct connection_state *state) {
    pthread_mutex_lock(&state->mutex);
    void (*ready)(void *arg) = state->ready;
    void *arg = state->arg;
    pthread_mutex_unlock(&state->mutex);
    if (ready)
        ready(arg);
}

void connection_state_health(struct connection_state *state, struct broker_health *out) {
    pthread_mutex_lock(&state->mutex);
    *out = state->health;
    pthread_mutex_unlock(&state->mutex);
}

bool connection_state_waits(struct connection_state *state, struct mono now, struct err *err) {
    struct broker_health last;
    if (now.ms >= state->next_try.ms)
        return false;
    connection_state_health(state, &last);
    *err = last.trouble;
    return true;
}

void connection_state_made(struct connection_state *state, struct mono now) {
    struct err none = {STATUS_OK, ""};
    pthread_mutex_lock(&state->mutex);
    state->health = (struct broker_health){true, none};
    pthread_mutex_unlock(&state->mutex);
    if (!state->told && !state->quiet)
        log_info("%s: connected%s", state->name, state->failures ? " again" : "");
    state->told = true;
    state->made_at = now;
    connection_state_notify(state);
}

static struct mono later(struct connection_state *state, struct mono now, uint32_t failures) {
    return mono_after(now, backoff_delay_ms(&pace, failures, 0, -1, &state->rng));
}

void connection_state_lost(struct connection_state *state, struct mono now,
                           const struct err *trouble) {
    pthread_mutex_lock(&state->mutex);
    bool was_made = state->health.connected;
    state->health = (struct broker_health){false, *trouble};
    pthread_mutex_unlock(&state->mutex);
    if (was_made && now.ms - state->made_at.ms >= CONNECTION_STATE_LASTS_MS)
        state->failures = 0;
    if (state->failures++ == 0) {
        state->told = false;
        if (!state->quiet)
            log_warn("%s: %s; retrying until it succeeds", state->name, trouble->text);
    }
    state->next_try = later(state, now, state->failures);
    connection_state_notify(state);
}

void connection_state_refused(struct connection_state *state, struct mono now) {
    if (now.ms - state->next_question.ms >= CONNECTION_STATE_LASTS_MS)
        state->refusals = 0;
    state->next_question = later(state, now, ++state->refusals);
}
