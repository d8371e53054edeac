/* field: members of the server's answers, as text to show. */
#ifndef CLI_VIEW_FIELD_H
#define CLI_VIEW_FIELD_H

#include "base/json/json.h"

/* The member at a path such as "message.queue"; JSON null if there is none. */
struct json field_at(struct json object, const char *path);
/* Its text: a decoded string, a number, true or false; empty for null and containers. */
struct bytes field_text(struct json object, const char *path, struct arena *arena);
/* The same; for an object its JSON. */
struct bytes field_any(struct json object, const char *path, struct arena *arena);
/* Milliseconds as "132ms" or "10s"; empty if there is none. */
struct bytes field_duration(struct json object, const char *path, struct arena *arena);
/* Seconds as an age: "42s" "5m" "3h" "12d"; empty if there is none. */
struct bytes field_age(struct json object, const char *path, struct arena *arena);
/* A share from 0 to 1 as "83%"; empty when there is none. */
struct bytes field_percent(struct json object, const char *path, struct arena *arena);
/* A point in time as "2026-11-15 04:49:41Z"; empty when there is none. */
struct bytes field_time(struct json object, const char *path, struct arena *arena);

#endif
