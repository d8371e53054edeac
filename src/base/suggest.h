/* suggest: "did you mean …?" for a word that is not known. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/bytes.h"

enum { SUGGEST_WORD_MAX = 64 }; /* longer words get no suggestion */

/* The candidate that the word was most likely meant to be (the first of equals), or NULL when none
 * is near: a third of its letters, but always one, may be wrong, missing, extra or swapped with a
 * neighbour. ASCII case, and - against _, do not count. */
const char *suggest_nearest(struct bytes word, const char *const *candidates, size_t count);

#endif
