#include "lib/library.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *impound_version(void) {
    return IMPOUND_VERSION;
}

/* ---- errors ---- */

static const enum impound_status statuses[STATUS_COUNT] = {
    [STATUS_OK] = IMPOUND_OK,
    [STATUS_INVALID] = IMPOUND_INVALID,
    [STATUS_USAGE] = IMPOUND_INVALID,
    [STATUS_FORBIDDEN] = IMPOUND_INVALID,
    [STATUS_NOT_FOUND] = IMPOUND_NOT_FOUND,
    [STATUS_METHOD] = IMPOUND_INTERNAL,
    [STATUS_CONFLICT] = IMPOUND_CONFLICT,
    [STATUS_TOO_LARGE] = IMPOUND_TOO_LARGE,
    [STATUS_MEDIA_TYPE] = IMPOUND_INTERNAL,
    [STATUS_NOT_YET] = IMPOUND_NOT_YET,
    [STATUS_BUSY] = IMPOUND_BUSY,
    [STATUS_IO] = IMPOUND_IO,
    [STATUS_FULL] = IMPOUND_FULL,
    [STATUS_CORRUPT] = IMPOUND_CORRUPT,
    [STATUS_UNREACHABLE] = IMPOUND_INTERNAL,
    [STATUS_INTERNAL] = IMPOUND_INTERNAL,
};

void library_text(char *to, size_t size, struct bytes text) {
    text = bytes_clip(text, size - 1);
    if (text.len)
        memcpy(to, text.ptr, text.len);
    to[text.len] = '\0';
}

void library_give(void *to, size_t to_size, void *from, size_t from_size) {
    memcpy(from, &to_size, sizeof to_size); /* `size` stays the caller's */
    memcpy(to, from, to_size < from_size ? to_size : from_size);
}

enum impound_status library_error(struct impound_error *error, const struct err *err) {
    assert(err->status != STATUS_OK);
    if (error) {
        error->status = (int)statuses[err->status];
        library_text(error->text, sizeof error->text, bytes_of(err->text));
    }
    return statuses[err->status];
}

enum impound_status library_fail(struct impound_error *error, enum status status,
                                 const char *format, ...) {
    struct err err = {.status = status};
    va_list args;
    va_start(args, format);
    vsnprintf(err.text, sizeof err.text, format, args);
    va_end(args);
    return library_error(error, &err);
}

enum impound_status library_mistakes(struct impound_error *error, enum status status,
                                     struct buf *mistakes) {
    return library_fail(error, status, "%.*s", BYTES_ARG(bytes_trim(buf_view(mistakes))));
}

/* ---- texts: the public enums have the same numbers as core's ---- */

static_assert((int)IMPOUND_KIND_ANSWER == (int)KIND_ANSWER, "kinds");
static_assert((int)IMPOUND_VERDICT_HALT == (int)VERDICT_HALT, "verdicts");
static_assert((int)IMPOUND_CAUSE_ADOPTED == (int)CAUSE_ADOPTED, "causes");

const char *impound_kind_text(enum impound_kind kind) {
    return (unsigned)kind < KIND_COUNT ? kind_text((enum kind)kind) : "";
}

const char *impound_verdict_text(enum impound_verdict verdict) {
    return (unsigned)verdict < VERDICT_COUNT ? verdict_text((enum verdict)verdict) : "";
}

const char *impound_cause_text(enum impound_cause cause) {
    return (unsigned)cause < CAUSE_COUNT ? cause_text((enum cause)cause) : "";
}

const char *impound_action_text(enum impound_action action) {
    static const char *const words[] = {
        [IMPOUND_ACTION_DONE] = "done",          [IMPOUND_ACTION_RETRY] = "retry",
        [IMPOUND_ACTION_FALLBACK] = "fallback",  [IMPOUND_ACTION_DEAD] = "dead",
        [IMPOUND_ACTION_DISCARD] = "discard",    [IMPOUND_ACTION_HALT] = "halt",
        [IMPOUND_ACTION_HAND_BACK] = "hand_back"};
    return (size_t)action < sizeof words / sizeof *words ? words[action] : "";
}

void impound_text_free(char *text) {
    free(text);
}
