/* What a damaged store does: over a matrix of damages, doctor and a server agree whether it starts,
 * nothing crashes, no letter that is whole is lost, and after a repair everything works. */
#include <stdio.h>

#include "base/log.h"
#include "sim_disk.h"
#include "sim_vfs.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum {
    SEGMENT_BYTES = 64 << 10,
    PACK_BYTES = 16 << 10,
    LETTERS = 12,
    WAITING = 6,
    MESSAGES = LETTERS + WAITING,
    BODY_BYTES = 600,
    PAGE_BYTES = 8192,
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

static enum status open_yard(struct yard *yard) {
    return sqlite_store_open(&yard->options, &yard->store, &yard->err);
}

static void close_yard(struct yard *yard) {
    yard->store->vtable->close(yard->store);
    yard->store = NULL;
}

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

static void id_of(int number, char id[16]) {
    snprintf(id, 16, "m%d", number);
}

static struct bytes body_of(int number, char body[BODY_BYTES]) {
    memset(body, 'a' + number % 26, BODY_BYTES);
    return (struct bytes){body, BODY_BYTES};
}

static enum status put(struct yard *yard, int number, bool dead) {
    char id[16], letter[16], body[BODY_BYTES];
    id_of(number, id);
    snprintf(letter, sizeof letter, "L%d", number);
    struct envelope envelope = {.id = bytes_of(id),
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
        envelope.dead_at = (struct wall){1700000000000 + number * 700};
    }
    struct store_op op = {
        .kind = STORE_PUT, .envelope = &envelope, .body = body_of(number, body), .check_id = true};
    return commit_one(yard, &op);
}

/* All is folded; the journal still has it. */
static struct yard *yard_new(void) {
    struct yard *yard = calloc(1, sizeof *yard);
    yard->clock.now = read_clock;
    yard->disk = sim_disk_new(1);
    yard->vfs = sim_vfs_new(yard->disk, 1);
    yard->options = (struct sqlite_store_options){.path = "impound.db",
                                                  .disk = sim_disk_port(yard->disk),
                                                  .vfs = SIM_VFS_NAME,
                                                  .clock = &yard->clock,
                                                  .journal_segment_bytes = SEGMENT_BYTES,
                                                  .pack_bytes = PACK_BYTES};
    buf_init_heap(&yard->report, 1 << 20);
    assert_int_equal(open_yard(yard), STATUS_OK);
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(put(yard, i, i < LETTERS), STATUS_OK);
    close_yard(yard);
    return yard;
}

static void yard_free(struct yard *yard) {
    buf_free(&yard->report);
    sim_vfs_free(yard->vfs);
    sim_disk_free(yard->disk);
    free(yard);
}

static enum status doctor(struct yard *yard, bool repair) {
    buf_clear(&yard->report);
    return sqlite_store_doctor(&yard->options, repair, &yard->report, &yard->err);
}

static bool reports(struct yard *yard, const char *text) {
    return strstr(buf_cstr(&yard->report), text) != NULL;
}

/* The message is there with every byte of its body. */
static bool is_whole(struct yard *yard, int number) {
    char id[16], body[BODY_BYTES];
    struct message *held = NULL;
    struct err err;
    id_of(number, id);
    if (letters_get(yard->store->letters, BYTES_NONE, bytes_of(id), &held, &err) != STATUS_OK)
        return false;
    bool whole = bytes_eq(held->body, body_of(number, body));
    message_free(held);
    return whole;
}

static int count_whole(struct yard *yard) {
    int count = 0;
    for (int i = 0; i < MESSAGES; i++)
        count += is_whole(yard, i);
    return count;
}

/* What a server does all day: everything is read, new messages come, some go, all is folded. */
static void work(struct yard *yard) {
    struct store *store = yard->store;
    struct arena arena;
    struct letters_page page;
    struct letters_group *groups;
    struct letters_dlq dlq;
    struct bytes *names;
    arena_init_heap(&arena, 4096);
    struct letters_query query = {.letters = true, .limit = 100};
    (void)letters_list(store->letters, &query, &arena, &page, &yard->err);
    size_t group_count;
    (void)letters_groups(store->letters, BYTES_NONE, &arena, &groups, &group_count, NULL);
    size_t dlqs;
    (void)letters_dlq_names(store->letters, &arena, &names, &dlqs, NULL);
    for (size_t i = 0; i < dlqs; i++)
        (void)letters_dlq(store->letters, names[i], (struct wall){1700000000000}, &arena, &dlq,
                          NULL);
    uint32_t queue = store->vtable->queue_number(store, BYTES("orders"));
    struct message *taken[WAITING];
    size_t count = store->vtable->take(store, queue, TAKE_READY, read_clock(NULL), taken, 2);
    for (size_t i = 0; i < count; i++)
        store->vtable->give_back(store, taken[i], (struct mono){0});
    for (int i = 0; i < MESSAGES; i++)
        (void)put(yard, 1000 + i, i % 2);
    sqlite_store_fold(store);
    for (int i = 0; i < MESSAGES; i += 2) {
        char id[16];
        struct message *held = NULL;
        id_of(1000 + i, id);
        if (letters_get(store->letters, BYTES_NONE, bytes_of(id), &held, &yard->err) != STATUS_OK)
            continue;
        struct store_op forget = {.kind = STORE_FORGET, .seq = held->seq};
        (void)commit_one(yard, &forget);
        message_free(held);
    }
    sqlite_store_fold(store);
    arena_free(&arena);
}

