/* bytes: a borrowed run of bytes, passed by value.
 *
 * A struct bytes never owns what it points at; it lives as long as the memory it was cut from.
 * It need not end in NUL and may contain any byte. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const char *ptr;
    size_t len;
};

#define BYTES(literal) ((struct bytes){(literal), sizeof(literal) - 1})
#define BYTES_NONE     ((struct bytes){NULL, 0})
/* For printf's "%.*s". */
#define BYTES_ARG(b)   (int)(b).len, (b).ptr ? (b).ptr : ""

/* NULL gives BYTES_NONE. */
struct bytes bytes_of(const char *text);
bool bytes_eq(struct bytes a, struct bytes b);
bool bytes_eq_nocase(struct bytes a, struct bytes b); /* ASCII case only */
bool bytes_is(struct bytes a, const char *text);
int bytes_cmp(struct bytes a, struct bytes b);
bool bytes_starts(struct bytes text, struct bytes prefix);
bool bytes_ends(struct bytes text, struct bytes suffix);
/* Offset of the first occurrence, or text.len when there is none. */
size_t bytes_find(struct bytes text, struct bytes what);
bool bytes_has_nocase(struct bytes text, struct bytes what);
struct bytes bytes_cut(struct bytes text, size_t from, size_t to); /* clamped to the text */
struct bytes bytes_trim(struct bytes text);                        /* spaces, tabs, CR, LF */
/* Cuts the next line (without its \n or \r\n) off the front of *rest; false when *rest is empty. */
bool bytes_line(struct bytes *rest, struct bytes *line);
/* The longest prefix of at most `max` bytes that does not split a UTF-8 sequence. */
struct bytes bytes_clip(struct bytes text, size_t max);
/* `*` matches any run; ASCII case is ignored. */
bool bytes_glob(struct bytes pattern, struct bytes text);
bool bytes_is_utf8(struct bytes text);
bool bytes_is_printable(struct bytes text); /* UTF-8 without control characters */
/* Length of the UTF-8 sequence at the front; 0 when there is no legal one, or no text. */
size_t bytes_utf8_front(struct bytes text);
/* 64-bit hash, the same on every machine and in every version (it is written to disk). */
uint64_t bytes_hash(struct bytes text);
/* A faster hash, valid within one run of the program only. */
uint64_t bytes_print(struct bytes text);
/* Whole decimal number, no sign, no spaces; false on anything else or overflow. */
bool bytes_u64(struct bytes text, uint64_t *out);
/* malloc'ed copy followed by a NUL; the caller frees it. Never NULL (aborts if there is no memory).
 */
char *bytes_dup(struct bytes text);
char *bytes_try_dup(struct bytes text); /* NULL when there is no memory */

#endif
