/* impound doctor: verifies the store. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "app/local_verbs.h"
#include "base/json/json_member.h"
#include "cli/command.h"
#include "port/clock.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"

enum { TEXT_MAX = 16 << 20 };

const struct options_row doctor_options[] = {
    {"config", "FILE", "the configuration that names the store (default impound.yaml)", 'c'},
    {"store", "FILE", "the store itself, such as impound.db", 0},
    {"repair", NULL, "take everything that any file still holds, and mend the rest", 0},
    {0},
};

static bool has_journal(const char *path) {
    char dir[PATH_MAX];
    int len = snprintf(dir, sizeof dir, "%s.d", path);
    return len < (int)sizeof dir && access(dir, F_OK) == 0;
}

static int gone(const char *path) {
    if (!has_journal(path)) {
        fprintf(stderr, "impound doctor: there is no store at %s\n", path);
        return status_exit(STATUS_NOT_FOUND);
    }
    fprintf(stderr,
            "impound doctor: the SQLite file %s is gone, but its journal %s.d is there.\n"
            "Put a copy of the file back if there is one: the journal brings it up to date.\n"
            "Otherwise `impound doctor --repair` makes a new one of what the journal and the packs "
            "beside it hold.\n",
            path, path);
    return status_exit(STATUS_CORRUPT);
}

/* The report and its destination. */
struct visit {
    bool repair;
    bool json;
};

/* {"store","sound","report","problem"}; each line of the doctor's output is a string of the report.
 */
static void print_json(const char *path, struct bytes report, const struct err *err) {
    struct buf text;
    struct bytes line;
    buf_init_heap(&text, TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_member_text(&json, "store", bytes_of(path));
    json_key(&json, "sound");
    json_put_bool(&json, err->status == STATUS_OK);
    json_key(&json, "report");
    json_open(&json, '[');
    while (bytes_line(&report, &line))
        json_put(&json, line);
    json_close(&json, ']');
    json_member_text(&json, "problem", bytes_of(err->text));
    json_close(&json, '}');
    puts(buf_cstr(&text));
    buf_free(&text);
}

static int examine(const char *path, const struct visit *visit) {
    struct sqlite_store_options options = {
        .path = path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    struct buf report;
    struct err err = {STATUS_OK, ""};
    if (access(path, F_OK) != 0 && !(visit->repair && has_journal(path)))
        return gone(path);
    buf_init_heap(&report, TEXT_MAX);
    enum status status = sqlite_store_doctor(&options, visit->repair, &report, &err);
    if (visit->json)
        print_json(path, buf_view(&report), &err);
    else
        fwrite(report.ptr ? report.ptr : "", 1, report.len, stdout);
    if (status != STATUS_OK)
        fprintf(stderr, "impound doctor: %s\n", err.text);
    buf_free(&report);
    return status_exit(status);
}

/* Verifies the store of a configuration. */
static int examine_configured(const char *path, const struct visit *visit) {
    struct config *config = NULL;
    struct buf mistakes;
    buf_init_heap(&mistakes, TEXT_MAX);
    int code = status_exit(STATUS_INVALID);
    if (local_verbs_load(path, &config, &mistakes) == STATUS_OK)
        code = examine(config->store_path.ptr, visit);
    else
        fprintf(stderr, "%s", buf_cstr(&mistakes));
    buf_free(&mistakes);
    config_free(config);
    return code;
}

int doctor_run(const struct cli_env *env, int argc, char **argv) {
    struct options options;
    if (!command_options(env, doctor_options, argc, argv, 0, 0, &options))
        return status_exit(STATUS_USAGE);
    const char *store = options_get(&options, "store");
    struct visit visit = {options_has(&options, "repair"), env->json};
    local_verbs_allow_open_files();
    int code =
        store ? examine(store, &visit) : examine_configured(local_verbs_config(&options), &visit);
    options_free(&options);
    return code;
}
