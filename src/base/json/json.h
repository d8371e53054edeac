/* json: reads without copying, writes without a tree.
 *
 * A body must reach its handler as the exact bytes received (SEMANTICS 1.4), so a parsed value is a
 * slice of its text and is never re-serialised. json_parse checks the whole text once; everything
 * after it works on checked text and cannot fail on syntax. */
#ifndef BASE_JSON_JSON_H
#define BASE_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json {
    enum json_type type;
    struct bytes text; /* without surrounding white space; strings with their quotes */
};

enum { JSON_DEPTH_MAX = 256 };

/* One value followed by nothing but white space. Strict RFC 8259, UTF-8 only. The error names line
 * and column. */
enum status json_parse(struct bytes text, struct json *out, struct err *err);

/* Members in order: `for (struct json_walk w = json_walk(obj); json_step(&w);) … w.key, w.value`.
 * Works on arrays too (the key is empty then); on any other type it yields nothing. The key is raw:
 * what stands between the quotes, escapes and all (compare with json_key_is). */
struct json_walk {
    struct bytes rest;
    struct bytes key;
    struct json value;
    bool object;
};
struct json_walk json_walk(struct json container);
bool json_step(struct json_walk *walk);
bool json_key_is(struct bytes raw_key, const char *name);

/* The member of that name (the last one if repeated, as in most readers); false: none. */
bool json_get(struct json object, const char *name, struct json *out);
/* The decoded string, without a copy where it has no escapes; false when it is no string or a fixed
 * arena is used up. */
bool json_string(struct json value, struct arena *arena, struct bytes *out);
/* Whether the string has an escape of a lone surrogate, such as \ud800: each of them reads as
 * U+FFFD, so that different strings would be equal. */
bool json_has_lone_surrogate(struct json string);
bool json_unescape(struct bytes raw, struct arena *arena, struct bytes *out);
/* A whole number that fits, also one that is written with a fraction of zeros: 3.0 is 3, and 3e0 is
 * not taken. */
bool json_i64(struct json value, int64_t *out);
bool json_bool(struct json value, bool *out);
const char *json_type_name(enum json_type type); /* "a string", "an object", … */

/* Writing. Commas and colons are put by the writer; the caller opens, keys and closes. */
struct json_out {
    struct buf *buf;
    bool comma;
};
struct json_out json_out(struct buf *buf);
void json_open(struct json_out *out, char bracket);  /* '{' or '[' */
void json_close(struct json_out *out, char bracket); /* '}' or ']' */
void json_key(struct json_out *out, const char *key);
void json_key_bytes(struct json_out *out, struct bytes key);
/* Bytes that are not UTF-8 are replaced by U+FFFD. BYTES_NONE (a NULL pointer) is written as null.
 */
void json_put(struct json_out *out, struct bytes text);
void json_put_str(struct json_out *out, const char *text);
void json_put_i64(struct json_out *out, int64_t value);
void json_put_double(struct json_out *out, double value);
void json_put_bool(struct json_out *out, bool value);
void json_put_null(struct json_out *out);
void json_put_raw(struct json_out *out, struct bytes json); /* checked JSON, written as it is */
void json_put_base64(struct json_out *out, struct bytes data);

#endif
