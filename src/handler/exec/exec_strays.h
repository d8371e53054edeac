/* exec_strays: kills processes of a run that left its process group (setsid, daemons), found by a
 * mark in their environment, which every child inherits.
 *
 * A process that replaced its environment, or runs as another user, is not found. */
#ifndef HANDLER_EXEC_EXEC_STRAYS_H
#define HANDLER_EXEC_EXEC_STRAYS_H

enum { EXEC_STRAYS_MARK_SIZE = 64 };

/* A unique mark: IMPOUND_RUN=…, an entry of the environment. */
void exec_strays_mark(char out[EXEC_STRAYS_MARK_SIZE]);
/* Kills every process with the mark, and those that they start meanwhile. */
void exec_strays_kill(const char *mark);

#endif
