#include "broker/common/contact.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/backoff.h"

enum { CONTACT_KIND_MAX = 64 };

static const struct retry_policy pace = {.base_ms = CONTACT_RETRY_FIRST_MS,
                                         .cap_ms = CONTACT_RETRY_LAST_MS,
                                         .jitter = JITTER_FULL,
                                         .shape = BACKOFF_EXPONENTIAL};

void contact_init(struct contact *contact, struct bytes name, uint64_t seed) {
    *contact = (struct contact){.name = bytes_dup(name)};
    pthread_mutex_init(&contact->mutex, NULL);
    rng_seed(&contact->rng, seed);
}

void contact_init_source(struct contact *contact, const char *kind,
                         const struct broker_options *options) {
    struct buf name;
    buf_init_heap(&name, options->queue.len + CONTACT_KIND_MAX);
    buf_printf(&name, "queue %.*s: %s", BYTES_ARG(options->queue), kind);
    contact_init(contact, buf_view(&name), options->seed);
    contact->quiet = options->quiet;
    buf_free(&name);
}

void contact_free(struct contact *contact) {
    pthread_mutex_destroy(&contact->mutex);
    free(contact->name);
}

void contact_listen(struct contact *contact, void (*ready)(void *arg), void *arg) {
    pthread_mutex_lock(&contact->mutex);
    contact->ready = ready;
    contact->arg = arg;
    pthread_mutex_unlock(&contact->mutex);
}

void contact_ring(struct contact *contact) {
    pthread_mutex_lock(&contact->mutex);
    void (*ready)(void *arg) = contact->ready;
    void *arg = contact->arg;
    pthread_mutex_unlock(&contact->mutex);
    if (ready)
        ready(arg);
}

void contact_health(struct contact *contact, struct broker_health *out) {
    pthread_mutex_lock(&contact->mutex);
    *out = contact->health;
    pthread_mutex_unlock(&contact->mutex);
}

bool contact_waits(struct contact *contact, struct mono now, struct err *err) {
    struct broker_health last;
    if (now.ms >= contact->next_try.ms)
        return false;
    contact_health(contact, &last);
    *err = last.trouble;
    return true;
}

void contact_made(struct contact *contact, struct mono now) {
    struct err none = {STATUS_OK, ""};
    pthread_mutex_lock(&contact->mutex);
    contact->health = (struct broker_health){true, none};
    pthread_mutex_unlock(&contact->mutex);
    if (!contact->told && !contact->quiet)
        log_info("%s: connected%s", contact->name, contact->failures ? " again" : "");
    contact->told = true;
    contact->made_at = now;
    contact_ring(contact);
}

static struct mono later(struct contact *contact, struct mono now, uint32_t failures) {
    return mono_after(now, backoff_delay_ms(&pace, failures, 0, -1, &contact->rng));
}

void contact_lost(struct contact *contact, struct mono now, const struct err *trouble) {
    pthread_mutex_lock(&contact->mutex);
    bool was_made = contact->health.connected;
    contact->health = (struct broker_health){false, *trouble};
    pthread_mutex_unlock(&contact->mutex);
    if (was_made && now.ms - contact->made_at.ms >= CONTACT_LASTS_MS)
        contact->failures = 0;
    if (contact->failures++ == 0) {
        contact->told = false;
        if (!contact->quiet)
            log_warn("%s: %s; trying again until it works", contact->name, trouble->text);
    }
    contact->next_try = later(contact, now, contact->failures);
    contact_ring(contact);
}

void contact_refused(struct contact *contact, struct mono now) {
    if (now.ms - contact->next_question.ms >= CONTACT_LASTS_MS)
        contact->refusals = 0;
    contact->next_question = later(contact, now, ++contact->refusals);
}
