#include "config/table/config_reload.h"

#include <assert.h>
#include <stdio.h>

#include "config/table/config_printer.h"
#include "config/config_tables.h"

enum { KEY_MAX = 512, LINE_SIZE = KEY_MAX + 64 };

/* Appends the line once, although several DLQs of one queue may differ in the same key. */
static void note(struct buf *out, const char *path) {
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "%s changed: restart to apply", path);
    struct bytes rest = buf_view(out), line;
    while (bytes_line(&rest, &line))
        if (bytes_is(line, text))
            return;
    buf_printf(out, "%s\n", text);
}

void config_reload_compare(struct buf *out, const char *path, const struct config_table *table,
                           const void *old, const void *new) {
    for (size_t i = 0; i < table->count; i++) {
        const struct config_field *field = &table->fields[i];
        const void *before = (const char *)old + field->offset;
        const void *after = (const char *)new + field->offset;
        char key[KEY_MAX];
        snprintf(key, sizeof key, "%s%s%s", path, path[0] ? "." : "", field->name);
        if (!field->read || field->reload == CONFIG_LIVE || field->reload == CONFIG_BESIDE)
            continue;
        assert(field->reload == CONFIG_RESTART || field->compare || field->table);
        if (field->compare)
            field->compare(out, key, before, after);
        else if (field->reload == CONFIG_INSIDE)
            config_reload_compare(out, key, field->table, before, after);
        else if (!config_printer_same(field, old, new))
            note(out, key);
    }
}

void config_restart_needed(const struct config *old, const struct config *new, struct buf *out) {
    config_reload_compare(out, "", &config_root_table, old, new);
}
