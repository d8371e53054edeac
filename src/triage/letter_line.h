/* letter_line: a letter as one line of an export, an archive or a spill file, and back, so that
 * what comes back is the same to the byte: the envelope, its body, and the body that first died
 * where an edit replaced it ("original_base64"). */
#ifndef TRIAGE_LETTER_LINE_H
#define TRIAGE_LETTER_LINE_H

#include "triage/triage.h"

#define LETTER_LINE_MAX ((size_t)256 * 1024 * 1024)

/* Appends the line without its \n. The original is looked up in the store. */
enum status letter_line_put(struct triage *triage, const struct message *held, struct buf *out,
                            struct err *err);

struct letter_line {
    struct envelope envelope;
    struct bytes body;
    struct bytes original; /* ptr NULL: it was never edited */
};

/* Slices of the line and of the arena. INVALID: it is no letter, its id is missing, or its body is
 * not the one that its content_hash was made of. A letter that was being replayed waits for review
 * again: its replay is not here. */
enum status letter_line_read(struct bytes line, struct arena *arena, struct letter_line *out,
                             struct err *err);

#endif
