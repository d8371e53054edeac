/* terminal: properties of standard output, and the few colours. */
#ifndef CLI_VIEW_TERMINAL_H
#define CLI_VIEW_TERMINAL_H

#include "base/buf.h"

/* Columns of the terminal on stdout; 0: not a terminal (then nothing is clipped). */
size_t terminal_width(void);
/* stdout is a terminal, and NO_COLOR is not set. */
bool terminal_color(void);

/* The colour of a fixed word such as "halted"; NULL: plain. */
const char *terminal_color_of(struct bytes word);

#define TERMINAL_BOLD  "\x1b[1m"
#define TERMINAL_PLAIN "\x1b[0m"

#endif
