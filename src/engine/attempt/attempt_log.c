#include "engine/attempt/attempt_log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "base/memory.h"

/* The file: a header of one slot's size, then slots.
 *
 *   offset  header                     slot
 *   0       magic "IMPFLY2\0"          seq        u64, 0: free
 *   8       zero                       started_ms i64
 *   16      zero                       attempt    u32
 *   20      zero                       state      u32, enum attempt_log_state
 *
 * Written and read on one machine, in its own byte order. Slot 0 is the header, so 0 is no slot. */
struct slot {
    uint64_t seq;
    int64_t started_ms;
    uint32_t attempt;
    uint32_t state;
};

enum { FIRST_SLOTS = 1024, SLOTS_MAX = 1 << 20 };
static const char magic[8] = "IMPFLY2";

struct interrupted {
    struct map_node by_seq;
    struct attempt_log_entry entry;
};

struct attempt_log {
    int fd; /* -1: in memory only */
    struct slot *slots;
    uint32_t count;
    uint32_t *free_slots; /* a stack */
    uint32_t free_count;
    struct map interrupted;
};

struct attempt_log *attempt_log_new(void) {
    struct attempt_log *attempt_log = memory_new(sizeof *attempt_log);
    attempt_log->fd = -1;
    return attempt_log;
}

static void forget_interrupted(struct attempt_log *attempt_log) {
    for (size_t i = 0; i < attempt_log->interrupted.slot_count; i++) {
        for (struct map_node *node = attempt_log->interrupted.slots[i], *next; node; node = next) {
            next = node->next;
            free(CONTAINER_OF(node, struct interrupted, by_seq));
        }
    }
    map_free(&attempt_log->interrupted);
}

void attempt_log_free(struct attempt_log *attempt_log) {
    if (!attempt_log)
        return;
    if (attempt_log->slots)
        munmap(attempt_log->slots, attempt_log->count * sizeof(struct slot));
    if (attempt_log->fd >= 0)
        close(attempt_log->fd);
    forget_interrupted(attempt_log);
    free(attempt_log->free_slots);
    free(attempt_log);
}

static void free_from(struct attempt_log *attempt_log, uint32_t first) {
    attempt_log->free_slots =
        memory_grow(attempt_log->free_slots, attempt_log->count * sizeof *attempt_log->free_slots);
    for (uint32_t slot = attempt_log->count; slot-- > first;)
        if (attempt_log->slots[slot].seq == 0)
            attempt_log->free_slots[attempt_log->free_count++] = slot;
}

/* Maps `count` slots of the file, or of memory. */
static bool map_slots(struct attempt_log *attempt_log, uint32_t count) {
    size_t size = count * sizeof(struct slot);
    if (attempt_log->fd >= 0 && ftruncate(attempt_log->fd, (off_t)size) != 0)
        return false;
    /* Writing to a mapped page that has no space on the disk would end the process with SIGBUS. */
    if (attempt_log->fd >= 0 && (errno = posix_fallocate(attempt_log->fd, 0, (off_t)size)) != 0)
        return false;
    void *mapped;
    if (attempt_log->slots)
        mapped = mremap(attempt_log->slots, attempt_log->count * sizeof(struct slot), size,
                        MREMAP_MAYMOVE);
    else
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      attempt_log->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                      attempt_log->fd, 0);
    if (mapped == MAP_FAILED)
        return false;
    attempt_log->slots = mapped;
    attempt_log->count = count;
    return true;
}

/* Attempts count from 1, so a slot without an attempt is left over from a truncated file. */
static bool is_used(const struct slot *slot) {
    return slot->seq && slot->attempt && slot->state <= ATTEMPT_LOG_BLAMED;
}

static uint32_t count_inside(const struct attempt_log *attempt_log) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < attempt_log->count; i++) {
        const struct slot *slot = &attempt_log->slots[i];
        count += is_used(slot) &&
                 (slot->state == ATTEMPT_LOG_RUNNING || slot->state == ATTEMPT_LOG_ALONE);
    }
    return count;
}

/* The state in this run of a slot of the last run; see the picture in the header. */
static enum attempt_log_state state_after_death(uint32_t state, uint32_t inside) {
    if (state == ATTEMPT_LOG_ALONE || (state == ATTEMPT_LOG_RUNNING && inside == 1))
        return ATTEMPT_LOG_BLAMED;
    return state == ATTEMPT_LOG_RUNNING ? ATTEMPT_LOG_SUSPECT : (enum attempt_log_state)state;
}

static bool is_kept(uint32_t state) {
    return state == ATTEMPT_LOG_SUSPECT || state == ATTEMPT_LOG_BLAMED;
}

static struct interrupted *find(const struct attempt_log *attempt_log, uint64_t seq) {
    struct map_node *node = seq ? map_first(&attempt_log->interrupted, seq) : NULL;
    return node ? CONTAINER_OF(node, struct interrupted, by_seq) : NULL;
}

