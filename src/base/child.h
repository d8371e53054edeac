/* child: what a process that is about to become another program does first. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

/* Every signal as a fresh program expects it: its default, and none blocked. Exec resets handlers
 * by itself, but neither what is ignored nor the mask. Safe between vfork and exec. */
void child_reset_signals(void);

#endif
