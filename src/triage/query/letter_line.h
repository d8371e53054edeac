/* letter_line: a letter as one line of an export, an archive or a spill file. Writing and reading
 * it gives the same bytes: the envelope, its body, and the original body if an edit replaced it
 * ("original_base64"). */
#ifndef TRIAGE_QUERY_LETTER_LINE_H
#define TRIAGE_QUERY_LETTER_LINE_H

#include "triage/triage.h"

#define LETTER_LINE_MAX ((size_t)256 * 1024 * 1024)

/* Appends the line without its \n. The original body is read from the store. */
enum status letter_line_put(struct triage *triage, const struct message *held, struct buf *out,
                            struct err *err);

struct letter_line {
    struct envelope envelope;
    struct bytes body;
    struct bytes original; /* ptr NULL: never edited */
};

/* Results are slices of the line or in the arena. INVALID: not a letter, the id is missing, or the
 * body does not match content_hash. A `replaying` letter becomes pending_review, since its replay
 * is not part of the line. */
enum status letter_line_read(struct bytes line, struct arena *arena, struct letter_line *out,
                             struct err *err);

#endif