/* A message may be in two slots. Either it had just been judged when its next attempt began: the
 * later attempt counts. Or it was a suspect whose turn had just come: the graver state counts. */
static bool outdoes(const struct attempt_log_entry *entry, const struct slot *slot) {
    return entry->attempt != slot->attempt ? entry->attempt > slot->attempt
                                           : entry->state >= slot->state;
}

static void remember(struct attempt_log *attempt_log, uint32_t place) {
    struct slot *slot = &attempt_log->slots[place];
    struct interrupted *found = find(attempt_log, slot->seq);
    if (found && outdoes(&found->entry, slot)) {
        *slot = (struct slot){0};
        return;
    }
    if (found) {
        attempt_log->slots[found->entry.slot].seq = 0;
    } else {
        found = memory_new(sizeof *found);
        map_insert(&attempt_log->interrupted, &found->by_seq, slot->seq);
    }
    found->entry =
        (struct attempt_log_entry){.seq = slot->seq,
                                   .attempt = slot->attempt,
                                   .started_at = {slot->started_ms},
                                   .state = (enum attempt_log_state)slot->state,
                                   .slot = is_kept(slot->state) ? place : ATTEMPT_LOG_NO_SLOT};
}

static void read_slots(struct attempt_log *attempt_log) {
    uint32_t inside = count_inside(attempt_log);
    for (uint32_t i = 1; i < attempt_log->count; i++) {
        struct slot *slot = &attempt_log->slots[i];
        if (is_used(slot)) {
            slot->state = state_after_death(slot->state, inside);
            remember(attempt_log, i);
        }
        if (!is_used(slot) || !is_kept(slot->state))
            *slot = (struct slot){0};
    }
}

static void read_last_run(struct attempt_log *attempt_log) {
    if (memcmp(attempt_log->slots, magic, sizeof magic) == 0)
        read_slots(attempt_log);
    else
        memset(attempt_log->slots, 0, attempt_log->count * sizeof(struct slot));
    memcpy(attempt_log->slots, magic, sizeof magic);
}

enum status attempt_log_open(struct attempt_log *attempt_log, const char *path, struct err *err) {
    assert(!attempt_log->slots);
    attempt_log->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat stat;
    if (attempt_log->fd < 0 || fstat(attempt_log->fd, &stat) != 0)
        return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    uint64_t whole = (uint64_t)stat.st_size / sizeof(struct slot);
    if (whole > SLOTS_MAX) /* too large for any number of attempts: not our file */
        whole = 0;
    uint32_t count = whole < FIRST_SLOTS ? FIRST_SLOTS : (uint32_t)whole;
    if (!map_slots(attempt_log, count))
        return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    read_last_run(attempt_log);
    free_from(attempt_log, 1);
    return STATUS_OK;
}

static bool grow(struct attempt_log *attempt_log) {
    uint32_t before = attempt_log->count;
    if (before >= SLOTS_MAX || !map_slots(attempt_log, before ? before * 2 : FIRST_SLOTS))
        return false;
    free_from(attempt_log, before ? before : 1);
    return true;
}

uint32_t attempt_log_note(struct attempt_log *attempt_log, uint64_t seq, uint32_t attempt,
                          struct wall at, enum attempt_log_state state) {
    if (seq == 0 || (attempt_log->free_count == 0 && !grow(attempt_log)))
        return ATTEMPT_LOG_NO_SLOT;
    uint32_t slot = attempt_log->free_slots[--attempt_log->free_count];
    attempt_log->slots[slot].started_ms = at.ms;
    attempt_log->slots[slot].attempt = attempt;
    attempt_log->slots[slot].state = state;
    /* A slot is valid once its seq is set, so the seq is written last. */
    __atomic_store_n(&attempt_log->slots[slot].seq, seq, __ATOMIC_RELEASE);
    return slot;
}

void attempt_log_end(struct attempt_log *attempt_log, uint32_t slot) {
    if (slot != ATTEMPT_LOG_NO_SLOT)
        __atomic_store_n(&attempt_log->slots[slot].state, ATTEMPT_LOG_ENDED, __ATOMIC_RELEASE);
}

void attempt_log_clear(struct attempt_log *attempt_log, uint32_t slot) {
    if (slot == ATTEMPT_LOG_NO_SLOT)
        return;
    __atomic_store_n(&attempt_log->slots[slot].seq, 0, __ATOMIC_RELEASE);
    attempt_log->free_slots[attempt_log->free_count++] = slot;
}

const struct attempt_log_entry *attempt_log_find(const struct attempt_log *attempt_log,
                                                 uint64_t seq) {
    const struct interrupted *found = find(attempt_log, seq);
    return found ? &found->entry : NULL;
}

bool attempt_log_claim(struct attempt_log *attempt_log, uint64_t seq,
                       struct attempt_log_entry *out) {
    struct interrupted *found = find(attempt_log, seq);
    if (!found)
        return false;
    *out = found->entry;
    map_remove(&attempt_log->interrupted, &found->by_seq);
    free(found);
    return true;
}
