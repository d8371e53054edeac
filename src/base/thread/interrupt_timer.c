/* interrupt_timer: a POSIX timer that signals the calling thread (interrupt_timer). */
#include "base/thread/interrupt_timer.h"

#include <pthread.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* defined in timer_create(2), but not by every C library */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int number; /* of the signal; 0: none is free */

/* Thread-local, like the signal: a late signal finds it, whatever else is gone. */
static _Thread_local volatile sig_atomic_t nudged;

static void on_signal(int signal_number) {
    (void)signal_number;
    nudged = 1;
}

/* A program that embeds us may use some of them. No SA_RESTART: the call must end. */
static void take_signal(void) {
    struct sigaction ours = {.sa_handler = on_signal}, theirs;
    sigemptyset(&ours.sa_mask);
    for (int at = SIGRTMAX; at >= SIGRTMIN && number == 0; at--)
        if (sigaction(at, NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL &&
            sigaction(at, &ours, NULL) == 0)
            number = at;
}

static void let_through(sigset_t *before) {
    sigset_t ours;
    sigemptyset(&ours);
    if (number != 0)
        sigaddset(&ours, number);
    pthread_sigmask(SIG_UNBLOCK, &ours, before);
}

static bool arm(timer_t *timer, int64_t every_ms) {
    struct timespec every = {every_ms / MS_PER_S, every_ms % MS_PER_S * NS_PER_MS};
    struct itimerspec times = {every, every};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event.sigev_notify_thread_id = gettid();
    return number != 0 && timer_create(CLOCK_MONOTONIC, &event, timer) == 0 &&
           timer_settime(*timer, 0, &times, NULL) == 0;
}

void interrupt_timer_begin(struct interrupt_timer *nudge, int64_t every_ms) {
    pthread_once(&once, take_signal);
    nudged = 0;
    let_through(&nudge->before);
    nudge->armed = arm(&nudge->timer, every_ms);
}

bool interrupt_timer_end(struct interrupt_timer *nudge) {
    if (nudge->armed)
        timer_delete(nudge->timer);
    pthread_sigmask(SIG_SETMASK, &nudge->before, NULL);
    return nudged;
}
