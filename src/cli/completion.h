/* completion: completion scripts, generated from the table of verbs, so that they always match it.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/cli.h"

typedef void completion_put(struct buf *out, const struct cli_verb *local);

void completion_bash(struct buf *out, const struct cli_verb *local);
void completion_zsh(struct buf *out, const struct cli_verb *local);
void completion_fish(struct buf *out, const struct cli_verb *local);

#endif
