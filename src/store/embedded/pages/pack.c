#include "store/embedded/pages/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/journal/crc32c.h"
#include "store/embedded/journal/journal_format.h"

enum {
    FORMAT_VERSION = 1,
    HEADER_VERSION_AT = 8,
    HEADER_NUMBER_AT = 16,
    HEADER_CHECKSUM_AT = 24,
    OFFSET_BITS = 32, /* PACK_OFFSET_MAX */
    NUMBER_DIGITS = 16,
    PATH_SIZE = 4096,
};

static const char magic[] = "imppacks";
static const char ending[] = ".pack";

/* ---- names and places ---- */

static bool path_of(const char *dir, uint64_t number, char path[PATH_SIZE]) {
    return snprintf(path, PATH_SIZE, "%s/%0*" PRIx64 "%s", dir, NUMBER_DIGITS, number, ending) <
           PATH_SIZE;
}

bool pack_number(const char *name, uint64_t *out) {
    struct bytes text = bytes_of(name);
    if (text.len != NUMBER_DIGITS + sizeof ending - 1 || !bytes_ends(text, bytes_of(ending)) ||
        strspn(name, "0123456789abcdef") != NUMBER_DIGITS)
        return false;
    *out = strtoull(name, NULL, 16);
    return *out > 0 && *out <= PACK_NUMBER_MAX;
}

uint64_t pack_at(uint64_t number, uint64_t offset) {
    return number << OFFSET_BITS | offset;
}

uint64_t pack_number_of(uint64_t at) {
    return at >> OFFSET_BITS;
}

static uint64_t offset_of(uint64_t at) {
    return at & ((UINT64_C(1) << OFFSET_BITS) - 1);
}

uint64_t pack_record_size(uint64_t len) {
    return PACK_RECORD_BYTES + len;
}

bool pack_holds(const struct pack *pack, struct pack_place place) {
    uint64_t offset = offset_of(place.at);
    return offset >= PACK_BLOCK && offset <= pack->end && place.len < PACK_OFFSET_MAX &&
           pack_record_size(place.len) <= pack->end - offset;
}

static enum status trouble(int error, const char *doing, uint64_t number, struct err *err) {
    bool full = error == ENOSPC || error == EDQUOT;
    return err_set(err,
                   error == ENOENT ? STATUS_NOT_FOUND
                   : full          ? STATUS_FULL
                                   : STATUS_IO,
                   "%s pack %0*" PRIx64 ": %s", doing, NUMBER_DIGITS, number, strerror(error));
}

/* ---- files ---- */

static void put_header(uint8_t *block, uint64_t number) {
    memset(block, 0, PACK_BLOCK);
    memcpy(block, magic, sizeof magic - 1);
    journal_format_put32(block + HEADER_VERSION_AT, FORMAT_VERSION);
    journal_format_put64(block + HEADER_NUMBER_AT, number);
    journal_format_put32(block + HEADER_CHECKSUM_AT, crc32c(0, block, HEADER_CHECKSUM_AT));
}

/* The header's checksum covers the number and the version: the header has no other contents. */
static enum status check_header(const struct pack *pack, struct err *err) {
    uint8_t expected[PACK_BLOCK], block[PACK_BLOCK] = {0};
    uint64_t size = 0;
    put_header(expected, pack->number);
    int error = pack->disk->vtable->size(pack->disk, pack->file, &size);
    if (!error && size >= sizeof block)
        error = pack->disk->vtable->read(pack->disk, pack->file, 0, block, sizeof block);
    if (error)
        return trouble(error, "reading", pack->number, err);
    if (memcmp(block, expected, sizeof block) != 0)
        return err_set(err, STATUS_CORRUPT, "pack %0*" PRIx64 ": its header is not one of ours",
                       NUMBER_DIGITS, pack->number);
    return STATUS_OK;
}

static enum status make_header(const struct pack *pack, struct err *err) {
    uint8_t block[PACK_BLOCK];
    put_header(block, pack->number);
    int error = pack->disk->vtable->write(pack->disk, pack->file, 0, block, sizeof block);
    return error ? trouble(error, "writing", pack->number, err) : STATUS_OK;
}

