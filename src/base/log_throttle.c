/* log_throttle: see the header (log_throttle). */
#include "base/log_throttle.h"

bool log_throttle_is_due(struct log_throttle *complaint, struct mono now) {
    if (complaint->lasts && now.ms < mono_after(complaint->told, LOG_THROTTLE_AGAIN_MS).ms)
        return false;
    *complaint = (struct log_throttle){.lasts = true, .told = now};
    return true;
}

bool log_throttle_ends(struct log_throttle *complaint) {
    bool lasted = complaint->lasts;
    complaint->lasts = false;
    return lasted;
}
