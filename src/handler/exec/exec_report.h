/* exec_report: turns the end of a process into an outcome. */
#ifndef HANDLER_EXEC_EXEC_REPORT_H
#define HANDLER_EXEC_EXEC_REPORT_H

#include "base/arena.h"
#include "core/outcome.h"

#define EXEC_BREACH_TYPE "protocol" /* error_type of a process that violated the protocol */

enum {
    EXEC_UNRUNNABLE_EXIT =
        78, /* EX_CONFIG: the message is not at fault for a program that cannot be run */
};

/* Why we killed it, if we did. */
enum exec_stop { EXEC_STOP_NONE, EXEC_STOP_TIMEOUT, EXEC_STOP_CANCEL };

struct exec_end {
    enum exec_stop stop;
    bool signalled;
    int code; /* exit code, or the signal's number */
    int64_t timeout_ms;
};

/* `said` is the end of its stderr. Texts are in `said` and the arena (heap). */
void exec_report_end(const struct exec_end *end, struct bytes said, struct arena *arena,
                     struct outcome *out);
/* Sets the answer from stdout; its type is guessed: JSON, other text, or bytes. */
void exec_report_answer(struct bytes answer, struct outcome *out);
/* The program could not be run at all. */
void exec_report_unrunnable(const char *program, int error, struct arena *arena,
                            struct outcome *out);
/* Several processes in a row ended before they read a message; `end` is of the last one. */
void exec_report_stillborn(const char *program, const struct exec_end *end, struct bytes said,
                           struct arena *arena, struct outcome *out);
/* A process violated the protocol; `what` is static. */
void exec_report_breach(const char *what, struct outcome *out);
/* No process could be started before the call's timeout. */
void exec_report_no_room(int64_t timeout_ms, int error, struct arena *arena, struct outcome *out);

#endif
