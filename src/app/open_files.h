/* open_files: how many this process may have open. */
#ifndef APP_OPEN_FILES_H
#define APP_OPEN_FILES_H

/* As many as the system allows: connections, children and the packs of a large store need them, and
 * the soft limit of 1024 is for programs that use select. */
void open_files_allow(void);

#endif
