/* thread: see the header. */
#include "base/thread/thread.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void others_signals(sigset_t *set) {
    static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

void thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg) {
    sigset_t others, before;
    others_signals(&others);
    /* A thread inherits its signal mask, so that there is no moment in which it could get a signal.
     */
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int trouble = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (trouble != 0) {
        fprintf(stderr, "impound: no thread for %s: %s\n", name, strerror(trouble));
        abort();
    }
    pthread_setname_np(*thread, name);
}
