#include "store/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text/uuid.h"
#include "port/clock.h"

enum { PATH_MOST = 4096 };
#define PREFIX "impound-"

void instance_name(char out[INSTANCE_MAX]) {
    char host[64] = "localhost";
    gethostname(host, sizeof host - 1);
    snprintf(out, INSTANCE_MAX, "%s-%ld", host, (long)getpid());
}

static bool read_name(const char *path, char out[INSTANCE_MAX]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, out, INSTANCE_MAX - 1);
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return strlen(out) == strlen(PREFIX) + UUID_TEXT_SIZE - 1 &&
           strncmp(out, PREFIX, strlen(PREFIX)) == 0;
}

/* Writes the file atomically. */
static bool write_name(const char *path, const char *name) {
    char draft[PATH_MOST + 8];
    snprintf(draft, sizeof draft, "%s.new", path);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    ssize_t len = (ssize_t)strlen(name);
    bool written = write(fd, name, (size_t)len) == len && fsync(fd) == 0;
    return (close(fd) == 0) & written && rename(draft, path) == 0;
}

enum status instance_consumer(const char *store_path, char out[INSTANCE_MAX], struct err *err) {
    char path[PATH_MOST], id[UUID_TEXT_SIZE], name[INSTANCE_MAX];
    snprintf(path, sizeof path, "%s.d/consumer", store_path);
    if (!read_name(path, name)) {
        struct rng rng;
        rng_seed(&rng, random_seed());
        uuid_v7(clock_now(&clock_system).wall, &rng, id);
        snprintf(name, sizeof name, PREFIX "%s", id);
        if (!write_name(path, name))
            return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    }
    memcpy(out, name, sizeof name);
    return STATUS_OK;
}
