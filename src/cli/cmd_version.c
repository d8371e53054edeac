/* impound version: which one this is, and what is built into it. */
#include "cli/cmd.h"

#include <curl/curl.h>

#include "base/json.h"
#include "cli/command.h"

enum { TEXT_MAX = 4096 };

/* Parts that a build can leave out. */
#ifdef IMPOUND_REDIS
#define REDIS "redis",
#define NO_REDIS
#else
#define REDIS
#define NO_REDIS "redis",
#endif
#ifdef IMPOUND_NATS
#define NATS "nats",
#define NO_NATS
#else
#define NATS
#define NO_NATS "nats",
#endif
#ifdef IMPOUND_RABBITMQ
#define RABBITMQ "rabbitmq",
#define NO_RABBITMQ
#else
#define RABBITMQ
#define NO_RABBITMQ "rabbitmq",
#endif
#ifdef IMPOUND_KAFKA
#define KAFKA "kafka",
#define NO_KAFKA
#else
#define KAFKA
#define NO_KAFKA "kafka",
#endif

#ifdef IMPOUND_OTLP
#define OTLP "otlp",
#define NO_OTLP
#else
#define OTLP
#define NO_OTLP "otlp",
#endif

/* Each list ends with NULL. */
static const struct {
    const char *kind;
    const char *parts[8];
} built_in[] = {
    {"stores", {"sqlite", NULL}},
    {"sources", {"builtin", REDIS RABBITMQ NATS KAFKA NULL}},
    {"handlers", {"http", "exec", "lease", NULL}},
    {"sinks", {REDIS RABBITMQ NATS KAFKA NULL}},
    {"telemetry", {OTLP NULL}},
    {"left_out", {NO_REDIS NO_RABBITMQ NO_NATS NO_KAFKA NO_OTLP NULL}},
};

enum { KIND_COUNT = sizeof built_in / sizeof *built_in };

static void put_json(const struct cli_env *env, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "version");
    json_put_str(&json, env->version);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        json_key(&json, built_in[i].kind);
        json_open(&json, '[');
        for (const char *const *part = built_in[i].parts; *part; part++)
            json_put_str(&json, *part);
        json_close(&json, ']');
    }
    json_key(&json, "dashboard");
    json_put_bool(&json, env->dashboard);
    json_key(&json, "libcurl");
    json_put_str(&json, curl_version_info(CURLVERSION_NOW)->version);
    json_close(&json, '}');
    buf_char(out, '\n');
}

static void put_text(const struct cli_env *env, struct buf *out) {
    buf_printf(out, "impound %s\n", env->version);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!built_in[i].parts[0])
            continue;
        buf_printf(out, "%s:", built_in[i].kind);
        for (const char *const *part = built_in[i].parts; *part; part++)
            buf_printf(out, " %s", *part);
        buf_char(out, '\n');
    }
    buf_printf(out, "dashboard: %s\n",
               env->dashboard ? "built in" : "not built in, a plain page instead");
    buf_printf(out, "libcurl: %s\n", curl_version_info(CURLVERSION_NOW)->version);
}

int cmd_version_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, NULL, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    char memory[TEXT_MAX];
    struct buf out;
    buf_init_fixed(&out, memory, sizeof memory);
    if (env->json)
        put_json(env, &out);
    else
        put_text(env, &out);
    options_free(&options);
    return command_write(buf_view(&out));
}
