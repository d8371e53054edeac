/* The embedded store against the bare disk and against SQLite alone. Every figure is a median of
 * rounds in which the parties take turns; only ratios count, because machines differ and are noisy.
 *
 *   build/bench/store [--dir DIR] [--letters N] [--burst N] [--sustained N] [--group N]
 *                     [--rounds N] [section …]
 *
 * Sections: make burst sustained lag backlog present. DIR keeps the store with N letters between
 * runs; make does no more than that. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backlog.h"
#include "measure.h"
#include "peers.h"
#include "present.h"
#include "store/embedded/store_internal.h"
#include "subject.h"

struct options {
    const char *dir;
    uint64_t letters, burst, sustained;
    size_t group; /* 0: all of them */
    size_t rounds;
};

enum {
    SINGLES = 2000,     /* of one round */
    WARM_UP = 400000,   /* letters: as many as the kept segments hold */
    WARM_AGAIN = 51200, /* letters: more than one segment holds */
    WARM_UP_GROUP = 128,
    SUSTAINED = 3 * BEHIND_MAX, /* letters: the fold gives way to the first BEHIND_MAX */
    SUSTAINED_GROUP = 128,
    LAG_FACTOR = 2, /* bursts */
    LAG_GROUP = 128,
    LAG_REST_S = 2,
};

/* ---- durable commits against the bare disk ---- */

struct burst {
    size_t group;
    size_t depth;   /* commits under way: two let the next be made while one is synced */
    uint64_t count; /* letters of a round; 0: as many as the options say */
    size_t rounds;  /* for each round of the options: short ones, so that noise hits both */
    double goal;
};

/* As the raw files, the segments have been written before, also the one that is written next; what
 * the kernel still has to write of whatever ran earlier is written. */
static struct subject *open_warm(const char *dir) {
    subject_remove(dir, "burst.db");
    struct subject *subject = subject_open(dir, "burst.db");
    subject_burst(subject, 1, WARM_UP, WARM_UP_GROUP, 2);
    subject_drain(subject);
    subject_burst(subject, WARM_UP + 1, WARM_AGAIN, WARM_UP_GROUP, 2);
    subject_drain(subject);
    sync();
    return subject;
}

/* The disk is slow at one moment and fast at another: it is asked before and after each of ours. */
static void run_burst(const struct options *options, struct bench_raw *bare,
                      const struct burst *burst) {
    double raw[MEASURE_ROUNDS_MAX], ours[MEASURE_ROUNDS_MAX], ratios[MEASURE_ROUNDS_MAX];
    struct bench_letters *letters = bench_letters_new();
    size_t size = bench_letters_size(letters);
    free(letters);
    uint64_t count = burst->count ? burst->count : options->burst;
    size_t rounds = burst->rounds * options->rounds;
    rounds = rounds < MEASURE_ROUNDS_MAX ? rounds : MEASURE_ROUNDS_MAX;
    struct subject *subject = open_warm(options->dir);
    for (size_t i = 0; i < rounds; i++) {
        double before = peers_raw(bare, size, count / 2, burst->group);
        ours[i] = subject_burst(subject, WARM_UP + WARM_AGAIN + i * count + 1, count, burst->group,
                                burst->depth);
        subject_drain(subject);
        double after = peers_raw(bare, size, count / 2, burst->group);
        raw[i] = 2 / (1 / before + 1 / after);
        ratios[i] = ours[i] / raw[i];
    }
    subject_close(subject);
    subject_remove(options->dir, "burst.db");
    printf("burst of %llu letters of %zu bytes in groups of %zu: raw %.0f/s, store %.0f/s,"
           " %.2f × (%.2f to %.2f in %zu rounds; goal %.1f)\n",
           (unsigned long long)count, size, burst->group, measure_median(raw, rounds),
           measure_median(ours, rounds), measure_median(ratios, rounds),
           measure_least(ratios, rounds), measure_most(ratios, rounds), rounds, burst->goal);
}

static void section_burst(const struct options *options) {
    static const struct burst bursts[] = {
        {128, 2, 0, 1, 0.5}, {16, 2, 0, 1, 0.6}, {1, 1, SINGLES, 5, 0.8}};
    struct bench_raw *bare = peers_raw_new(options->dir);
    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        if (options->group == 0 || options->group == bursts[i].group)
            run_burst(options, bare, &bursts[i]);
    }
    bench_raw_free(bare);
}

/* ---- with the fold keeping up, against SQLite alone ---- */

/* Processor time tells more than rates do when others use the machine too. */
struct sustained {
    struct plain *plain;
    struct subject *subject;
    double plains[MEASURE_ROUNDS_MAX], ours[MEASURE_ROUNDS_MAX], ratios[MEASURE_ROUNDS_MAX];
    double first; /* the ratio of the round that does not count */
    double plain_cpu, ours_cpu, fold_cpu;
};

static double fold_cpu(void) {
    return measure_thread_cpu("store-fold") + measure_thread_cpu("store-drafter");
}

/* Letters a second until the last of them is in the file. */
static double sustain(struct subject *subject, uint64_t first, uint64_t count) {
    double begun = measure_now();
    subject_burst(subject, first, count, SUSTAINED_GROUP, 2);
    subject_drain(subject);
    return (double)count / (measure_now() - begun);
}

