#include "store/tables/ready/ready_queues.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/tables/ready/evict.h"

/* A time in the past: a message can be taken at once. */
static const struct mono at_once = {0};

void ready_queues_init(struct ready_queues *waiting, struct paged_queue_bound *bound) {
    *waiting = (struct ready_queues){.bound = bound};
    for (int kind = 0; kind < PAGED_QUEUE_COUNT; kind++)
        paged_queue_init(&waiting->lanes[kind]);
    list_init(&waiting->ready);
    list_init(&waiting->taken);
    list_init(&waiting->leased);
}

void ready_queues_free(struct ready_queues *waiting) {
    heap_free(&waiting->delayed);
    heap_free(&waiting->retry);
    for (struct ready_queues_room *room = waiting->rooms, *next; room; room = next) {
        next = room->next;
        free(room);
    }
}

void ready_queues_unbind(struct ready_queues *waiting) {
    if (waiting->bound)
        waiting->bound->count -=
            waiting->ready_count + waiting->delayed.count + waiting->retry.count;
    waiting->bound = NULL;
}

bool ready_queues_has_place(enum state state) {
    return state == STATE_QUEUED || state == STATE_PENDING_RETRY || state == STATE_REPLAYING;
}

static struct entry *of_due(struct heap_node *node) {
    return CONTAINER_OF(node, struct entry, due);
}

static struct heap *heap_of(struct ready_queues *waiting, const struct entry *entry) {
    return entry->facts.state == STATE_QUEUED ? &waiting->delayed : &waiting->retry;
}

/* The wall clock may have jumped since the due time was written: the wait is never longer than the
 * delay that was set, and never negative. */
struct mono ready_queues_due(struct wall due, int64_t delay_ms, struct instant now) {
    int64_t left = due.ms - now.wall.ms;
    if (due.ms == 0 || left < 0)
        left = 0;
    if (left > delay_ms)
        left = delay_ms > 0 ? delay_ms : 0;
    return mono_after(now.mono, left);
}

static int64_t due_ms(const struct entry_facts *facts, struct instant now) {
    return ready_queues_due(facts->next_attempt_at, facts->delay_ms, now).ms;
}

/* ---- waiting for room in a DLQ ---- */

static struct ready_queues_room *find_room(const struct ready_queues *waiting,
                                           const struct name *dlq) {
    struct ready_queues_room *room = waiting->rooms;
    while (room && room->dlq != dlq)
        room = room->next;
    return room;
}

static void push_room(struct ready_queues *waiting, struct entry *entry) {
    struct ready_queues_room *room = find_room(waiting, entry->facts.dlq);
    if (!room) {
        room = memory_new(sizeof *room);
        *room = (struct ready_queues_room){.next = waiting->rooms, .dlq = entry->facts.dlq};
        list_init(&room->entries);
        waiting->rooms = room;
    }
    list_push_back(&room->entries, &entry->link);
    room->count++;
    waiting->room_count++;
}

static void pop_room(struct ready_queues *waiting, struct entry *entry) {
    list_remove(&entry->link);
    find_room(waiting, entry->facts.dlq)->count--;
    waiting->room_count--;
}

size_t ready_queues_rooms(const struct ready_queues *waiting, struct arena *arena,
                          struct store_count **out) {
    size_t rooms = 0, count = 0;
    for (const struct ready_queues_room *room = waiting->rooms; room; room = room->next)
        rooms++;
    *out = arena_alloc(arena, (rooms + 1) * sizeof **out);
    for (const struct ready_queues_room *room = waiting->rooms; room; room = room->next)
        if (room->count > 0)
            (*out)[count++] = (struct store_count){arena_dup(arena, room->dlq->text), room->count};
    return count;
}

/* ---- adding and removing ---- */

static void count_in(struct ready_queues *waiting, int change) {
    if (waiting->bound)
        waiting->bound->count += (size_t)change;
}

