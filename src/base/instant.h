/* instant: points in time; wall and monotonic times are different types.
 *
 * Waiting is measured on the monotonic clock (struct mono); times that people read or that are
 * stored are wall times (struct wall). Only port/clock.h reads the clocks; here is arithmetic and
 * text. */
#ifndef BASE_INSTANT_H
#define BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct wall {
    int64_t ms; /* since 1970-01-01 UTC; 0 means "never" */
};

struct mono {
    int64_t ms; /* since an arbitrary moment of this run */
};

/* Both clocks at one moment: read once per turn and passed down. */
struct instant {
    struct wall wall;
    struct mono mono;
};

#define MONO_NEVER ((struct mono){INT64_MAX})
#define WALL_NEVER ((struct wall){0})

enum { INSTANT_TEXT_SIZE = 32 };

/* Saturating. */
struct mono mono_after(struct mono from, int64_t ms);
struct mono mono_earlier(struct mono a, struct mono b);

/* "2026-11-15T04:49:41.123Z"; RFC 3339, UTC, milliseconds. */
const char *wall_text(struct wall at, char text[INSTANT_TEXT_SIZE]);
/* RFC 3339 with any offset and optional fraction. */
bool wall_parse(struct bytes text, struct wall *out);
/* The same; a time without a zone is UTC, as Python's utcnow().isoformat() writes it. */
bool wall_parse_utc(struct bytes text, struct wall *out);
/* The three forms of an HTTP date (RFC 9110, 5.6.7). */
bool wall_parse_http(struct bytes text, struct wall *out);

/* "200ms" "10s" "5m" "24h" "30d"; a bare "0" too. */
bool duration_parse(struct bytes text, int64_t *ms);
/* The shortest exact form: 90000 → "90s", 86400000 → "24h". */
void duration_put(struct buf *b, int64_t ms);
/* For reading, in two units at most: "6 d 23 h", "24 h", "8 min 5 s", "200 ms". */
void duration_say(struct buf *b, int64_t ms);
/* Twice as long, at most `last_ms`; without overflow. */
int64_t duration_doubled(int64_t ms, int64_t last_ms);
/* "64KiB" "1MiB" "4GiB" "512" (bytes). */
bool size_parse(struct bytes text, uint64_t *out);
void size_put(struct buf *b, uint64_t size);

#endif
