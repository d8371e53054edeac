/* impound check: is the configuration right, and what does it amount to? */
#include <stdio.h>
#include <string.h>

#include "app/config.h"
#include "app/verbs.h"
#include "jq/jq_pool.h"

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

/* jq programs are compiled by a helper process, as they are when they run. */
static size_t check_jq(const struct config *config) {
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){
        .program = "/proc/self/exe", .helpers = 1, .timeout_ms = config->jq_timeout_ms});
    size_t wrong = 0;
    for (size_t q = 0; q < config->queue_count; q++) {
        const struct policy *policy = &config->queues[q].policy;
        for (size_t r = 0; r < policy->rule_count; r++) {
            struct err err;
            if (!policy->rules[r].when.jq.len ||
                jq_pool_check(jq, policy->rules[r].when.jq, &err) == STATUS_OK)
                continue;
            fprintf(stderr, "%.*s: %.*s.when.jq: %s\n", BYTES_ARG(config->path),
                    BYTES_ARG(policy->rules[r].name), err.text);
            wrong++;
        }
    }
    jq->vtable->free(jq);
    return wrong;
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
    if (status != STATUS_OK) {
        fprintf(stderr, "%s", buf_cstr(&text));
    } else if (check_jq(config) > 0) {
        status = STATUS_INVALID;
    } else {
        config_print(config, &text);
        fwrite(text.ptr, 1, text.len, stdout);
    }
    buf_free(&text);
    config_free(config);
    return status == STATUS_OK ? 0 : status_exit(STATUS_INVALID);
}
