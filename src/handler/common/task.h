/* task: one hand-over, of one message or of several, so that handlers treat both alike. */
#ifndef HANDLER_COMMON_TASK_H
#define HANDLER_COMMON_TASK_H

#include "port/handler.h"

/* One of the two; the other is NULL. */
struct task {
    struct call *call;
    struct call_group *group;
};

size_t task_count(struct task task);
struct call *task_at(struct task task, size_t index);
/* A pointer that is unique among the tasks in flight. */
const void *task_identity(struct task task);
/* Calls `done`. `items` as in struct call_group; a task of one call has none. */
void task_end(struct task task, const struct outcome *whole, const struct outcome *items);

#endif
