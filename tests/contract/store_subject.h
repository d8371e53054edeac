/* store_subject: the stores that the contract is held against, each opened in a folder of its own,
 * and the few verbs that make tests short. */
#ifndef STORE_SUBJECT_H
#define STORE_SUBJECT_H

#include <pthread.h>

#include "core/note_space.h"
#include "port/clock.h"
#include "port/letters.h"
#include "test.h"

struct subject {
    struct store *store;
    uint32_t queue; /* "orders" */
    struct arena arena;
    char dir[64];
    struct subject_clock {
        struct clock clock;
        pthread_mutex_t mutex;
        struct instant now;
    } time;
    const struct subject_kind *kind;
    bool waits; /* as commits say it */
};

struct subject_kind {
    const char *name;
    void (*open)(struct subject *subject);
    void (*step)(struct subject *subject); /* NULL: its own threads do it */
    bool durable;
};

extern const struct subject_kind subject_fake, subject_stepped, subject_tight,
    subject_threaded; /* tight: hardly anything waits in memory */

/* Runs the tests on every one of them: a test's state is the kind. Gives how many failed. */
int subject_run(const struct CMUnitTest *tests, size_t count);
#define SUBJECT_ROW(test) cmocka_unit_test(test),

struct subject *subject_new(const struct subject_kind *kind);
void subject_free(struct subject *subject);
/* Closes and opens again. */
void subject_reopen(struct subject *subject);
struct instant subject_now(struct subject *subject);
void subject_pass(struct subject *subject, int64_t ms); /* both clocks */
void subject_jump(struct subject *subject, int64_t ms); /* the wall clock alone */

/* A queued message of queue "orders". */
struct envelope subject_envelope(struct subject *subject, const char *id);
/* The same as a letter of "orders.dlq": pending_review, letter id "L-<id>". */
struct envelope subject_letter(struct subject *subject, const char *id);
/* Commits and waits for the answer. */
enum status subject_commit(struct subject *subject, struct store_op *ops, size_t count);
enum status subject_put(struct subject *subject, const struct envelope *envelope, const char *body,
                        uint64_t *seq);
enum status subject_update(struct subject *subject, uint64_t seq, const struct envelope *envelope);
enum status subject_forget(struct subject *subject, uint64_t seq);
/* Takes one, or NULL. */
struct message *subject_take(struct subject *subject, enum store_take which);
/* The ids on a page, joined by spaces, in the subject's arena. */
const char *subject_list(struct subject *subject, const struct letters_query *query);

#endif
