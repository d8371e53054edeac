/* terminal: what the output goes to, and the few colours that are used on it. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/buf.h"

/* Columns of the terminal that stdout is; 0 when it is none (then nothing is clipped). */
size_t terminal_width(void);
/* stdout is a terminal, and NO_COLOR is not set. */
bool terminal_color(void);

/* The colour that a fixed word such as "halted" is shown in; NULL: plain. */
const char *terminal_color_of(struct bytes word);

#define TERMINAL_BOLD  "\x1b[1m"
#define TERMINAL_PLAIN "\x1b[0m"

#endif
