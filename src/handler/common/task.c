/* task: see the header. */
#include "handler/common/task.h"

#include <assert.h>

size_t task_count(struct task task) {
    assert(!task.call != !task.group);
    return task.call ? 1 : task.group->count;
}

struct call *task_at(struct task task, size_t index) {
    assert(index < task_count(task));
    return task.call ? task.call : task.group->calls[index];
}

const void *task_identity(struct task task) {
    return task.call ? (const void *)task.call : task.group;
}

void task_end(struct task task, const struct outcome *whole, const struct outcome *items) {
    if (task.call)
        task.call->done(task.call, whole);
    else
        task.group->done(task.group, whole, items);
}
