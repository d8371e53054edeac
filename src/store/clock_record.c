#include "store/clock_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum { PATH_MOST = 4096, BOOT_LEN = CLOCK_RECORD_BOOT_SIZE - 1, TOLD_MS = 60 * 1000 };

static const uint64_t time_max = 1ull << 53;
/* 2020: a wall clock that shows an earlier time was never set. */
static const int64_t set_from_ms = 1577836800000;

static bool is_boot_id(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'))
            return false;
    }
    return text.len == BOOT_LEN;
}

/* Parses a number that ends at the first byte of `end`, and skips that byte. */
static bool take_number(struct bytes *text, const char *end, int64_t *out) {
    uint64_t number;
    size_t at = bytes_find(*text, bytes_of(end));
    if (at >= text->len || !bytes_u64(bytes_cut(*text, 0, at), &number) || number > time_max)
        return false;
    *out = (int64_t)number;
    *text = bytes_cut(*text, at + 1, text->len);
    return true;
}

bool clock_record_parse(struct bytes text, struct clock_record *out) {
    struct bytes boot = bytes_cut(text, 0, BOOT_LEN);
    if (text.len <= BOOT_LEN || text.ptr[BOOT_LEN] != ' ' || !is_boot_id(boot))
        return false;
    memcpy(out->boot, boot.ptr, BOOT_LEN);
    out->boot[BOOT_LEN] = '\0';
    struct bytes rest = bytes_cut(text, BOOT_LEN + 1, text.len);
    return take_number(&rest, " ", &out->since_boot_ms) &&
           take_number(&rest, "\n", &out->wall_ms) && rest.len == 0;
}

int64_t clock_record_ahead(const struct clock_record *last, const struct clock_record *now) {
    int64_t passed_ms = now->since_boot_ms - last->since_boot_ms;
    if (strcmp(last->boot, now->boot) != 0 || passed_ms < 0 || last->wall_ms < set_from_ms)
        return 0;
    int64_t ahead_ms = now->wall_ms - (last->wall_ms + passed_ms);
    return ahead_ms > 0 ? ahead_ms : 0;
}

/* ---- the file, and the system clocks ---- */

static size_t read_text(const char *path, char out[CLOCK_RECORD_MAX]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, out, CLOCK_RECORD_MAX);
    if (fd >= 0)
        close(fd);
    return got > 0 ? (size_t)got : 0;
}

static bool read_machine(struct wall wall, struct clock_record *out) {
    char boot[CLOCK_RECORD_MAX];
    struct timespec now;
    struct bytes id = {boot, read_text("/proc/sys/kernel/random/boot_id", boot)};
    if (id.len < BOOT_LEN || !is_boot_id(bytes_cut(id, 0, BOOT_LEN)) ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return false;
    memcpy(out->boot, boot, BOOT_LEN);
    out->boot[BOOT_LEN] = '\0';
    out->since_boot_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    out->wall_ms = wall.ms;
    return true;
}

static void path_of(const char *store_path, const char *ending, char out[PATH_MOST]) {
    snprintf(out, PATH_MOST, "%s.d/clock%s", store_path, ending);
}

void clock_record_load(const char *store_path, struct clock *clock) {
    char path[PATH_MOST], text[CLOCK_RECORD_MAX];
    struct clock_record last, now;
    path_of(store_path, "", path);
    struct bytes found = {text, read_text(path, text)};
    clock->ahead_ms = 0;
    if (clock_record_parse(found, &last) && read_machine(clock_now(clock).wall, &now))
        clock->ahead_ms = clock_record_ahead(&last, &now);
    if (clock->ahead_ms >= TOLD_MS)
        log_warn("the wall clock was set ahead by %lld s since an earlier start: expiry times are "
                 "delayed by as much until the machine is restarted. If the clock was wrong before "
                 "and is right now, stop impound and remove %s",
                 (long long)clock->ahead_ms / 1000, path);
}

/* Writes the file atomically. If that fails, the next start trusts the wall clock. */
void clock_record_save(const char *store_path, struct clock *clock) {
    char path[PATH_MOST], draft[PATH_MOST], text[CLOCK_RECORD_MAX];
    struct clock_record now;
    if (!read_machine(clock_began(clock).wall, &now))
        return;
    path_of(store_path, "", path);
    path_of(store_path, ".new", draft);
    int len = snprintf(text, sizeof text, "%s %lld %lld\n", now.boot, (long long)now.since_boot_ms,
                       (long long)now.wall_ms);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, text, (size_t)len) == len && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    if (!written || rename(draft, path) != 0)
        log_warn("%s: %s", path, strerror(errno));
}
