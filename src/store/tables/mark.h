/* mark: a decision about a letter, made since its envelope was last written. It is stored beside
 * the envelope as JSON, so that a decision about a million letters rewrites no envelope; it is
 * applied each time the envelope is read. States are stored as words, not numbers, because the
 * stored text outlives a version of this program. */
#ifndef STORE_TABLES_MARK_H
#define STORE_TABLES_MARK_H

#include "port/store.h"
#include "store/tables/blob.h"

struct mark {
    enum state state;
    enum resolution resolution;
    struct wall resolved_at, escalated_at; /* WALL_NEVER: unchanged */
    struct bytes why;                      /* empty: unchanged */
};

struct mark mark_of(const struct store_mark *decided);
/* Applies `later` over `earlier`. */
struct mark mark_merge(const struct mark *earlier, const struct mark *later);
void mark_put(const struct mark *mark, struct buf *out);
struct blob *mark_encode(const struct mark *mark);
/* Texts are slices of `json` and of the arena; false if `json` is not a mark. */
bool mark_decode(struct bytes json, struct arena *arena, struct mark *out);
/* Caches the last decoded mark: a decision about many letters stores the same text beside each of
 * them. mark_recall returns NULL if `json` is not a mark. The `json` texts and the arena must
 * outlive the memo. */
struct mark_memo {
    struct bytes text; /* ptr NULL: the cache is empty */
    struct mark mark;
};
const struct mark *mark_recall(struct mark_memo *memo, struct bytes json, struct arena *arena);
void mark_apply(const struct mark *mark, struct envelope *envelope);
/* Decodes a mark and applies it; ptr NULL changes nothing. The text must outlive the envelope. */
enum status mark_read(struct bytes json, struct arena *arena, struct envelope *envelope,
                      struct err *err);

#endif
