/* mailbox: messages between threads: many post, the one that owns the state reads.
 *
 * Mail is intrusive: the poster embeds a struct mail and must not touch it until the reader is
 * done. */
#ifndef BASE_THREAD_MAILBOX_H
#define BASE_THREAD_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

#include "base/instant.h"

struct mail {
    struct mail *next;
};

struct mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct mail *first;
    struct mail **last;
    bool rung;
};

void mailbox_init(struct mailbox *box);
void mailbox_free(struct mailbox *box); /* must be empty */
void mailbox_post(struct mailbox *box, struct mail *mail);
/* Wakes the reader without mail: ends its wait, or, if it is not waiting and takes nothing before,
 * its next one. */
void mailbox_ring(struct mailbox *box);
/* All mail in the order posted (a chain through next), or NULL; never waits. */
struct mail *mailbox_take(struct mailbox *box);
/* Waits until there is mail, a ring, or the monotonic time `until`. */
void mailbox_wait(struct mailbox *box, struct mono until);

#endif