/* Somebody has changed the SQLite file. */
static void meddle(const char *sql) {
    struct database file;
    struct err err;
    struct database_options options = {
        .path = "impound.db", .vfs = SIM_VFS_NAME, .alone = true, .checkpoint = true};
    assert_int_equal(database_open(&options, &file, &err), STATUS_OK);
    if (database_run(file.db, sql, &err) != STATUS_OK)
        fail_msg("%s: %s", sql, err.text);
    database_close(&file);
}

struct damage {
    const char *sql;
    bool refused;     /* a server does not start */
    const char *told; /* doctor's report has it */
};

static const struct damage damages[] = {
    {"UPDATE queues SET number = 0", true, "table queues, row \"0\""},
    {"UPDATE queues SET number = -7", true, "table queues"},
    {"UPDATE queues SET number = 20000000", true, "table queues, row \"20000000\""},
    {"UPDATE queues SET number = 9000", true, "which no queue has"},
    {"UPDATE queues SET number = 6", true, "which no queue has"},
    {"UPDATE queues SET name = ''", true, "table queues"},
    {"INSERT INTO queues VALUES (2, 'orders', NULL)", true, "two queues have one name"},
    {"DELETE FROM queues", true, "which no queue has"},
    {"UPDATE packs SET bytes = 4096", true, "table packs"},
    {"UPDATE packs SET bytes = 4096 WHERE number = (SELECT max(number) FROM packs)", true,
     "table packs"},
    {"UPDATE packs SET bytes = 5000", true, "table packs"},
    {"UPDATE packs SET bytes = -4096", true, "table packs"},
    {"UPDATE packs SET bytes = 1 << 40", true, "table packs"},
    {"UPDATE packs SET live = 1 << 40", true, "table packs"},
    {"UPDATE packs SET live = 0", false, "pack"},
    {"UPDATE packs SET live = 'x'", true, "table packs"},
    {"UPDATE packs SET number = number + 100", true, "pack"},
    {"UPDATE packs SET number = -1 WHERE number = 1", true, "table packs"},
    {"UPDATE meta SET value = 1 WHERE name = 'next_seq'", true, "next_seq"},
    {"UPDATE meta SET value = -1 WHERE name = 'next_seq'", true, "next_seq"},
    {"DELETE FROM meta WHERE name = 'next_seq'", true, "next_seq"},
    {"UPDATE meta SET value = 1 << 60 WHERE name = 'journal_position'", true, "position"},
    {"UPDATE meta SET value = -1 WHERE name = 'journal_position'", true, "position"},
    {"UPDATE meta SET value = value - 17 WHERE name = 'journal_position'", true, "inside a group"},
    {"UPDATE counters SET count = 77 WHERE kind = 'category'", true, "counters of DLQ"},
    {"UPDATE counters SET count = -1 WHERE kind = 'reason'", true, "table counters"},
    {"UPDATE counters SET dlq = ''", true, "table counters"},
    {"DELETE FROM counters", true, "counters of DLQ"},
    {"UPDATE ages SET count = count + 1", true, "by age"},
    {"UPDATE ages SET end_ms = start_ms", true, "table ages"},
    {"UPDATE ages SET end_ms = 1 << 62", true, "table ages"},
    {"UPDATE ages SET dlq = ''", true, "table ages"},
    {"DELETE FROM ages", true, "by age"},
    {"UPDATE groups SET count = -1", true, "table groups"},
    {"UPDATE groups SET count = 0", false, "group"},
    {"UPDATE groups SET count = total + 1", true, "table groups"},
    {"UPDATE groups SET fingerprint = 'zz' || fingerprint", true, "table groups"},
    {"UPDATE groups SET dlq = ''", true, "table groups"},
    {"UPDATE groups SET sample = -1", true, "table groups"},
    {"UPDATE messages SET queue = 0 WHERE state = 'queued'", true, "queue"},
    {"UPDATE messages SET queue = 9 WHERE state = 'queued'", true, "queue"},
    {"UPDATE messages SET queue = 9 WHERE seq = 3", false, "queue"},
    {"UPDATE messages SET state = 'lost' WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET state = 'discarded' WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET dlq = NULL WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET id = 'other' WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET attempts = -1 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET dead_ms = -9223372036854775807 - 1 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET due_ms = 9223372036854775807 WHERE state = 'queued'", true, "due_ms"},
    {"UPDATE messages SET delay_ms = -5 WHERE state = 'queued'", true, "delay_ms"},
    {"UPDATE messages SET envelope_at = 0 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET envelope_at = -1 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET body_at = 1 << 62 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET body_len = 9223372036854775807 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET body_len = body_len + 4096 WHERE seq = 3", false, "message 3"},
    {"UPDATE messages SET (envelope_at, envelope_len, body_at, body_len) = (SELECT envelope_at,"
     " envelope_len, body_at, body_len FROM messages WHERE seq = 4) WHERE seq = 3",
     false, "message 3"},
    {"DROP INDEX messages_waiting", true, "schema"},
    {"DROP TABLE kept", true, "schema"},
};