enum status pack_open(struct disk *disk, const char *dir, uint64_t number, bool create,
                      struct pack **out, struct err *err) {
    char path[PATH_SIZE];
    if (!path_of(dir, number, path))
        return err_set(err, STATUS_INVALID, "the path %s is too long", dir);
    struct pack *pack = memory_new(sizeof *pack);
    *pack = (struct pack){.disk = disk, .number = number, .end = PACK_BLOCK};
    int error = disk->vtable->open(disk, path, create, &pack->file);
    enum status status = error ? trouble(error, "opening", number, err) : STATUS_OK;
    if (status == STATUS_OK)
        status = create ? make_header(pack, err) : check_header(pack, err);
    if (status != STATUS_OK) {
        if (create && pack->file)
            (void)disk->vtable->remove(disk, path);
        pack_free(pack);
        return status;
    }
    *out = pack;
    return STATUS_OK;
}

void pack_free(struct pack *pack) {
    if (!pack)
        return;
    if (pack->file)
        pack->disk->vtable->close(pack->disk, pack->file);
    free(pack);
}

enum status pack_remove_file(struct disk *disk, const char *dir, uint64_t number, struct err *err) {
    char path[PATH_SIZE];
    if (!path_of(dir, number, path))
        return err_set(err, STATUS_INVALID, "the path %s is too long", dir);
    int error = disk->vtable->remove(disk, path);
    return error ? trouble(error, "removing", number, err) : STATUS_OK;
}

/* ---- records ---- */

void pack_put_record(struct buf *out, uint64_t at, uint64_t seq, enum pack_part part,
                     struct bytes bytes) {
    uint8_t *record = (uint8_t *)buf_room(out, pack_record_size(bytes.len));
    if (!record)
        return;
    uint8_t *mark = record + PACK_HEAD_BYTES;
    journal_format_put64(mark, seq);
    mark[sizeof seq] = (uint8_t)part;
    if (bytes.len > 0)
        memcpy(mark + PACK_MARK_BYTES, bytes.ptr, bytes.len);
    journal_format_seal_record(record, at, (uint32_t)(PACK_MARK_BYTES + bytes.len));
}

static enum status not_whole(uint64_t at, struct err *err) {
    return err_set(err, STATUS_CORRUPT, "pack %0*" PRIx64 ", offset %" PRIu64 ": no whole record",
                   NUMBER_DIGITS, pack_number_of(at), offset_of(at));
}

enum status pack_read_run(const struct pack *pack, uint64_t at, uint8_t *to, uint64_t len,
                          struct err *err) {
    int error = pack->disk->vtable->read(pack->disk, pack->file, offset_of(at), to, (size_t)len);
    return error ? trouble(error, "reading", pack->number, err) : STATUS_OK;
}

static struct pack_owner owner_of(const uint8_t *record) {
    return (struct pack_owner){journal_format_get64(record + PACK_HEAD_BYTES),
                               record[PACK_RECORD_BYTES - 1]};
}

enum status pack_size(const struct pack *pack, uint64_t *out, struct err *err) {
    int error = pack->disk->vtable->size(pack->disk, pack->file, out);
    *out = error ? 0 : *out / PACK_BLOCK * PACK_BLOCK;
    return error ? trouble(error, "asking for the size of", pack->number, err) : STATUS_OK;
}

enum status pack_within(const struct pack *pack, uint64_t at, uint64_t len, struct err *err) {
    uint64_t size;
    enum status status = pack_size(pack, &size, err);
    if (status == STATUS_OK &&
        (offset_of(at) < PACK_BLOCK || offset_of(at) > size || len > size - offset_of(at)))
        status = not_whole(at, err);
    return status;
}

enum status pack_record(const uint8_t *record, struct pack_place place, struct pack_owner owner,
                        struct bytes *out, struct err *err) {
    struct pack_owner found = owner_of(record);
    if (journal_format_record_len(record) != PACK_MARK_BYTES + place.len ||
        !journal_format_record_whole(record, place.at) || found.seq != owner.seq ||
        found.part != owner.part)
        return not_whole(place.at, err);
    *out = (struct bytes){(const char *)record + PACK_RECORD_BYTES, (size_t)place.len};
    return STATUS_OK;
}