static void push_ready(struct ready_queues *waiting, struct entry *entry) {
    list_push_back(&waiting->ready, &entry->link);
    waiting->ready_count++;
    count_in(waiting, 1);
}

static void push_heap(struct ready_queues *waiting, struct entry *entry, int64_t at) {
    entry->due.at = at;
    entry->due.tie = ++waiting->turn;
    heap_insert(heap_of(waiting, entry), &entry->due);
    count_in(waiting, 1);
}

static void pop_heap(struct ready_queues *waiting, struct entry *entry) {
    heap_remove(heap_of(waiting, entry), &entry->due);
    count_in(waiting, -1);
}

static void push(struct ready_queues *waiting, struct entry *entry, const struct instant *now) {
    bool has_due = entry->facts.next_attempt_at.ms != 0;
    if (entry->facts.state == STATE_QUEUED && !has_due) {
        push_ready(waiting, entry);
        return;
    }
    entry->unscheduled = !now && has_due;
    int64_t at = now ? due_ms(&entry->facts, *now) : at_once.ms;
    if (entry->facts.state == STATE_QUEUED && now && at <= now->mono.ms)
        push_ready(waiting, entry);
    else
        push_heap(waiting, entry, at);
}

/* Parks the entry if it belongs beyond the horizon; false if it does not. */
static bool park(struct ready_queues *waiting, struct entry *entry, const struct instant *now) {
    enum paged_queue_kind kind = paged_queue_of_entry(entry);
    if (!waiting->bound || kind == PAGED_QUEUE_COUNT ||
        !paged_queue_parks(&waiting->lanes[kind], entry))
        return false;
    bool known = now && kind != PAGED_QUEUE_READY;
    struct mono due = {known ? due_ms(&entry->facts, *now) : at_once.ms};
    paged_queue_park(&waiting->lanes[kind], entry, due);
    return true;
}

static void keep_bound(struct ready_queues *waiting, enum paged_queue_kind kind) {
    const struct paged_queue_bound *bound = waiting->bound;
    if (!bound || kind == PAGED_QUEUE_COUNT || bound->most == 0 || bound->count <= bound->most)
        return;
    size_t here = ready_queues_in_lane(waiting, kind);
    if (here > bound->least && here >= waiting->lanes[kind].again)
        evict_lane(waiting, kind);
}

void ready_queues_add(struct ready_queues *waiting, struct entry *entry,
                      const struct instant *now) {
    assert(ready_queues_has_place(entry->facts.state) && !entry->taken);
    entry->given_back = false;
    if (entry->facts.leased) {
        list_push_back(&waiting->leased, &entry->link);
        waiting->leased_count++;
    } else if (entry_awaits_room(entry)) {
        push_room(waiting, entry);
    } else if (!park(waiting, entry, now)) {
        push(waiting, entry, now);
        keep_bound(waiting, paged_queue_of_entry(entry));
    }
}

void ready_queues_remove(struct ready_queues *waiting, struct entry *entry) {
    if (entry->parked) {
        paged_queue_unpark(&waiting->lanes[paged_queue_of_entry(entry)], entry);
    } else if (entry->due.index != 0) {
        pop_heap(waiting, entry);
    } else if (entry->taken) {
        list_remove(&entry->link);
        entry->taken = false;
        waiting->taken_count--;
    } else if (!list_empty(&entry->link) && entry_awaits_room(entry)) {
        pop_room(waiting, entry);
    } else if (!list_empty(&entry->link)) {
        list_remove(&entry->link);
        --*(entry->facts.leased ? &waiting->leased_count : &waiting->ready_count);
        count_in(waiting, entry->facts.leased ? 0 : -1);
    }
}

/* The first entry of the heap, after the due times of unscheduled entries before it were computed.
 */
