#include "store/tables/ready/key_order.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

enum kind_of_member { MEMBER_LIVE, MEMBER_REPLAYING, MEMBER_CLOSING, MEMBER_KINDS };

struct key_line {
    struct map_node node;
    struct bytes key;                  /* owned */
    struct list members[MEMBER_KINDS]; /* ordered by seq */
    uint64_t closer;                   /* seq of the oldest letter that closes the key; 0: none */
    size_t behind;                     /* number of live messages with a higher seq than `closer` */
    struct heap_node closed;           /* in lines->closed while `behind` is not 0 */
};

static struct entry *of_member(struct list *node) {
    return CONTAINER_OF(node, struct entry, in_line);
}

static struct key_line *of_closed(struct heap_node *node) {
    return CONTAINER_OF(node, struct key_line, closed);
}

/* The entry at index `place` of a kind, or NULL. */
static struct entry *member(struct key_line *line, enum kind_of_member kind, size_t place) {
    LIST_EACH(node, &line->members[kind]) {
        if (place-- == 0)
            return of_member(node);
    }
    return NULL;
}

static enum kind_of_member kind_of(const struct entry *entry) {
    bool closes = entry->facts.state == STATE_PENDING_REVIEW || entry_awaits_room(entry);
    return closes                                  ? MEMBER_CLOSING
           : entry->facts.state == STATE_REPLAYING ? MEMBER_REPLAYING
                                                   : MEMBER_LIVE;
}

bool key_order_has_place(const struct entry *entry) {
    return entry->key.ptr && entry_stays(entry) &&
           (!entry_awaits_room(entry) || entry->facts.closes_key);
}

/* ---- lines ---- */

static struct key_line *line_of(struct key_order *lines, struct bytes key) {
    uint64_t hash = bytes_hash(key);
    for (struct map_node *node = map_first(&lines->by_key, hash); node; node = map_next(node)) {
        struct key_line *line = CONTAINER_OF(node, struct key_line, node);
        if (bytes_eq(line->key, key))
            return line;
    }
    struct key_line *line = memory_new(sizeof *line);
    line->key = (struct bytes){bytes_dup(key), key.len};
    for (int kind = 0; kind < MEMBER_KINDS; kind++)
        list_init(&line->members[kind]);
    map_insert(&lines->by_key, &line->node, hash);
    return line;
}

static void line_free(struct key_line *line) {
    free((char *)line->key.ptr);
    free(line);
}

static void free_node(struct map_node *node) {
    line_free(CONTAINER_OF(node, struct key_line, node));
}

void key_order_free(struct key_order *lines) {
    map_drain(&lines->by_key, free_node);
    heap_free(&lines->closed);
}

static void drop_if_empty(struct key_order *lines, struct key_line *line) {
    for (int kind = 0; kind < MEMBER_KINDS; kind++) {
        if (!list_empty(&line->members[kind]))
            return;
    }
    heap_remove(&lines->closed, &line->closed);
    map_remove(&lines->by_key, &line->node);
    line_free(line);
}

/* ---- closing a key ---- */

static const struct entry *first_closer(struct key_line *line) {
    const struct entry *first = member(line, MEMBER_CLOSING, 0);
    LIST_EACH(node, &line->members[MEMBER_REPLAYING]) {
        const struct entry *entry = of_member(node);
        if (entry->facts.closes_key)
            return !first || entry->seq < first->seq ? entry : first;
    }
    return first;
}

static bool is_behind(const struct key_line *line, const struct entry *entry) {
    return line->closer != 0 && entry->seq > line->closer;
}

static void count_behind(struct key_line *line) {
    line->behind = 0;
    LIST_EACH(node, &line->members[MEMBER_LIVE])
    line->behind += is_behind(line, of_member(node));
}

/* The live messages are counted again only if another letter closes the key. */
static void reckon(struct key_order *lines, struct key_line *line) {
    const struct entry *closer = first_closer(line);
    uint64_t number = closer ? closer->seq : 0;
    if (number != line->closer) {
        line->closer = number;
        count_behind(line);
    }
    heap_remove(&lines->closed, &line->closed);
    if (line->behind == 0)
        return;
    line->closed.at = -(int64_t)line->behind;
    line->closed.tie = line->closer;
    heap_insert(&lines->closed, &line->closed);
}

const struct entry *key_order_blocked_by(const struct entry *entry) {
    if (!entry->line || kind_of(entry) != MEMBER_LIVE || !is_behind(entry->line, entry))
        return NULL;
    return first_closer(entry->line);
}

/* ---- turns ---- */

