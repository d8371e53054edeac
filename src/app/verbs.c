#include "app/verbs.h"

#include "config/config.h"

const char *verbs_config(const struct options *options) {
    const char *said = options_get(options, "config");
    return said ? said : "impound.yaml";
}

enum status verbs_load(const char *path, struct config **out, struct buf *mistakes) {
    enum status status = config_load(path, out, mistakes);
    if (status == STATUS_NOT_FOUND)
        buf_str(mistakes, "-c FILE names another; `impound demo --self` needs none\n");
    return status;
}
