/* replay_follow: waits for the end of a replay and shows its progress. */
#ifndef CLI_VIEW_REPLAY_FOLLOW_H
#define CLI_VIEW_REPLAY_FOLLOW_H

#include "cli/cli.h"
#include "cli/client.h"

/* `answer` is the server's answer to the start, and is consumed. Returns the exit code: 0 done or
 * detached, 1 aborted. */
int replay_follow(const struct cli_env *env, struct client *client, struct buf *answer,
                  bool detach);

#endif
