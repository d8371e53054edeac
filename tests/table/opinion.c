/* Drives the second opinion from opinion.txt. Given is a sequence of events:
 *     a  b            a hand-over of message a, b … begins
 *     a-              message a is refused; a check begins if none is under way
 *     a=              message a is refused while the queue stands still
 *     a.              message a succeeded
 *     a!              message a failed, with an answer that is not of SEMANTICS 4.1
 *     a~              message a failed with an answer of SEMANTICS 4.1, or was interrupted
 *     A               refused message a is handed over once more
 *     A+              refused message a is dead-lettered (A. A~ A-: as above)
 *     +10s            time passes
 *     |1h             nothing may be handed over for another reason, for so long
 *     H               the queue halted if opinion_step said so; R: it is resumed
 * Wanted: the next step; `proven` where refused messages may be confirmed; `receives` in ASK where
 * the source may be asked; `died` where the last dead-lettering halts the queue. */
#include "table.h"

#include "core/outage/second_opinion.h"

enum { LETTERS = 26 };

struct story {
    struct second_opinion opinion;
    struct mono now;
    uint64_t begun;
    uint64_t numbers[LETTERS]; /* of each message's last hand-over */
    bool died;
};

static void begin(struct story *s, char who) {
    s->numbers[(who | 0x20) - 'a'] = ++s->begun;
    if (who < 'a')
        opinion_confirmed(&s->opinion);
}

static void refuse(struct story *s, uint64_t number, bool check) {
    opinion_refused(&s->opinion, s->begun, s->now, check);
    opinion_answered(&s->opinion, number, OPINION_FAILURE, s->now);
}

static void end(struct story *s, char who, char how) {
    uint64_t number = s->numbers[(who | 0x20) - 'a'];
    if (how == '-' || how == '=')
        refuse(s, number, how == '-');
    else if (how == '+')
        s->died = opinion_died(&s->opinion, (uint64_t)(who | 0x20), s->now);
    else
        opinion_answered(&s->opinion, number,
                         how == '.'   ? OPINION_SUCCESS
                         : how == '!' ? OPINION_FAILURE
                                      : OPINION_NOTHING,
                         s->now);
}

static void tell(struct story *s, struct bytes event) {
    char first = event.ptr[0];
    opinion_step(&s->opinion, s->now); /* the engine asks at every turn */
    if (first == '+') {
        s->now.ms += table_duration(bytes_cut(event, 1, event.len));
    } else if (first == '|') {
        opinion_hold(&s->opinion);
        s->now.ms += table_duration(bytes_cut(event, 1, event.len));
    } else if (first == 'H' || first == 'R') {
        opinion_reset(&s->opinion, s->begun);
    } else if ((first | 0x20) < 'a' || (first | 0x20) > 'z' || event.len > 2) {
        table_bad("an event", event);
    } else if (event.len == 1) {
        begin(s, first);
    } else {
        end(s, first, event.ptr[1]);
    }
}

static void answer(const struct table_case *c, struct buf *actual) {
    static const char *const steps[] = {"run", "ask", "confirm", "halt"};
    struct story s = {.now = {1000000}};
    struct bytes rest = c->given, event, more;
    while (rest.len) {
        table_split(rest, ' ', &event, &more);
        rest = more;
        if (event.len)
            tell(&s, event);
    }
    enum opinion_step step = opinion_step(&s.opinion, s.now);
    buf_str(actual, steps[step]);
    if (step == OPINION_ASK && opinion_receives(&s.opinion, s.now))
        buf_str(actual, " receives");
    if (opinion_proves(&s.opinion, s.opinion.refused_at))
        buf_str(actual, " proven");
    if (s.died)
        buf_str(actual, " died");
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 25, answer) : 2;
}
