/* log: see the header. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/json/json.h"

enum {
    LOG_TEXT_MAX = 2048, /* of a message */
    LOG_NAME_MAX = 255,  /* of a queue, a message, a letter */
    LOG_ESCAPED_MAX = 6, /* bytes that one byte becomes: \u00NN */
    LOG_LINE_MAX = (LOG_TEXT_MAX + 3 * LOG_NAME_MAX) * LOG_ESCAPED_MAX + 512,
};

const char *const log_level_words[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error", NULL};
const char *const log_format_words[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json", NULL};

static _Atomic int least_level = LOG_WARN, line_format = LOG_TEXT;
static const struct log_about nothing;

void log_set_level(enum log_level least) {
    atomic_store(&least_level, (int)least);
}

bool log_says(enum log_level level) {
    return (int)level >= atomic_load(&least_level);
}

void log_set_format(enum log_format format) {
    atomic_store(&line_format, (int)format);
}

static void put_printable(struct buf *line, struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7f)
            buf_printf(line, "\\x%02x", c);
        else
            buf_char(line, (char)c);
    }
}

static void put_name(struct buf *line, const char *what, struct bytes name) {
    if (name.len == 0)
        return;
    buf_printf(line, "%s ", what);
    put_printable(line, bytes_clip(name, LOG_NAME_MAX));
    buf_str(line, ": ");
}

static void put_text(struct buf *line, const char *at, enum log_level level,
                     const struct log_about *about, struct bytes text) {
    char hex[2 * TRACE_ID_SIZE + 1];
    buf_printf(line, "%s %-5s ", at, log_level_words[level]);
    put_name(line, "queue", about->queue);
    put_name(line, "message", about->message_id);
    put_name(line, "letter", about->letter);
    put_printable(line, text);
    if (about->trace)
        buf_printf(line, " trace_id=%s",
                   traceparent_hex(about->trace->trace_id, TRACE_ID_SIZE, hex));
}

static void put_field(struct json_out *out, const char *key, struct bytes value) {
    if (value.len == 0)
        return;
    json_key(out, key);
    json_put(out, bytes_clip(value, LOG_NAME_MAX));
}

static void put_json(struct buf *line, const char *at, enum log_level level,
                     const struct log_about *about, struct bytes text) {
    char hex[2 * TRACE_ID_SIZE + 1];
    struct json_out out = json_out(line);
    json_open(&out, '{');
    put_field(&out, "time", bytes_of(at));
    put_field(&out, "level", bytes_of(log_level_words[level]));
    json_key(&out, "message");
    json_put(&out, text);
    put_field(&out, "queue", about->queue);
    put_field(&out, "message_id", about->message_id);
    put_field(&out, "letter", about->letter);
    if (about->trace) {
        put_field(&out, "trace_id",
                  bytes_of(traceparent_hex(about->trace->trace_id, TRACE_ID_SIZE, hex)));
        put_field(&out, "span_id",
                  bytes_of(traceparent_hex(about->trace->span_id, SPAN_ID_SIZE, hex)));
    }
    json_close(&out, '}');
}

static void put_line(enum log_level level, const struct log_about *about, struct bytes text) {
    char memory[LOG_LINE_MAX], at[INSTANT_TEXT_SIZE];
    struct timespec now;
    struct buf line;
    clock_gettime(CLOCK_REALTIME, &now);
    wall_text((struct wall){(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000}, at);
    buf_init_fixed(&line, memory, sizeof memory);
    (atomic_load(&line_format) == LOG_JSON ? put_json : put_text)(&line, at, level, about, text);
    buf_char(&line, '\n');
    /* One write, so that lines of several threads do not mix. */
    if (write(STDERR_FILENO, line.ptr, line.len) < 0)
        return;
}

__attribute__((format(printf, 3, 0))) static void
say(enum log_level level, const struct log_about *about, const char *format, va_list args) {
    char text[LOG_TEXT_MAX];
    if (!log_says(level))
        return;
    vsnprintf(text, sizeof text, format, args);
    put_line(level, about, bytes_of(text));
}

void log_line(enum log_level level, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(level, &nothing, format, args);
    va_end(args);
}

void log_about(enum log_level level, const struct log_about *about, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(level, about, format, args);
    va_end(args);
}
