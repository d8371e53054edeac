/* rig_spans: spans as the engine records them, kept in their order. */
#ifndef RIG_SPANS_H
#define RIG_SPANS_H

#include "rig.h"

enum { RIG_SPANS_MAX = 64 };

struct rig_spans {
    struct spans spans;
    struct span list[RIG_SPANS_MAX];
    size_t count;
    struct arena arena; /* texts of them */
};

void rig_spans_init(struct rig_spans *spans, struct rig *rig); /* all traces are recorded */
void rig_spans_free(struct rig_spans *spans);

/* The names of all, in their order: "process q, settle q". */
void rig_spans_assert_names(const struct rig_spans *spans, const char *names);
/* NULL: it has none of that name. */
const struct span_attribute *rig_spans_attribute(const struct span *span, const char *name);
void rig_spans_assert_text(const struct span *span, const char *name, const char *text);
void rig_spans_assert_number(const struct span *span, const char *name, int64_t number);
void rig_spans_assert_parent(const struct span *span, const unsigned char parent[SPAN_ID_SIZE]);
bool rig_spans_same_trace(const struct span *a, const struct span *b);

#endif
