/* A whole store that is damaged in any way: numbers in the SQLite file, its pages, packs, journal
 * segments, files that are gone. A server refuses with a message or starts and crashes nothing, and
 * doctor said which; a repair makes it sound, and has every message that was whole before a server
 * worked on it: nothing was written over. */
#include "fuzz.h"

#include <string.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite_store.h"

enum {
    SEGMENT_BYTES = 64 << 10,
    PACK_BYTES = 16 << 10,
    LETTERS = 10,
    MESSAGES = 16,
    NEW_FROM = 1000,
    BODY_BYTES = 500,
    PAGE_BYTES = 8192,
    STEP_BYTES = 6, /* of the input: one damage */
    STEPS_MAX = 3,
};

struct yard {
    struct clock clock;
    struct sim_disk *disk;
    struct sim_vfs *vfs;
    struct sqlite_store_options options;
    struct store *store;
    struct buf report;
    struct err err;
};

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

/* ---- what a server does ---- */

static void note_status(struct store_commit *commit, enum status status) {
    *(enum status *)commit->arg = status;
}

static enum status commit_one(struct yard *yard, struct store_op *op) {
    enum status status = STATUS_INTERNAL;
    struct store_commit commit = {.ops = op, .count = 1, .done = note_status, .arg = &status};
    op->queue = yard->store->vtable->queue_number(yard->store, BYTES("orders"));
    yard->store->vtable->submit(yard->store, &commit);
    sqlite_store_step(yard->store);
    return status;
}

static struct bytes id_of(int number, char id[16]) {
    snprintf(id, 16, "m%d", number);
    return bytes_of(id);
}

static struct bytes body_of(int number, char body[BODY_BYTES]) {
    memset(body, 'a' + number % 26, BODY_BYTES);
    return (struct bytes){body, BODY_BYTES};
}

static enum status put(struct yard *yard, int number, bool dead) {
    char id[16], letter[16], body[BODY_BYTES];
    snprintf(letter, sizeof letter, "L%d", number);
    struct envelope envelope = {.id = id_of(number, id),
                                .queue = BYTES("orders"),
                                .state = dead ? STATE_PENDING_REVIEW : STATE_QUEUED,
                                .created_at = {1700000000000},
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1};
    if (dead) {
        envelope.letter_id = bytes_of(letter);
        envelope.dlq = BYTES("orders.dlq");
        envelope.category = BYTES("bug");
        envelope.reason = BYTES("r");
        envelope.failed = true;
        envelope.fingerprint = 0xab + (unsigned)number % 3;
        envelope.error_message = BYTES("boom");
        envelope.dead_at = (struct wall){1700000000000 + number * 700};
    }
    struct store_op op = {
        .kind = STORE_PUT, .envelope = &envelope, .body = body_of(number, body), .check_id = true};
    return commit_one(yard, &op);
}

static struct message *get(struct yard *yard, int number) {
    char id[16];
    struct message *held = NULL;
    struct store *store = yard->store;
    return letters_get(store->letters, BYTES_NONE, id_of(number, id), &held, &yard->err) ==
                   STATUS_OK
               ? held
               : NULL;
}

static bool is_whole(struct yard *yard, int number) {
    char body[BODY_BYTES];
    struct message *held = get(yard, number);
    bool whole = held && bytes_eq(held->body, body_of(number, body));
    message_free(held);
    return whole;
}

static uint32_t all_whole(struct yard *yard) {
    uint32_t whole = 0;
    for (int i = 0; i < MESSAGES; i++)
        whole |= (uint32_t)is_whole(yard, i) << i;
    return whole;
}

static void look_round(struct yard *yard) {
    struct store *store = yard->store;
    struct arena arena;
    struct letters_page page;
    struct letters_sum sum;
    struct letters_group *groups;
    struct letters_dlq dlq;
    struct bytes *names;
    arena_init_heap(&arena, 4096);
    struct letters_query letters = {.letters = true, .limit = 5};
    struct letters_query live = {.queue = BYTES("orders"), .limit = 100};
    (void)letters_list(store->letters, &letters, &arena, &page, &yard->err);
    (void)letters_list(store->letters, &live, &arena, &page, &yard->err);
    (void)letters_sum(store->letters, &letters, &sum, &yard->err);
    size_t group_count;
    (void)letters_groups(store->letters, BYTES_NONE, &arena, &groups, &group_count, NULL);
    size_t dlqs;
    (void)letters_dlq_names(store->letters, &arena, &names, &dlqs, NULL);
    for (size_t i = 0; i < dlqs; i++)
        (void)letters_dlq(store->letters, names[i], (struct wall){1700000000000}, &arena, &dlq,
                          NULL);
    arena_free(&arena);
}

