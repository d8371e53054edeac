#include "backlog.h"

#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "subject.h"

enum { GROUP = 1024, TAKEN = 100000, TAKE = 256, DAY_MS = 24 * 60 * 60 * 1000 };

/* Every other one is to wait a day. */
static void make_waiting(struct bench_letters *letters) {
    for (size_t i = 0; i < letters->commit.count; i++) {
        struct envelope *envelope = &letters->envelopes[i];
        envelope->state = STATE_QUEUED;
        envelope->letter_id = envelope->dlq = BYTES_NONE;
        envelope->failed = false;
        envelope->history_count = 0;
        envelope->attempts = 0;
        if (i % 2) {
            envelope->delay_ms = DAY_MS;
            envelope->next_attempt_at.ms = envelope->created_at.ms + DAY_MS;
        }
    }
}

static void fill(const char *dir, uint64_t messages) {
    subject_remove(dir, "backlog.db");
    struct subject *subject = subject_open(dir, "backlog.db");
    struct bench_letters *letters = bench_letters_new();
    double begun = measure_now();
    for (uint64_t done = 0; done < messages; done += GROUP) {
        bench_letters_fill(letters, subject->queue, done + 1, GROUP, subject_wall());
        make_waiting(letters);
        subject_commit(subject, &letters->commit);
    }
    subject_drain(subject);
    printf("a backlog of %llu messages, half of them delayed: %.0f/s, folded; RSS %zu MiB\n",
           (unsigned long long)messages, (double)messages / (measure_now() - begun),
           measure_rss_mib());
    free(letters);
    subject_close(subject);
}

static size_t take_some(struct subject *subject) {
    struct message *held[TAKE];
    struct store_op ops[TAKE];
    struct instant now = subject_now();
    size_t count =
        subject->store->vtable->take(subject->store, subject->queue, TAKE_READY, now, held, TAKE);
    for (size_t i = 0; i < count; i++) {
        ops[i] =
            (struct store_op){.kind = STORE_FORGET, .queue = subject->queue, .seq = held[i]->seq};
        message_free(held[i]);
    }
    if (count > 0)
        subject_commit(subject, &(struct store_commit){.ops = ops, .count = count});
    return count;
}

void backlog_run(const char *dir, uint64_t messages) {
    fill(dir, messages);
    double begun = measure_now();
    struct subject *subject = subject_open(dir, "backlog.db");
    printf("start with it: %.3f s, RSS %zu MiB\n", measure_now() - begun, measure_rss_mib());
    begun = measure_now();
    size_t taken = 0;
    for (size_t count; taken < TAKEN && (count = take_some(subject)) > 0;)
        taken += count;
    struct store_queue_counts counts;
    subject->store->vtable->counts(subject->store, subject->queue, &counts);
    printf("taken and done: %zu, %.0f/s; %llu wait; RSS %zu MiB\n", taken,
           (double)taken / (measure_now() - begun), (unsigned long long)counts.queued,
           measure_rss_mib());
    subject_close(subject);
    subject_remove(dir, "backlog.db");
}
