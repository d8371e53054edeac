#include "server/metrics/exposition.h"

void exposition_head(struct buf *out, const char *name, const char *type, const char *help) {
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_counter(struct buf *out, const char *name, const char *help, uint64_t value) {
    exposition_head(out, name, "counter", help);
    buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

void exposition_gauge(struct buf *out, const char *name, const char *help, double value) {
    exposition_head(out, name, "gauge", help);
    buf_printf(out, "%s %.15g\n", name, value);
}

void exposition_label(struct buf *out, const char *key, struct bytes value) {
    buf_printf(out, "%s=\"", key);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\\' || c == '"')
            buf_char(out, '\\');
        if (c == '\n')
            buf_str(out, "\\n");
        else
            buf_char(out, c);
    }
    buf_char(out, '"');
}

void exposition_sample(struct buf *out, const char *name, const char *key, struct bytes value,
                       double sample) {
    buf_printf(out, "%s{", name);
    exposition_label(out, key, value);
    buf_printf(out, "} %.15g\n", sample);
}

void exposition_histogram(struct buf *out, const char *name, struct bytes labels,
                          const double *bounds, const uint64_t *buckets, size_t count, double sum) {
    uint64_t total = 0;
    for (size_t i = 0; i <= count; i++) {
        total += buckets[i];
        buf_printf(out, "%s_bucket{%.*sle=\"", name, BYTES_ARG(labels));
        if (i < count)
            buf_printf(out, "%g", bounds[i]);
        else
            buf_str(out, "+Inf");
        buf_printf(out, "\"} %llu\n", (unsigned long long)total);
    }
    struct bytes bare = bytes_cut(labels, 0, labels.len ? labels.len - 1 : 0);
    const char *open = bare.len ? "{" : "", *close = bare.len ? "}" : "";
    buf_printf(out, "%s_sum%s%.*s%s %.15g\n", name, open, BYTES_ARG(bare), close, sum);
    buf_printf(out, "%s_count%s%.*s%s %llu\n", name, open, BYTES_ARG(bare), close,
               (unsigned long long)total);
}
