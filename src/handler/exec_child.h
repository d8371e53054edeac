/* exec_child: gives birth to one process, with nothing of ours in it but what it is meant to have.
 */
#ifndef HANDLER_EXEC_CHILD_H
#define HANDLER_EXEC_CHILD_H

#include <sys/types.h>

#include "base/arena.h"

enum { EXEC_CHILD_FILES_MAX = 1024 }; /* open files of a child, unless the hard limit is lower */

/* All borrowed for the call. */
struct exec_child {
    char *const *argv; /* argv[0] is looked up in PATH unless it has a slash */
    char *const *env;
    const char *cwd;  /* NULL: ours */
    int in, out, err; /* become its 0, 1 and 2 */
};

/* Words as argv, in the arena. */
char **exec_child_argv(struct arena *arena, const struct bytes *words, size_t count);
/* The process leads a group of its own, has no other files, no signal blocked or ignored, writes no
 * core, and is killed when the calling thread ends. Returns 0, or the errno for which there is no
 * process that runs the program. */
int exec_child_spawn(const struct exec_child *child, pid_t *pid);

#endif