static void show_sustained(const struct options *options, const struct sustained *all) {
    double us = 1e6 / (double)(options->sustained * options->rounds);
    printf("sustained, folded, %llu letters in groups of %d: SQLite alone %.0f/s, store %.0f/s,"
           " %.2f × (%.2f to %.2f, and %.2f into empty files; goal 2); processor a letter: SQLite"
           " alone %.1f µs, store %.1f µs, of which the fold %.1f µs\n",
           (unsigned long long)options->sustained, SUSTAINED_GROUP,
           measure_median(all->plains, options->rounds), measure_median(all->ours, options->rounds),
           measure_median(all->ratios, options->rounds),
           measure_least(all->ratios, options->rounds), measure_most(all->ratios, options->rounds),
           all->first, all->plain_cpu * us, all->ours_cpu * us, all->fold_cpu * us);
}

/* Round 0 goes into empty files; what it costs to make those is no part of what can be sustained,
 * of neither. */
static void run_round(const struct options *options, struct sustained *all, size_t round) {
    uint64_t count = options->sustained / SUSTAINED_GROUP * SUSTAINED_GROUP;
    uint64_t first = round * count + 1;
    double begun = measure_cpu();
    double plain = peers_sqlite(all->plain, first, count, SUSTAINED_GROUP);
    double turned = measure_cpu(), folded = fold_cpu();
    double ours = sustain(all->subject, first, count);
    if (round == 0) {
        all->first = ours / plain;
        return;
    }
    all->plains[round - 1] = plain;
    all->ours[round - 1] = ours;
    all->ratios[round - 1] = ours / plain;
    all->plain_cpu += turned - begun;
    all->ours_cpu += measure_cpu() - turned;
    all->fold_cpu += fold_cpu() - folded;
}

static void section_sustained(const struct options *options) {
    struct sustained all = {0};
    subject_remove(options->dir, "sustained.db");
    all.subject = subject_open(options->dir, "sustained.db");
    all.plain = peers_sqlite_open(options->dir);
    for (size_t round = 0; round <= options->rounds; round++)
        run_round(options, &all, round);
    show_sustained(options, &all);
    peers_sqlite_remove(all.plain);
    subject_close(all.subject);
    subject_remove(options->dir, "sustained.db");
}

/* ---- how far the fold falls behind ---- */

static void section_lag(const struct options *options) {
    uint64_t count = LAG_FACTOR * options->burst;
    subject_remove(options->dir, "lag.db");
    struct subject *subject = subject_open(options->dir, "lag.db");
    double rate = subject_burst(subject, 1, count, LAG_GROUP, 2);
    struct store_health health;
    subject->store->vtable->health(subject->store, &health);
    double begun = measure_now();
    size_t rss = measure_rss_mib();
    subject_drain(subject);
    double seconds = measure_now() - begun;
    nanosleep(&(struct timespec){.tv_sec = LAG_REST_S}, NULL); /* idle, it gives memory back */
    printf("burst of %llu: %.0f/s, then %llu changes behind, journal %llu MiB, RSS %zu MiB;"
           " drained after %.1f s, RSS %zu MiB\n",
           (unsigned long long)count, rate, (unsigned long long)health.unlisted,
           (unsigned long long)store_gauge_value(&health, "impound_store_journal_bytes") >> 20, rss,
           seconds, measure_rss_mib());
    subject_close(subject);
    subject_remove(options->dir, "lag.db");
}

/* ---- with many messages waiting ---- */

static void section_backlog(const struct options *options) {
    backlog_run(options->dir, LAG_FACTOR * options->burst);
}

/* ---- with many letters present ---- */

static void section_present(const struct options *options) {
    present_run(options->dir, options->letters, options->rounds);
}

static void section_make(const struct options *options) {
    present_make(options->dir, options->letters);
}

static const struct section {
    const char *name;
    void (*run)(const struct options *options);
} sections[] = {
    {"make", section_make}, {"burst", section_burst},     {"sustained", section_sustained},
    {"lag", section_lag},   {"backlog", section_backlog}, {"present", section_present},
};

enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static bool read_option(struct options *options, const char *name, const char *value) {
    if (strcmp(name, "--dir") == 0)
        options->dir = value;
    else if (strcmp(name, "--letters") == 0)
        options->letters = strtoull(value, NULL, 10);
    else if (strcmp(name, "--burst") == 0)
        options->burst = strtoull(value, NULL, 10);
    else if (strcmp(name, "--sustained") == 0)
        options->sustained = strtoull(value, NULL, 10);
    else if (strcmp(name, "--group") == 0)
        options->group = strtoull(value, NULL, 10);
    else if (strcmp(name, "--rounds") == 0)
        options->rounds = strtoull(value, NULL, 10);
    else
        return false;
    return true;
}

static bool is_wanted(int count, char **names, const char *name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return count == 0;
}

int main(int argc, char **argv) {
    struct options options = {.dir = "build/bench-store",
                              .letters = 10000000,
                              .burst = 1000000,
                              .sustained = SUSTAINED,
                              .rounds = 3};
    int at = 1;
    while (at + 1 < argc && read_option(&options, argv[at], argv[at + 1]))
        at += 2;
    mkdir(options.dir, 0700);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as the store would, whoever comes first */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (is_wanted(argc - at, argv + at, sections[i].name))
            sections[i].run(&options);
    }
    return 0;
}
