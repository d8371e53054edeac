/* nudge: gets the calling thread out of a system call that would wait for ever, inside a library
 * that has no limit of its own for it: the call ends with EINTR. */
#ifndef BASE_NUDGE_H
#define BASE_NUDGE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct nudge {
    timer_t timer;
    bool armed; /* there is a timer */
    sigset_t before;
};

/* From now on the calling thread is nudged every so often, until it ends it: a call that was about
 * to begin when one came is left by the next. Nothing happens to what does not wait. One at a time
 * in a thread. Takes a real-time signal that nobody else in the process uses, and a timer, but no
 * thread; where the system has none left, nobody is nudged. */
void nudge_begin(struct nudge *nudge, int64_t every_ms);
/* By the same thread. True: it was nudged. */
bool nudge_end(struct nudge *nudge);

#endif
