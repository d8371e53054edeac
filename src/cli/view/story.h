/* story: "label value" lines, for the details of one thing. Lines without a value are left out. */
#ifndef CLI_VIEW_STORY_H
#define CLI_VIEW_STORY_H

#include "base/json/json.h"
#include "cli/cli.h"

enum { STORY_INDENT = 2 }; /* for lines under a title */

struct story {
    const struct cli_env *env;
    struct json object;
    struct arena *arena;
    struct buf *out;
};

/* The format of a member: field_text, field_time, field_duration or field_age. */
typedef struct bytes story_form(struct json object, const char *path, struct arena *arena);

struct story_line {
    const char *label;
    const char *path;
    story_form *form; /* NULL: field_text */
};

void story_title(const struct story *story, const char *title, struct bytes detail);
void story_put(const struct story *story, const char *label, struct bytes value);
void story_lines(const struct story *story, const struct story_line *lines, size_t count);
/* An object of numbers or texts, one line each, under a title; nothing when it is empty. */
void story_members(const struct story *story, const char *title, const char *path);

#endif
