/* member: reads a JSON object by a table of its allowed members. */
#ifndef SERVER_MEMBER_H
#define SERVER_MEMBER_H

#include "base/arena.h"
#include "base/json/json.h"
#include "core/rule.h"

enum { MEMBERS_MAX = 32 };

/* The setter of a member's value. `into` is the argument of member_read. */
struct member {
    const char *name;
    enum status (*set)(void *into, struct json value, struct arena *arena, struct err *err);
};

/* INVALID: an unknown member (with a "did you mean"), a member given twice, or the error of `set`,
 * preceded by the member's name. */
enum status member_read(const struct member *members, size_t count, struct json object, void *into,
                        struct arena *arena, struct err *err);

/* INVALID: the text is not min to max bytes of printable UTF-8. */
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
