/* caller: what the engine is to a handler: starts calls and awaits their outcomes. */
#ifndef CALLER_H
#define CALLER_H

#include <pthread.h>
#include <sys/types.h>

#include "base/arena.h"
#include "port/clock.h"
#include "port/handler.h"

extern struct clock caller_clock; /* the machine's */

/* The clock of a pool of processes that is held up: who reads it while there is a process waits
 * until that has ended or stopped itself with SIGTTOU, and then it is a day later for good. */
struct late_clock {
    struct clock clock;
    int in_time; /* so many readings first are not held up */
    bool late;
    pid_t pid; /* whom it waited for */
};

void late_clock_init(struct late_clock *late, int in_time);

struct caller {
    struct call call;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int done_count;
    struct outcome outcome; /* a copy, with texts of its own */
    struct arena arena;
};

/* A call of message "m-1" on queue "orders", first attempt, body {"n":1}. */
void caller_init(struct caller *caller);
void caller_start(struct caller *caller, struct handler *handler);
/* Waits for done. */
const struct outcome *caller_wait(struct caller *caller);
const struct outcome *caller_run(struct caller *caller, struct handler *handler); /* both */
void caller_free(struct caller *caller); /* checks that done came exactly once */

/* The same for several messages in one hand-over: "m-1", "m-2" … */
enum { GROUP_CALLER_MAX = 8 };
struct group_caller {
    struct call_group group;
    struct call calls[GROUP_CALLER_MAX];
    struct call *list[GROUP_CALLER_MAX];
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int done_count;
    struct outcome whole, items[GROUP_CALLER_MAX]; /* items of a whole that is OK */
    struct arena arena;
};

void group_caller_init(struct group_caller *caller, size_t count);
void group_caller_wait(struct group_caller *caller);
void group_caller_run(struct group_caller *caller, struct handler *handler);
void group_caller_free(struct group_caller *caller);

#endif
