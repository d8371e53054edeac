/* member: reads a JSON object by a table of the members that it may have. */
#ifndef SERVER_MEMBER_H
#define SERVER_MEMBER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "core/rule.h"

enum { MEMBERS_MAX = 32 };

/* Where a member's value goes. `into` is what the caller gave to member_read. */
struct member {
    const char *name;
    enum status (*set)(void *into, struct json value, struct arena *arena, struct err *err);
};

/* INVALID: an unknown member (with a "did you mean"), one given twice, or what `set` says, with the
 * member's name before it. */
enum status member_read(const struct member *members, size_t count, struct json object, void *into,
                        struct arena *arena, struct err *err);

/* INVALID: it has not min to max bytes of printable UTF-8. */
enum status member_check_text(struct bytes text, size_t min, size_t max, struct err *err);
/* For setters: a string of min to max bytes of printable UTF-8. */
enum status member_text(struct json value, size_t min, size_t max, struct arena *arena,
                        struct bytes *out, struct err *err);
/* An object of strings that can be sent as HTTP headers. */
enum status member_headers(struct json value, struct arena *arena, const struct rule_header **out,
                           size_t *count, struct err *err);
enum status member_base64(struct json value, struct arena *arena, struct bytes *out,
                          struct err *err);

#endif
