/* convention_facts: the facts read from a dead letter, before they become an envelope. */
#ifndef TRIAGE_CONVENTION_FACTS_H
#define TRIAGE_CONVENTION_FACTS_H

#include "triage/adopt/formats/convention_row.h"

enum { CONVENTION_BESIDE_MAX = 24 };

struct convention_facts {
    const struct convention_letter *letter;
    struct arena *arena; /* heap: the letter's */
    struct {
        bool known;
        struct bytes text;
        int64_t number; /* a number, or a time in milliseconds */
    } facts[FACT_COUNT];
    struct {
        const char *name;
        struct bytes text;
    } beside[CONVENTION_BESIDE_MAX];
    size_t beside_count;
    bool awaits_retry; /* its system would have retried it, at no known time */
    enum state state;  /* pending_review, unless its system records it as resolved or discarded */
};

/* The first (or last) header of that name; BYTES_NONE: none. */
struct bytes convention_facts_header(const struct message *held, const char *name, bool last);
bool convention_facts_has(const struct convention_letter *letter, enum convention_where where,
                          const char *at);

/* Reads all fields of a row. */
void convention_facts_read(struct convention_facts *facts, const struct convention *row);
/* For facts that are not fields. A fact that is known already stays; an empty text sets nothing.
 * Texts are borrowed for as long as the facts. */
void convention_facts_text(struct convention_facts *facts, enum convention_fact fact,
                           struct bytes text);
void convention_facts_number(struct convention_facts *facts, enum convention_fact fact,
                             int64_t number);
void convention_facts_time(struct convention_facts *facts, enum convention_fact fact, int64_t ms);
void convention_facts_beside(struct convention_facts *facts, const char *name, struct bytes text);
/* Replaces a known fact. */
void convention_facts_replace(struct convention_facts *facts, enum convention_fact fact,
                              struct bytes text);

static inline struct bytes convention_facts_get(const struct convention_facts *facts,
                                                enum convention_fact fact) {
    return facts->facts[fact].known ? facts->facts[fact].text : BYTES_NONE;
}

#endif