static uint64_t *blocked_count(struct ready_queues *waiting, const struct entry *entry) {
    return entry->facts.state == STATE_QUEUED ? &waiting->blocked_queued : &waiting->blocked_retry;
}

static void block(struct ready_queues *waiting, struct entry *entry) {
    entry->blocked = true;
    ++*blocked_count(waiting, entry);
}

static void unblock(struct ready_queues *waiting, struct entry *entry) {
    entry->blocked = false;
    --*blocked_count(waiting, entry);
}

static void place(struct ready_queues *waiting, struct entry *entry, bool may_go,
                  const struct instant *now) {
    if (!entry || entry_is_taken(entry) || entry->blocked != may_go)
        return;
    if (may_go) {
        unblock(waiting, entry);
        ready_queues_add(waiting, entry, now);
    } else {
        ready_queues_remove(waiting, entry);
        block(waiting, entry);
    }
}

static bool live_may_go(const struct key_line *line, const struct entry *head) {
    return head && !is_behind(line, head);
}

/* Live messages that a letter in pending_review blocks cannot be taken before it, so they do not
 * hold a replaying letter back. */
static bool replayed_may_go(struct key_line *line, const struct entry *head) {
    const struct entry *live = member(line, MEMBER_LIVE, 0);
    const struct entry *letter = member(line, MEMBER_CLOSING, 0);
    if (!head || !live || live->seq > head->seq)
        return head != NULL;
    return letter && letter->seq < live->seq;
}

/* Only the first entry of a kind can be taken. If an older one was added, the former first entry is
 * blocked again. */
static void take_turns(struct key_order *lines, struct ready_queues *waiting, struct key_line *line,
                       const struct instant *now) {
    reckon(lines, line);
    struct entry *live = member(line, MEMBER_LIVE, 0);
    struct entry *replayed = member(line, MEMBER_REPLAYING, 0);
    place(waiting, member(line, MEMBER_LIVE, 1), false, now);
    place(waiting, member(line, MEMBER_REPLAYING, 1), false, now);
    place(waiting, live, live_may_go(line, live), now);
    place(waiting, replayed, replayed_may_go(line, replayed), now);
}

/* ---- changing ---- */

static void insert(struct list *members, struct entry *entry) {
    struct list *before = members->prev;
    while (before != members && of_member(before)->seq > entry->seq)
        before = before->prev;
    list_insert_after(before, &entry->in_line);
}

void key_order_add(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                   const struct instant *now) {
    assert(key_order_has_place(entry) && !entry->line);
    struct key_line *line = line_of(lines, entry->key);
    enum kind_of_member kind = kind_of(entry);
    entry->line = line;
    insert(&line->members[kind], entry);
    if (kind == MEMBER_LIVE && is_behind(line, entry))
        line->behind++;
    if (entry->facts.leased || entry_awaits_room(entry))
        ready_queues_add(waiting, entry, now);
    else if (kind != MEMBER_CLOSING)
        block(waiting, entry);
    take_turns(lines, waiting, line, now);
}

void key_order_remove(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                      const struct instant *now) {
    struct key_line *line = entry->line;
    if (kind_of(entry) == MEMBER_LIVE && is_behind(line, entry))
        line->behind--;
    if (entry->blocked)
        unblock(waiting, entry);
    else
        ready_queues_remove(waiting, entry);
    list_remove(&entry->in_line);
    entry->line = NULL;
    take_turns(lines, waiting, line, now);
    drop_if_empty(lines, line);
}

void key_order_give_back(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                         struct mono due) {
    ready_queues_give_back(waiting, entry, due);
    struct key_line *line = entry->line;
    if (member(line, kind_of(entry), 0) != entry)
        place(waiting, entry, false, NULL);
    take_turns(lines, waiting, line, NULL);
}

void key_order_take_one(struct ready_queues *waiting, struct entry *entry) {
    assert(entry->blocked);
    unblock(waiting, entry);
    ready_queues_take_blocked(waiting, entry);
}

size_t key_order_take_blocked(struct key_order *lines, struct ready_queues *waiting, size_t limit,
                              struct entry **out, size_t max) {
    struct heap_node *first = heap_first(&lines->closed);
    struct key_line *line = first ? of_closed(first) : NULL;
    if (!line || line->behind <= limit)
        return 0;
    size_t count = 0, place = 0;
    uint64_t bytes = 0;
    LIST_EACH(node, &line->members[MEMBER_LIVE]) {
        struct entry *entry = of_member(node);
        if (!is_behind(line, entry) || place++ < limit || !entry->blocked)
            continue;
        if (count == max || !ready_queues_fits(entry, count, &bytes))
            break;
        key_order_take_one(waiting, entry);
        out[count++] = entry;
    }
    return count;
}
