/* thread: starts a thread, the same way everywhere. */
#ifndef BASE_THREAD_THREAD_H
#define BASE_THREAD_THREAD_H

#include <pthread.h>

/* The thread gets a name for debuggers (15 characters at most) and no signals: those are for the
 * main thread, and SIGPIPE is not wanted at all; only signals that a bug raises in the thread
 * itself are delivered. Aborts with a line on stderr if no thread can be created: that is at the
 * start, and without it nothing works. */
void thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
