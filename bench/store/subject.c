#include "subject.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/bench_burst.h"
#include "base/memory.h"
#include "measure.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"

enum { PATH_SIZE = 4096 };

struct instant subject_now(void) {
    return clock_now(&clock_system);
}

struct wall subject_wall(void) {
    return subject_now().wall;
}

/* ---- opening ---- */

struct subject *subject_open(const char *dir, const char *name) {
    struct subject *subject = memory_new(sizeof *subject);
    snprintf(subject->path, sizeof subject->path, "%s/%s", dir, name);
    struct sqlite_store_options options = {
        .path = subject->path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    struct err err = {0};
    if (sqlite_store_open(&options, &subject->store, &err) != STATUS_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        measure_check(false, subject->path);
    }
    subject->queue = subject->store->vtable->queue_number(subject->store, LETTERS_QUEUE);
    return subject;
}

void subject_close(struct subject *subject) {
    subject->store->vtable->close(subject->store);
    free(subject);
}

static void remove_all_in(const char *folder) {
    DIR *dir = opendir(folder);
    char path[2 * PATH_SIZE];
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

void subject_remove(const char *dir, const char *name) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", dir, name, endings[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%s.d", dir, name);
    remove_all_in(path);
}

/* ---- commits ---- */

double subject_burst(struct subject *subject, uint64_t first, uint64_t count, size_t group,
                     size_t depth) {
    struct bench_burst burst = {
        .first = first, .group = group, .depth = depth, .span = {.count = count}};
    struct err err = {0};
    double rate;
    bool good = bench_burst_run(subject->store, LETTERS_QUEUE, &burst, &rate, &err) == STATUS_OK;
    measure_check(good, err.text);
    return rate;
}

struct answer {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool given;
};

static void answered(struct store_commit *commit, enum status status) {
    struct answer *answer = commit->arg;
    measure_check(status == STATUS_OK, commit->err.text);
    pthread_mutex_lock(&answer->mutex);
    answer->given = true;
    pthread_cond_signal(&answer->changed);
    pthread_mutex_unlock(&answer->mutex);
}

void subject_commit(struct subject *subject, struct store_commit *commit) {
    struct answer answer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    commit->done = answered;
    commit->arg = &answer;
    commit->caller_waits = true;
    subject->store->vtable->submit(subject->store, commit);
    pthread_mutex_lock(&answer.mutex);
    while (!answer.given)
        pthread_cond_wait(&answer.changed, &answer.mutex);
    pthread_mutex_unlock(&answer.mutex);
}

uint64_t subject_drain(struct subject *subject) {
    return bench_burst_drain(subject->store, &(struct bench_span){0});
}