static struct entry *first_of(struct ready_queues *waiting, struct heap *heap, struct instant now) {
    for (struct heap_node *node; (node = heap_first(heap)) != NULL;) {
        struct entry *entry = of_due(node);
        if (!entry->unscheduled)
            return entry;
        pop_heap(waiting, entry);
        entry->unscheduled = false;
        push_heap(waiting, entry, due_ms(&entry->facts, now));
    }
    return NULL;
}

static void promote_delayed(struct ready_queues *waiting, struct instant now) {
    struct entry *entry;
    while ((entry = first_of(waiting, &waiting->delayed, now)) != NULL &&
           entry->due.at <= now.mono.ms) {
        pop_heap(waiting, entry);
        push_ready(waiting, entry);
    }
}

static struct entry *next_ready(struct ready_queues *waiting, struct instant now) {
    promote_delayed(waiting, now);
    bool any = !list_empty(&waiting->ready);
    return any ? CONTAINER_OF(waiting->ready.next, struct entry, link) : NULL;
}

static struct entry *next_due(struct ready_queues *waiting, struct instant now) {
    struct entry *first = first_of(waiting, &waiting->retry, now);
    return first && first->due.at <= now.mono.ms ? first : NULL;
}

static bool waits_longer(const struct entry *a, const struct entry *b) {
    if (a->tried != b->tried)
        return a->tried < b->tried;
    return a->due.at != b->due.at ? a->due.at < b->due.at : a->due.tie < b->due.tie;
}

/* O(n) over the waiting entries: only probes use it, one at a time. */
static struct entry *next_longest(struct ready_queues *waiting, struct instant now) {
    first_of(waiting, &waiting->retry, now);
    struct entry *best = NULL;
    for (size_t i = 0; i < waiting->retry.count; i++) {
        struct entry *entry = of_due(waiting->retry.nodes[i]);
        if (entry->due.at <= now.mono.ms && (!best || waits_longer(entry, best)))
            best = entry;
    }
    return best;
}

/* O(n) over the waiting retries, if no message is ready: only a check uses it. */
static struct entry *next_far(struct ready_queues *waiting, struct instant now) {
    promote_delayed(waiting, now);
    if (!list_empty(&waiting->ready))
        return CONTAINER_OF(waiting->ready.prev, struct entry, link);
    first_of(waiting, &waiting->retry, now);
    struct entry *best = NULL;
    for (size_t i = 0; i < waiting->retry.count; i++) {
        struct entry *entry = of_due(waiting->retry.nodes[i]);
        bool may = entry->facts.state == STATE_PENDING_RETRY && entry->due.at <= now.mono.ms;
        if (may && (!best || entry->due.at > best->due.at))
            best = entry;
    }
    return best;
}

static struct entry *next_leased(struct ready_queues *waiting, struct instant now) {
    (void)now;
    bool any = !list_empty(&waiting->leased);
    return any ? CONTAINER_OF(waiting->leased.next, struct entry, link) : NULL;
}

static struct entry *next_of(struct ready_queues *waiting, enum store_take which,
                             struct instant now) {
    static struct entry *(*const choose[])(struct ready_queues *, struct instant) = {
        [TAKE_READY] = next_ready, [TAKE_DUE] = next_due,       [TAKE_DUE_LONGEST] = next_longest,
        [TAKE_FAR] = next_far,     [TAKE_LEASED] = next_leased,
    };
    return choose[which](waiting, now);
}

static void take_one(struct ready_queues *waiting, struct entry *entry) {
    ready_queues_remove(waiting, entry);
    entry->taken = true;
    list_push_back(&waiting->taken, &entry->link);
    waiting->taken_count++;
}

bool ready_queues_fits(const struct entry *entry, size_t taken, uint64_t *bytes) {
    uint64_t room = STORE_TAKE_BYTES_MAX - *bytes;
    if (taken > 0 && entry->facts.size > room)
        return false;
    *bytes += entry->facts.size < room ? entry->facts.size : room;
    return true;
}

