#include "config/config_telemetry.h"

#include <stdlib.h>

#include "config/config_address.h"
#include "config/config_headers.h"
#include "config/table/config_path.h"
#include "config/table/config_printer.h"
#include "config/table/config_value.h"

enum { SAMPLE_ALL = 1000, SERVICE_MAX = 255 };

#define SERVICE BYTES("impound")

#ifdef IMPOUND_OTLP
static const bool built_in = true;
#else
static const bool built_in = false;
#endif

static bool read_otlp(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    if (!built_in) {
        config_mistake_add(&reader->mistakes, node->at,
                           "otlp is not in this build, which has no protobuf-c");
        return false;
    }
    return config_value_http(reader, node, "a URL such as http://127.0.0.1:4318", out);
}

/* `out` is the whole struct. */
static bool read_headers(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct config_telemetry *telemetry = out;
    return config_headers_read(reader, node, &telemetry->headers, &telemetry->header_count);
}

static bool read_service(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct bytes name;
    if (!config_value_string(reader, node, "a name", &name))
        return false;
    if (name.len > SERVICE_MAX || !bytes_is_printable(name))
        return config_reader_expected(reader, node, "a name of at most 255 printable bytes");
    *(struct bytes *)out = name;
    return true;
}

static void put_headers(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config_telemetry *telemetry = value;
    (void)field;
    config_printer_headers(p, telemetry->headers, telemetry->header_count);
}

/* Headers from the environment are compared, but not printed. */
static bool shows_headers(const struct config_printer *p, const struct config_field *field,
                          const void *mapping) {
    const struct config_telemetry *telemetry = mapping;
    (void)field;
    return telemetry->header_count > 0 && (!telemetry->headers_of_environment || !p->config);
}

static const struct config_field telemetry_fields[] = {
    CONFIG_TEXT("otlp", read_otlp, struct config_telemetry, otlp),
    CONFIG_WHOLE("headers", read_headers, .put = put_headers, .shown = shows_headers),
    CONFIG_TEXT("ca", config_path_read_pem, struct config_telemetry, ca_file),
    CONFIG_TEXT("service", read_service, struct config_telemetry, service),
    CONFIG_NUMBER("sample", percent, struct config_telemetry, sample_permille, 0, SAMPLE_ALL,
                  .usual = SAMPLE_ALL),
};
const struct config_table config_telemetry_table = CONFIG_FLOW(telemetry_fields);

bool config_telemetry_is_off(const void *telemetry) {
    return ((const struct config_telemetry *)telemetry)->otlp.len == 0;
}

bool config_telemetry_read(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    (void)field;
    struct config_telemetry *telemetry = out;
    if (config_value_is(node, "off")) {
        telemetry->off = true;
        return true;
    }
    if (node->kind != CONFIG_MAPPING)
        return config_reader_expected(reader, node, "{otlp: URL} or off");
    return config_reader_mapping(reader, node, &config_telemetry_table, telemetry);
}

/* ---- the environment ---- */

static struct bytes variable(struct config_reader *reader, const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? arena_dup(reader->arena, bytes_of(value)) : BYTES_NONE;
}

static void mistake(struct config_reader *reader, const char *name, const char *expected) {
    config_mistake_add(&reader->mistakes, (struct config_place){1, 1},
                       "the environment's %s: expected %s. Or write telemetry: off in server", name,
                       expected);
}

static void take_endpoint(struct config_reader *reader, struct config_telemetry *telemetry) {
    static const char name[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
    struct bytes url = variable(reader, name);
    if (url.len == 0 || !built_in)
        return;
    if (config_address_is_http(url))
        telemetry->otlp = url;
    else
        mistake(reader, name, "a URL such as http://127.0.0.1:4318");
}

static void take_headers(struct config_reader *reader, struct config_telemetry *telemetry) {
    static const char name[] = "OTEL_EXPORTER_OTLP_HEADERS";
    struct bytes list = variable(reader, name);
    telemetry->headers_of_environment = list.len > 0;
    if (!config_headers_parse_list(list, reader->arena, &telemetry->headers,
                                   &telemetry->header_count))
        mistake(reader, name, "name=value,name=value");
}

static void take_service(struct config_reader *reader, struct config_telemetry *telemetry) {
    static const char name[] = "OTEL_SERVICE_NAME";
    struct bytes service = variable(reader, name);
    telemetry->service = SERVICE;
    if (service.len > SERVICE_MAX || !bytes_is_printable(service))
        mistake(reader, name, "a name of at most 255 printable bytes");
    else if (service.len > 0)
        telemetry->service = service;
}

/* Without a receiver the other settings are ignored. */
void config_telemetry_finish(struct config_reader *reader) {
    struct config_telemetry *telemetry = &reader->config->telemetry;
    if (telemetry->off)
        return;
    if (telemetry->otlp.len == 0)
        take_endpoint(reader, telemetry);
    if (telemetry->otlp.len > 0 && telemetry->header_count == 0)
        take_headers(reader, telemetry);
    if (telemetry->otlp.len > 0 && telemetry->service.len == 0)
        take_service(reader, telemetry);
}
