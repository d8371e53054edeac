/* table: rows in aligned columns, one line each, whatever the cells contain.
 *
 * Cells go through text_put. On a terminal lines are clipped at its width, so that nothing wraps:
 * the most important columns come first. Elsewhere nothing is clipped. Rows may be printed page by
 * page: columns grow but never shrink, and the header is printed once. */
#ifndef CLI_VIEW_TABLE_H
#define CLI_VIEW_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 16 };

struct table_column {
    const char *title;
    bool right; /* numbers */
};

struct table_row;

struct table {
    const struct table_column *columns;
    size_t column_count;
    size_t width;  /* of the terminal; 0: no clipping */
    size_t indent; /* spaces before each line */
    bool color;
    bool titled; /* the header was printed */
    size_t widths[TABLE_COLUMNS_MAX];
    struct arena arena; /* of the rows */
    struct table_row *first, *last;
    size_t next; /* cell of the last row */
};

void table_init(struct table *table, const struct table_column *columns, size_t count, size_t width,
                bool color);
void table_free(struct table *table);
/* Adds a cell, left to right; the first cell starts a row, the last one ends it. */
void table_cell(struct table *table, struct bytes text);
/* Appends the rows so far and clears them. */
void table_print(struct table *table, struct buf *out);

#endif
