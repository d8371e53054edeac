/* table: see the header. */
#include "cli/view/table.h"

#include <assert.h>

#include "cli/view/terminal.h"
#include "cli/view/safe_text.h"

#define CHUNK      ((size_t)16 * 1024)
#define CELL_MAX   ((size_t)64 * 1024)
#define GAP        2
#define ELLIPSIS   "…"
#define EMPTY_CELL "-"

struct table_row {
    struct table_row *next;
    struct bytes cells[TABLE_COLUMNS_MAX];
};

void table_init(struct table *table, const struct table_column *columns, size_t count, size_t width,
                bool color) {
    assert(count > 0 && count <= TABLE_COLUMNS_MAX);
    *table =
        (struct table){.columns = columns, .column_count = count, .width = width, .color = color};
    for (size_t i = 0; i < count; i++)
        table->widths[i] = text_width(bytes_of(columns[i].title));
    arena_init_heap(&table->arena, CHUNK);
}

void table_free(struct table *table) {
    arena_free(&table->arena);
}

static struct table_row *current_row(struct table *table) {
    if (table->last && table->next < table->column_count)
        return table->last;
    struct table_row *row = arena_alloc(&table->arena, sizeof *row);
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
    table->next = 0;
    return row;
}

void table_cell(struct table *table, struct bytes text) {
    struct table_row *row = current_row(table);
    struct buf fit;
    buf_init_heap(&fit, CELL_MAX);
    text_put(&fit, text.len > 0 ? bytes_clip(text, CELL_MAX / 4) : BYTES(EMPTY_CELL));
    struct bytes cell = arena_dup(&table->arena, buf_view(&fit));
    buf_free(&fit);
    size_t width = text_width(cell), *widest = &table->widths[table->next];
    *widest = width > *widest ? width : *widest;
    row->cells[table->next++] = cell;
}

static void put_spaces(struct buf *out, size_t count) {
    buf_printf(out, "%*s", (int)count, "");
}

static void put_cell(const struct table *table, struct buf *out, struct bytes cell, size_t room,
                     const char *style) {
    bool fits = text_width(cell) <= room;
    if (table->color && style)
        buf_str(out, style);
    buf_bytes(out, fits ? cell : text_clip(cell, room - 1));
    if (!fits)
        buf_str(out, ELLIPSIS);
    if (table->color && style)
        buf_str(out, TERMINAL_PLAIN);
}

/* `at` is the column reached, `column` the start of the next column. */
static void put_line(const struct table *table, struct buf *out, const struct bytes *cells,
                     const char *style) {
    size_t at = 0, column = table->indent;
    for (size_t i = 0; i < table->column_count; i++) {
        size_t width = text_width(cells[i]);
        size_t start = column + (table->columns[i].right ? table->widths[i] - width : 0);
        if (table->width > 0 && start >= table->width)
            break;
        size_t room = table->width > 0 ? table->width - start : SIZE_MAX;
        put_spaces(out, start - at);
        put_cell(table, out, cells[i], room, style ? style : terminal_color_of(cells[i]));
        at = start + width;
        column += table->widths[i] + GAP;
    }
    buf_char(out, '\n');
}

static void put_titles(struct table *table, struct buf *out) {
    struct bytes titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++)
        titles[i] = bytes_of(table->columns[i].title);
    put_line(table, out, titles, TERMINAL_BOLD);
    table->titled = true;
}

void table_print(struct table *table, struct buf *out) {
    assert(!table->last || table->next == table->column_count);
    if (!table->titled)
        put_titles(table, out);
    for (const struct table_row *row = table->first; row; row = row->next)
        put_line(table, out, row->cells, NULL);
    arena_free(&table->arena);
    arena_init_heap(&table->arena, CHUNK);
    table->first = table->last = NULL;
    table->next = 0;
}
