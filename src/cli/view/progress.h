/* progress: the progress of a long operation: a bar with rate and time left on a terminal,
 * otherwise plain lines at intervals. On stderr, so that standard output stays clean for programs.
 */
#ifndef CLI_VIEW_PROGRESS_H
#define CLI_VIEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *noun; /* "letters" */
    uint64_t total;
    bool bar, quiet;
    int64_t begun_ms, shown_ms; /* on the monotonic clock */
    uint64_t begun_at;          /* already done at the start */
};

/* `quiet`: nothing is shown. */
void progress_begin(struct progress *progress, const char *noun, uint64_t total, bool quiet);
/* `note`: a short status; may be empty. */
void progress_show(struct progress *progress, uint64_t done, const char *note);
/* Ends the line on a terminal. */
void progress_end(struct progress *progress);

#endif
