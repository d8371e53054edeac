/* journal_segment: one segment file: its name, its header and the groups in it. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_SEGMENT_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_SEGMENT_H

#include "base/buf.h"
#include "base/status.h"
#include "port/disk.h"
#include "store/embedded/journal/journal_format.h"

enum { JOURNAL_PATH_MAX = 4096, JOURNAL_NAME_MAX = 32 };

/* The name of the file that becomes the next segment; it is renamed to its number when its header
 * is durable. */
extern const char journal_segment_spare[];

struct journal_segment {
    struct disk *disk;
    struct disk_file *file;
    uint64_t number; /* from the file's name */
    uint64_t bytes;  /* the size of every segment */
    uint64_t there;  /* the actual size of the file: less than `bytes` if it was truncated */
    struct journal_header header;
    bool sound;    /* the header is intact and belongs to this file */
    bool linked;   /* its groups are part of the journal */
    bool reusable; /* no record in it is needed any more */
    uint64_t end;  /* the position after its last group */
    unsigned pins; /* reads in progress */
};

/* "0000000000000001.seg" */
void journal_segment_name(uint64_t number, char name[JOURNAL_NAME_MAX]);
bool journal_segment_number(const char *name, uint64_t *out);
/* The path of a file in the journal's directory; false if it is too long. */
bool journal_segment_path(const char *dir, const char *name, char path[JOURNAL_PATH_MAX]);
void journal_segment_free(struct journal_segment *segment); /* closes the file */

uint64_t
journal_segment_start(const struct journal_segment *segment); /* position of its first group */
bool journal_segment_is_empty(const struct journal_segment *segment);

/* Reads the header and sets `sound`. CONFLICT: intact, but with another format version or segment
 * size. */
enum status journal_segment_load(struct journal_segment *segment, struct err *err);
/* Reads the group at `position` into *bytes. NOT_FOUND: there is no intact group of this segment.
 */
enum status journal_segment_group(const struct journal_segment *segment, uint64_t position,
                                  struct buf *bytes, struct journal_group *out, struct err *err);
/* Calls `visit` with each record of a group that was just read, within its payload; stops at a
 * status other than OK and returns it. */
enum status journal_segment_records(
    uint64_t position, const struct buf *bytes, const struct journal_group *group,
    enum status (*visit)(void *arg, uint64_t position, struct bytes record), void *arg);
/* Moves *position to the next intact group at or after it. NOT_FOUND: there is none. */
enum status journal_segment_seek(const struct journal_segment *segment, uint64_t *position,
                                 struct buf *bytes, struct journal_group *out, struct err *err);

/* Translates an errno of the disk into a status, with segment and offset in err. */
enum status journal_segment_trouble(int error, const char *doing, uint64_t number, struct err *err);

#endif
