#include "engine/recorder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "base/map.h"
#include "base/memory.h"

/* The file: a header of one slot's size, then slots.
 *
 *   offset  header                     slot
 *   0       magic "IMPFLY2\0"          seq        u64, 0: free
 *   8       zero                       started_ms i64
 *   16      zero                       attempt    u32
 *   20      zero                       state      u32, enum recorder_state
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
    struct recorder_entry entry;
};

struct recorder {
    int fd; /* -1: memory alone */
    struct slot *slots;
    uint32_t count;
    uint32_t *free_slots; /* a stack */
    uint32_t free_count;
    struct map interrupted;
};

struct recorder *recorder_new(void) {
    struct recorder *recorder = memory_new(sizeof *recorder);
    recorder->fd = -1;
    return recorder;
}

static void forget_interrupted(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->interrupted.slot_count; i++) {
        for (struct map_node *node = recorder->interrupted.slots[i], *next; node; node = next) {
            next = node->next;
            free(CONTAINER_OF(node, struct interrupted, by_seq));
        }
    }
    map_free(&recorder->interrupted);
}

void recorder_free(struct recorder *recorder) {
    if (!recorder)
        return;
    if (recorder->slots)
        munmap(recorder->slots, recorder->count * sizeof(struct slot));
    if (recorder->fd >= 0)
        close(recorder->fd);
    forget_interrupted(recorder);
    free(recorder->free_slots);
    free(recorder);
}

static void free_from(struct recorder *recorder, uint32_t first) {
    recorder->free_slots =
        memory_grow(recorder->free_slots, recorder->count * sizeof *recorder->free_slots);
    for (uint32_t slot = recorder->count; slot-- > first;)
        if (recorder->slots[slot].seq == 0)
            recorder->free_slots[recorder->free_count++] = slot;
}

/* Maps `count` slots of the file, or of memory. */
static bool map_slots(struct recorder *recorder, uint32_t count) {
    size_t size = count * sizeof(struct slot);
    if (recorder->fd >= 0 && ftruncate(recorder->fd, (off_t)size) != 0)
        return false;
    /* A page without room on the disk would end the process when it is written to. */
    if (recorder->fd >= 0 && (errno = posix_fallocate(recorder->fd, 0, (off_t)size)) != 0)
        return false;
    void *mapped;
    if (recorder->slots)
        mapped =
            mremap(recorder->slots, recorder->count * sizeof(struct slot), size, MREMAP_MAYMOVE);
    else
        mapped =
            mmap(NULL, size, PROT_READ | PROT_WRITE,
                 recorder->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, recorder->fd, 0);
    if (mapped == MAP_FAILED)
        return false;
    recorder->slots = mapped;
    recorder->count = count;
    return true;
}

/* Attempts count from 1, so a slot without one is what is left of a file that was cut off. */
static bool is_used(const struct slot *slot) {
    return slot->seq && slot->attempt && slot->state <= RECORDER_BLAMED;
}

static uint32_t count_inside(const struct recorder *recorder) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < recorder->count; i++) {
        const struct slot *slot = &recorder->slots[i];
        count +=
            is_used(slot) && (slot->state == RECORDER_RUNNING || slot->state == RECORDER_ALONE);
    }
    return count;
}

/* What a slot of the last run means in this one; the picture stands in the header. */
static enum recorder_state state_after_death(uint32_t state, uint32_t inside) {
    if (state == RECORDER_ALONE || (state == RECORDER_RUNNING && inside == 1))
        return RECORDER_BLAMED;
    return state == RECORDER_RUNNING ? RECORDER_SUSPECT : (enum recorder_state)state;
}

static bool is_kept(uint32_t state) {
    return state == RECORDER_SUSPECT || state == RECORDER_BLAMED;
}

static struct interrupted *find(const struct recorder *recorder, uint64_t seq) {
    struct map_node *node = seq ? map_first(&recorder->interrupted, seq) : NULL;
    return node ? CONTAINER_OF(node, struct interrupted, by_seq) : NULL;
}

/* One that stands there twice had just been judged when its next attempt began, and then the later
 * attempt is the one that matters; or it is a suspect whose turn had just come: what weighs more is
 * true. */
static bool outdoes(const struct recorder_entry *entry, const struct slot *slot) {
    return entry->attempt != slot->attempt ? entry->attempt > slot->attempt
                                           : entry->state >= slot->state;
}

