/* child: prepares a forked process for exec. */
#ifndef BASE_THREAD_CHILD_H
#define BASE_THREAD_CHILD_H

/* Resets every signal to its default and unblocks all. Exec resets handlers by itself, but neither
 * ignored signals nor the mask. Safe between vfork and exec. */
void child_reset_signals(void);

#endif
