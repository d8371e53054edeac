/* thread: starting one, the same way everywhere. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* The thread gets a name for debuggers (15 characters at most) and no signals: those are for the
 * main thread, and the SIGPIPE of a peer that went away is for nobody; only what a bug raises in
 * the thread itself gets through. Aborts with a line on stderr when the system has no thread left:
 * that is at the start, and without it nothing works. */
void thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
