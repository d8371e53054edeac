/* screen: the whole terminal, for a view that is drawn again and again. Plain ANSI. What was on it
 * comes back when the view is left, by a key or by a signal. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "base/bytes.h"

/* False: stdin and stdout are not both a terminal, and nothing was changed. One at a time. */
bool screen_enter(void);
void screen_leave(void);

/* Draws the text from the top, as many lines as there are; the rest is cleared. */
void screen_draw(struct bytes text);

enum screen_event {
    SCREEN_TIME_OVER, /* draw again */
    SCREEN_RESIZED,   /* … at once */
    SCREEN_QUIT,      /* q, Ctrl-C, the end of the input, or a signal that asks us to end */
};
enum screen_event screen_wait(int64_t ms);

#endif
