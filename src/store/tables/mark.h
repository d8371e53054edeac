/* mark: what was decided about a letter since its envelope was last written whole. It stands beside
 * the envelope as JSON, so that a decision about a million letters rewrites none of them; whoever
 * reads the envelope applies it. Words, not numbers: the text outlives this program. */
#ifndef STORE_TABLES_MARK_H
#define STORE_TABLES_MARK_H

#include "port/store.h"
#include "store/tables/blob.h"

struct mark {
    enum state state;
    enum resolution resolution;
    struct wall resolved_at, escalated_at; /* WALL_NEVER: as in the envelope */
    struct bytes why;                      /* empty: as in the envelope */
};

struct mark mark_of(const struct store_mark *decided);
/* `later` on top of `earlier`. */
struct mark mark_merge(const struct mark *earlier, const struct mark *later);
void mark_put(const struct mark *mark, struct buf *out);
struct blob *mark_encode(const struct mark *mark);
/* Texts are slices of `json` and of the arena; false when it is no mark. */
bool mark_decode(struct bytes json, struct arena *arena, struct mark *out);
/* A decision about many letters is the same text beside each of them: the memo reads it once. NULL
 * when it is no mark. The texts that are asked for, and the arena, must outlive the memo. */
struct mark_memo {
    struct bytes text; /* ptr NULL: none was read */
    struct mark mark;
};
const struct mark *mark_recall(struct mark_memo *memo, struct bytes json, struct arena *arena);
void mark_apply(const struct mark *mark, struct envelope *envelope);
/* Decodes and applies; no mark (ptr NULL) changes nothing. The text must outlive the envelope. */
enum status mark_read(struct bytes json, struct arena *arena, struct envelope *envelope,
                      struct err *err);

#endif
