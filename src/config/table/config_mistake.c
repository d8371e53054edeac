#include "config/table/config_mistake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1024, UTF8_MAX = 4 };

/* A mistake quotes the value: a line end in the value must not look like a second mistake. */
static void keep_on_one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

void config_mistake_add(struct config_mistakes *mistakes, struct config_place at,
                        const char *format, ...) {
    size_t place = mistakes->count++;
    if (place >= CONFIG_MISTAKES_MAX)
        return;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_on_one_line(text);
    struct bytes whole = bytes_clip(bytes_of(text), TEXT_MAX - UTF8_MAX);
    mistakes->list[place] = (struct config_mistake){at, place, arena_dup(mistakes->arena, whole)};
}

static int by_place(const void *left, const void *right) {
    const struct config_mistake *a = left, *b = right;
    if (a->at.line != b->at.line)
        return a->at.line < b->at.line ? -1 : 1;
    if (a->at.column != b->at.column)
        return a->at.column < b->at.column ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

void config_mistake_put(struct config_mistakes *mistakes, struct buf *out) {
    size_t shown = mistakes->count < CONFIG_MISTAKES_MAX ? mistakes->count : CONFIG_MISTAKES_MAX;
    qsort(mistakes->list, shown, sizeof *mistakes->list, by_place);
    for (size_t i = 0; i < shown; i++) {
        const struct config_mistake *mistake = &mistakes->list[i];
        buf_printf(out, "%s:%zu:%zu: %.*s\n", mistakes->path, mistake->at.line, mistake->at.column,
                   BYTES_ARG(mistake->text));
    }
    if (mistakes->count > shown)
        buf_printf(out, "%s: %zu more mistakes are not shown\n", mistakes->path,
                   mistakes->count - shown);
}
