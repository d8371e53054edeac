#include "broker/nats/nats_end.h"

#include <sched.h>

enum { END_WAIT_MS = 1000 }; /* between two looks; the bell rings before */

void nats_end_begin(struct nats_end *end) {
    atomic_store(&end->ended, false);
    atomic_store(&end->left, false);
}

void nats_end_tell(struct nats_end *end, struct bell *bell) {
    atomic_store(&end->ended, true);
    bell_ring(bell);
    atomic_store(&end->left, true);
}

void nats_end_await(struct nats_end *end, struct bell *bell) {
    while (!atomic_load(&end->ended))
        bell_wait(bell, -1, END_WAIT_MS);
    while (!atomic_load(&end->left))
        sched_yield();
}
