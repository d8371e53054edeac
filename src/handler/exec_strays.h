/* exec_strays: processes of a run that have left its process group (setsid, a daemon that forked
 * twice), found by a mark in their environment, which every process inherits.
 *
 * A process that replaced its environment, or that runs as another user, is not found. */
#ifndef HANDLER_EXEC_STRAYS_H
#define HANDLER_EXEC_STRAYS_H

enum { EXEC_STRAYS_MARK_SIZE = 64 };

/* A mark that no other run has: IMPOUND_RUN=…, an entry of the environment. */
void exec_strays_mark(char out[EXEC_STRAYS_MARK_SIZE]);
/* Kills every process that has it, and those that they start meanwhile. */
void exec_strays_kill(const char *mark);

#endif
