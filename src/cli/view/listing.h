/* listing: prints an array of the server's answer as a table with a column for each member shown.
 */
#ifndef CLI_VIEW_LISTING_H
#define CLI_VIEW_LISTING_H

#include "cli/view/story.h"
#include "cli/view/table.h"

struct listing_column {
    struct table_column column;
    const char *path;
    story_form *form; /* NULL: field_text */
};

/* For answers in one piece. */
void listing_print(const struct story *story, const struct listing_column *columns, size_t count,
                   struct json array, size_t indent);

/* For answers in pages. */
struct listing {
    const struct listing_column *columns;
    size_t count;
    struct table_column titles[TABLE_COLUMNS_MAX];
    struct table table;
};
void listing_init(struct listing *listing, const struct cli_env *env,
                  const struct listing_column *columns, size_t count);
void listing_free(struct listing *listing);
/* Returns the number of rows. */
size_t listing_page(struct listing *listing, struct json array, struct arena *arena,
                    struct buf *out);

#endif