static void remember(struct recorder *recorder, uint32_t place) {
    struct slot *slot = &recorder->slots[place];
    struct interrupted *found = find(recorder, slot->seq);
    if (found && outdoes(&found->entry, slot)) {
        *slot = (struct slot){0};
        return;
    }
    if (found) {
        recorder->slots[found->entry.slot].seq = 0;
    } else {
        found = memory_new(sizeof *found);
        map_insert(&recorder->interrupted, &found->by_seq, slot->seq);
    }
    found->entry = (struct recorder_entry){.seq = slot->seq,
                                           .attempt = slot->attempt,
                                           .started_at = {slot->started_ms},
                                           .state = (enum recorder_state)slot->state,
                                           .slot = is_kept(slot->state) ? place : RECORDER_NO_SLOT};
}

static void read_slots(struct recorder *recorder) {
    uint32_t inside = count_inside(recorder);
    for (uint32_t i = 1; i < recorder->count; i++) {
        struct slot *slot = &recorder->slots[i];
        if (is_used(slot)) {
            slot->state = state_after_death(slot->state, inside);
            remember(recorder, i);
        }
        if (!is_used(slot) || !is_kept(slot->state))
            *slot = (struct slot){0};
    }
}

static void read_last_run(struct recorder *recorder) {
    if (memcmp(recorder->slots, magic, sizeof magic) == 0)
        read_slots(recorder);
    else
        memset(recorder->slots, 0, recorder->count * sizeof(struct slot));
    memcpy(recorder->slots, magic, sizeof magic);
}

enum status recorder_open(struct recorder *recorder, const char *path, struct err *err) {
    assert(!recorder->slots);
    recorder->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat stat;
    if (recorder->fd < 0 || fstat(recorder->fd, &stat) != 0)
        return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    uint64_t whole = (uint64_t)stat.st_size / sizeof(struct slot);
    if (whole > SLOTS_MAX) /* it is not one of ours: too long for any number of attempts */
        whole = 0;
    uint32_t count = whole < FIRST_SLOTS ? FIRST_SLOTS : (uint32_t)whole;
    if (!map_slots(recorder, count))
        return err_set(err, STATUS_IO, "%s: %s", path, strerror(errno));
    read_last_run(recorder);
    free_from(recorder, 1);
    return STATUS_OK;
}

static bool grow(struct recorder *recorder) {
    uint32_t before = recorder->count;
    if (before >= SLOTS_MAX || !map_slots(recorder, before ? before * 2 : FIRST_SLOTS))
        return false;
    free_from(recorder, before ? before : 1);
    return true;
}

uint32_t recorder_note(struct recorder *recorder, uint64_t seq, uint32_t attempt, struct wall at,
                       enum recorder_state state) {
    if (seq == 0 || (recorder->free_count == 0 && !grow(recorder)))
        return RECORDER_NO_SLOT;
    uint32_t slot = recorder->free_slots[--recorder->free_count];
    recorder->slots[slot].started_ms = at.ms;
    recorder->slots[slot].attempt = attempt;
    recorder->slots[slot].state = state;
    /* The seq makes the slot count, so it is written last. */
    __atomic_store_n(&recorder->slots[slot].seq, seq, __ATOMIC_RELEASE);
    return slot;
}

void recorder_end(struct recorder *recorder, uint32_t slot) {
    if (slot != RECORDER_NO_SLOT)
        __atomic_store_n(&recorder->slots[slot].state, RECORDER_ENDED, __ATOMIC_RELEASE);
}

void recorder_clear(struct recorder *recorder, uint32_t slot) {
    if (slot == RECORDER_NO_SLOT)
        return;
    __atomic_store_n(&recorder->slots[slot].seq, 0, __ATOMIC_RELEASE);
    recorder->free_slots[recorder->free_count++] = slot;
}

const struct recorder_entry *recorder_find(const struct recorder *recorder, uint64_t seq) {
    const struct interrupted *found = find(recorder, seq);
    return found ? &found->entry : NULL;
}

bool recorder_claim(struct recorder *recorder, uint64_t seq, struct recorder_entry *out) {
    struct interrupted *found = find(recorder, seq);
    if (!found)
        return false;
    *out = found->entry;
    map_remove(&recorder->interrupted, &found->by_seq);
    free(found);
    return true;
}
