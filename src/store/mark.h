/* mark: what was decided about a letter since its envelope was last written whole. It stands beside
 * the envelope as JSON, so that a decision about a million letters rewrites none of them; whoever
 * reads the envelope applies it. Words, not numbers: the text outlives this program. */
#ifndef STORE_MARK_H
#define STORE_MARK_H

#include "port/store.h"
#include "store/blob.h"

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
void mark_apply(const struct mark *mark, struct envelope *envelope);
/* Decodes and applies; no mark (ptr NULL) changes nothing. The text must outlive the envelope. */
enum status mark_read(struct bytes json, struct arena *arena, struct envelope *envelope,
                      struct err *err);

#endif