enum status pack_read(const struct pack *pack, struct pack_place place, struct pack_owner owner,
                      struct arena *arena, struct bytes *out, struct err *err) {
    if (place.len >= PACK_OFFSET_MAX)
        return not_whole(place.at, err);
    uint64_t size = pack_record_size(place.len);
    enum status status = pack_within(pack, place.at, size, err);
    if (status != STATUS_OK)
        return status;
    uint8_t *record = arena_try(arena, (size_t)size);
    if (!record)
        return err_set(err, STATUS_BUSY, "there is no memory for a record of %llu bytes",
                       (unsigned long long)size);
    status = pack_read_run(pack, place.at, record, size, err);
    return status == STATUS_OK ? pack_record(record, place, owner, out, err) : status;
}

/* ---- all records ---- */

static bool is_gap(const struct pack *pack, uint64_t offset, uint64_t *next, int *error) {
    uint64_t left = PACK_BLOCK - offset % PACK_BLOCK;
    uint8_t head[PACK_HEAD_BYTES];
    *next = offset + left;
    *error = 0;
    if (left < PACK_HEAD_BYTES)
        return true;
    *error = pack->disk->vtable->read(pack->disk, pack->file, offset, head, sizeof head);
    return *error == 0 && journal_format_record_len(head) == 0;
}

static enum status read_any(const struct pack *pack, uint64_t offset, struct arena *arena,
                            struct pack_record *out, struct err *err) {
    uint8_t head[PACK_RECORD_BYTES];
    uint64_t at = pack_at(pack->number, offset);
    int error = pack->disk->vtable->read(pack->disk, pack->file, offset, head, sizeof head);
    if (error)
        return trouble(error, "reading", pack->number, err);
    uint64_t len = journal_format_record_len(head);
    if (len < PACK_MARK_BYTES || offset + PACK_HEAD_BYTES + len > pack->end)
        return not_whole(at, err);
    *out = (struct pack_record){.place = {at, len - PACK_MARK_BYTES},
                                .seq = journal_format_get64(head + PACK_HEAD_BYTES),
                                .part = head[PACK_RECORD_BYTES - 1]};
    return pack_read(pack, out->place, owner_of(head), arena, &out->bytes, err);
}

enum status pack_walk(const struct pack *pack,
                      enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                      struct err *err) {
    enum status status = STATUS_OK;
    for (uint64_t offset = PACK_BLOCK, next; status == STATUS_OK && offset < pack->end;
         offset = next) {
        int error;
        if (is_gap(pack, offset, &next, &error))
            continue;
        if (error)
            return trouble(error, "reading", pack->number, err);
        struct arena arena;
        struct pack_record record;
        arena_init_heap(&arena, PACK_BLOCK);
        status = read_any(pack, offset, &arena, &record, err);
        if (status == STATUS_OK) {
            next = offset + pack_record_size(record.place.len);
            status = visit(arg, &record);
        }
        arena_free(&arena);
    }
    return status;
}

/* ---- all intact records ---- */

static bool is_whole(const uint8_t *bytes, uint64_t left, uint64_t at) {
    uint64_t len = journal_format_record_len(bytes);
    return len >= PACK_MARK_BYTES && len <= left - PACK_HEAD_BYTES &&
           journal_format_record_whole(bytes, at);
}

static enum status give(const struct pack *pack, const uint8_t *bytes, uint64_t offset,
                        enum status (*visit)(void *arg, const struct pack_record *record),
                        void *arg, uint64_t *next) {
    uint64_t len = journal_format_record_len(bytes) - PACK_MARK_BYTES;
    struct pack_record record = {.place = {pack_at(pack->number, offset), len},
                                 .seq = journal_format_get64(bytes + PACK_HEAD_BYTES),
                                 .part = bytes[PACK_RECORD_BYTES - 1],
                                 .bytes = {(const char *)bytes + PACK_RECORD_BYTES, (size_t)len}};
    *next = offset + pack_record_size(len);
    return visit(arg, &record);
}

static bool is_zero(const uint8_t *bytes, uint64_t len) {
    while (len > 0 && *bytes == 0)
        bytes++, len--;
    return len == 0;
}

