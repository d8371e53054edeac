/* doctor: the state that the parts of `impound doctor` share while they check and repair a store
 * (store_doctor.c). */
#ifndef STORE_EMBEDDED_DOCTOR_DOCTOR_H
#define STORE_EMBEDDED_DOCTOR_DOCTOR_H

#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/list/error_texts.h"
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
    uint64_t *unreadable; /* seq of the rows whose bytes are damaged */
    size_t unreadable_count;
    uint64_t *missing; /* seq of messages that the journal changes and that are stored nowhere */
    size_t missing_count;
    int lock_file;
    struct buf *report;
    uint64_t position; /* the journal position up to which the file was folded */
    uint64_t records;  /* number of intact records after it */
    uint64_t behind;   /* the position after the last of them */
    uint64_t salvaged, lost;
    uint64_t bodies_lost, envelopes_lost; /* of messages that are kept */
    uint64_t highest_seq;                 /* in the journal */
    uint64_t kept;                        /* number of notes in the file */
    struct error_texts texts;
    enum status status; /* of the recovery of the journal */
    struct err err;
    bool wrong;
    bool repair;     /* false: check only */
    bool packs_told; /* the report has the ranges of the packs that belong to no record */
    bool replaced;   /* a malformed SQLite file was set aside */
    bool gone;       /* the SQLite file was missing, and a new one was created */
    bool malformed;  /* the pages of the SQLite file are damaged: do not write to it */
    bool holes;      /* the journal has unreadable ranges, or is incomplete */
};

void doctor_note_unreadable(struct doctor *doctor, uint64_t seq);
/* Runs a statement that selects one number. */
enum status doctor_ask(struct doctor *doctor, const char *sql, uint64_t *out, struct err *err);

#endif
