/* exec_child: starts one process, with no file, signal state or limit of ours that it is not meant
 * to have. */
#ifndef HANDLER_EXEC_EXEC_CHILD_H
#define HANDLER_EXEC_EXEC_CHILD_H

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

/* The words as argv, in the arena. */
char **exec_child_argv(struct arena *arena, const struct bytes *words, size_t count);
/* The process leads its own process group, has no other files, no blocked or ignored signals,
 * writes no core file, and is killed when the calling thread ends. Returns 0, or the errno because
 * of which the program does not run. */
int exec_child_spawn(const struct exec_child *child, pid_t *pid);

#endif
