/* mailbox: a list under a mutex, with a condition variable on the monotonic clock. */
#include "base/thread/mailbox.h"

#include <assert.h>
#include <time.h>

void mailbox_init(struct mailbox *box) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&box->filled, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&box->mutex, NULL);
    box->first = NULL;
    box->last = &box->first;
    box->rung = false;
}

void mailbox_free(struct mailbox *box) {
    assert(!box->first);
    pthread_cond_destroy(&box->filled);
    pthread_mutex_destroy(&box->mutex);
}

void mailbox_post(struct mailbox *box, struct mail *mail) {
    mail->next = NULL;
    pthread_mutex_lock(&box->mutex);
    if (!box->first) /* the reader takes everything, so the wake-up is consumed */
        pthread_cond_signal(&box->filled);
    *box->last = mail;
    box->last = &mail->next;
    pthread_mutex_unlock(&box->mutex);
}

void mailbox_ring(struct mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    box->rung = true;
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->mutex);
}

struct mail *mailbox_take(struct mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    struct mail *all = box->first;
    box->first = NULL;
    box->last = &box->first;
    box->rung = false;
    pthread_mutex_unlock(&box->mutex);
    return all;
}

void mailbox_wait(struct mailbox *box, struct mono until) {
    struct timespec deadline = {.tv_sec = until.ms / 1000, .tv_nsec = (until.ms % 1000) * 1000000L};
    pthread_mutex_lock(&box->mutex);
    while (!box->first && !box->rung) {
        int waited = until.ms == MONO_NEVER.ms
                         ? pthread_cond_wait(&box->filled, &box->mutex)
                         : pthread_cond_timedwait(&box->filled, &box->mutex, &deadline);
        if (waited != 0)
            break;
    }
    box->rung = false;
    pthread_mutex_unlock(&box->mutex);
}