static void damage_is_found_told_and_mended(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const struct damage *damage = &damages[i];
        struct yard *yard = yard_new();
        meddle(damage->sql);
        if (doctor(yard, false) == STATUS_OK)
            fail_msg("%s: doctor calls it sound", damage->sql);
        if (!reports(yard, damage->told))
            fail_msg("%s: doctor says %s", damage->sql, buf_cstr(&yard->report));
        if (reports(yard, "serve refuses to start") != damage->refused)
            fail_msg("%s: doctor says %s", damage->sql, buf_cstr(&yard->report));
        enum status opened = open_yard(yard);
        if ((opened == STATUS_OK) == damage->refused)
            fail_msg("%s: a server: %s", damage->sql, opened ? yard->err.text : "starts");
        if (opened == STATUS_OK) {
            int whole = count_whole(yard);
            work(yard);
            if (count_whole(yard) < whole)
                fail_msg("%s: %d messages were whole, %d are", damage->sql, whole,
                         count_whole(yard));
            close_yard(yard);
        }
        if (doctor(yard, true) != STATUS_OK)
            fail_msg("%s: repair: %s %s", damage->sql, yard->err.text, buf_cstr(&yard->report));
        if (doctor(yard, false) != STATUS_OK)
            fail_msg("%s: after the repair: %s", damage->sql, buf_cstr(&yard->report));
        if (open_yard(yard) != STATUS_OK)
            fail_msg("%s: after the repair: %s", damage->sql, yard->err.text);
        if (count_whole(yard) != MESSAGES)
            fail_msg("%s: of %d messages %d are back", damage->sql, MESSAGES, count_whole(yard));
        work(yard);
        close_yard(yard);
        assert_int_equal(doctor(yard, false), STATUS_OK);
        yard_free(yard);
    }
}

/* ---- files ---- */

static void remove_file(struct yard *yard, const char *name) {
    struct disk *disk = sim_disk_port(yard->disk);
    assert_int_equal(disk->vtable->remove(disk, name), 0);
}

/* Its segments were used again since: the journal has none of the messages any more. */
static struct yard *yard_recycled(void) {
    struct yard *yard = yard_new();
    yard->options.journal_max_bytes = 2 * SEGMENT_BYTES;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(open_yard(yard), STATUS_OK);
        assert_int_equal(put(yard, 5000 + i, false), STATUS_OK);
        close_yard(yard);
    }
    assert_false(sim_disk_exists(yard->disk, "impound.db.d/0000000000000001.seg"));
    return yard;
}

static void assert_sound(struct yard *yard) {
    if (doctor(yard, false) != STATUS_OK)
        fail_msg("%s", buf_cstr(&yard->report));
    assert_int_equal(open_yard(yard), STATUS_OK);
}

static void a_pack_that_is_gone_comes_back_from_the_journal(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    remove_file(yard, "impound.db.d/0000000000000001.pack");
    assert_int_equal(doctor(yard, false), STATUS_CORRUPT);
    assert_true(reports(yard, "serve refuses to start"));
    assert_int_equal(open_yard(yard), STATUS_CORRUPT);
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_true(reports(yard, " 0 lost"));
    assert_true(reports(yard, "0 messages are kept without their bodies"));
    assert_sound(yard);
    assert_int_equal(count_whole(yard), MESSAGES);
    close_yard(yard);
    yard_free(yard);
}

