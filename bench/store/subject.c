#include "subject.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "measure.h"
#include "store/disk_posix.h"
#include "store/sqlite/sqlite_store.h"

enum { LETTERS_A_MS = 128, POLL_NS = 5 * 1000 * 1000, DEPTH_MAX = 64, PATH_SIZE = 4096 };

static int64_t read_ms(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{read_ms(CLOCK_REALTIME)}, {read_ms(CLOCK_MONOTONIC)}};
}

static struct clock machine_clock = {read_clock};

struct instant subject_now(void) {
    return read_clock(NULL);
}

struct wall subject_wall(void) {
    return subject_now().wall;
}

/* ---- opening ---- */

struct subject *subject_open(const char *dir, const char *name) {
    struct subject *subject = memory_new(sizeof *subject);
    snprintf(subject->path, sizeof subject->path, "%s/%s", dir, name);
    struct sqlite_store_options options = {
        .path = subject->path, .disk = &disk_posix, .clock = &machine_clock, .threads = true};
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

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct letters *idle[DEPTH_MAX];
    size_t idle_count;
};

static void finished(struct store_commit *commit, enum status status) {
    struct gate *gate = commit->arg;
    measure_check(status == STATUS_OK, commit->err.text);
    pthread_mutex_lock(&gate->mutex);
    struct letters *letters = CONTAINER_OF(commit, struct letters, commit);
    gate->idle[gate->idle_count++] = letters;
    pthread_cond_signal(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static struct letters *take_idle(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    while (gate->idle_count == 0)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    struct letters *letters = gate->idle[--gate->idle_count];
    pthread_mutex_unlock(&gate->mutex);
    return letters;
}

double subject_burst(struct subject *subject, uint64_t first, uint64_t count, size_t group,
                     size_t depth) {
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0};
    for (size_t i = 0; i < depth; i++)
        gate.idle[gate.idle_count++] = letters_new();
    int64_t now = subject_wall().ms;
    double begun = measure_now();
    for (uint64_t done = 0; done < count; done += group) {
        struct letters *letters = take_idle(&gate);
        /* ids grow with time, as those of producers do */
        letters_fill(letters, subject->queue, first + done, group,
                     (struct wall){now + (int64_t)(done / LETTERS_A_MS)});
        letters->commit.done = finished;
        letters->commit.arg = &gate;
        letters->commit.waits = depth == 1;
        subject->store->vtable->submit(subject->store, &letters->commit);
    }
    struct letters *all[DEPTH_MAX];
    for (size_t i = 0; i < depth; i++)
        all[i] = take_idle(&gate);
    double seconds = measure_now() - begun;
    for (size_t i = 0; i < depth; i++)
        free(all[i]);
    return (double)count / seconds;
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
    commit->waits = true;
    subject->store->vtable->submit(subject->store, commit);
    pthread_mutex_lock(&answer.mutex);
    while (!answer.given)
        pthread_cond_wait(&answer.changed, &answer.mutex);
    pthread_mutex_unlock(&answer.mutex);
}

uint64_t subject_drain(struct subject *subject) {
    uint64_t most = 0;
    for (;;) {
        struct store_health health;
        subject->store->vtable->health(subject->store, &health);
        if (health.fold_behind > most)
            most = health.fold_behind;
        if (health.fold_behind == 0)
            return most;
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
}
