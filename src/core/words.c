/* words: text and parse functions of the fixed words. */
#include "core/words.h"

#include <assert.h>

#define WORD_TEXT(code, text) text,

static const char *const verdict_words[] = {VERDICT_LIST(WORD_TEXT)};
static const char *const cause_words[] = {CAUSE_LIST(WORD_TEXT)};
static const char *const kind_words[] = {KIND_LIST(WORD_TEXT)};
static const char *const state_words[] = {STATE_LIST(WORD_TEXT)};
static const char *const resolution_words[] = {RESOLUTION_LIST(WORD_TEXT)};

/* The index of the word in its list, or `count` if it is not in it. */
static unsigned word_place(const char *const *words, unsigned count, struct bytes text) {
    unsigned place = 0;
    while (place < count && !bytes_is(text, words[place]))
        place++;
    return place;
}

/* Text and parse are the same for every list; only the names differ. */
#define WORD_FUNCTIONS(word, COUNT)                                                                \
    const char *word##_text(enum word value) {                                                     \
        assert((unsigned)value < COUNT);                                                           \
        return word##_words[value];                                                                \
    }                                                                                              \
    bool word##_parse(struct bytes text, enum word *out) {                                         \
        unsigned place = word_place(word##_words, COUNT, text);                                    \
        if (place == COUNT)                                                                        \
            return false;                                                                          \
        *out = (enum word)place;                                                                   \
        return true;                                                                               \
    }

WORD_FUNCTIONS(verdict, VERDICT_COUNT)
WORD_FUNCTIONS(cause, CAUSE_COUNT)
WORD_FUNCTIONS(kind, KIND_COUNT)
WORD_FUNCTIONS(state, STATE_COUNT)
WORD_FUNCTIONS(resolution, RESOLUTION_COUNT)
