/* cmd: the functions and options of each cmd_<verb>.c, for the table of verbs. */
#ifndef CLI_COMMANDS_CMD_H
#define CLI_COMMANDS_CMD_H

#include "cli/cli.h"

int cmd_alerts_run(const struct cli_env *env, int argc, char **argv);
int cmd_audit_run(const struct cli_env *env, int argc, char **argv);
int cmd_compensate_run(const struct cli_env *env, int argc, char **argv);
int cmd_completion_run(const struct cli_env *env, int argc, char **argv);
int cmd_demo_run(const struct cli_env *env, int argc, char **argv);
int cmd_bury_run(const struct cli_env *env, int argc, char **argv);
int cmd_retry_run(const struct cli_env *env, int argc, char **argv);
int cmd_discard_run(const struct cli_env *env, int argc, char **argv);
int cmd_dlqs_run(const struct cli_env *env, int argc, char **argv);
int cmd_escalate_run(const struct cli_env *env, int argc, char **argv);
int cmd_explain_run(const struct cli_env *env, int argc, char **argv);
int cmd_export_run(const struct cli_env *env, int argc, char **argv);
int cmd_groups_run(const struct cli_env *env, int argc, char **argv);
int cmd_help_run(const struct cli_env *env, int argc, char **argv);
int cmd_import_run(const struct cli_env *env, int argc, char **argv);
int cmd_ls_run(const struct cli_env *env, int argc, char **argv);
int cmd_pause_run(const struct cli_env *env, int argc, char **argv);
int cmd_push_run(const struct cli_env *env, int argc, char **argv);
int cmd_queues_run(const struct cli_env *env, int argc, char **argv);
int cmd_replay_run(const struct cli_env *env, int argc, char **argv);
int cmd_replays_run(const struct cli_env *env, int argc, char **argv);
int cmd_resolve_run(const struct cli_env *env, int argc, char **argv);
int cmd_resume_run(const struct cli_env *env, int argc, char **argv);
int cmd_show_run(const struct cli_env *env, int argc, char **argv);
int cmd_stats_run(const struct cli_env *env, int argc, char **argv);
int cmd_top_run(const struct cli_env *env, int argc, char **argv);
int cmd_version_run(const struct cli_env *env, int argc, char **argv);

extern const struct options_row cmd_alerts_options[];
extern const struct options_row cmd_audit_options[];
extern const struct options_row cmd_compensate_options[];
extern const struct options_row cmd_demo_options[];
extern const struct options_row cmd_bury_options[];
extern const struct options_row cmd_retry_options[];
extern const struct options_row cmd_discard_options[];
extern const struct options_row cmd_dlqs_options[];
extern const struct options_row cmd_escalate_options[];
extern const struct options_row cmd_explain_options[];
extern const struct options_row cmd_export_options[];
extern const struct options_row cmd_groups_options[];
extern const struct options_row cmd_ls_options[];
extern const struct options_row cmd_pause_options[];
extern const struct options_row cmd_queues_options[];
extern const struct options_row cmd_push_options[];
extern const struct options_row cmd_replay_options[];
extern const struct options_row cmd_replays_options[];
extern const struct options_row cmd_resolve_options[];
extern const struct options_row cmd_resume_options[];
extern const struct options_row cmd_show_options[];
extern const struct options_row cmd_stats_options[];
extern const struct options_row cmd_top_options[];

#endif
