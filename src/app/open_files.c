#include "app/open_files.h"

#include <sys/resource.h>

#include "base/log.h"

void open_files_allow(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_warn("the limit of open files stays at its default");
}
