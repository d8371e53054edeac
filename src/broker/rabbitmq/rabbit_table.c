#include "broker/rabbitmq/rabbit_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/instant.h"
#include "broker/rabbitmq/rabbit_connection.h"

bool rabbit_table_number(const amqp_field_value_t *value, int64_t *out) {
    switch (value->kind) {
    case AMQP_FIELD_KIND_I8:
        *out = value->value.i8;
        return true;
    case AMQP_FIELD_KIND_U8:
        *out = value->value.u8;
        return true;
    case AMQP_FIELD_KIND_I16:
        *out = value->value.i16;
        return true;
    case AMQP_FIELD_KIND_U16:
        *out = value->value.u16;
        return true;
    case AMQP_FIELD_KIND_I32:
        *out = value->value.i32;
        return true;
    case AMQP_FIELD_KIND_U32:
        *out = value->value.u32;
        return true;
    case AMQP_FIELD_KIND_I64:
        *out = value->value.i64;
        return true;
    case AMQP_FIELD_KIND_U64:
        *out = (int64_t)value->value.u64;
        return value->value.u64 <= INT64_MAX;
    default:
        return false;
    }
}

const amqp_field_value_t *rabbit_table_find(const amqp_table_t *table, const char *name) {
    for (int i = 0; i < table->num_entries; i++)
        if (bytes_is(rabbit_text(table->entries[i].key), name))
            return &table->entries[i].value;
    return NULL;
}

/* JSON has no numbers that are not finite. */
static void put_real(double real, struct json_out *out) {
    if (isfinite(real))
        json_put_double(out, real);
    else
        json_put_null(out);
}

static void put_large(uint64_t number, struct json_out *out) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    json_put_raw(out, bytes_of(text));
}

/* AMQP times are seconds; one outside of the calendar stays a number. */
static void put_time(uint64_t seconds, struct json_out *out) {
    enum { YEAR_10000_S_HIGH = 253402300 }; /* × 1000 */
    char text[INSTANT_TEXT_SIZE];
    if (seconds / 1000 < YEAR_10000_S_HIGH)
        json_put_str(out, wall_text((struct wall){(int64_t)seconds * 1000}, text));
    else
        put_large(seconds, out);
}

static void put_value(const amqp_field_value_t *value, unsigned depth, struct json_out *out);

static void put_array(const amqp_array_t *array, unsigned depth, struct json_out *out) {
    json_open(out, '[');
    for (int i = 0; i < array->num_entries; i++)
        put_value(&array->entries[i], depth + 1, out);
    json_close(out, ']');
}

static void put_table(const amqp_table_t *table, unsigned depth, struct json_out *out) {
    json_open(out, '{');
    for (int i = 0; i < table->num_entries; i++) {
        json_key_bytes(out, rabbit_text(table->entries[i].key));
        put_value(&table->entries[i].value, depth + 1, out);
    }
    json_close(out, '}');
}

static void put_decimal(const amqp_decimal_t *decimal, struct json_out *out) {
    put_real((double)decimal->value / pow(10, decimal->decimals), out);
}

static void put_value(const amqp_field_value_t *value, unsigned depth, struct json_out *out) {
    int64_t number;
    if (depth > RABBIT_TABLE_DEPTH_MAX) {
        json_put_null(out);
        return;
    }
    if (rabbit_table_number(value, &number)) {
        json_put_i64(out, number);
        return;
    }
    switch (value->kind) {
    case AMQP_FIELD_KIND_BOOLEAN:
        json_put_bool(out, value->value.boolean);
        break;
    case AMQP_FIELD_KIND_U64:
        put_large(value->value.u64, out);
        break;
    case AMQP_FIELD_KIND_F32:
        put_real((double)value->value.f32, out);
        break;
    case AMQP_FIELD_KIND_F64:
        put_real(value->value.f64, out);
        break;
    case AMQP_FIELD_KIND_DECIMAL:
        put_decimal(&value->value.decimal, out);
        break;
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
        json_put(out, value->value.bytes.len ? rabbit_text(value->value.bytes) : BYTES(""));
        break;
    case AMQP_FIELD_KIND_TIMESTAMP:
        put_time(value->value.u64, out);
        break;
    case AMQP_FIELD_KIND_ARRAY:
        put_array(&value->value.array, depth, out);
        break;
    case AMQP_FIELD_KIND_TABLE:
        put_table(&value->value.table, depth, out);
        break;
    default:
        json_put_null(out);
        break;
    }
}

void rabbit_table_json(const amqp_field_value_t *value, struct json_out *out) {
    put_value(value, 0, out);
}

void rabbit_table_text(const amqp_field_value_t *value, struct buf *out) {
    struct json_out json = json_out(out);
    if (value->kind == AMQP_FIELD_KIND_UTF8 || value->kind == AMQP_FIELD_KIND_BYTES)
        buf_bytes(out, rabbit_text(value->value.bytes));
    else
        put_value(value, 0, &json);
}
