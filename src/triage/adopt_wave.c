/* adopt_wave: an entry that is taken in waves, because nothing tells equal messages at its broker
 * apart (port/haul.h). What is durable says at every moment how many of them are ours:
 *
 *   letters, unheard of ──▶ settled at the broker ──▶ noted: heard of ──▶ the next wave
 *
 * A message that is acknowledged has a letter, and no letter stands for two of them: one that is
 * unheard of stands for its message when that comes again, one that is heard of for no other. */
#include <stdlib.h>

#include "base/memory.h"
#include "triage/adopt_state.h"

enum { WAVE_ARENA_CHUNK = 16 * 1024 };

#define OPEN BYTES("{\"open\":true}")

/* ---- what is remembered ---- */

static enum status read_open(struct adopt_place *place, bool *open, struct err *err) {
    struct triage *triage = place->adopt->options.triage;
    struct bytes value;
    enum status status =
        triage->store->vtable->kept(triage->store, 0, SPACE_ADOPTED, place->entry->name,
                                    triage_now(triage).wall, &place->wave->arena, &value, err);
    *open = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status write_open(struct adopt_place *place, bool open, struct err *err) {
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_ADOPTED,
                                   .name = place->entry->name,
                                   .value = open ? OPEN : BYTES_NONE,
                                   .expires = WALL_NEVER}};
    enum status status = triage_commit(place->adopt->options.triage, &op, 1, err);
    if (status == STATUS_OK)
        place->wave->open = open;
    return status;
}

/* Whoever died while he was at it had been given a wave, which comes again. */
static enum status note_open(struct adopt_place *place, struct err *err) {
    bool before;
    if (place->wave->open)
        return STATUS_OK;
    enum status status = read_open(place, &before, err);
    if (status != STATUS_OK)
        return status;
    if (before)
        place->wave->excused = ADOPT_EXCUSED;
    return write_open(place, true, err);
}

static enum status note_heard(struct adopt_place *place, struct err *err) {
    struct triage *triage = place->adopt->options.triage;
    struct adopt_wave *wave = place->wave;
    struct store_op ops[ADOPT_AT_ONCE];
    struct wall until = adopt_seen_until(triage_now(triage).wall);
    size_t count = 0;
    for (size_t i = 0; i < wave->heard; i++) {
        wave->seen[i].as = ADOPT_OURS;
        if (wave->seen[i].name[0])
            ops[count++] = adopt_seen_op(&wave->seen[i], wave->seen[i].name, until, &wave->arena);
    }
    enum status status = count > 0 ? triage_commit(triage, ops, count, err) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    wave->heard = 0;
    arena_free(&wave->arena);
    arena_init_heap(&wave->arena, WAVE_ARENA_CHUNK);
    return STATUS_OK;
}

/* ---- a wave ---- */

/* The first `count` are settled. */
static void drop(struct adopt_wave *wave, size_t count) {
    for (size_t i = 0; i < count; i++)
        store_held_free(wave->held[i]);
    wave->count -= count;
    for (size_t i = 0; i < wave->count; i++)
        wave->held[i] = wave->held[i + count];
}

/* All that is not settled comes again. */
static enum status give_up(struct adopt_wave *wave, enum status status) {
    drop(wave, wave->count);
    wave->excused = ADOPT_EXCUSED;
    return status;
}

/* The broker may take its time to notice that we died: then the first waves are of others. Those
 * that it returned come all together, before what it never gave. */
static bool has_passed(const struct adopt_wave *wave) {
    bool any = false, last = false;
    for (size_t i = 0; i < wave->count; i++) {
        last = wave->held[i]->redelivered;
        any = any || last;
    }
    return any && !last;
}

/* What has no room costs a delivery each time that it is given to us. But one may have a letter
 * that was looked at, and that nobody can decide about before it is taken: while there are such,
 * one is tried. */
static enum status most_of_wave(struct adopt_place *place, size_t *most, struct err *err) {
    struct adopt_wave *wave = place->wave;
    size_t room = adopt_room(place);
    if (room == 0 && !wave->judged) {
        enum status status = adopt_awaits(place, &wave->awaits, err);
        if (status != STATUS_OK)
            return status;
        wave->judged = true;
    }
    *most = room < ADOPT_AT_ONCE ? room : ADOPT_AT_ONCE;
    if (room == 0 && wave->awaits && !wave->crowded)
        *most = 1;
    return STATUS_OK;
}

