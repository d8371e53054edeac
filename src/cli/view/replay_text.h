/* replay_text: formats plans and replays for people. */
#ifndef CLI_VIEW_REPLAY_TEXT_H
#define CLI_VIEW_REPLAY_TEXT_H

#include "cli/command.h"

command_view replay_view_plan;
command_view replay_view_one;
command_view replay_view_all;
/* One line: "replay ID is done: 500 of 500 sent, 500 resolved". */
void replay_text_line(struct json replay, struct arena *arena, struct buf *out);

#endif
