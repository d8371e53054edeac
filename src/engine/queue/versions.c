#include "engine/queue/versions.h"

#include <stdio.h>

void versions_note(struct versions *versions, struct bytes version, struct mono now) {
    size_t place = 0;
    version = bytes_clip(version, VERSION_TEXT_MAX - 1);
    if (version.len == 0)
        return;
    for (size_t i = 0; i < VERSIONS_MAX; i++) {
        if (bytes_is(version, versions->known[i].text)) {
            versions->known[i].seen = now;
            return;
        }
        bool free = !versions->known[i].text[0];
        if (versions->known[place].text[0] &&
            (free || versions->known[i].seen.ms < versions->known[place].seen.ms))
            place = i;
    }
    snprintf(versions->known[place].text, VERSION_TEXT_MAX, "%.*s", BYTES_ARG(version));
    versions->known[place].seen = now;
}

size_t versions_in_use(const struct versions *versions, struct mono now,
                       const char *out[VERSIONS_MAX]) {
    size_t count = 0, last = 0;
    for (size_t i = 0; i < VERSIONS_MAX; i++) {
        if (!versions->known[i].text[0])
            continue;
        if (now.ms - versions->known[i].seen.ms < VERSIONS_RECENT_MS)
            out[count++] = versions->known[i].text;
        if (!versions->known[last].text[0] ||
            versions->known[i].seen.ms > versions->known[last].seen.ms)
            last = i;
    }
    if (count == 0 && versions->known[last].text[0])
        out[count++] = versions->known[last].text;
    return count;
}
