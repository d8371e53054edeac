/* config_printer: values of impound.yaml as YAML that reads back. A text that had ${NAME} in it is
 * printed with it, so that no secret leaves the environment; a URL's user and password as ***. */
#ifndef APP_CONFIG_PRINTER_H
#define APP_CONFIG_PRINTER_H

#include "app/config.h"

struct config_printer {
    const struct config *config;
    struct buf *out;
    struct buf room; /* for a text that must be escaped */
};

/* Quoted where need be. */
void config_printer_text(struct config_printer *p, struct bytes text);
void config_printer_key(struct config_printer *p, struct bytes key, const char *behind);
/* *** instead of the text, unless it comes from the environment. */
void config_printer_secret(struct config_printer *p, struct bytes text);
void config_printer_duration(struct config_printer *p, const char *key, int64_t ms);
/* 125 with one digit → 12.5 */
void config_printer_decimal(struct config_printer *p, const char *key, uint32_t value, int digits,
                            const char *unit);
/* `, headers: {a: b}`; those that are secrets, by their names, as such */
void config_printer_headers(struct config_printer *p, const struct rule_header *headers,
                            size_t count);
/* "name: ", with a comma before it where one is due. */
void config_printer_begin(struct config_printer *p, bool *comma, const char *name);
/* The same with its text, unless that is empty. */
void config_printer_optional(struct config_printer *p, const char *name, struct bytes text,
                             bool *comma);

#endif
