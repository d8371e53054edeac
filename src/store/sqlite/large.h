/* large: bodies that are too large for the journal, in files of their own: <store>.large/<name>.
 *
 *   1  the file is written under another name, synced, renamed, and its folder synced
 *   2  the commit is made: in place of the body stands a stub that names the file
 *   3  only then is the message settled at its source
 *
 * A kill before 2 leaves a file that nothing names; it is removed at the next start, when
 * everything that the journal holds is folded and every stub has been read. A file goes when its
 * message is forgotten, after that commit is durable. The name is the letter's id, or for a message
 * that is no letter one made of its queue, id and content, so that a commit that is submitted again
 * writes the same file.
 *
 * A stored body is a stub when it reads like one and the envelope's size is another: no body of a
 * user can be taken for one. */
#ifndef STORE_LARGE_H
#define STORE_LARGE_H

#include "base/buf.h"
#include "port/disk.h"
#include "port/store.h"

enum {
    LARGE_NAME_LEN = 36, /* as a UUID is written */
    LARGE_NAME_SIZE = LARGE_NAME_LEN + 1,
    LARGE_STUB_LEN = 71, /* "impound-large " name " " size in 20 digits */
};

struct large;

/* Bodies above so many bytes go into files; 0: none does. */
struct large *large_new(struct disk *disk, const char *store_path, uint64_t above);
void large_free(struct large *large);
bool large_takes(const struct large *large, struct bytes body);
/* Writes the body of a PUT or UPDATE and makes it safe; its stub is what is stored. */
enum status large_write(struct large *large, const struct store_op *op,
                        char stub[LARGE_STUB_LEN + 1], struct err *err);
/* Whether what is stored of a body of `size` bytes is a stub; its name. */
bool large_is_stub(struct bytes stored, uint64_t size, char name[LARGE_NAME_SIZE]);
/* Sets the body of the message, whose stored body is a stub. CORRUPT: the file is not there, or has
 * another size. */
enum status large_read(const struct large *large, const char *name, struct store_held *held,
                       struct err *err);
/* Whether the file has so many bytes. */
enum status large_check(const struct large *large, const char *name, uint64_t size,
                        struct err *err);

/* How many files were written; with it a removal knows that a name was not used again. */
uint64_t large_writes(struct large *large);
bool large_any(struct large *large); /* there are, or may be, files */
void large_remove(struct large *large, const char *name, uint64_t writes);
/* At a start, before anything else: removes files that none of the names is of. */
void large_sweep(struct large *large, char (*names)[LARGE_NAME_SIZE], size_t count);

#endif
