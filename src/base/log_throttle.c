/* complaint: see the header (log_throttle). */
#include "base/log_throttle.h"

bool complaint_is_due(struct complaint *complaint, struct mono now) {
    if (complaint->lasts && now.ms < mono_after(complaint->told, COMPLAINT_AGAIN_MS).ms)
        return false;
    *complaint = (struct complaint){.lasts = true, .told = now};
    return true;
}

bool complaint_ends(struct complaint *complaint) {
    bool lasted = complaint->lasts;
    complaint->lasts = false;
    return lasted;
}
