/* log: one line per event, on stderr. A message's content is data, never a format.
 *
 *   2026-11-15T04:49:41.123Z warn  queue orders: message o-1: what happened trace_id=4bf92f35…
 *   {"time":"2026-11-15T04:49:41.123Z","level":"warn","message":"what happened","queue":"orders",…}
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/text/traceparent.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

/* The subject of a line; empty members are left out. */
struct log_about {
    struct bytes queue, message_id, letter;
    const struct traceparent *trace; /* its span; NULL: none */
};

/* Names of the levels and formats, by number; ends with NULL. */
extern const char *const log_level_words[], *const log_format_words[];

/* LOG_WARN by default: as a library we log problems alone. */
void log_set_level(enum log_level least);
void log_set_format(enum log_format format); /* LOG_TEXT by default */
bool log_says(enum log_level level);         /* a line of this level is written */
/* A message cannot forge a line: control characters are printed as \xNN, or escaped as in JSON. */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);
__attribute__((format(printf, 3, 4))) void
log_about(enum log_level level, const struct log_about *about, const char *format, ...);

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