static enum status ask(struct adopt_place *place, size_t most, struct instant now,
                       struct err *err) {
    struct adopt_wave *wave = place->wave;
    struct haul *haul = place->haul;
    enum status status = haul->vtable->next(haul, wave->held, most, &wave->count, err);
    if (status != STATUS_OK)
        return give_up(wave, status);
    triage_new_id(place->adopt->options.triage, now.wall, wave->name);
    adopt_good(place, ADOPT_READING);
    wave->passed = has_passed(wave);
    if (wave->count > 0)
        place->quiet_from = now.mono;
    return STATUS_OK;
}

/* The broker is told only of those that are safe. The others wait here, still ours: to give them
 * back would cost each a delivery. */
static enum status settle(struct adopt_place *place, struct err *err) {
    struct adopt_wave *wave = place->wave;
    struct err at_broker;
    size_t done;
    enum status status = adopt_batch(place, wave->held, wave->count, &done, err);
    wave->crowded = status == STATUS_OK && done < wave->count;
    enum status told = place->haul->vtable->settle(place->haul, done, &at_broker);
    if (told != STATUS_OK) {
        *err = at_broker;
        if (done > 0) /* they come again, and need no room */
            wave->judged = wave->crowded = false;
        return give_up(wave, told);
    }
    wave->heard = done;
    drop(wave, done);
    if (status == STATUS_OK)
        status = note_heard(place, err);
    if (status == STATUS_OK && wave->count == 0 && wave->passed)
        wave->excused = 0;
    return status;
}

/* False: this turn is over. */
static bool step(struct adopt_place *place, struct instant now) {
    struct adopt_wave *wave = place->wave;
    struct err err;
    size_t most = 0;
    enum status status = note_open(place, &err);
    if (status == STATUS_OK)
        status = note_heard(place, &err);
    if (status == STATUS_OK)
        status = most_of_wave(place, &most, &err);
    if (status == STATUS_OK && wave->count == 0 && most == 0) {
        adopt_full(place);
        return false;
    }
    if (status == STATUS_OK && wave->count == 0)
        status = ask(place, most, now, &err);
    if (status == STATUS_OK && wave->count == 0) {
        adopt_release(place, now);
        place->due = mono_after(now.mono, ADOPT_POLL_MS);
        return false;
    }
    if (status == STATUS_OK)
        status = settle(place, &err);
    if (status != STATUS_OK) {
        adopt_trouble(place, ADOPT_WAITING, &err);
        place->due = adopt_again(place);
    } else if (wave->count > 0) {
        adopt_full(place);
    }
    return status == STATUS_OK && wave->count == 0;
}

/* ---- turns ---- */

bool adopt_wave_begin(struct adopt_place *place, struct instant now) {
    const struct adopt_options *options = &place->adopt->options;
    if (place->haul)
        return true;
    place->haul = options->haul ? options->haul(options->arg, place->entry) : NULL;
    if (!place->haul)
        return false;
    place->wave = memory_new(sizeof *place->wave);
    arena_init_heap(&place->wave->arena, WAVE_ARENA_CHUNK);
    place->quiet_from = now.mono;
    return true;
}

void adopt_wave_turn(struct adopt_place *place, struct instant now) {
    place->due = mono_after(now.mono, ADOPT_AGAIN_MS);
    for (size_t turns = 0; turns < ADOPT_TURNS && !place->adopt->ending; turns++)
        if (!step(place, now))
            return;
    place->due = now.mono;
}

/* Who leaves nothing behind need not be looked for. */
void adopt_wave_end(struct adopt_place *place) {
    struct adopt_wave *wave = place->wave;
    struct err err;
    if (!place->haul)
        return;
    bool clean = wave->count == 0 && note_heard(place, &err) == STATUS_OK;
    if (clean && wave->open && wave->excused == 0)
        write_open(place, false, &err);
    drop(wave, wave->count);
    place->haul->vtable->free(place->haul);
    arena_free(&wave->arena);
    free(wave);
    place->haul = NULL;
    place->wave = NULL;
}
