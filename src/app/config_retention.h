/* config_retention: how long a DLQ keeps its letters, by their state. */
#ifndef APP_CONFIG_RETENTION_H
#define APP_CONFIG_RETENTION_H

#include "app/config_reader.h"
#include "app/config.h"

extern const struct config_table config_retention_table;
extern const char *const config_retention_words[]; /* "unresolved", … */

/* unresolved never, resolved and discarded 30 days. */
void config_retention_init(struct config_retention *retention);
config_read config_retention_read; /* struct config_retention */
/* What is said, over what there is; 0 is unsaid. */
void config_retention_apply(const struct config_retention *said, struct config_retention *into);
bool config_retention_same(const struct config_retention *a, const struct config_retention *b);
/* Every DLQ's rule, in the arena; texts are the configuration's. */
size_t config_retention_rules(const struct config *config, struct arena *arena,
                              struct retention_rule **out);

#endif
