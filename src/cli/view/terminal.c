/* terminal: see the header. */
#include "cli/view/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define RED    "\x1b[31m"
#define GREEN  "\x1b[32m"
#define YELLOW "\x1b[33m"

static const struct {
    const char *word, *color;
} colors[] = {
    {"running", GREEN},    {"closed", GREEN},         {"resolved", GREEN},
    {"ok", GREEN},         {"paused", YELLOW},        {"half_open", YELLOW},
    {"retry", YELLOW},     {"pending_retry", YELLOW}, {"retrying", YELLOW},
    {"replaying", YELLOW}, {"interrupted", YELLOW},   {"halted", RED},
    {"open", RED},         {"pending_review", RED},   {"dlq", RED},
    {"halt", RED},
};

size_t terminal_width(void) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

bool terminal_color(void) {
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no && *no);
}

const char *terminal_color_of(struct bytes word) {
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        if (bytes_is(word, colors[i].word))
            return colors[i].color;
    return NULL;
}
