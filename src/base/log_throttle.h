/* log_throttle: throttles the log lines of a lasting error: logged at once, then at intervals, and
 * when it is over (log_throttle). */
#ifndef BASE_LOG_THROTTLE_H
#define BASE_LOG_THROTTLE_H

#include <stdbool.h>

#include "base/instant.h"

enum { LOG_THROTTLE_AGAIN_MS = 5 * 60 * 1000 };

/* All zero: no error. */
struct log_throttle {
    bool lasts;
    struct mono told;
};

/* The error is present. True: log it now. */
bool log_throttle_is_due(struct log_throttle *complaint, struct mono now);
/* There is no error. True: there was one, log its end. */
bool log_throttle_ends(struct log_throttle *complaint);

#endif
