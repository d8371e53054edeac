#include "present.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "measure.h"
#include "port/letters.h"
#include "subject.h"

enum {
    MAKE_GROUP = 1024,
    MAKE_DAYS = 30,
    COMMITS = 100000, /* letters */
    COMMIT_GROUP = 128,
    PAGE = 50,
    BULK_PAGE = 1000,
    BULK = 100000,
    DUE = 10000,
    DUE_TAKE = 100,
};
static const int64_t day_ms = 24 * 60 * 60 * 1000;

struct present {
    const char *dir;
    char name[64];
    uint64_t letters;
    size_t rounds;
    struct subject *subject;
    uint64_t next; /* number of the next new letter */
};

/* ---- making it ---- */

static bool is_made(const struct present *present) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.made", present->dir, present->name);
    return access(path, F_OK) == 0;
}

static void mark_made(const struct present *present) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.made", present->dir, present->name);
    FILE *mark = fopen(path, "w");
    measure_check(mark != NULL, path);
    fclose(mark);
}

static void make(struct present *present) {
    subject_remove(present->dir, present->name);
    struct subject *subject = subject_open(present->dir, present->name);
    struct bench_letters *letters = bench_letters_new();
    int64_t from = subject_wall().ms - MAKE_DAYS * day_ms;
    double begun = measure_now();
    for (uint64_t done = 0; done < present->letters; done += MAKE_GROUP) {
        int64_t at =
            from + (int64_t)((double)done / (double)present->letters * MAKE_DAYS * (double)day_ms);
        bench_letters_fill(letters, subject->queue, done + 1, MAKE_GROUP, (struct wall){at});
        subject_commit(subject, &letters->commit);
    }
    subject_drain(subject);
    printf("made %llu letters: %.0f/s, folded\n", (unsigned long long)present->letters,
           (double)present->letters / (measure_now() - begun));
    free(letters);
    subject_close(subject);
    mark_made(present);
}

/* ---- start ---- */

static void show_start(struct present *present) {
    double begun = measure_now();
    present->subject = subject_open(present->dir, present->name);
    double seconds = measure_now() - begun;
    printf("start to ready: %.3f s (goal 2), RSS %zu MiB\n", seconds, measure_rss_mib());
}

/* ---- reading ---- */

static double page_ms(struct present *present, struct letters_query *query, struct bytes *cursor) {
    struct arena arena;
    arena_init_heap(&arena, 1 << 20);
    struct letters_page page;
    struct err err = {0};
    struct store *store = present->subject->store;
    double begun = measure_now();
    measure_check(letters_list(store->letters, query, &arena, &page, &err) == STATUS_OK, err.text);
    double ms = (measure_now() - begun) * 1000;
    if (cursor) {
        free((char *)cursor->ptr);
        *cursor = (struct bytes){bytes_dup(page.cursor), page.cursor.len};
    }
    arena_free(&arena);
    return ms;
}

static void show_page(struct present *present, const char *what, struct letters_query query) {
    double values[MEASURE_ROUNDS_MAX];
    struct bytes cursor = BYTES_NONE;
    query.limit = PAGE;
    for (size_t i = 0; i < present->rounds; i++) {
        query.cursor = BYTES_NONE;
        values[i] = page_ms(present, &query, &cursor);
        query.cursor = cursor;
        double next = page_ms(present, &query, NULL);
        values[i] = next > values[i] ? next : values[i];
    }
    free((char *)cursor.ptr);
    printf("a page of %d, %s: %.2f ms (goal 5)\n", PAGE, what,
           measure_median(values, present->rounds));
}

static void show_pages(struct present *present) {
    const uint32_t open = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING;
    show_page(present, "unresolved of a DLQ",
              (struct letters_query){.dlq = LETTERS_DLQ, .states = open, .letters = true});
    show_page(present, "all of a DLQ", (struct letters_query){.dlq = LETTERS_DLQ, .letters = true});
    show_page(present, "unresolved of all DLQs",
              (struct letters_query){.states = open, .letters = true});
    show_page(present, "unresolved with a reason",
              (struct letters_query){.dlq = LETTERS_DLQ,
                                     .states = open,
                                     .letters = true,
                                     .reason_prefix = BYTES("missing_key")});
    show_page(present, "any message", (struct letters_query){.limit = PAGE});
}

