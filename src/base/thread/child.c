/* child: see the header. */
#include "base/thread/child.h"

#include <signal.h>
#include <stddef.h>

/* The mask last: a pending signal must not meet one of our handlers. */
void child_reset_signals(void) {
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
