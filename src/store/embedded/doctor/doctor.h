/* doctor: what its parts share while they look at a store, and mend it (sqlite_store_doctor.c). */
#ifndef STORE_EMBEDDED_DOCTOR_DOCTOR_H
#define STORE_EMBEDDED_DOCTOR_DOCTOR_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/error_texts.h"
#include "store/embedded/journal/journal_file.h"
#include "store/embedded/doctor/lost.h"
#include "store/embedded/sqlite_store.h"

struct packs;

struct doctor {
    const struct sqlite_store_options *options;
    struct buf dir;
    struct journal_options journal;
    struct database file;
    struct packs *packs;
    struct lost_files files;
    uint64_t *unreadable; /* numbers of the rows whose bytes are not whole */
    size_t unreadable_count;
    uint64_t *missing; /* numbers of messages that the journal changes and nobody has */
    size_t missing_count;
    int lock_file;
    struct buf *report;
    uint64_t position; /* the file has seen the journal up to here */
    uint64_t records;  /* whole ones behind it */
    uint64_t behind;   /* the position behind the last of them */
    uint64_t salvaged, lost;
    uint64_t bodies_lost, envelopes_lost; /* of messages that are kept */
    uint64_t highest_seq;                 /* that the journal names */
    uint64_t kept;                        /* texts in the file */
    struct error_texts texts;
    enum status status; /* of salvaging */
    struct err err;
    bool wrong;
    bool repair;     /* and not only look */
    bool packs_told; /* the report says which bytes of the packs are of no record */
    bool replaced;   /* a malformed SQLite file was set aside */
    bool gone;       /* the SQLite file is new, in the place of one that is not there any more */
    bool malformed;  /* the file's pages: nothing is to be written there any more */
    bool holes;      /* the journal has places that cannot be read, or is not all there */
};

/* A number that a statement selects. */
void doctor_note_unreadable(struct doctor *doctor, uint64_t seq);
enum status doctor_ask(struct doctor *doctor, const char *sql, uint64_t *out, struct err *err);

#endif
