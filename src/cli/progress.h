/* progress: how far something long has come: a bar with rate and time left on a terminal, plain
 * lines now and then otherwise. On stderr, so that what is printed for programs stays clean. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *noun; /* "letters" */
    uint64_t total;
    bool bar, quiet;
    int64_t begun_ms, shown_ms; /* on the monotonic clock */
    uint64_t begun_at;          /* what was done when it began */
};

/* `quiet`: nothing is shown. */
void progress_begin(struct progress *progress, const char *noun, uint64_t total, bool quiet);
/* `note`: a word or two on how it goes; may be empty. */
void progress_show(struct progress *progress, uint64_t done, const char *note);
/* Leaves the terminal on a line of its own. */
void progress_end(struct progress *progress);

#endif
