/* Any bytes as the properties of an AMQP message: refused by the library, or texts and JSON that
 * can be read, and properties that can be sent again. */
#include "fuzz.h"

#include "broker/rabbitmq/rabbit_properties.h"
#include "broker/rabbitmq/rabbit_table.h"
#include "core/envelope/envelope.h"

enum { TEXT_MAX = 1 << 20 };

static void check_table(const amqp_table_t *table) {
    struct buf text;
    struct json parsed;
    buf_init_heap(&text, TEXT_MAX);
    for (int i = 0; i < table->num_entries; i++) {
        struct json_out out = json_out(&text);
        buf_clear(&text);
        rabbit_table_json(&table->entries[i].value, &out);
        FUZZ_CHECK(json_parse(buf_view(&text), &parsed, NULL) == STATUS_OK);
    }
    buf_free(&text);
}

static void check_again(struct bytes kept, const struct rule_header *texts, size_t count,
                        amqp_pool_t *pool) {
    amqp_basic_properties_t out;
    struct sink_item item = {.id = BYTES("id"), .headers = texts, .header_count = count};
    rabbit_properties_make(&item, kept, pool, &out);
    FUZZ_CHECK(out.delivery_mode == AMQP_DELIVERY_PERSISTENT);
    for (int i = 0; i < out.headers.num_entries; i++) {
        struct bytes name = {out.headers.entries[i].key.bytes, out.headers.entries[i].key.len};
        FUZZ_CHECK(!rabbit_properties_is_broker(name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    amqp_pool_t pool;
    struct arena arena;
    void *decoded = NULL;
    struct rule_header texts[ENVELOPE_HEADERS_MAX];
    init_amqp_pool(&pool, 4096);
    arena_init_heap(&arena, 4096);
    if (amqp_decode_properties(AMQP_BASIC_CLASS, &pool, (amqp_bytes_t){size, (void *)data},
                               &decoded) >= 0) {
        const amqp_basic_properties_t *properties = decoded;
        size_t count =
            rabbit_properties_texts(properties, &arena, texts, sizeof texts / sizeof *texts);
        if (properties->_flags & AMQP_BASIC_HEADERS_FLAG)
            check_table(&properties->headers);
        check_again(rabbit_properties_encode(properties, &arena), texts, count, &pool);
    }
    arena_free(&arena);
    empty_amqp_pool(&pool);
    return 0;
}
