#include "cli/table.h"

#include <assert.h>

#include "cli/terminal.h"
#include "cli/text.h"

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

/* What is left of the line for the last column. */
static size_t last_room(const struct table *table) {
    size_t used = table->indent;
    for (size_t i = 0; i + 1 < table->column_count; i++)
        used += table->widths[i] + GAP;
    return table->width > used + TABLE_LAST_LEAST ? table->width - used : TABLE_LAST_LEAST;
}

static void put_clipped(const struct table *table, struct buf *out, struct bytes cell) {
    size_t room = last_room(table);
    if (table->width == 0 || text_width(cell) <= room) {
        buf_bytes(out, cell);
        return;
    }
    buf_bytes(out, text_clip(cell, room - 1));
    buf_str(out, ELLIPSIS);
}

static void put_cell(const struct table *table, struct buf *out, size_t column, struct bytes cell,
                     const char *style) {
    bool last = column + 1 == table->column_count;
    size_t width = text_width(cell);
    size_t pad = table->widths[column] > width ? table->widths[column] - width : 0;
    if (table->columns[column].right)
        put_spaces(out, pad);
    if (style)
        buf_str(out, style);
    if (last)
        put_clipped(table, out, cell);
    else
        buf_bytes(out, cell);
    if (style)
        buf_str(out, TERMINAL_PLAIN);
    if (!table->columns[column].right && !last)
        put_spaces(out, pad);
    if (!last)
        put_spaces(out, GAP);
}

static void put_titles(struct table *table, struct buf *out) {
    put_spaces(out, table->indent);
    for (size_t i = 0; i < table->column_count; i++)
        put_cell(table, out, i, bytes_of(table->columns[i].title),
                 table->color ? TERMINAL_BOLD : NULL);
    buf_char(out, '\n');
    table->titled = true;
}

void table_print(struct table *table, struct buf *out) {
    assert(!table->last || table->next == table->column_count);
    if (!table->titled)
        put_titles(table, out);
    for (const struct table_row *row = table->first; row; row = row->next) {
        put_spaces(out, table->indent);
        for (size_t i = 0; i < table->column_count; i++)
            put_cell(table, out, i, row->cells[i],
                     table->color ? terminal_color_of(row->cells[i]) : NULL);
        buf_char(out, '\n');
    }
    arena_free(&table->arena);
    arena_init_heap(&table->arena, CHUNK);
    table->first = table->last = NULL;
    table->next = 0;
}
