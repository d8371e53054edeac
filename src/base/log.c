#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/instant.h"

enum { LOG_LINE_MAX = 2048 };

static _Atomic int least_level = LOG_WARN;
static const char *const names[] = {"debug", "info", "warn", "error"};

void log_set_level(enum log_level least) {
    atomic_store(&least_level, (int)least);
}

static void put_printable(struct buf *line, const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            buf_printf(line, "\\x%02x", (unsigned char)*text);
        else
            buf_char(line, *text);
    }
}

void log_line(enum log_level level, const char *format, ...) {
    if ((int)level < atomic_load(&least_level))
        return;
    char text[LOG_LINE_MAX], memory[LOG_LINE_MAX * 4 + 64], at[INSTANT_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct wall wall = {(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000};
    struct buf line;
    buf_init_fixed(&line, memory, sizeof memory);
    buf_printf(&line, "%s %-5s ", wall_text(wall, at), names[level]);
    put_printable(&line, text);
    buf_char(&line, '\n');
    /* One write, so that lines of several threads do not mix. */
    if (write(STDERR_FILENO, line.ptr, line.len) < 0)
        return;
}
