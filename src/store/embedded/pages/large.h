/* large: bodies that are too large for the journal, in files of their own: <store>.large/<name>.
 *
 *   1  submit: a name is reserved, and the record of the commit contains a stub with that name
 *   2  the writer: the file is written under a temporary name, synced, renamed, and its directory
 *      synced
 *   3  the commit is made durable; only then is the message acknowledged at its source
 *   4  a file that no message refers to after the commit is removed
 *
 * A file is never changed once a commit may refer to it: another body of the same message gets
 * another name. A crash before 3 or between 3 and 4 leaves a file that no message refers to. It is
 * removed at the next start, after every stub was read.
 *
 * The name is the letter's id. A message that is not a letter yet, and a letter whose current file
 * has its id and another body, gets a name made of its queue, id and content; the next change of
 * the letter renames the file to the letter's id.
 *
 * Each file has a reference count of messages, commits in progress included, and is removed when it
 * is 0: a letter that moves to another queue keeps its file.
 *
 * A stored body is a stub if it has the form of a stub and its size differs from the envelope's
 * size: a user's body is never taken for a stub. */
#ifndef STORE_EMBEDDED_PAGES_LARGE_H
#define STORE_EMBEDDED_PAGES_LARGE_H

#include "base/buf.h"
#include "port/disk.h"
#include "port/store.h"

enum {
    LARGE_NAME_LEN = 36, /* the length of a UUID */
    LARGE_NAME_SIZE = LARGE_NAME_LEN + 1,
    LARGE_STUB_LEN = 71, /* "impound-large " name " " size in 20 digits */
    LARGE_STUB_SIZE = LARGE_STUB_LEN + 1,
    LARGE_HASH_SIZE = 65, /* hex of SHA-256 */
};

struct large;

/* Bodies with more bytes are stored in files; 0: no limit. */
struct large *large_new(struct disk *disk, const char *store_path, uint64_t above);
void large_free(struct large *large);
const char *large_dir(const struct large *large);
bool large_takes(const struct large *large, struct bytes body);
/* True if there are files, or may be. */
bool large_any(struct large *large);
/* For doctor: a message may refer to a file although there is none. */
void large_expect(struct large *large);
/* Every body in a file has at least this size. */
uint64_t large_smallest(struct large *large);

/* True if `stored` is a stub for a body of `size` bytes; sets the file's name. */
bool large_is_stub(struct bytes stored, uint64_t size, char name[LARGE_NAME_SIZE]);
/* For a message whose envelope is lost: the size of the body that a stub stands for; 0: not a stub.
 */
uint64_t large_stub_size(struct bytes stored);
void large_stub(const char *name, uint64_t size, char out[LARGE_STUB_SIZE]);

/* ---- references ---- */

/* At a start: a message refers to this file. */
void large_note(struct large *large, const char *name, const char *content_hash, uint64_t size);
/* At a start, after every large_note: removes files without a reference. With `complete` false some
 * messages could not be read, and no file is removed until the next start. */
void large_sweep(struct large *large, bool complete);
/* The number of files without a reference. */
uint64_t large_orphans(struct large *large);
/* Reserves the file name for the body of a PUT or UPDATE. */
void large_reserve(struct large *large, const struct store_op *op, char name[LARGE_NAME_SIZE]);
/* Links the file of a letter under the letter's id as a second name, which is reserved. False: it
 * has that name already, or the link failed. The name is durable after large_settle. */
bool large_rename(struct large *large, const char *from, const struct envelope *letter,
                  char name[LARGE_NAME_SIZE]);
/* A durable commit removed a reference to the file: the file is removed with its last reference. */
void large_drop(struct large *large, const char *name);
/* The commit that reserved the name was not made. The file stays, because a commit that failed may
 * still be replayed at the next start. */
void large_unreserve(struct large *large, const char *name);

/* ---- files ---- */

/* Called by one thread at a time. Writes the body under its reserved name and syncs it; no effect
 * if the file exists. */
enum status large_write(struct large *large, const char *name, struct bytes body, struct err *err);
/* Makes the names of large_rename durable. */
enum status large_settle(struct large *large, struct err *err);
/* Sets the body of a message whose stored body is a stub, and body_file of its envelope. CORRUPT:
 * the file is missing, or has another size. */
enum status large_read(const struct large *large, const char *name, struct message *held,
                       struct err *err);
/* Checks the size and the content hash of the file. */
enum status large_check(const struct large *large, const char *name, uint64_t size,
                        const char *content_hash, struct err *err);
/* For a repair: renames a damaged file to <name>.damaged. */
void large_set_aside(const struct large *large, const char *name);

#endif