/* While records are in sequence, zeroes to the end of a block mean that the next record starts on
 * the next block; after damage, every byte may be the start of a record. `bytes` are those from
 * offset `from` on. */
static enum status salvage(const struct pack *pack, const uint8_t *bytes, uint64_t from,
                           uint64_t to,
                           enum status (*visit)(void *arg, const struct pack_record *record),
                           void *arg, uint64_t *lost) {
    enum status status = STATUS_OK;
    bool in_step = true;
    for (uint64_t at = from, next; status == STATUS_OK && at + PACK_RECORD_BYTES <= to; at = next) {
        const uint8_t *here = bytes + (at - from);
        uint64_t left = PACK_BLOCK - at % PACK_BLOCK;
        next = at + 1;
        if (in_step && is_zero(here, left)) {
            next = at + left;
        } else if (is_whole(here, to - at, pack_at(pack->number, at))) {
            status = give(pack, here, at, visit, arg, &next);
            in_step = true;
        } else {
            in_step = false;
            ++*lost;
        }
    }
    return status;
}

enum status pack_salvage(const struct pack *pack, uint64_t from, uint64_t to,
                         enum status (*visit)(void *arg, const struct pack_record *record),
                         void *arg, uint64_t *lost, struct err *err) {
    if (to <= from)
        return STATUS_OK;
    uint8_t *bytes = memory_grow(NULL, to - from);
    enum status status = pack_read_run(pack, pack_at(pack->number, from), bytes, to - from, err);
    if (status == STATUS_OK)
        status = salvage(pack, bytes, from, to, visit, arg, lost);
    free(bytes);
    return status;
}

/* A record's checksum covers the number of its pack. */
static enum status note_one(void *arg, const struct pack_record *record) {
    (void)record;
    *(bool *)arg = true;
    return STATUS_OK;
}

enum status pack_mend(struct disk *disk, const char *dir, uint64_t number) {
    char path[PATH_SIZE];
    struct pack pack = {.disk = disk, .number = number};
    bool found = false;
    uint64_t size = 0, lost = 0;
    if (!path_of(dir, number, path) || disk->vtable->open(disk, path, 0, &pack.file) != 0)
        return STATUS_IO;
    enum status status = pack_size(&pack, &size, NULL);
    if (status == STATUS_OK)
        status = pack_salvage(&pack, PACK_BLOCK, size, note_one, &found, &lost, NULL);
    if (status == STATUS_OK)
        status = found ? make_header(&pack, NULL) : STATUS_CORRUPT;
    if (status == STATUS_OK && disk->vtable->sync(disk, pack.file) != 0)
        status = STATUS_IO;
    disk->vtable->close(disk, pack.file);
    return status;
}

/* ---- owners of records ---- */

enum status pack_heads(const struct pack *pack, uint64_t to,
                       enum status (*visit)(void *arg, const struct pack_record *record), void *arg,
                       struct err *err) {
    struct disk *disk = pack->disk;
    enum status status = STATUS_OK;
    for (uint64_t at = PACK_BLOCK, next; status == STATUS_OK && at + PACK_RECORD_BYTES <= to;
         at = next) {
        uint8_t head[PACK_RECORD_BYTES];
        uint64_t left = PACK_BLOCK - at % PACK_BLOCK;
        next = at + left;
        if (left < PACK_HEAD_BYTES)
            continue;
        int error = disk->vtable->read(disk, pack->file, at, head, sizeof head);
        if (error)
            return trouble(error, "reading", pack->number, err);
        uint64_t len = journal_format_record_len(head);
        if (len == 0)
            continue;
        if (len < PACK_MARK_BYTES || len > to - at - PACK_HEAD_BYTES)
            return not_whole(pack_at(pack->number, at), err);
        struct pack_owner owner = owner_of(head);
        struct pack_record record = {.place = {pack_at(pack->number, at), len - PACK_MARK_BYTES},
                                     .seq = owner.seq,
                                     .part = owner.part};
        next = at + PACK_HEAD_BYTES + len;
        status = visit(arg, &record);
    }
    return status;
}
