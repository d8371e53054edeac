#include "broker/kafka/consume/kafka_commit.h"

#include "base/log.h"

enum {
    KAFKA_COMMIT_EVERY_MS = 100,
    KAFKA_COMMIT_LIST_MAX = 4096, /* partitions in one commit */
    KAFKA_LAST_COMMIT_MS = 3000,  /* for the last commit before a partition is revoked */
};

static rd_kafka_topic_partition_list_t *settled_offsets(struct kafka_group *group) {
    struct kafka_inflight_commit commits[KAFKA_COMMIT_LIST_MAX];
    size_t count = kafka_inflight_commits(group->inflight, commits, KAFKA_COMMIT_LIST_MAX);
    if (count == 0)
        return NULL;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, group->url->topic.ptr, commits[i].number)->offset =
            commits[i].offset;
    return list;
}

/* Offsets that were refused are still to be committed, and are sent again. */
static void note_commit(struct kafka_group *group, rd_kafka_resp_err_t code,
                        const rd_kafka_topic_partition_list_t *list) {
    for (int i = 0; list && code == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++)
        if (list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR && list->elems[i].offset >= 0)
            kafka_inflight_committed(group->inflight, list->elems[i].partition,
                                     list->elems[i].offset);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        log_debug("%s: offset commit failed: %s", group->state->name, rd_kafka_err2str(code));
}

void kafka_commit_answered(rd_kafka_t *client, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t *list, void *arg) {
    (void)client;
    struct kafka_group *group = arg;
    group->committing = false;
    group->alive |= code == RD_KAFKA_RESP_ERR_NO_ERROR;
    note_commit(group, code, list);
}

void kafka_commit_some(struct kafka_group *group, struct mono now) {
    if (group->committing || !kafka_inflight_has_settled(group->inflight) ||
        now.ms < group->next_commit.ms)
        return;
    rd_kafka_topic_partition_list_t *list = settled_offsets(group);
    group->next_commit = mono_after(now, KAFKA_COMMIT_EVERY_MS);
    if (!list)
        return;
    group->committing = rd_kafka_commit(group->client, list, 1) == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_destroy(list);
}

void kafka_commit_last(struct kafka_group *group) {
    rd_kafka_topic_partition_list_t *list = settled_offsets(group);
    if (!list)
        return;
    rd_kafka_queue_t *answers = rd_kafka_queue_new(group->client);
    rd_kafka_event_t *event = NULL;
    if (rd_kafka_commit_queue(group->client, list, answers, NULL, NULL) ==
        RD_KAFKA_RESP_ERR_NO_ERROR)
        event = rd_kafka_queue_poll(answers, KAFKA_LAST_COMMIT_MS);
    if (event)
        note_commit(group, rd_kafka_event_error(event), rd_kafka_event_topic_partition_list(event));
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(answers);
    rd_kafka_topic_partition_list_destroy(list);
}
