/* suggest: "did you mean …?" for an unknown word. */
#ifndef BASE_TEXT_SUGGEST_H
#define BASE_TEXT_SUGGEST_H

#include "base/bytes.h"

enum { SUGGEST_WORD_MAX = 64 }; /* longer words get no suggestion */

/* Candidates are tried one by one; `best` is then the most likely one (the first of equals), or
 * empty if none is near: a third of its letters, but always one, may be wrong, missing, extra or
 * swapped with a neighbour. ASCII case, and - against _, do not count. */
struct suggest {
    struct bytes word;
    struct bytes best; /* lives as long as the candidate that was given */
    size_t distance;
};

struct suggest suggest_for(struct bytes word);
void suggest_try(struct suggest *suggest, struct bytes candidate);
/* The same over a list; NULL: none is near. */
const char *suggest_nearest(struct bytes word, const char *const *candidates, size_t count);

#endif
