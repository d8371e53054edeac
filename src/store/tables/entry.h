/* entry: what the tables in memory know of one message: what the engine needs to decide, and where
 * its bytes are. */
#ifndef STORE_TABLES_ENTRY_H
#define STORE_TABLES_ENTRY_H

#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "core/envelope/envelope.h"
#include "store/tables/blob.h"
#include "store/tables/name_table.h"

struct line;

/* What an envelope says that the tables need. */
struct entry_facts {
    enum state state;
    uint32_t attempts;
    struct wall next_attempt_at;
    int64_t delay_ms;
    struct wall dead_at;
    const struct name *dlq, *category, *reason;
    uint64_t fingerprint; /* of its failure; 0: none */
    uint64_t size;        /* of its body, in bytes */
    bool leased;
    bool closes_key; /* with a letter id */
    char *letter_id; /* owned; NULL: it never died */
};

/* The start of the body's SHA-256: two bodies are held to be the same when this is. */
enum { CONTENT_MARK_SIZE = 32 };

enum entry_stage {
    ENTRY_RESERVED,  /* its PUT is under way: the id is taken, nobody sees it */
    ENTRY_HELD,      /* it is in the store */
    ENTRY_FORGOTTEN, /* it is gone, but the file behind still shows it: this hides it */
};

/* A place in the journal, or: */
enum { PLACE_NONE = 0 };
#define PLACE_FILE UINT64_MAX /* in the SQLite file */

struct entry {
    struct map_node by_seq, by_id, by_letter;
    struct heap_node due; /* in its queue's delayed or retry heap */
    struct list link;     /* in its queue's ready or taken list, or among the parked */
    struct list change;   /* in the list of changes that wait for the fold */
    struct list recent;   /* in the list of those whose bytes are in memory */
    struct list in_line;  /* in its line, while its queue has lines */
    struct line *line;

    uint64_t seq;
    uint32_t queue;
    uint32_t pins;    /* commits under way that change it */
    uint32_t folding; /* folds that hold it, waiting or under way */
    enum entry_stage stage;
    bool taken;
    bool given_back;  /* it waits for a time of its own, not for that of its facts */
    bool parked;      /* it need not be in memory (store/tables/paged_queue.h) */
    bool blocked;     /* it is not its turn in its line: it is in no list of its queue */
    bool unscheduled; /* its due time is yet to be reckoned, when the time is next known */
    bool unreadable;  /* its bytes could not be read when it was last to be taken */
    bool changed;     /* in the list of changes */
    bool in_file;     /* the SQLite file has a row of it */
    uint64_t ticket;  /* RESERVED: the commit that puts it */
    uint64_t tried; /* grows with every hand-over of its queue that ended; 0: none since opening */

    struct entry_facts facts;
    char content_mark[CONTENT_MARK_SIZE];
    struct bytes id;
    struct bytes key; /* ptr NULL: none */

    struct kept envelope, body; /* while in memory */
    struct blob *mark;          /* what was decided since the envelope was written; NULL: nothing */
    uint64_t envelope_place, body_place;
    size_t recent_bytes; /* of the two above, as its store counts them */

    char names[]; /* id and key */
};

/* Names are interned in `names`, so the caller holds their lock. */
void entry_facts(const struct envelope *envelope, struct name_table *names,
                 struct entry_facts *out);
void entry_facts_free(struct entry_facts *facts);
/* RESERVED, with the envelope's id and facts. */
struct entry *entry_new(uint64_t seq, uint32_t queue, const struct envelope *envelope,
                        struct name_table *names);
void entry_free(struct entry *entry);
/* `content_mark`: of CONTENT_MARK_SIZE bytes at least. */
bool entry_same_content(const struct entry *entry, const char *content_mark);
struct bytes entry_letter_id(const struct entry *entry);
/* True if it was judged dead and waits for room in its DLQ (envelope_awaits_room). */
bool entry_awaits_room(const struct entry *entry);
/* The id that others name it by: of its letter, or of its message while it has no letter. */
struct bytes entry_public_id(const struct entry *entry);
/* Memory needs it: it waits, or closes its key. */
bool entry_stays(const struct entry *entry);
/* In the engine's hands, or it was when we last died. */
bool entry_is_taken(const struct entry *entry);
struct bytes entry_mark(const struct entry *entry); /* ptr NULL: none */
/* As people see it: running and retrying while it is taken. */
enum state entry_state(const struct entry *entry);

#endif
