/* journal: checksummed groups of records, appended to recycled segments.
 *
 * A group is written at once and is whole or absent after a crash: its checksum tells. A position
 * is a number that only grows (segment number × segment size + offset); a record's position finds
 * its bytes again until the segment is recycled. One thread at a time appends, syncs and recycles;
 * any thread may read.
 *
 * After a failed append or sync nothing of that group may ever come back: the journal goes on in a
 * new segment whose header says where the old one really ends. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_FILE_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_FILE_H

#include "base/buf.h"
#include "base/status.h"
#include "port/disk.h"
#include "port/journal.h"

enum { JOURNAL_FORMAT_VERSION = 1, JOURNAL_SEGMENT_BYTES = 64 << 20 };

struct journal_files;

struct journal_options {
    struct disk *disk;
    const char *dir;
    uint64_t segment_bytes; /* 0: JOURNAL_SEGMENT_BYTES; tests use small ones */
    uint64_t max_bytes;     /* of all segments together; 0: no bound */
    uint64_t salt;          /* what strangers cannot know: segments' salts come from it */
    uint64_t keep_bytes;    /* of folded segments, to be used again; 0: all */
    bool between_groups;    /* journal_open: a position inside a group is CORRUPT */
};

/* Creates or opens. Every whole record at or behind `from` is given to `replay` in order (0: from
 * the start of what is there); a non-OK answer stops and is returned. A torn tail is cut. CORRUPT:
 * a hole in the middle, or `from` is not there; err says which segment and offset. */
enum status journal_open(const struct journal_options *options, uint64_t from,
                         enum status (*replay)(void *arg, uint64_t position, struct bytes record),
                         void *arg, struct journal_files **out, struct err *err);
/* Whether one group may have so many records, of so many bytes together. */
bool journal_takes(const struct journal_files *journal, size_t records, size_t bytes);
/* One group. positions[i] is set for each record. Not durable before journal_sync. FULL: the bound
 * is reached (recycle and try again) or the disk is full. TOO_LARGE: no segment takes such a group.
 */
enum status journal_append(struct journal_files *journal, const struct bytes *records, size_t count,
                           uint64_t *positions, struct err *err);
/* IO: every group since the last good sync is given up. */
enum status journal_sync(struct journal_files *journal, struct err *err);
/* The record's bytes, in the window until it is used again; their checksum is checked. NOT_FOUND:
 * it was recycled or refused. */
enum status journal_read(struct journal_files *journal, uint64_t position,
                         struct journal_window *window, struct bytes *out, struct err *err);
/* Segments that lie wholly before `position` may be used again. */
enum status journal_recycle(struct journal_files *journal, uint64_t position, struct err *err);
/* Of the segments that may be used again all but one are removed: the disk is full. */
void journal_shrink(struct journal_files *journal);
/* In quiet times: what the next segment will be made of. One thread at a time; appends may go on.
 */
enum status journal_prepare(struct journal_files *journal, struct err *err);
/* Where the next group will stand, at the earliest; 0 while the journal holds no segment. What is
 * not synced yet counts: a fold remembers the end that it saw when journal_sync answered. */
uint64_t journal_end(const struct journal_files *journal);
uint64_t journal_bytes(const struct journal_files *journal); /* of all segments in use */
void journal_close(struct journal_files *journal);           /* frees; syncs nothing */

/* For doctor: every group of every segment is checked. One line a finding. With `salvage` not NULL,
 * every whole record is given to it in order, whatever lies between. */
enum status journal_verify(const struct journal_options *options, struct buf *report,
                           void (*salvage)(void *arg, uint64_t position, struct bytes record),
                           void *arg, struct err *err);

#endif
