/* interrupt_timer: interrupts a system call of the calling thread that would wait for ever inside a
 * library without a timeout (interrupt_timer): the call ends with EINTR. */
#ifndef BASE_THREAD_INTERRUPT_TIMER_H
#define BASE_THREAD_INTERRUPT_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct interrupt_timer {
    timer_t timer;
    bool armed; /* the timer exists */
    sigset_t before;
};

/* Interrupts the calling thread at intervals until the end: a call that was about to begin at one
 * interrupt is ended by the next. Code that does not wait is not affected. One at a time in a
 * thread. Uses a real-time signal that nothing else in the process uses, and a timer, but no
 * thread; if the system has none left, there are no interrupts. */
void interrupt_timer_begin(struct interrupt_timer *nudge, int64_t every_ms);
/* By the same thread. True: there was an interrupt. */
bool interrupt_timer_end(struct interrupt_timer *nudge);

#endif
