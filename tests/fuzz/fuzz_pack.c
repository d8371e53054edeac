/* Any texts as records of a pack, with one bit of it flipped: every record but the one that was hit
 * is salvaged, in its order. And any bytes as a pack: whatever is salvaged lies within it. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "store/embedded/pages/pack.h"

enum { NUMBER = 7, RECORDS_MAX = 64, TAKE_MAX = 64, PACK_MAX = 1 << 20, CHOICE_BYTES = 4 };

struct inflight {
    struct disk disk;
    struct buf bytes; /* of the pack, behind its header */
    uint64_t places[RECORDS_MAX];
    size_t count, hit; /* RECORDS_MAX: none of them */
    size_t seen;
};

static int read_shelf(struct disk *disk, struct disk_file *file, uint64_t at, void *to,
                      size_t len) {
    (void)file;
    const struct inflight *inflight = (const struct inflight *)(const void *)disk;
    FUZZ_CHECK(at == PACK_BLOCK && len == inflight->bytes.len);
    if (inflight->bytes.len > 0)
        memcpy(to, inflight->bytes.ptr, inflight->bytes.len);
    return 0;
}

static const struct disk_vtable vtable = {.read = read_shelf};

static void pad(struct inflight *inflight, size_t len) {
    char *zeroes = buf_room(&inflight->bytes, len);
    memset(zeroes, 0, len);
}

static void add(struct inflight *inflight, struct bytes text) {
    size_t left = PACK_BLOCK - inflight->bytes.len % PACK_BLOCK;
    if (left < PACK_HEAD_BYTES)
        pad(inflight, left);
    uint64_t place = pack_at(NUMBER, PACK_BLOCK + inflight->bytes.len);
    inflight->places[inflight->count++] = place;
    pack_put_record(&inflight->bytes, place, inflight->count, PACK_BODY, text);
}

static enum status see(void *arg, const struct pack_record *record) {
    struct inflight *inflight = arg;
    if (inflight->seen == inflight->hit)
        inflight->seen++;
    FUZZ_CHECK(inflight->seen < inflight->count &&
               record->place.at == inflight->places[inflight->seen]);
    FUZZ_CHECK(record->seq == inflight->seen + 1 && record->part == PACK_BODY);
    inflight->seen++;
    return STATUS_OK;
}

/* Which record the byte is of. */
static size_t record_at(const struct inflight *inflight, size_t at) {
    for (size_t i = inflight->count; i-- > 0;) {
        size_t start = (size_t)(inflight->places[i] - pack_at(NUMBER, PACK_BLOCK));
        const uint8_t *head = (const uint8_t *)inflight->bytes.ptr + start;
        size_t len = head[0] | (size_t)head[1] << 8;
        if (at >= start)
            return at < start + PACK_HEAD_BYTES + len ? i : RECORDS_MAX;
    }
    return RECORDS_MAX;
}

static enum status salvage(struct inflight *inflight,
                           enum status (*visit)(void *arg, const struct pack_record *record)) {
    uint64_t lost = 0;
    struct pack pack = {
        .disk = &inflight->disk, .number = NUMBER, .end = PACK_BLOCK + inflight->bytes.len};
    return pack_salvage(&pack, PACK_BLOCK, pack.end, visit, inflight, &lost, NULL);
}

static void check_flip(struct inflight *inflight, const uint8_t *data, size_t size) {
    for (size_t at = CHOICE_BYTES; at < size && inflight->count < RECORDS_MAX;) {
        size_t len = data[at] % TAKE_MAX * (1 + data[at] / TAKE_MAX);
        at++;
        len = len < size - at ? len : size - at;
        add(inflight, fuzz_text(data + at, len));
        at += len;
    }
    pad(inflight, PACK_BLOCK - inflight->bytes.len % PACK_BLOCK);
    size_t place = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % inflight->bytes.len;
    inflight->hit = record_at(inflight, place);
    inflight->bytes.ptr[place] = (char)(inflight->bytes.ptr[place] ^ 1 << data[3] % 8);
    FUZZ_CHECK(salvage(inflight, see) == STATUS_OK);
    FUZZ_CHECK(inflight->seen == inflight->count ||
               (inflight->seen == inflight->hit && inflight->hit + 1 == inflight->count));
}

static enum status see_any(void *arg, const struct pack_record *record) {
    const struct inflight *inflight = arg;
    uint64_t end = pack_at(NUMBER, PACK_BLOCK + inflight->bytes.len);
    FUZZ_CHECK(record->place.at + pack_record_size(record->place.len) <= end);
    return STATUS_OK;
}

static void check_any(struct inflight *inflight, const uint8_t *data, size_t size) {
    buf_put(&inflight->bytes, data, size);
    FUZZ_CHECK(salvage(inflight, see_any) == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct inflight inflight = {.disk = {&vtable}, .hit = RECORDS_MAX};
    buf_init_heap(&inflight.bytes, PACK_MAX);
    if (size > CHOICE_BYTES)
        check_flip(&inflight, data, size);
    buf_clear(&inflight.bytes);
    check_any(&inflight, data, size);
    buf_free(&inflight.bytes);
    return 0;
}
