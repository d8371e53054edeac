/* impound version: the version, and the parts of this build. */
#include "cli/commands/cmd.h"

#include <assert.h>
#include <curl/curl.h>

#include "base/json/json.h"
#include "cli/command.h"

enum { TEXT_MAX = 4096 };

typedef const char *const part_list[]; /* ends with NULL */

static part_list stores = {"sqlite", NULL};
static part_list builtin = {"builtin", NULL};
static part_list handlers = {"http", "exec", "lease", NULL};
static part_list none = {NULL};
#ifdef IMPOUND_OTLP
static part_list telemetry = {"otlp", NULL}, telemetry_left_out = {NULL};
#else
static part_list telemetry = {NULL}, telemetry_left_out = {"otlp", NULL};
#endif

enum { KIND_COUNT = 6 };

/* A kind of part, with two lists shown as one. */
struct part_kind {
    const char *name;
    const char *const *lists[2];
};

static void list_parts(const struct cli_build *build, struct part_kind kinds[KIND_COUNT]) {
    size_t count = 0;
    kinds[count++] = (struct part_kind){"stores", {stores, none}};
    kinds[count++] = (struct part_kind){"sources", {builtin, build->sources}};
    kinds[count++] = (struct part_kind){"handlers", {handlers, none}};
    kinds[count++] = (struct part_kind){"sinks", {build->sinks, none}};
    kinds[count++] = (struct part_kind){"telemetry", {telemetry, none}};
    kinds[count++] = (struct part_kind){"left_out", {build->left_out, telemetry_left_out}};
    assert(count == KIND_COUNT);
}

static void put_json(const struct cli_build *build, struct buf *out) {
    struct part_kind kinds[KIND_COUNT];
    struct json_out json = json_out(out);
    list_parts(build, kinds);
    json_open(&json, '{');
    json_key(&json, "version");
    json_put_str(&json, build->version);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        json_key(&json, kinds[i].name);
        json_open(&json, '[');
        for (size_t k = 0; k < 2; k++)
            for (const char *const *part = kinds[i].lists[k]; *part; part++)
                json_put_str(&json, *part);
        json_close(&json, ']');
    }
    json_key(&json, "dashboard");
    json_put_bool(&json, build->dashboard);
    json_key(&json, "libcurl");
    json_put_str(&json, curl_version_info(CURLVERSION_NOW)->version);
    json_close(&json, '}');
    buf_char(out, '\n');
}

static void put_text(const struct cli_build *build, struct buf *out) {
    struct part_kind kinds[KIND_COUNT];
    list_parts(build, kinds);
    buf_printf(out, "impound %s\n", build->version);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!kinds[i].lists[0][0] && !kinds[i].lists[1][0])
            continue;
        buf_printf(out, "%s:", kinds[i].name);
        for (size_t k = 0; k < 2; k++)
            for (const char *const *part = kinds[i].lists[k]; *part; part++)
                buf_printf(out, " %s", *part);
        buf_char(out, '\n');
    }
    buf_printf(out, "dashboard: %s\n",
               build->dashboard ? "built in" : "not built in, a plain page instead");
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
        put_json(env->build, &out);
    else
        put_text(env->build, &out);
    options_free(&options);
    return command_write(buf_view(&out));
}
