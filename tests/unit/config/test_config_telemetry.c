/* Where spans go, by the file and by the environment. */
#include "test.h"

#include "config/config.h"
#include "config/config_headers.h"

#define QUEUES   "queues: {q: {handler: {http: \"http://h\"}}}\n"
#define ENDPOINT "OTEL_EXPORTER_OTLP_ENDPOINT"
#define HEADERS  "OTEL_EXPORTER_OTLP_HEADERS"
#define SERVICE  "OTEL_SERVICE_NAME"

static int forget_environment(void **state) {
    (void)state;
    unsetenv(ENDPOINT);
    unsetenv(HEADERS);
    unsetenv(SERVICE);
    return 0;
}

static struct config *parsed(const char *yaml) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    if (config_parse(bytes_of(yaml), "/etc/i.yaml", &config, &mistakes) != STATUS_OK)
        fail_msg("%s", buf_cstr(&mistakes));
    buf_free(&mistakes);
    return config;
}

static void assert_mistake(const char *yaml, const char *expected) {
    struct buf mistakes;
    struct config *config;
    buf_init_heap(&mistakes, 1 << 16);
    assert_int_equal(config_parse(bytes_of(yaml), "i.yaml", &config, &mistakes), STATUS_INVALID);
    assert_string_equal(buf_cstr(&mistakes), expected);
    buf_free(&mistakes);
    config_free(config);
}

static void assert_printed(const struct config *config, const char *line) {
    struct buf out;
    buf_init_heap(&out, 1 << 16);
    config_print(config, &out);
    if (!strstr(buf_cstr(&out), line))
        fail_msg("%s is not in\n%s", line, buf_cstr(&out));
    buf_free(&out);
}

static void the_file_names_a_receiver(void **state) {
    (void)state;
    struct config *config =
        parsed("server: {telemetry: {otlp: \"https://h:4318\", headers: {x-key: k}, ca: ca.pem, "
               "service: shop, sample: 12.5%}}\n" QUEUES);
    const struct config_telemetry *telemetry = &config->telemetry;
    assert_bytes(telemetry->otlp, "https://h:4318");
    assert_int_equal(telemetry->header_count, 1);
    assert_bytes(telemetry->headers[0].name, "x-key");
    assert_bytes(telemetry->headers[0].value, "k");
    assert_bytes(telemetry->ca_file, "/etc/ca.pem");
    assert_bytes(telemetry->service, "shop");
    assert_int_equal(telemetry->sample_permille, 125);
    assert_printed(config, "telemetry: {otlp: \"https://h:4318\", headers: {x-key: \"***\"}, ca: "
                           "\"/etc/ca.pem\", service: shop, sample: 12.5%}\n");
    config_free(config);
}

static void without_a_word_nothing_is_sent(void **state) {
    (void)state;
    struct config *config = parsed(QUEUES);
    assert_int_equal(config->telemetry.otlp.len, 0);
    assert_printed(config, "telemetry: off\n");
    config_free(config);
}

static void the_environment_fills_in_what_the_file_leaves_out(void **state) {
    (void)state;
    setenv(ENDPOINT, "http://c:4318", 1);
    setenv(HEADERS, "x-key=a%20secret,y=2", 1);
    setenv(SERVICE, "orders", 1);
    struct config *config = parsed(QUEUES);
    assert_bytes(config->telemetry.otlp, "http://c:4318");
    assert_int_equal(config->telemetry.header_count, 2);
    assert_bytes(config->telemetry.headers[0].value, "a secret");
    assert_int_equal(config->telemetry.sample_permille, 1000);
    assert_printed(config, "telemetry: {otlp: \"http://c:4318\", service: orders, sample: 100%}\n");
    config_free(config);
}

static void the_file_goes_before_the_environment(void **state) {
    (void)state;
    setenv(ENDPOINT, "http://c:4318", 1);
    setenv(HEADERS, "x-key=k", 1);
    setenv(SERVICE, "orders", 1);
    struct config *config = parsed(
        "server: {telemetry: {otlp: \"http://h\", headers: {a: b}, service: shop}}\n" QUEUES);
    assert_bytes(config->telemetry.otlp, "http://h");
    assert_bytes(config->telemetry.headers[0].name, "a");
    assert_bytes(config->telemetry.service, "shop");
    config_free(config);
    config = parsed("server: {telemetry: off}\n" QUEUES);
    assert_int_equal(config->telemetry.otlp.len, 0);
    config_free(config);
}

static void a_wrong_variable_is_told(void **state) {
    (void)state;
    setenv(ENDPOINT, "collector:4317", 1);
    assert_mistake(QUEUES, "i.yaml:1:1: the environment's " ENDPOINT ": expected a URL such as "
                           "http://127.0.0.1:4318. Or write telemetry: off in server\n");
    setenv(ENDPOINT, "http://c:4318", 1);
    setenv(HEADERS, "no equals sign", 1);
    assert_mistake(QUEUES, "i.yaml:1:1: the environment's " HEADERS ": expected "
                           "name=value,name=value. Or write telemetry: off in server\n");
    config_free(parsed("server: {telemetry: off}\n" QUEUES));
}

static void lists_of_headers_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *first, *last;
        size_t count;
    } cases[] = {
        {"", NULL, NULL, 0},
        {"a=1", "1", "1", 1},
        {" a = 1 , b=2,", "1", "2", 2},
        {"a=1=2,b=%2C", "1=2", ",", 2},
        {"a=", "", "", 1},
    };
    static const char *const wrong[] = {"a", "=1", "a b=1", "a=%zz", "a=1,b", "a=%0a"};
    struct arena arena;
    struct rule_header *headers;
    size_t count;
    arena_init_heap(&arena, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(config_headers_parse_list(bytes_of(cases[i].text), &arena, &headers, &count));
        assert_int_equal(count, cases[i].count);
        if (count > 0) {
            assert_bytes(headers[0].value, cases[i].first);
            assert_bytes(headers[count - 1].value, cases[i].last);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(config_headers_parse_list(bytes_of(wrong[i]), &arena, &headers, &count));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_file_names_a_receiver, forget_environment),
        cmocka_unit_test_setup(the_environment_fills_in_what_the_file_leaves_out,
                               forget_environment),
        cmocka_unit_test_setup(the_file_goes_before_the_environment, forget_environment),
        cmocka_unit_test_setup(a_wrong_variable_is_told, forget_environment),
        cmocka_unit_test_setup(without_a_word_nothing_is_sent, forget_environment),
        cmocka_unit_test(lists_of_headers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
