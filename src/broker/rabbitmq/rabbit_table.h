/* rabbit_table: AMQP's typed header values as texts for people and handlers. */
#ifndef BROKER_RABBIT_TABLE_H
#define BROKER_RABBIT_TABLE_H

#include <amqp.h>

#include "base/json/json.h"

enum { RABBIT_TABLE_DEPTH_MAX = 32 }; /* nesting of tables; deeper ones are null */

/* Strings and bytes as they are; all else as JSON, in which times are RFC 3339 strings. */
void rabbit_table_text(const amqp_field_value_t *value, struct buf *out);
void rabbit_table_json(const amqp_field_value_t *value, struct json_out *out);
/* The entry of that name; NULL: there is none. */
const amqp_field_value_t *rabbit_table_find(const amqp_table_t *table, const char *name);
/* Whole numbers of any width. */
bool rabbit_table_number(const amqp_field_value_t *value, int64_t *out);

#endif