static struct message *get(struct yard *yard, const char *id) {
    struct message *held = NULL;
    if (letters_get(yard->store->letters, BYTES_NONE, bytes_of(id), &held, &yard->err) != STATUS_OK)
        return NULL;
    return held;
}

static void a_pack_that_is_gone_leaves_what_the_columns_say(void **state) {
    (void)state;
    struct yard *yard = yard_recycled();
    remove_file(yard, "impound.db.d/0000000000000001.pack");
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_true(reports(yard, " 0 lost"));
    assert_sound(yard);
    struct message *held = get(yard, "m3");
    assert_non_null(held);
    assert_true(held->envelope.body_damaged);
    assert_int_equal(held->envelope.state, STATE_PENDING_REVIEW);
    assert_bytes(held->envelope.letter_id, "L3");
    assert_bytes(held->envelope.reason, "r");
    message_free(held);
    close_yard(yard);
    yard_free(yard);
}

/* The byte at which a text first stands in a pack. */
static uint64_t find_in_pack(struct yard *yard, const char *path, struct bytes text) {
    struct disk *disk = sim_disk_port(yard->disk);
    struct disk_file *file;
    uint64_t size = 0, found = 0;
    assert_int_equal(disk->vtable->open(disk, path, 0, &file), 0);
    assert_int_equal(disk->vtable->size(disk, file, &size), 0);
    char *all = malloc(size);
    assert_int_equal(disk->vtable->read(disk, file, 0, all, size), 0);
    for (uint64_t at = 0; found == 0 && at + text.len <= size; at++)
        found = memcmp(all + at, text.ptr, text.len) == 0 ? at : 0;
    free(all);
    disk->vtable->close(disk, file);
    assert_true(found > 0);
    return found;
}

static void a_flipped_bit_in_a_body_costs_the_body_alone(void **state) {
    (void)state;
    static const char pack[] = "impound.db.d/0000000000000001.pack";
    struct yard *yard = yard_recycled();
    char body[BODY_BYTES];
    uint64_t letter = find_in_pack(yard, pack, body_of(3, body));
    assert_true(sim_disk_flip(yard->disk, pack, letter + 100, 5));
    assert_int_equal(doctor(yard, false), STATUS_CORRUPT);
    assert_true(reports(yard, "serve starts with this damage"));
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_true(reports(yard, "1 messages are kept without their bodies, 0 with envelopes made"));
    assert_sound(yard);
    assert_int_equal(count_whole(yard), MESSAGES - 1);
    struct message *held = get(yard, "m3");
    assert_non_null(held);
    assert_true(held->envelope.body_damaged);
    assert_int_equal(held->body.len, 0);
    assert_int_equal(held->envelope.state, STATE_PENDING_REVIEW);
    assert_bytes(held->envelope.reason, "r");
    message_free(held);
    assert_int_equal(yard->store->vtable->dlq_depth(yard->store, BYTES("orders.dlq")), LETTERS);
    close_yard(yard);
    yard_free(yard);
}

static void a_message_that_waits_without_its_body_becomes_a_letter(void **state) {
    (void)state;
    static const char pack[] = "impound.db.d/0000000000000001.pack";
    struct yard *yard = yard_recycled();
    char body[BODY_BYTES];
    uint64_t waiting = find_in_pack(yard, pack, body_of(LETTERS, body));
    assert_true(sim_disk_flip(yard->disk, pack, waiting + 100, 5));
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_sound(yard);
    struct message *held = get(yard, "m12");
    assert_non_null(held);
    assert_int_equal(held->envelope.state, STATE_PENDING_REVIEW);
    assert_bytes(held->envelope.reason, "body_damaged");
    assert_bytes(held->envelope.dlq, "orders.dlq");
    message_free(held);
    close_yard(yard);
    yard_free(yard);
}

static void a_flipped_bit_in_an_envelope_costs_no_body(void **state) {
    (void)state;
    static const char pack[] = "impound.db.d/0000000000000001.pack";
    struct yard *yard = yard_recycled();
    uint64_t letter = find_in_pack(yard, pack, BYTES("L3"));
    assert_true(sim_disk_flip(yard->disk, pack, letter, 2));
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_true(reports(yard, "0 messages are kept without their bodies, 1 with envelopes made"));
    assert_sound(yard);
    assert_int_equal(count_whole(yard), MESSAGES);
    struct message *held = get(yard, "m3");
    assert_bytes(held->envelope.letter_id, "L3");
    assert_bytes(held->envelope.dlq, "orders.dlq");
    assert_int_equal(held->envelope.fingerprint, 0xab);
    message_free(held);
    close_yard(yard);
    yard_free(yard);
}

