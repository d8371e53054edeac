/* impound check: is the configuration right, and what does it amount to? */
#include <stdio.h>
#include <string.h>

#include "app/config.h"
#include "app/verbs.h"

enum { TEXT_MAX = 64 << 20 };

bool verbs_config_option(int argc, char **argv, int *i, const char **path) {
    if ((strcmp(argv[*i], "-c") == 0 || strcmp(argv[*i], "--config") == 0) && *i + 1 < argc) {
        *path = argv[++*i];
        return true;
    }
    if (strncmp(argv[*i], "--config=", strlen("--config=")) == 0) {
        *path = argv[*i] + strlen("--config=");
        return true;
    }
    return false;
}

int check_run(const struct cli_env *env, int argc, char **argv) {
    const char *path = "impound.yaml";
    (void)env;
    for (int i = 1; i < argc; i++) {
        if (!verbs_config_option(argc, argv, &i, &path)) {
            fprintf(stderr, "usage: impound check [-c FILE]\nFILE defaults to impound.yaml.\n");
            return status_exit(STATUS_USAGE);
        }
    }
    struct config *config = NULL;
    struct buf text;
    buf_init_heap(&text, TEXT_MAX);
    enum status status = config_load(path, &config, &text);
    if (status == STATUS_OK)
        status = config_check_programs(config, &text);
    if (status != STATUS_OK) {
        fprintf(stderr, "%s", buf_cstr(&text));
    } else {
        config_print(config, &text);
        fwrite(text.ptr, 1, text.len, stdout);
    }
    buf_free(&text);
    config_free(config);
    return status == STATUS_OK ? 0 : status_exit(STATUS_INVALID);
}
