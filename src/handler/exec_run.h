/* exec_run: one process from birth to burial: fed through a pipe, listened to, reaped.
 *
 * Everything happens on the thread that began it, when epoll says that a watch is ready. */
#ifndef HANDLER_EXEC_RUN_H
#define HANDLER_EXEC_RUN_H

#include <sys/types.h>

#include "base/list.h"
#include "handler/exec_child.h"
#include "handler/exec_report.h"
#include "handler/exec_strays.h"
#include "handler/tail.h"

struct exec_run;

/* What epoll's data.ptr points at. */
struct exec_watch {
    struct exec_run *run;
    void (*ready)(struct exec_run *run); /* NULL: epoll does not know it */
    int fd;                              /* -1: closed */
};

struct exec_run {
    /* Set before the beginning. */
    void (*over)(struct exec_run *run); /* it ended; may free the run */
    /* Some of its stdout; NULL: nobody reads it. */
    void (*heard)(struct exec_run *run, struct bytes text);
    bool lasting; /* its stdin stays open until exec_run_hush */

    struct list ending; /* its owner's, once it ended */
    int epoll;
    pid_t pid;
    char mark[EXEC_STRAYS_MARK_SIZE]; /* in its environment */
    struct bytes rest;                /* of what it is fed, still to be written */
    struct tail said;                 /* on stderr */
    struct exec_watch feed, hear, listen, life;
    struct exec_end end;
    bool ended;    /* it lives no more; when `over` is called all below and above is final */
    size_t unread; /* bytes that it was fed and did not read; of a lasting run */
};

/* Starts `child` (its in and err are set here, and its out where it is heard) and feeds it `text`,
 * which is borrowed until it was written or the run ends. Returns 0, or the errno for which nothing
 * runs. */
int exec_run_begin(struct exec_run *run, int epoll, struct exec_child *child, struct bytes text);
/* The next text for a lasting run that was done with the last. */
void exec_run_feed(struct exec_run *run, struct bytes text);
/* Closes its stdin. */
void exec_run_hush(struct exec_run *run);
/* A watch is ready. Harmless on one that is not watched any more. */
void exec_run_ready(struct exec_watch *watch);
/* Reads what it has written to its stdout by now. */
void exec_run_hear(struct exec_run *run);
/* Kills the whole group, and what has left it (exec_strays.h); the end follows when it is reaped.
 * The first reason counts. One that has ended by itself is not stopped for its time: it is we who
 * are late. */
void exec_run_stop(struct exec_run *run, enum exec_stop why);
/* Frees what a run that ended, or did not begin, holds. */
void exec_run_free(struct exec_run *run);

#endif
