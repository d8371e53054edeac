/* large: bodies that are too large for the journal, in files of their own: <store>.large/<name>.
 *
 *   1  submit: a name is reserved, and the record of the commit gets a stub that names the file
 *   2  the store's writer: the file is written under another name, synced, renamed, and its folder
 *      synced
 *   3  the commit is made; only then is the message settled at its source
 *   4  the file that the commit leaves without a message is removed
 *
 * A file is never changed once a commit may name it: another body of the same message gets another
 * name. A kill before 3 or between 3 and 4 leaves a file that no message names. It is removed at
 * the next start, after every stub has been read.
 *
 * The name is the letter's id. A message that is no letter yet, and a letter whose present file has
 * its id and another body, gets a name made of its queue, id and content; the next change of the
 * letter gives the file the letter's id.
 *
 * How many messages name a file is counted, commits under way included, and a file is removed when
 * none does: a letter that moves to another queue takes its file along.
 *
 * A stored body is a stub when it reads like one and the envelope's size is another: no body of a
 * user can be taken for one. */
#ifndef STORE_EMBEDDED_PAGES_LARGE_H
#define STORE_EMBEDDED_PAGES_LARGE_H

#include "base/buf.h"
#include "port/disk.h"
#include "port/store.h"

enum {
    LARGE_NAME_LEN = 36, /* as a UUID is written */
    LARGE_NAME_SIZE = LARGE_NAME_LEN + 1,
    LARGE_STUB_LEN = 71, /* "impound-large " name " " size in 20 digits */
    LARGE_STUB_SIZE = LARGE_STUB_LEN + 1,
    LARGE_HASH_SIZE = 65, /* hex of SHA-256 */
};

struct large;

/* Bodies above so many bytes go into files; 0: none does. */
struct large *large_new(struct disk *disk, const char *store_path, uint64_t above);
void large_free(struct large *large);
const char *large_dir(const struct large *large);
bool large_takes(const struct large *large, struct bytes body);
/* There are files, or may be. */
bool large_any(struct large *large);
/* For doctor: a message may name a file though there is none. */
void large_expect(struct large *large);
/* No body that has a file is smaller. */
uint64_t large_smallest(struct large *large);

/* Whether what is stored of a body of `size` bytes is a stub; its name. */
bool large_is_stub(struct bytes stored, uint64_t size, char name[LARGE_NAME_SIZE]);
/* For a message whose envelope is lost: how large the body is that a stub stands for; 0: what is
 * stored does not read like a stub. */
uint64_t large_stub_size(struct bytes stored);
void large_stub(const char *name, uint64_t size, char out[LARGE_STUB_SIZE]);

/* ---- names in use ---- */

/* At a start: a message names this file. */
void large_note(struct large *large, const char *name, const char *content_hash, uint64_t size);
/* At a start, after every large_note: removes files that no message names. With `complete` false
 * not every message could be read, and no file is removed until the next start. */
void large_sweep(struct large *large, bool complete);
/* How many such files there are. */
uint64_t large_orphans(struct large *large);
/* The name for the body of a PUT or UPDATE. */
void large_reserve(struct large *large, const struct store_op *op, char name[LARGE_NAME_SIZE]);
/* The file of a letter gets the letter's id as a second name, which is reserved. False: it has that
 * name already, or cannot get it. The name is safe after large_settle. */
bool large_rename(struct large *large, const char *from, const struct envelope *letter,
                  char name[LARGE_NAME_SIZE]);
/* A message names the file no more, and that is durable: where none does, it is removed. */
void large_drop(struct large *large, const char *name);
/* The commit of a reserved name was not made. The file stays, because a commit that was refused may
 * still be found at the next start. */
void large_unreserve(struct large *large, const char *name);

/* ---- files ---- */

/* By one thread at a time. Writes the body under its reserved name and makes it safe; nothing where
 * the file is there. */
enum status large_write(struct large *large, const char *name, struct bytes body, struct err *err);
/* Makes the names that large_rename gave safe. */
enum status large_settle(struct large *large, struct err *err);
/* Sets the body of the message, whose stored body is a stub, and body_file of its envelope.
 * CORRUPT: the file is not there, or has another size. */
enum status large_read(const struct large *large, const char *name, struct message *held,
                       struct err *err);
/* Whether the file has so many bytes, and the content. */
enum status large_check(const struct large *large, const char *name, uint64_t size,
                        const char *content_hash, struct err *err);
/* For a repair: a file that is damaged is kept as <name>.damaged. */
void large_set_aside(const struct large *large, const char *name);

#endif