static void work(struct yard *yard) {
    struct store *store = yard->store;
    look_round(yard);
    uint32_t queue = store->vtable->queue_number(store, BYTES("orders"));
    struct message *taken[MESSAGES];
    size_t count = store->vtable->take(store, queue, TAKE_READY, read_clock(NULL), taken, 3);
    for (size_t i = 0; i < count; i++)
        store->vtable->give_back(store, taken[i], (struct mono){0});
    for (int i = 0; i < MESSAGES; i++)
        (void)put(yard, NEW_FROM + i, i % 2);
    sqlite_store_fold(store);
    for (int i = 0; i < MESSAGES; i += 2) {
        struct message *held = get(yard, NEW_FROM + i);
        struct store_op forget = {.kind = STORE_FORGET, .seq = held ? held->seq : 0};
        if (held)
            (void)commit_one(yard, &forget);
        message_free(held);
    }
    struct message *letter = get(yard, NEW_FROM + 1);
    struct store_op mark = {.kind = STORE_MARK,
                            .seq = letter ? letter->seq : 0,
                            .mark = {.state = STATE_DISCARDED, .at = {1700000000000}}};
    if (letter)
        (void)commit_one(yard, &mark);
    message_free(letter);
    sqlite_store_fold(store);
    sqlite_store_fold(store);
    look_round(yard);
}

static enum status open_yard(struct yard *yard) {
    yard->err = (struct err){0};
    return sqlite_store_open(&yard->options, &yard->store, &yard->err);
}

static void close_yard(struct yard *yard) {
    yard->store->vtable->close(yard->store);
}

static enum status doctor(struct yard *yard, bool repair) {
    buf_clear(&yard->report);
    return sqlite_store_doctor(&yard->options, repair, &yard->report, &yard->err);
}

/* ---- damages ---- */

static void run_sql(const char *sql) {
    struct database file;
    struct err err;
    struct database_options options = {
        .path = "impound.db", .vfs = SIM_VFS_NAME, .alone = true, .checkpoint = true};
    if (database_open(&options, &file, &err) != STATUS_OK)
        return;
    (void)database_run(file.db, sql, NULL);
    database_close(&file);
}

static void change_number(const uint8_t *step) {
    static const char *const columns[][2] = {
        {"queues", "number"},        {"queues", "name"},         {"packs", "number"},
        {"packs", "bytes"},          {"packs", "live"},          {"meta", "value"},
        {"counters", "count"},       {"counters", "dlq"},        {"ages", "count"},
        {"ages", "start_ms"},        {"ages", "end_ms"},         {"ages", "dlq"},
        {"groups", "count"},         {"groups", "total"},        {"groups", "dlq"},
        {"groups", "fingerprint"},   {"groups", "sample"},       {"messages", "seq"},
        {"messages", "queue"},       {"messages", "id"},         {"messages", "letter_id"},
        {"messages", "dlq"},         {"messages", "state"},      {"messages", "attempts"},
        {"messages", "dead_ms"},     {"messages", "due_ms"},     {"messages", "delay_ms"},
        {"messages", "lease_ms"},    {"messages", "closes_key"}, {"messages", "mark"},
        {"messages", "envelope_at"}, {"messages", "body_at"},    {"messages", "envelope_len"},
        {"messages", "body_len"},    {"messages", "traits"},     {"messages", "error_id"},
        {"messages", "fingerprint"}, {"errors", "uses"},         {"messages", "content_mark"},
    };
    static const char *const values[] = {
        "0",
        "1",
        "-1",
        "NULL",
        "''",
        "'x'",
        "9223372036854775807",
        "4096",
        "1e300",
        "20000000",
        "x'00'",
        "9",
        "5 + %s",
        "%s - 1",
        "%s * 2",
        "%s + 4096",
        "-9223372036854775807 - 1",
        "'pending_review'",
        "'queued'",
        "%s | (1 << 33)",
    };
    const char *const *column = columns[step[1] % (sizeof columns / sizeof columns[0])];
    char value[96], sql[256];
    sqlite3_snprintf(sizeof value, value, values[step[2] % (sizeof values / sizeof values[0])],
                     column[1]);
    bool is_message = strcmp(column[0], "messages") == 0;
    sqlite3_snprintf(sizeof sql, sql, "UPDATE OR IGNORE %s SET %s = %s%s", column[0], column[1],
                     value, is_message && step[3] % 2 ? " WHERE seq % 5 = 3" : "");
    run_sql(sql);
}

static const char *const files[] = {
    "impound.db",
    "impound.db.d/0000000000000001.pack",
    "impound.db.d/0000000000000001.seg",
    "impound.db.d/0000000000000002.pack",
};

static uint64_t size_of(struct yard *yard, const char *path) {
    struct disk *disk = sim_disk_port(yard->disk);
    struct disk_file *file;
    uint64_t size = 0;
    if (disk->vtable->open(disk, path, 0, &file) != 0)
        return 0;
    (void)disk->vtable->size(disk, file, &size);
    disk->vtable->close(disk, file);
    return size;
}

static uint64_t place_in(struct yard *yard, const char *path, const uint8_t *step) {
    uint64_t size = size_of(yard, path);
    uint64_t at = step[2] | (uint64_t)step[3] << 8 | (uint64_t)step[4] << 16;
    return size > 0 ? at % size : 0;
}

