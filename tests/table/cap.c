/* Drives the cap of a DLQ from cap.txt. Given is a story: `cap=N` and `concurrency=N` set, `+N`
 * letters arrive, `-N` leave, `arriving=N` are on their way, `waiting=N` messages wait for room,
 * `?` asks. Wanted: for each `?` full or open, how many more letters there is room for, and whether
 * the queue receives. */
#include "table.h"

#include "core/outage/cap.h"

struct story {
    uint64_t depth, arriving, cap, waiting, concurrency;
    bool full;
};

static void look(struct story *s) {
    s->full = cap_is_full(s->depth, s->cap, s->full);
}

static void step(struct story *s, struct bytes word, struct bytes value, struct buf *actual) {
    if (bytes_is(word, "cap"))
        s->cap = (uint64_t)table_number(value);
    else if (bytes_is(word, "concurrency"))
        s->concurrency = (uint64_t)table_number(value);
    else if (bytes_is(word, "arriving"))
        s->arriving = (uint64_t)table_number(value);
    else if (bytes_is(word, "waiting"))
        s->waiting = (uint64_t)table_number(value);
    else if (word.ptr[0] == '+')
        s->depth += (uint64_t)table_number(bytes_cut(word, 1, word.len));
    else if (word.ptr[0] == '-')
        s->depth -= (uint64_t)table_number(bytes_cut(word, 1, word.len));
    else if (bytes_is(word, "?"))
        buf_printf(actual, "%s%s %llu %s", actual->len ? ", " : "", s->full ? "full" : "open",
                   (unsigned long long)cap_left(s->depth, s->arriving, s->cap, s->full),
                   cap_stops_receiving(s->waiting, s->concurrency) ? "stops" : "receives");
    else
        table_bad("a step", word);
    look(s);
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct story s = {.cap = 100, .concurrency = 32};
    struct bytes rest = c->given, key, value;
    while (table_word(&rest, &key, &value))
        step(&s, key, value, actual);
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 15, answer) : 2;
}
