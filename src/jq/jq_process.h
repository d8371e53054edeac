/* jq_process: starts and ends a helper process. */
#ifndef JQ_JQ_PROCESS_H
#define JQ_JQ_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct jq_process {
    pid_t pid;
    int fd; /* our end of the socket: non-blocking, close-on-exec */
};

/* Starts `program jq-helper` with an empty environment, its limits, and no open files but the
 * socket (stdin, stdout) and /dev/null (stderr). It is killed when the calling thread ends. False:
 * errno. */
bool jq_process_start(struct jq_process *process, const char *program, size_t memory_bytes);
enum jq_end {
    JQ_END_NEVER_RAN, /* the helper could not be executed */
    JQ_END_TOO_SLOW,  /* ended by its own CPU timer */
    JQ_END_KILLED,    /* SIGKILL, by us or from outside */
    JQ_END_CRASHED,
};

/* Kills it if it is still running, and reaps it. */
enum jq_end jq_process_end(struct jq_process *process);

#endif
