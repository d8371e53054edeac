/* config_value: single values, read and printed for the rows of config_table.h. `out` has the type
 * that the comment names. */
#ifndef CONFIG_CONFIG_VALUE_H
#define CONFIG_CONFIG_VALUE_H

#include "config/table/config_reader.h"

enum { CONFIG_NAME_MAX = 200 };

config_read config_value_text;     /* struct bytes; not empty, ${NAME} expanded */
config_read config_value_duration; /* int64_t, ms */
config_read config_value_size;     /* uint64_t, bytes */
config_read config_value_count;    /* uint32_t */
config_read config_value_large;    /* uint64_t */
config_read config_value_percent;  /* uint32_t, permille */
/* The same; `form` is the expected value in the mistake. */
bool config_value_percent_or(struct config_reader *reader, const struct config_node *node,
                             const struct config_field *field, const char *form, void *out);
config_read config_value_rate; /* uint32_t, per second × 1000 */
config_read config_value_word; /* an enum whose values are the indexes in field->words */
config_read config_value_dlq;  /* struct bytes: the name of a DLQ */
config_read config_value_jq;   /* struct bytes: a jq program, which `check` compiles */

/* The functions that print them. */
config_put config_value_put_text, config_value_put_secret, config_value_put_duration,
    config_value_put_size, config_value_put_count, config_value_put_large, config_value_put_percent,
    config_value_put_rate, config_value_put_word;

/* Whether the node is this word. Programs that write YAML 1.1 write false for off and true for on.
 */
bool config_value_is(const struct config_node *node, const char *word);
/* Like config_value_text, without a table: `what` is the expected value. */
bool config_value_string(struct config_reader *reader, const struct config_node *node,
                         const char *what, struct bytes *out);
/* The same, for an http URL. */
bool config_value_http(struct config_reader *reader, const struct config_node *node,
                       const char *what, struct bytes *out);
/* The longest queue name with this suffix must be a valid DLQ name, too. */
#define CONFIG_DLQ_SUFFIX ".dlq"
/* Letters, digits, dot, underscore, hyphen. */
bool config_value_name_char(char c);
/* True if the name has only those characters. Otherwise adds a mistake at `at`. */
bool config_value_name(struct config_reader *reader, struct config_place at, const char *of,
                       struct bytes name, size_t max);

#endif
