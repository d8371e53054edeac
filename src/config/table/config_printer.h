/* config_printer: prints impound.yaml by its tables (config_table.h), as YAML that reads back. A
 * text that had ${NAME} in it is printed with it, so that no secret of the environment is shown; a
 * URL's user and password are printed as ***. */
#ifndef CONFIG_CONFIG_PRINTER_H
#define CONFIG_CONFIG_PRINTER_H

#include "config/config.h"
#include "config/table/config_table.h"

struct config_printer {
    const struct config *config; /* NULL: for a comparison, with texts and secrets in full */
    struct buf *out;
    struct buf room; /* scratch for a text that must be escaped */
    unsigned indent; /* of lines */
};

/* Prints every key of the table that is shown: as lines, or as {a: b, c: d}. */
void config_printer_mapping(struct config_printer *p, const struct config_table *table,
                            const void *mapping);
/* Prints a line for each item of a list: "- {a: b}". */
void config_printer_items(struct config_printer *p, const struct config_table *table,
                          const void *items, size_t count, size_t item_size);
void config_printer_indent(struct config_printer *p);
/* Quoted if necessary. */
void config_printer_text(struct config_printer *p, struct bytes text);
void config_printer_key(struct config_printer *p, struct bytes key, const char *behind);
/* *** instead of the text, unless it comes from the environment. */
void config_printer_secret(struct config_printer *p, struct bytes text);
/* [a, b] */
void config_printer_texts(struct config_printer *p, const struct bytes *texts, size_t count);
/* {a: b}; headers that are secrets by their names are printed as secrets */
void config_printer_headers(struct config_printer *p, const struct rule_header *headers,
                            size_t count);

/* Whether a key has the same value in two mappings. */
bool config_printer_same(const struct config_field *field, const void *a, const void *b);

#endif
