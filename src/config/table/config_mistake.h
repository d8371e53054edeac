/* config_mistake: the mistakes in a configuration, collected with their positions and printed in
 * the order of the file. */
#ifndef CONFIG_CONFIG_MISTAKE_H
#define CONFIG_CONFIG_MISTAKE_H

#include "config/config.h"

/* Both count from 1. */
struct config_place {
    size_t line, column;
};

struct config_mistakes {
    const char *path; /* as the user gave it */
    struct arena *arena;
    struct config_mistake {
        struct config_place at;
        size_t order;
        struct bytes text;
    } list[CONFIG_MISTAKES_MAX];
    size_t count; /* of all mistakes, also those beyond the list */
};

__attribute__((format(printf, 3, 4))) void config_mistake_add(struct config_mistakes *mistakes,
                                                              struct config_place at,
                                                              const char *format, ...);
/* One line each, by position. */
void config_mistake_put(struct config_mistakes *mistakes, struct buf *out);

#endif