static void show_counters(struct present *present) {
    struct store *store = present->subject->store;
    double values[MEASURE_ROUNDS_MAX];
    uint64_t depth = 0;
    for (size_t i = 0; i < present->rounds; i++) {
        struct arena arena;
        arena_init_heap(&arena, 4096);
        struct letters_dlq dlq;
        struct bytes *names;
        double begun = measure_now();
        size_t count;
        (void)letters_dlq_names(store->letters, &arena, &names, &count, NULL);
        for (size_t j = 0; j < count; j++)
            letters_dlq(store->letters, names[j], subject_wall(), &arena, &dlq, NULL);
        values[i] = (measure_now() - begun) * 1000;
        depth = dlq.depth;
        arena_free(&arena);
    }
    printf("all counters (depth %llu, reasons, categories, ages): %.3f ms (goal 5)\n",
           (unsigned long long)depth, measure_median(values, present->rounds));
}

static void show_groups(struct present *present) {
    struct store *store = present->subject->store;
    double values[MEASURE_ROUNDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < present->rounds; i++) {
        struct arena arena;
        arena_init_heap(&arena, 4096);
        struct letters_group *groups;
        double begun = measure_now();
        (void)letters_groups(store->letters, BYTES_NONE, &arena, &groups, &count, NULL);
        values[i] = (measure_now() - begun) * 1000;
        arena_free(&arena);
    }
    printf("all %zu groups: %.3f ms (goal 5)\n", count, measure_median(values, present->rounds));
}

/* ---- taking ---- */

static void put_due(struct present *present) {
    struct bench_letters *letters = bench_letters_new();
    struct wall now = subject_wall();
    for (size_t done = 0; done < DUE; done += BULK_PAGE) {
        bench_letters_fill(letters, present->subject->queue, present->next, BULK_PAGE, now);
        present->next += BULK_PAGE;
        for (size_t i = 0; i < BULK_PAGE; i++) {
            struct envelope *envelope = &letters->envelopes[i];
            envelope->state = STATE_PENDING_RETRY;
            envelope->letter_id = envelope->dlq = BYTES_NONE;
            envelope->dead_at = (struct wall){0};
            envelope->next_attempt_at = now;
        }
        subject_commit(present->subject, &letters->commit);
    }
    free(letters);
}

