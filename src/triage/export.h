/* export: the letters of a selection as lines (letter_line.h), a page at a time. */
#ifndef TRIAGE_EXPORT_H
#define TRIAGE_EXPORT_H

#include "triage/selection.h"

/* Where the lines go; borrowed for the call. */
typedef enum status export_line(void *arg, struct bytes line, struct wall dead_at, struct err *err);

struct export_result {
    uint64_t letters;
    struct selection_result walked;
};

/* Each letter as it is when its line is written; one that went meanwhile is left out, and so is one
 * that is damaged, which is logged and counted in walked.damaged. Waits. */
enum status export_run(struct triage *triage, const struct selection *selection, export_line *put,
                       void *arg, struct arena *arena, struct export_result *result,
                       struct err *err);

#endif
