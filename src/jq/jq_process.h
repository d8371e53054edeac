/* jq_process: starting and ending a helper process. */
#ifndef JQ_JQ_PROCESS_H
#define JQ_JQ_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct jq_process {
    pid_t pid;
    int fd; /* our end of the socket: non-blocking, closed on exec */
};

/* Starts `program jq-helper` with an empty environment, its limits, and nothing open but the socket
 * (stdin, stdout) and /dev/null (stderr). It dies with the thread that called. False: errno. */
bool jq_process_start(struct jq_process *process, const char *program, size_t memory_bytes);
enum jq_end {
    JQ_END_NEVER_RAN, /* it could not become a helper */
    JQ_END_TOO_SLOW,  /* its own clock ended it */
    JQ_END_KILLED,    /* by us, now or before, or by somebody else */
    JQ_END_CRASHED,
};

/* Kills it if it still lives and reaps it. */
enum jq_end jq_process_end(struct jq_process *process);

#endif
