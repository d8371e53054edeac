#include "app/config_print_adopt.h"

#include "app/config_printer.h"

enum { TEXT_MAX = 64 << 10 };

static void put_entry(struct config_printer *p, const struct adopt_entry *entry) {
    bool comma = true;
    buf_printf(p->out, "  - {name: ");
    config_printer_text(p, entry->name);
    config_printer_optional(p, "source", entry->source, &comma);
    config_printer_optional(p, "dlq", entry->dlq, &comma);
    config_printer_optional(p, "queue", entry->queue, &comma);
    buf_printf(p->out, ", mode: %s}\n", adopt_mode_words[entry->mode]);
}

void config_print_adopt(const struct config *config, struct buf *out) {
    struct config_printer printer = {config, out, {0}};
    buf_init_heap(&printer.room, TEXT_MAX);
    if (config->adopt_count > 0)
        buf_str(out, "adopt:\n");
    for (size_t i = 0; i < config->adopt_count; i++)
        put_entry(&printer, &config->adopts[i].entry);
    buf_free(&printer.room);
}
