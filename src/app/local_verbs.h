/* local_verbs: verbs that work on files instead of the API, and so need more of src than cli may
 * include. */
#ifndef APP_LOCAL_VERBS_H
#define APP_LOCAL_VERBS_H

#include "base/buf.h"
#include "cli/cli.h"

struct config;

/* Keeps SIGHUP from ending the process; must be the first call in it. */
void serve_hold_hangup(void);
int serve_run(const struct cli_env *env, int argc, char **argv);
int check_run(const struct cli_env *env, int argc, char **argv);
int bench_run(const struct cli_env *env, int argc, char **argv);
int doctor_run(const struct cli_env *env, int argc, char **argv);
int what_if_run(const struct cli_env *env, int argc, char **argv);

extern const struct options_row serve_options[], check_options[], bench_options[], doctor_options[],
    what_if_options[];

/* The option that these verbs share, and its value. */
#define LOCAL_VERBS_CONFIG                                                                         \
    { "config", "FILE", "the configuration (default impound.yaml)", 'c' }
const char *local_verbs_config(const struct options *options);
/* Lets the process open as many files as the system allows: connections, children and the packs of
 * a large store need them, and the soft limit of 1024 is for programs that use select. */
void local_verbs_allow_open_files(void);
/* config_load, with advice if there is no such file. */
enum status local_verbs_load(const char *path, struct config **out, struct buf *mistakes);

#endif
