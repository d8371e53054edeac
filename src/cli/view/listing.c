/* listing: see the header. */
#include "cli/view/listing.h"

#include <assert.h>

#include "cli/view/field.h"
#include "cli/view/terminal.h"

void listing_init(struct listing *listing, const struct cli_env *env,
                  const struct listing_column *columns, size_t count) {
    assert(count <= TABLE_COLUMNS_MAX);
    listing->columns = columns;
    listing->count = count;
    for (size_t i = 0; i < count; i++)
        listing->titles[i] = columns[i].column;
    table_init(&listing->table, listing->titles, count, terminal_width(), env->color);
}

void listing_free(struct listing *listing) {
    table_free(&listing->table);
}

size_t listing_page(struct listing *listing, struct json array, struct arena *arena,
                    struct buf *out) {
    size_t rows = 0;
    for (struct json_walk w = json_walk(array); json_step(&w); rows++) {
        for (size_t i = 0; i < listing->count; i++) {
            const struct listing_column *column = &listing->columns[i];
            story_form *form = column->form ? column->form : field_text;
            table_cell(&listing->table, form(w.value, column->path, arena));
        }
    }
    table_print(&listing->table, out);
    return rows;
}

void listing_print(const struct story *story, const struct listing_column *columns, size_t count,
                   struct json array, size_t indent) {
    struct listing listing;
    listing_init(&listing, story->env, columns, count);
    listing.table.indent = indent;
    listing_page(&listing, array, story->arena, story->out);
    listing_free(&listing);
}
