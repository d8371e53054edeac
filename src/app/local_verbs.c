#include "app/local_verbs.h"

#include <sys/resource.h>

#include "base/log.h"
#include "config/config.h"

const char *local_verbs_config(const struct options *options) {
    const char *said = options_get(options, "config");
    return said ? said : "impound.yaml";
}

enum status local_verbs_load(const char *path, struct config **out, struct buf *mistakes) {
    enum status status = config_load(path, out, mistakes);
    if (status == STATUS_NOT_FOUND)
        buf_str(mistakes, "-c FILE names another; `impound demo --self` needs none\n");
    return status;
}

void local_verbs_allow_open_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_warn("the limit of open files stays at its default");
}