static double take_ms(struct present *present, struct message **held, size_t *count) {
    struct store *store = present->subject->store;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct instant instant = {subject_wall(),
                              {(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1}};
    double begun = measure_now();
    *count = store->vtable->take(store, present->subject->queue, TAKE_DUE, instant, held, DUE_TAKE);
    return (measure_now() - begun) * 1000;
}

static void forget(struct present *present, struct message **held, size_t count) {
    struct store_op ops[DUE_TAKE] = {{0}};
    for (size_t i = 0; i < count; i++) {
        ops[i] = (struct store_op){
            .kind = STORE_FORGET, .queue = present->subject->queue, .seq = held[i]->seq};
        message_free(held[i]);
    }
    struct store_commit commit = {.ops = ops, .count = count};
    subject_commit(present->subject, &commit);
}

static void show_due(struct present *present) {
    double values[MEASURE_ROUNDS_MAX];
    struct message *held[DUE_TAKE];
    size_t count = 0;
    put_due(present);
    subject_drain(present->subject);
    for (size_t i = 0; i < present->rounds; i++) {
        values[i] = take_ms(present, held, &count);
        measure_check(count == DUE_TAKE, "the due messages");
        forget(present, held, count);
    }
    printf("the next %d due of %d: %.2f ms (goal 2)\n", DUE_TAKE, DUE,
           measure_median(values, present->rounds));
    for (take_ms(present, held, &count); count > 0; take_ms(present, held, &count))
        forget(present, held, count);
}

/* ---- bulk changes ---- */

static void resolve_row(struct present *present, struct letters_row *row, struct store_op *op) {
    *op = (struct store_op){.kind = STORE_MARK,
                            .queue = present->subject->queue,
                            .seq = row->seq,
                            .from = 1u << STATE_PENDING_REVIEW,
                            .mark = {.state = STATE_RESOLVED,
                                     .resolution = RESOLUTION_BY_HAND,
                                     .at = subject_wall(),
                                     .why = BYTES("paid by hand")}};
}

static void forget_row(struct present *present, struct letters_row *row, struct store_op *op) {
    *op =
        (struct store_op){.kind = STORE_FORGET, .queue = present->subject->queue, .seq = row->seq};
}

typedef void change_fn(struct present *present, struct letters_row *row, struct store_op *op);

/* What is to be changed is chosen first and does not change any more: as plans are made. */
static size_t select_rows(struct present *present, enum state state, struct arena *arena,
                          struct letters_row *rows) {
    struct store *store = present->subject->store;
    struct letters_query query = {
        .dlq = LETTERS_DLQ, .states = 1u << state, .letters = true, .limit = BULK_PAGE};
    size_t count = 0;
    do {
        struct letters_page page;
        struct err err = {0};
        measure_check(letters_list(store->letters, &query, arena, &page, &err) == STATUS_OK,
                      err.text);
        for (size_t i = 0; i < page.count && count < BULK; i++)
            rows[count++] = page.rows[i];
        query.cursor = page.cursor;
    } while (count < BULK && query.cursor.ptr);
    return count;
}

static void change_rows(struct present *present, struct letters_row *rows, size_t count,
                        change_fn *change) {
    struct store_op ops[BULK_PAGE];
    for (size_t i = 0; i < count; i++)
        change(present, &rows[i], &ops[i]);
    struct store_commit commit = {.ops = ops, .count = count};
    subject_commit(present->subject, &commit);
}

static void show_bulk(struct present *present, const char *what, enum state state,
                      change_fn *change, double goal) {
    struct arena arena;
    arena_init_heap(&arena, 1 << 20);
    struct letters_row *rows = memory_array(BULK, sizeof *rows);
    double begun = measure_now(), begun_cpu = measure_cpu();
    size_t count = select_rows(present, state, &arena, rows);
    for (size_t done = 0; done < count; done += BULK_PAGE)
        change_rows(present, rows + done, count - done < BULK_PAGE ? count - done : BULK_PAGE,
                    change);
    double committed = measure_now() - begun;
    subject_drain(present->subject);
    double folded = measure_now() - begun, cpu = measure_cpu() - begun_cpu;
    free(rows);
    arena_free(&arena);
    printf("%s of %zu: %.0f/s, with the fold %.0f/s (goal %.0f); %.1f µs of processor each\n", what,
           count, (double)count / committed, (double)count / folded, goal,
           cpu * 1e6 / (double)count);
}

/* ---- commits ---- */

static double burst_into(struct present *present, struct subject *subject) {
    double rate = subject_burst(subject, present->next, COMMITS, COMMIT_GROUP, 2);
    present->next += COMMITS;
    subject_drain(subject);
    return rate;
}

static void show_commits(struct present *present) {
    double empty[MEASURE_ROUNDS_MAX], full[MEASURE_ROUNDS_MAX], ratios[MEASURE_ROUNDS_MAX];
    for (size_t i = 0; i < present->rounds; i++) {
        subject_remove(present->dir, "empty.db");
        struct subject *subject = subject_open(present->dir, "empty.db");
        empty[i] = burst_into(present, subject);
        subject_close(subject);
        full[i] = burst_into(present, present->subject);
        ratios[i] = full[i] / empty[i];
    }
    subject_remove(present->dir, "empty.db");
    printf("commits in groups of %d: empty %.0f/s, here %.0f/s, %.2f × (goal 0.8)\n", COMMIT_GROUP,
           measure_median(empty, present->rounds), measure_median(full, present->rounds),
           measure_median(ratios, present->rounds));
}

static struct present present_of(const char *dir, uint64_t letters) {
    struct present present = {.dir = dir, .letters = letters};
    snprintf(present.name, sizeof present.name, "present-%llu.db", (unsigned long long)letters);
    return present;
}

void present_make(const char *dir, uint64_t letters) {
    struct present present = present_of(dir, letters);
    if (!is_made(&present))
        make(&present);
}

void present_run(const char *dir, uint64_t letters, size_t rounds) {
    struct present present = present_of(dir, letters);
    present.rounds = rounds;
    /* ids of one run differ from those of another: they begin with the time */
    present.next = letters + 1;
    present_make(dir, letters);
    show_start(&present);
    show_counters(&present);
    show_groups(&present);
    show_pages(&present);
    show_due(&present);
    show_bulk(&present, "bulk resolve", STATE_PENDING_REVIEW, resolve_row, 20000);
    show_bulk(&present, "retention delete", STATE_RESOLVED, forget_row, 50000);
    show_commits(&present);
    printf("RSS afterwards: %zu MiB (goal 400)\n", measure_rss_mib());
    subject_close(present.subject);
}
