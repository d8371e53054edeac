/* story: see the header. */
#include "cli/view/story.h"

#include <assert.h>

#include "cli/view/field.h"
#include "cli/view/terminal.h"
#include "cli/view/safe_text.h"

enum { LABEL_WIDTH = 15 };

void story_title(const struct story *story, const char *title, struct bytes detail) {
    bool color = story->env->color;
    if (story->out->len > 0)
        buf_char(story->out, '\n');
    buf_printf(story->out, "%s%s%s", color ? TERMINAL_BOLD : "", title,
               color ? TERMINAL_PLAIN : "");
    if (detail.len > 0)
        buf_char(story->out, ' ');
    text_put(story->out, detail);
    buf_char(story->out, '\n');
}

void story_put(const struct story *story, const char *label, struct bytes value) {
    assert(label);
    if (value.len == 0)
        return;
    const char *color = story->env->color ? terminal_color_of(value) : NULL;
    size_t width = text_width(bytes_of(label));
    size_t pad = width < LABEL_WIDTH ? LABEL_WIDTH - width : 0;
    buf_printf(story->out, "%*s%s%*s  %s", STORY_INDENT, "", label, (int)pad, "",
               color ? color : "");
    text_put(story->out, value);
    buf_printf(story->out, "%s\n", color ? TERMINAL_PLAIN : "");
}

void story_lines(const struct story *story, const struct story_line *lines, size_t count) {
    for (size_t i = 0; i < count; i++) {
        story_form *form = lines[i].form ? lines[i].form : field_text;
        story_put(story, lines[i].label, form(story->object, lines[i].path, story->arena));
    }
}

/* The label comes from a message, so it is made safe first. */
static void put_member(const struct story *story, struct bytes raw_key, struct json value) {
    char memory[1024];
    struct buf label;
    struct bytes key, text = value.text;
    json_unescape(raw_key, story->arena, &key);
    if (value.type == JSON_STRING)
        json_string(value, story->arena, &text);
    buf_init_fixed(&label, memory, sizeof memory - 1);
    text_put(&label, bytes_clip(key, sizeof memory / 8));
    story_put(story, buf_cstr(&label), text);
}

void story_members(const struct story *story, const char *title, const char *path) {
    bool titled = false;
    for (struct json_walk w = json_walk(field_at(story->object, path)); json_step(&w);) {
        if (!titled)
            story_title(story, title, BYTES_NONE);
        titled = true;
        put_member(story, w.key, w.value);
    }
}
