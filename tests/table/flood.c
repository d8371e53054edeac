/* Drives the flood guard from flood.txt. Given, after settings, is a story: `ok*N` first attempts
 * that did not die, `dead:GROUP@VERSION*N` that did (the version may be left out), `+1m` passes
 * time, `resume` resumes the queue, `restart` keeps the counts of the minutes alone, `?` asks
 * whether a flood is on, `held?` the same of a halted queue. Wanted: GROUP or GROUP@VERSION where a
 * flood begins, and on or off for each question. */
#include "table.h"

#include "core/outage/flood.h"

struct story {
    struct flood flood;
    struct flood_policy policy;
    struct mono now;
    struct buf *actual;
};

static void say(struct story *s, struct bytes text) {
    buf_str(s->actual, s->actual->len ? " " : "");
    buf_bytes(s->actual, text);
}

static void note(struct story *s, struct bytes word) {
    struct bytes what = word, times = BYTES_NONE, group = BYTES_NONE, version = BYTES_NONE;
    int64_t count = table_split(word, '*', &what, &times) ? table_number(times) : 1;
    bool dead = bytes_starts(what, BYTES("dead:"));
    if (dead)
        group = bytes_cut(what, 5, what.len);
    else if (!bytes_is(what, "ok"))
        table_bad("a step", word);
    struct bytes name = group;
    table_split(group, '@', &name, &version);
    struct flood_note one = {
        .dead = dead, .fingerprint = dead ? bytes_hash(name) : 0, .version = version};
    for (int64_t i = 0; i < count; i++)
        if (flood_count(&s->flood, &s->policy, s->now, &one))
            say(s, group);
}

static void restart(struct story *s) {
    struct flood before = s->flood, after = {0};
    for (size_t ago = 0; ago < FLOOD_MINUTES; ago++) {
        flood_restore_first(&after, s->now, ago, flood_minute(&before, &before.first, s->now, ago));
        for (size_t i = 0; i < FLOOD_GROUPS; i++)
            if (before.groups[i].used)
                flood_restore_dead(&after, s->now, before.groups[i].fingerprint, ago,
                                   flood_minute(&before, &before.groups[i].dead, s->now, ago));
    }
    s->flood = after;
}

static void step(struct story *s, struct bytes word, struct bytes value) {
    if (bytes_is(word, "share"))
        s->policy.share_permille = (uint32_t)table_number(value) * 10;
    else if (bytes_is(word, "of"))
        s->policy.of = (uint32_t)table_number(value);
    else if (bytes_is(word, "window"))
        s->policy.window_ms = table_duration(value);
    else if (bytes_is(word, "off"))
        s->policy.then = FLOOD_OFF;
    else if (bytes_is(word, "resume"))
        flood_resume(&s->flood, s->now);
    else if (bytes_is(word, "restart"))
        restart(s);
    else if (bytes_is(word, "?") || bytes_is(word, "held?"))
        say(s,
            flood_lasts(&s->flood, &s->policy, s->now, word.len > 1) ? BYTES("on") : BYTES("off"));
    else if (word.ptr[0] == '+')
        s->now = mono_after(s->now, table_duration(bytes_cut(word, 1, word.len)));
    else
        note(s, word);
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct story s = {.now = {7000}, .actual = actual};
    flood_policy_init(&s.policy);
    struct bytes rest = c->given, key, value;
    while (table_word(&rest, &key, &value))
        step(&s, key, value);
    if (actual->len == 0)
        say(&s, BYTES("nothing"));
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 20, answer) : 2;
}
