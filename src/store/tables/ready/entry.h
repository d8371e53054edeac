/* entry: one message in the tables in memory: the facts that the engine needs, and where the bytes
 * are stored. */
#ifndef STORE_TABLES_ENTRY_H
#define STORE_TABLES_ENTRY_H

#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "core/envelope/envelope.h"
#include "store/tables/blob.h"
#include "store/tables/counters/name_table.h"

struct key_line;

/* The members of an envelope that the tables need. */
struct entry_facts {
    enum state state;
    uint32_t attempts;
    struct wall next_attempt_at;
    int64_t delay_ms;
    struct wall dead_at;
    const struct name *dlq, *category, *reason;
    uint64_t fingerprint; /* of its failure; 0: none */
    uint64_t size;        /* of the body, in bytes */
    bool leased;
    bool closes_key; /* only with a letter id */
    char *letter_id; /* owned; NULL: it never died */
};

/* The first bytes of the body's SHA-256: two bodies are considered equal if these are. */
enum { CONTENT_MARK_SIZE = 32 };

enum entry_stage {
    /* Its PUT is not durable yet: the id is reserved, but the message is not visible. */
    ENTRY_RESERVED,
    ENTRY_HELD,      /* in the store */
    ENTRY_FORGOTTEN, /* removed, but the SQLite file still has its row: the entry hides that row */
};

/* A journal position, or one of these: */
enum { PLACE_NONE = 0 };
#define PLACE_FILE UINT64_MAX /* the bytes are in the SQLite file */

struct entry {
    struct map_node by_seq, by_id, by_letter;
    struct heap_node due; /* in its queue's delayed or retry heap */
    struct list link;     /* in its queue's ready or taken list, or in the list of parked entries */
    struct list change;   /* in the list of changes for the next fold */
    struct list recent;   /* in the list of entries whose bytes are in memory */
    struct list in_line;  /* in the list of its key, if its queue is ordered */
    struct key_line *line;

    uint64_t seq;
    uint32_t queue;
    uint32_t pins;    /* number of commits in progress that change it */
    uint32_t folding; /* number of folds that hold it, waiting or in progress */
    enum entry_stage stage;
    bool taken;
    bool given_back;  /* it waits for the time that give_back set, not for that of its facts */
    bool parked;      /* it may leave memory (store/tables/ready/paged_queue.h) */
    bool blocked;     /* it must wait for others of its key: it is in no list of its queue */
    bool unscheduled; /* its due time is computed when the time is next known */
    bool unreadable;  /* its bytes could not be read at its last take */
    bool changed;     /* in the list `change` */
    bool in_file;     /* the SQLite file has its row */
    uint64_t ticket;  /* RESERVED: the ticket of the commit that puts it */
    /* A number that grows with every finished attempt of its queue; 0: no attempt since the store
     * was opened. */
    uint64_t tried;

    struct entry_facts facts;
    char content_mark[CONTENT_MARK_SIZE];
    struct bytes id;
    struct bytes key; /* ptr NULL: none */

    struct kept envelope, body; /* while in memory */
    struct blob *mark;          /* the decision since the envelope was written; NULL: none */
    uint64_t envelope_place, body_place;
    size_t recent_bytes; /* size of envelope and body in memory, as the store counts them */

    char names[]; /* id and key */
};

/* Names are interned in `names`, so the caller must hold the lock of the tables. */
void entry_facts(const struct envelope *envelope, struct name_table *names,
                 struct entry_facts *out);
void entry_facts_free(struct entry_facts *facts);
/* A new entry, RESERVED, with the envelope's id and facts. */
struct entry *entry_new(uint64_t seq, uint32_t queue, const struct envelope *envelope,
                        struct name_table *names);
void entry_free(struct entry *entry);
/* `content_mark` has at least CONTENT_MARK_SIZE bytes. */
bool entry_same_content(const struct entry *entry, const char *content_mark);
struct bytes entry_letter_id(const struct entry *entry);
/* True if it was judged dead and waits for room in its DLQ (envelope_awaits_room). */
bool entry_awaits_room(const struct entry *entry);
/* The id shown to users: the letter id, or the message id while there is no letter. */
struct bytes entry_public_id(const struct entry *entry);
/* True if the entry must stay in memory, because it waits or closes its key. */
bool entry_stays(const struct entry *entry);
/* True if the engine holds it, or held it at the last crash or shutdown. */
bool entry_is_taken(const struct entry *entry);
struct bytes entry_mark(const struct entry *entry); /* ptr NULL: none */
/* The state shown to users: running or retrying while it is taken. */
enum state entry_state(const struct entry *entry);

#endif
