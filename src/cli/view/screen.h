/* screen: a full-screen view that is redrawn. Plain ANSI. The terminal is restored when the view
 * ends, by a key or by a signal. */
#ifndef CLI_VIEW_SCREEN_H
#define CLI_VIEW_SCREEN_H

#include "base/bytes.h"

/* False: stdin or stdout is not a terminal, and nothing was changed. One at a time. */
bool screen_enter(void);
void screen_leave(void);

/* Draws as many lines of the text as fit, from the top; the rest is cleared. */
void screen_draw(struct bytes text);

enum screen_event {
    SCREEN_TIME_OVER, /* draw again */
    SCREEN_RESIZED,   /* … at once */
    SCREEN_QUIT,      /* q, Ctrl-C, end of input, or a terminating signal */
};
enum screen_event screen_wait(int64_t ms);

#endif
