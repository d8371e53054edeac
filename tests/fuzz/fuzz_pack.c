/* Any texts as records of a pack, with one bit of it flipped: every record but the one that was hit
 * is salvaged, in its order. And any bytes as a pack: whatever is salvaged lies within it. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "store/sqlite/pack.h"

enum { NUMBER = 7, RECORDS_MAX = 64, TAKE_MAX = 64, PACK_MAX = 1 << 20, CHOICE_BYTES = 4 };

struct shelf {
    struct disk disk;
    struct buf bytes; /* of the pack, behind its header */
    uint64_t places[RECORDS_MAX];
    size_t count, hit; /* RECORDS_MAX: none of them */
    size_t seen;
};

static int read_shelf(struct disk *disk, struct disk_file *file, uint64_t at, void *to,
                      size_t len) {
    (void)file;
    const struct shelf *shelf = (const struct shelf *)(const void *)disk;
    FUZZ_CHECK(at == PACK_BLOCK && len == shelf->bytes.len);
    if (shelf->bytes.len > 0)
        memcpy(to, shelf->bytes.ptr, shelf->bytes.len);
    return 0;
}

static const struct disk_vtable vtable = {.read = read_shelf};

static void pad(struct shelf *shelf, size_t len) {
    char *zeroes = buf_room(&shelf->bytes, len);
    memset(zeroes, 0, len);
}

static void add(struct shelf *shelf, struct bytes text) {
    size_t left = PACK_BLOCK - shelf->bytes.len % PACK_BLOCK;
    if (left < PACK_HEAD_BYTES)
        pad(shelf, left);
    uint64_t place = pack_at(NUMBER, PACK_BLOCK + shelf->bytes.len);
    shelf->places[shelf->count++] = place;
    pack_put_record(&shelf->bytes, place, shelf->count, PACK_BODY, text);
}

static enum status see(void *arg, const struct pack_record *record) {
    struct shelf *shelf = arg;
    if (shelf->seen == shelf->hit)
        shelf->seen++;
    FUZZ_CHECK(shelf->seen < shelf->count && record->place.at == shelf->places[shelf->seen]);
    FUZZ_CHECK(record->seq == shelf->seen + 1 && record->part == PACK_BODY);
    shelf->seen++;
    return STATUS_OK;
}

/* Which record the byte is of. */
static size_t record_at(const struct shelf *shelf, size_t at) {
    for (size_t i = shelf->count; i-- > 0;) {
        size_t start = (size_t)(shelf->places[i] - pack_at(NUMBER, PACK_BLOCK));
        const uint8_t *head = (const uint8_t *)shelf->bytes.ptr + start;
        size_t len = head[0] | (size_t)head[1] << 8;
        if (at >= start)
            return at < start + PACK_HEAD_BYTES + len ? i : RECORDS_MAX;
    }
    return RECORDS_MAX;
}

static enum status salvage(struct shelf *shelf,
                           enum status (*visit)(void *arg, const struct pack_record *record)) {
    uint64_t lost = 0;
    struct pack pack = {
        .disk = &shelf->disk, .number = NUMBER, .end = PACK_BLOCK + shelf->bytes.len};
    return pack_salvage(&pack, PACK_BLOCK, pack.end, visit, shelf, &lost, NULL);
}

static void check_flip(struct shelf *shelf, const uint8_t *data, size_t size) {
    for (size_t at = CHOICE_BYTES; at < size && shelf->count < RECORDS_MAX;) {
        size_t len = data[at] % TAKE_MAX * (1 + data[at] / TAKE_MAX);
        at++;
        len = len < size - at ? len : size - at;
        add(shelf, fuzz_text(data + at, len));
        at += len;
    }
    pad(shelf, PACK_BLOCK - shelf->bytes.len % PACK_BLOCK);
    size_t place = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % shelf->bytes.len;
    shelf->hit = record_at(shelf, place);
    shelf->bytes.ptr[place] = (char)(shelf->bytes.ptr[place] ^ 1 << data[3] % 8);
    FUZZ_CHECK(salvage(shelf, see) == STATUS_OK);
    FUZZ_CHECK(shelf->seen == shelf->count ||
               (shelf->seen == shelf->hit && shelf->hit + 1 == shelf->count));
}

static enum status see_any(void *arg, const struct pack_record *record) {
    const struct shelf *shelf = arg;
    uint64_t end = pack_at(NUMBER, PACK_BLOCK + shelf->bytes.len);
    FUZZ_CHECK(record->place.at + pack_record_size(record->place.len) <= end);
    return STATUS_OK;
}

static void check_any(struct shelf *shelf, const uint8_t *data, size_t size) {
    buf_put(&shelf->bytes, data, size);
    FUZZ_CHECK(salvage(shelf, see_any) == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct shelf shelf = {.disk = {&vtable}, .hit = RECORDS_MAX};
    buf_init_heap(&shelf.bytes, PACK_MAX);
    if (size > CHOICE_BYTES)
        check_flip(&shelf, data, size);
    buf_clear(&shelf.bytes);
    check_any(&shelf, data, size);
    buf_free(&shelf.bytes);
    return 0;
}
