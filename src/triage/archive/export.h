/* export: writes the letters of a selection as lines (letter_line.h), a page at a time. */
#ifndef TRIAGE_ARCHIVE_EXPORT_H
#define TRIAGE_ARCHIVE_EXPORT_H

#include "triage/query/selection.h"

/* Receives a line; borrowed for the call. */
typedef enum status export_line(void *arg, struct bytes line, struct wall dead_at, struct err *err);

struct export_result {
    uint64_t letters;
    struct selection_result walked;
};

/* Writes each letter as it is at that moment. A letter that was removed meanwhile is left out; a
 * damaged one is left out, logged, and counted in walked.damaged. Waits for the store. */
enum status export_run(struct triage *triage, const struct selection *selection, export_line *put,
                       void *arg, struct arena *arena, struct export_result *result,
                       struct err *err);

#endif
