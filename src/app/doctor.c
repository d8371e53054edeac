/* impound doctor: is the store whole? */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/config.h"
#include "app/verbs.h"
#include "port/clock.h"
#include "store/disk_posix.h"
#include "store/sqlite/sqlite_store.h"

enum { TEXT_MAX = 16 << 20 };

static int usage(void) {
    fprintf(stderr, "usage: impound doctor [-c FILE] [--store PATH] [--repair]\n"
                    "Checks the store that FILE (impound.yaml) names, or the one at PATH.\n");
    return status_exit(STATUS_USAGE);
}

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

static int examine(const char *path, bool repair) {
    struct sqlite_store_options options = {
        .path = path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    struct buf report;
    struct err err = {STATUS_OK, ""};
    if (access(path, F_OK) != 0 && !(repair && has_journal(path)))
        return gone(path);
    buf_init_heap(&report, TEXT_MAX);
    enum status status = sqlite_store_doctor(&options, repair, &report, &err);
    fwrite(report.ptr ? report.ptr : "", 1, report.len, stdout);
    if (status != STATUS_OK)
        fprintf(stderr, "impound doctor: %s\n", err.text);
    buf_free(&report);
    return status_exit(status);
}

int doctor_run(const struct cli_env *env, int argc, char **argv) {
    const char *path = "impound.yaml", *store = NULL;
    bool repair = false;
    (void)env;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--repair") == 0)
            repair = true;
        else if (strcmp(argv[i], "--store") == 0 && i + 1 < argc)
            store = argv[++i];
        else if (!verbs_config_option(argc, argv, &i, &path))
            return usage();
    }
    if (store)
        return examine(store, repair);
    struct config *config = NULL;
    struct buf mistakes;
    buf_init_heap(&mistakes, TEXT_MAX);
    int code = status_exit(STATUS_INVALID);
    if (config_load(path, &config, &mistakes) == STATUS_OK)
        code = examine(config->store_path.ptr, repair);
    else
        fprintf(stderr, "%s", buf_cstr(&mistakes));
    buf_free(&mistakes);
    config_free(config);
    return code;
}
