/* adopt: the entries' threads, their wake-ups and the view that the API shows. Each adopt_place
 * belongs to its entry's thread; other threads see only `view` (under `mutex`), `ready` and
 * `wakeup`.
 */
#include "triage/adopt/adopt.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json/json_member.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/adopt/adopt_state.h"

enum { ROOM_ARENA_CHUNK = 1024 };

const char *const adopt_mode_words[] = {[ADOPT_PEEK] = "peek", [ADOPT_TAKE] = "take", NULL};

const char *adopt_state_text(enum adopt_state state) {
    static const char *const words[] = {[ADOPT_WAITING] = "waiting",
                                        [ADOPT_READING] = "reading",
                                        [ADOPT_DONE] = "done",
                                        [ADOPT_REFUSED] = "refused"};
    return words[state];
}

/* ---- start and stop ---- */

struct adopt *adopt_new(const struct adopt_options *options) {
    assert(options->triage && (options->entries || options->count == 0));
    struct adopt *adopt = memory_new(sizeof *adopt);
    adopt->options = *options;
    pthread_mutex_init(&adopt->mutex, NULL);
    pthread_mutex_init(&adopt->letting, NULL);
    adopt->places = memory_array(options->count, sizeof *adopt->places);
    for (size_t i = 0; i < options->count; i++) {
        struct adopt_place *place = &adopt->places[i];
        place->adopt = adopt;
        place->entry = &options->entries[i];
        mailbox_init(&place->wakeup);
        place->view = (struct adopt_view){.entry = place->entry, .last = WALL_NEVER};
    }
    return adopt;
}

void adopt_free(struct adopt *adopt) {
    if (!adopt)
        return;
    for (size_t i = 0; i < adopt->options.count; i++) {
        adopt_turn_end(&adopt->places[i]);
        mailbox_free(&adopt->places[i].wakeup);
    }
    free(adopt->places);
    pthread_mutex_destroy(&adopt->letting);
    pthread_mutex_destroy(&adopt->mutex);
    free(adopt);
}

struct mono adopt_step(struct adopt *adopt, size_t number, struct instant now) {
    assert(number < adopt->options.count);
    struct adopt_place *place = &adopt->places[number];
    if (atomic_exchange(&place->ready, false) || place->due.ms <= now.mono.ms)
        adopt_turn(place, now);
    return place->due;
}

void adopt_run(struct adopt *adopt, size_t number) {
    assert(number < adopt->options.count);
    struct adopt_place *place = &adopt->places[number];
    while (!adopt->ending)
        mailbox_wait(&place->wakeup, adopt_step(adopt, number, triage_now(adopt->options.triage)));
    adopt_turn_end(place);
}

void adopt_stop(struct adopt *adopt) {
    adopt->ending = true;
    for (size_t i = 0; i < adopt->options.count; i++)
        mailbox_ring(&adopt->places[i].wakeup);
}

size_t adopt_room(struct adopt_place *place) {
    const struct adopt_options *options = &place->adopt->options;
    struct store *store = options->triage->store;
    struct arena arena;
    arena_init_heap(&arena, ROOM_ARENA_CHUNK);
    uint64_t cap = options->dlq(options->arg, place->entry->dlq, &arena).cap;
    uint64_t depth = store->vtable->dlq_depth(store, place->entry->dlq);
    arena_free(&arena);
    return depth < cap ? (size_t)(cap - depth) : 0;
}

/* ---- the state that the API shows ---- */

static void report_state(struct adopt_place *place) {
    const struct adopt_options *options = &place->adopt->options;
    if (options->news)
        options->news(options->arg, place->entry, 0);
}

void adopt_trouble(struct adopt_place *place, enum adopt_state state, const struct err *err) {
    assert(state == ADOPT_WAITING || state == ADOPT_REFUSED);
    pthread_mutex_lock(&place->adopt->mutex);
    bool begins = place->view.trouble.text[0] == '\0';
    place->view.state = state;
    place->view.trouble = *err;
    pthread_mutex_unlock(&place->adopt->mutex);
    if (!begins)
        return;
    log_warn("adopt %.*s: %s", BYTES_ARG(place->entry->name), err->text);
    report_state(place);
}

struct mono adopt_again(struct adopt_place *place) {
    return mono_after(triage_now(place->adopt->options.triage).mono, ADOPT_AGAIN_MS);
}

void adopt_full(struct adopt_place *place) {
    struct err err;
    err_set(&err, STATUS_FULL, "DLQ \"%.*s\" is full; adoption continues when it has room",
            BYTES_ARG(place->entry->dlq));
    adopt_trouble(place, ADOPT_WAITING, &err);
}

void adopt_good(struct adopt_place *place, enum adopt_state state) {
    pthread_mutex_lock(&place->adopt->mutex);
    bool ends = place->view.trouble.text[0] != '\0';
    bool changes = ends || place->view.state != state;
    place->view.state = state;
    place->view.trouble = (struct err){STATUS_OK, ""};
    pthread_mutex_unlock(&place->adopt->mutex);
    if (ends)
        log_info("adopt %.*s: recovered", BYTES_ARG(place->entry->name));
    if (changes)
        report_state(place);
}

size_t adopt_count(const struct adopt *adopt) {
    return adopt ? adopt->options.count : 0;
}

void adopt_look(struct adopt *adopt, size_t place, struct adopt_view *out) {
    assert(place < adopt->options.count);
    pthread_mutex_lock(&adopt->mutex);
    *out = adopt->places[place].view;
    pthread_mutex_unlock(&adopt->mutex);
}

static void put_view(struct json_out *json, const struct adopt_view *view) {
    json_open(json, '{');
    json_member_text(json, "adopt", view->entry->name);
    json_member_text(json, "mode", bytes_of(adopt_mode_words[view->entry->mode]));
    json_member_text(json, "dlq", view->entry->dlq);
    json_member_text(json, "queue", view->entry->queue);
    json_member_text(json, "state", bytes_of(adopt_state_text(view->state)));
    json_member_text(json, "trouble", bytes_of(view->trouble.text));
    json_member_number(json, "adopted", view->adopted);
    json_member_number(json, "taken", view->taken);
    json_member_number(json, "known", view->known);
    json_member_time(json, "last_at", view->last);
    json_close(json, '}');
}

void adopt_put(struct adopt *adopt, struct bytes dlq, struct json_out *json) {
    json_open(json, '[');
    for (size_t i = 0; i < adopt_count(adopt); i++) {
        struct adopt_view view;
        adopt_look(adopt, i, &view);
        if (dlq.len == 0 || bytes_eq(view.entry->dlq, dlq))
            put_view(json, &view);
    }
    json_close(json, ']');
}
