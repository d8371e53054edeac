/* journal_file: checksummed groups of records, appended to recycled segments.
 *
 * A group is written at once and is complete or absent after a crash, as its checksum shows. A
 * position is a number that only grows (segment number × segment size + offset); a record can be
 * read by its position until the segment is recycled. One thread at a time appends, syncs and
 * recycles; any thread may read.
 *
 * After a failed append or sync no part of that group may ever be replayed: the journal continues
 * in a new segment, whose header contains the valid end of the old one. */
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
    uint64_t segment_bytes; /* 0: JOURNAL_SEGMENT_BYTES; tests use small segments */
    uint64_t max_bytes;     /* of all segments together; 0: no limit */
    uint64_t salt;          /* a secret from which the salts of segments are derived */
    uint64_t keep_bytes;    /* size of folded segments that are kept for reuse; 0: all */
    bool between_groups;    /* journal_open: a position inside a group is CORRUPT */
};

/* Creates or opens. Every intact record at or after `from` is passed to `replay` in order (0: from
 * the first); if it returns another status than OK, journal_open stops and returns it. A torn tail
 * is cut. CORRUPT: damage in the middle, or `from` is not in the journal; err has the segment and
 * the offset. */
enum status journal_open(const struct journal_options *options, uint64_t from,
                         enum status (*replay)(void *arg, uint64_t position, struct bytes record),
                         void *arg, struct journal_files **out, struct err *err);
/* Whether one group may have this many records, with this many bytes together. */
bool journal_takes(const struct journal_files *journal, size_t records, size_t bytes);
/* Appends one group. positions[i] is set for each record. Not durable before journal_sync. FULL:
 * the size limit is reached (recycle and try again) or the disk is full. TOO_LARGE: the group does
 * not fit into a segment. */
enum status journal_append(struct journal_files *journal, const struct bytes *records, size_t count,
                           uint64_t *positions, struct err *err);
/* IO: every group since the last successful sync is given up. */
enum status journal_sync(struct journal_files *journal, struct err *err);
/* The record's bytes, which stay in the window until its next use; the checksum is verified.
 * NOT_FOUND: the record was recycled or given up. */
enum status journal_read(struct journal_files *journal, uint64_t position,
                         struct journal_window *window, struct bytes *out, struct err *err);
/* Segments that end before `position` may be reused. */
enum status journal_recycle(struct journal_files *journal, uint64_t position, struct err *err);
/* The disk is full: removes all reusable segments but one. */
void journal_shrink(struct journal_files *journal);
/* Called when the store is idle: prepares the file of the next segment. One thread at a time;
 * appends may run at the same time. */
enum status journal_prepare(struct journal_files *journal, struct err *err);
/* The earliest position of the next group; 0 while the journal has no segment. Unsynced groups are
 * included, so a fold must use the end at the time when journal_sync returned. */
uint64_t journal_end(const struct journal_files *journal);
uint64_t journal_bytes(const struct journal_files *journal); /* size of all segments in use */
void journal_close(struct journal_files *journal);           /* frees; does not sync */

/* For doctor: checks every group of every segment. One line per finding. If `salvage` is not NULL,
 * every intact record is passed to it in order, and damage is skipped. */
enum status journal_verify(const struct journal_options *options, struct buf *report,
                           void (*salvage)(void *arg, uint64_t position, struct bytes record),
                           void *arg, struct err *err);

#endif
