/* sentence: see the header. */
#include "cli/view/sentence.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/view/field.h"
#include "cli/view/safe_text.h"

enum { PATH_SIZE = 64 };

void sentence_put(struct json object, const char *pattern, struct arena *arena, struct buf *out) {
    char path[PATH_SIZE];
    for (const char *open; (open = strchr(pattern, '{'));) {
        const char *close = strchr(open, '}');
        assert(close && close - open <= PATH_SIZE);
        buf_put(out, pattern, (size_t)(open - pattern));
        snprintf(path, sizeof path, "%.*s", (int)(close - open - 1), open + 1);
        text_put(out, field_text(object, path, arena));
        pattern = close + 1;
    }
    buf_str(out, pattern);
}