static void a_damaged_header_costs_no_message_of_its_pack(void **state) {
    (void)state;
    struct yard *yard = yard_recycled();
    assert_true(sim_disk_flip(yard->disk, "impound.db.d/0000000000000001.pack", 3, 2));
    assert_int_equal(open_yard(yard), STATUS_CORRUPT);
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_sound(yard);
    assert_int_equal(count_whole(yard), MESSAGES);
    close_yard(yard);
    yard_free(yard);
}

/* Only a journal from the middle on is left: neither calls it sound, and a repair makes it so. */
static void a_journal_alone_without_its_beginning_is_refused(void **state) {
    (void)state;
    struct yard *yard = yard_recycled();
    remove_file(yard, "impound.db");
    struct disk *disk = sim_disk_port(yard->disk);
    (void)disk->vtable->remove(disk, "impound.db-wal");
    remove_file(yard, "impound.db.d/0000000000000001.pack");
    remove_file(yard, "impound.db.d/0000000000000002.pack");
    assert_int_equal(doctor(yard, false), STATUS_CORRUPT);
    assert_true(reports(yard, "serve refuses to start"));
    assert_int_equal(open_yard(yard), STATUS_CORRUPT);
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_sound(yard);
    struct message *held = get(yard, "m5005");
    assert_non_null(held);
    message_free(held);
    close_yard(yard);
    yard_free(yard);
}

/* Packs alone: a server must not begin an empty store beside them. */
static void packs_alone_are_refused(void **state) {
    (void)state;
    struct yard *yard = yard_new();
    remove_file(yard, "impound.db");
    struct disk *disk = sim_disk_port(yard->disk);
    (void)disk->vtable->remove(disk, "impound.db-wal");
    remove_file(yard, "impound.db.d/0000000000000001.seg");
    assert_int_equal(open_yard(yard), STATUS_CORRUPT);
    assert_int_equal(doctor(yard, true), STATUS_OK);
    assert_sound(yard);
    assert_int_equal(count_whole(yard), MESSAGES);
    close_yard(yard);
    yard_free(yard);
}

static void zeroed_pages_crash_nothing(void **state) {
    (void)state;
    uint64_t pages = 0;
    for (uint64_t page = 1; page == 1 || page < pages; page++) {
        struct yard *yard = yard_new();
        struct disk *disk = sim_disk_port(yard->disk);
        struct disk_file *file;
        char zeroes[PAGE_BYTES] = {0};
        uint64_t size = 0;
        assert_int_equal(disk->vtable->open(disk, "impound.db", 0, &file), 0);
        assert_int_equal(disk->vtable->size(disk, file, &size), 0);
        pages = size / PAGE_BYTES;
        assert_int_equal(disk->vtable->write(disk, file, page * PAGE_BYTES, zeroes, sizeof zeroes),
                         0);
        assert_int_equal(disk->vtable->sync(disk, file), 0);
        disk->vtable->close(disk, file);
        enum status examined = doctor(yard, false);
        bool refused = reports(yard, "serve refuses to start");
        enum status opened = open_yard(yard);
        assert_int_equal(opened != STATUS_OK, refused);
        assert_true(opened == STATUS_OK || examined != STATUS_OK);
        if (opened == STATUS_OK) {
            work(yard);
            close_yard(yard);
        }
        if (doctor(yard, true) != STATUS_OK)
            fail_msg("page %llu: %s %s", (unsigned long long)page, yard->err.text,
                     buf_cstr(&yard->report));
        assert_sound(yard);
        assert_int_equal(count_whole(yard), MESSAGES);
        close_yard(yard);
        yard_free(yard);
    }
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_found_told_and_mended),
        cmocka_unit_test(a_pack_that_is_gone_comes_back_from_the_journal),
        cmocka_unit_test(a_pack_that_is_gone_leaves_what_the_columns_say),
        cmocka_unit_test(a_flipped_bit_in_a_body_costs_the_body_alone),
        cmocka_unit_test(a_message_that_waits_without_its_body_becomes_a_letter),
        cmocka_unit_test(a_flipped_bit_in_an_envelope_costs_no_body),
        cmocka_unit_test(a_damaged_header_costs_no_message_of_its_pack),
        cmocka_unit_test(a_journal_alone_without_its_beginning_is_refused),
        cmocka_unit_test(packs_alone_are_refused),
        cmocka_unit_test(zeroed_pages_crash_nothing),
    };
    return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