static void flip(struct yard *yard, const uint8_t *step) {
    const char *path = files[step[1] % (sizeof files / sizeof files[0])];
    (void)sim_disk_flip(yard->disk, path, place_in(yard, path, step), step[5] % 8);
}

static void zero_block(struct yard *yard, const uint8_t *step) {
    const char *path = files[step[1] % (sizeof files / sizeof files[0])];
    struct disk *disk = sim_disk_port(yard->disk);
    struct disk_file *file;
    static const char zeroes[PAGE_BYTES];
    uint64_t at = place_in(yard, path, step) / PAGE_BYTES * PAGE_BYTES, size = size_of(yard, path);
    if (size == 0 || disk->vtable->open(disk, path, 0, &file) != 0)
        return;
    size_t len = size - at < PAGE_BYTES ? (size_t)(size - at) : PAGE_BYTES;
    (void)disk->vtable->write(disk, file, at, zeroes, len);
    (void)disk->vtable->sync(disk, file);
    disk->vtable->close(disk, file);
}

static void cut(struct yard *yard, const uint8_t *step) {
    const char *path = files[step[1] % (sizeof files / sizeof files[0])];
    struct disk *disk = sim_disk_port(yard->disk);
    struct disk_file *file;
    if (step[5] % 2) {
        (void)disk->vtable->remove(disk, path);
    } else if (disk->vtable->open(disk, path, 0, &file) == 0) {
        (void)sim_disk_truncate(yard->disk, file, place_in(yard, path, step));
        (void)disk->vtable->sync(disk, file);
        disk->vtable->close(disk, file);
    }
}

static void damage(struct yard *yard, const uint8_t *step) {
    switch (step[0] % 8) {
    case 0:
        flip(yard, step);
        break;
    case 1:
        zero_block(yard, step);
        break;
    case 2:
        cut(yard, step);
        break;
    default:
        change_number(step);
    }
}

/* ---- the promise ---- */

static void yard_init(struct yard *yard) {
    *yard = (struct yard){.clock.now = read_clock};
    yard->disk = sim_disk_new(1);
    yard->vfs = sim_vfs_new(yard->disk, 1);
    yard->options = (struct sqlite_store_options){.path = "impound.db",
                                                  .disk = sim_disk_port(yard->disk),
                                                  .vfs = SIM_VFS_NAME,
                                                  .clock = &yard->clock,
                                                  .journal_segment_bytes = SEGMENT_BYTES,
                                                  .pack_bytes = PACK_BYTES};
    buf_init_heap(&yard->report, 1 << 20);
    FUZZ_CHECK(open_yard(yard) == STATUS_OK);
    for (int i = 0; i < MESSAGES; i++) {
        FUZZ_CHECK(put(yard, i, i < LETTERS) == STATUS_OK);
        if (i == MESSAGES / 2)
            sqlite_store_fold(yard->store);
    }
    sqlite_store_crash(yard->store);
}

static void yard_free(struct yard *yard) {
    buf_free(&yard->report);
    sim_vfs_free(yard->vfs);
    sim_disk_free(yard->disk);
}

/* Those that were whole before a server worked on it. A page that is damaged may hide some of them
 * afterwards; the repair must bring them back. */
static uint32_t serve(struct yard *yard) {
    enum status examined = doctor(yard, false);
    bool refuses = strstr(buf_cstr(&yard->report), "serve refuses to start") != NULL;
    enum status opened = open_yard(yard);
    FUZZ_CHECK(refuses == (opened != STATUS_OK));
    FUZZ_CHECK(examined != STATUS_OK || opened == STATUS_OK);
    if (opened != STATUS_OK) {
        FUZZ_CHECK(yard->err.text[0] != '\0');
        return 0;
    }
    uint32_t whole = all_whole(yard);
    work(yard);
    close_yard(yard);
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct yard yard;
    log_set_level(LOG_ERROR + 1);
    yard_init(&yard);
    for (size_t i = 0; i < STEPS_MAX && (i + 1) * STEP_BYTES <= size; i++)
        damage(&yard, data + i * STEP_BYTES);
    uint32_t whole = serve(&yard);
    if (doctor(&yard, true) != STATUS_OK) {
        fprintf(stderr, "%s\n%s\n", yard.err.text, buf_cstr(&yard.report));
        FUZZ_CHECK(!"repaired");
    }
    if (doctor(&yard, false) != STATUS_OK) {
        fprintf(stderr, "%s\n%s\n", yard.err.text, buf_cstr(&yard.report));
        FUZZ_CHECK(!"sound after the repair");
    }
    FUZZ_CHECK(open_yard(&yard) == STATUS_OK);
    FUZZ_CHECK((all_whole(&yard) & whole) == whole);
    work(&yard);
    close_yard(&yard);
    yard_free(&yard);
    return 0;
}