size_t ready_queues_take(struct ready_queues *waiting, enum store_take which, struct instant now,
                         struct entry **out, size_t max) {
    size_t count = 0;
    uint64_t bytes = 0;
    while (count < max) {
        struct entry *entry = next_of(waiting, which, now);
        if (!entry || !ready_queues_fits(entry, count, &bytes))
            break;
        take_one(waiting, entry);
        out[count++] = entry;
    }
    return count;
}

size_t ready_queues_take_for_room(struct ready_queues *waiting, const struct name *dlq,
                                  struct entry **out, size_t max) {
    struct ready_queues_room *room = find_room(waiting, dlq);
    size_t count = 0;
    while (room && count < max && !list_empty(&room->entries)) {
        struct entry *entry = CONTAINER_OF(room->entries.next, struct entry, link);
        take_one(waiting, entry);
        out[count++] = entry;
    }
    return count;
}

bool ready_queues_take_one(struct ready_queues *waiting, struct entry *entry) {
    bool waits = entry->due.index != 0 || !list_empty(&entry->link);
    if (!waits || entry_is_taken(entry))
        return false;
    take_one(waiting, entry);
    return true;
}

void ready_queues_take_blocked(struct ready_queues *waiting, struct entry *entry) {
    take_one(waiting, entry);
}

void ready_queues_tried(struct ready_queues *waiting, struct entry *entry) {
    assert(entry->taken);
    entry->tried = ++waiting->turn;
}

void ready_queues_give_back(struct ready_queues *waiting, struct entry *entry, struct mono due) {
    assert(entry->taken);
    ready_queues_remove(waiting, entry);
    entry->facts.leased = false;
    if (entry_awaits_room(entry)) {
        push_room(waiting, entry);
        return;
    }
    entry->given_back = true;
    push_heap(waiting, entry, due.ms);
}

size_t ready_queues_in_lane(const struct ready_queues *waiting, enum paged_queue_kind kind) {
    return kind == PAGED_QUEUE_READY     ? waiting->ready_count
           : kind == PAGED_QUEUE_DELAYED ? waiting->delayed.count
                                         : waiting->retry.count;
}

static struct mono earliest(struct mono a, struct mono b) {
    return a.ms < b.ms ? a : b;
}

static struct mono next_parked(const struct ready_queues *waiting, enum paged_queue_kind kind) {
    const struct paged_queue *lane = &waiting->lanes[kind];
    return lane->count > 0 ? lane->next : MONO_NEVER;
}

struct mono ready_queues_next(const struct ready_queues *waiting, enum store_take which) {
    if (which == TAKE_LEASED)
        return waiting->leased_count > 0 ? at_once : MONO_NEVER;
    if (which == TAKE_READY && waiting->ready_count > 0)
        return at_once;
    if (which != TAKE_READY)
        return earliest(heap_next(&waiting->retry), next_parked(waiting, PAGED_QUEUE_RETRY));
    struct mono parked = earliest(next_parked(waiting, PAGED_QUEUE_READY),
                                  next_parked(waiting, PAGED_QUEUE_DELAYED));
    return earliest(heap_next(&waiting->delayed), parked);
}

void ready_queues_counts(const struct ready_queues *waiting, struct store_queue_counts *out) {
    const struct paged_queue *lanes = waiting->lanes;
    uint64_t delayed = waiting->delayed.count + lanes[PAGED_QUEUE_DELAYED].count;
    *out = (struct store_queue_counts){
        .queued = waiting->ready_count + lanes[PAGED_QUEUE_READY].count + delayed +
                  waiting->blocked_queued,
        .delayed = delayed,
        .pending_retry = waiting->retry.count + lanes[PAGED_QUEUE_RETRY].count +
                         waiting->blocked_retry + waiting->room_count,
        .awaiting_room = waiting->room_count,
        .taken = waiting->taken_count + waiting->leased_count,
    };
}
