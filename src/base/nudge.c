#include "base/nudge.h"

#include <errno.h>
#include <time.h>

#include "base/thread.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int number; /* of the signal; 0: all are taken */

static void on_signal(int signal_number) {
    (void)signal_number;
}

/* Who embeds us may use some of them. No SA_RESTART: the call is to end. */
static void take_signal(void) {
    struct sigaction ours = {.sa_handler = on_signal}, theirs;
    sigemptyset(&ours.sa_mask);
    for (int at = SIGRTMAX; at >= SIGRTMIN && number == 0; at--)
        if (sigaction(at, NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL &&
            sigaction(at, &ours, NULL) == 0)
            number = at;
}

static struct timespec later(int64_t ms) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / MS_PER_S;
    at.tv_nsec += ms % MS_PER_S * NS_PER_MS;
    if (at.tv_nsec >= NS_PER_S) {
        at.tv_sec++;
        at.tv_nsec -= NS_PER_S;
    }
    return at;
}

static void *run(void *arg) {
    struct nudge *nudge = arg;
    struct timespec at = later(nudge->every_ms);
    pthread_mutex_lock(&nudge->mutex);
    while (!nudge->done) {
        if (pthread_cond_timedwait(&nudge->over, &nudge->mutex, &at) != ETIMEDOUT || nudge->done)
            continue;
        nudge->nudged = true;
        pthread_kill(nudge->sleeper, number);
        at = later(nudge->every_ms);
    }
    pthread_mutex_unlock(&nudge->mutex);
    return NULL;
}

static void begin_cond(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void nudge_begin(struct nudge *nudge, int64_t every_ms) {
    sigset_t ours;
    *nudge = (struct nudge){.sleeper = pthread_self(), .every_ms = every_ms};
    pthread_once(&once, take_signal);
    sigemptyset(&ours);
    if (number != 0)
        sigaddset(&ours, number);
    pthread_sigmask(SIG_UNBLOCK, &ours, &nudge->before);
    pthread_mutex_init(&nudge->mutex, NULL);
    begin_cond(&nudge->over);
    thread_start(&nudge->watch, "nudge", run, nudge);
}

bool nudge_end(struct nudge *nudge) {
    pthread_mutex_lock(&nudge->mutex);
    nudge->done = true;
    pthread_cond_signal(&nudge->over);
    pthread_mutex_unlock(&nudge->mutex);
    pthread_join(nudge->watch, NULL);
    pthread_sigmask(SIG_SETMASK, &nudge->before, NULL);
    pthread_cond_destroy(&nudge->over);
    pthread_mutex_destroy(&nudge->mutex);
    return nudge->nudged;
}
