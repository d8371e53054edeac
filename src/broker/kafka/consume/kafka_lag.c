#include "broker/kafka/consume/kafka_lag.h"

enum {
    KAFKA_LOOK_EVERY_MS = 1000,
    KAFKA_LOOK_TIMEOUT_MS = 1000,
    KAFKA_LOOK_MAX = 256, /* partitions in one question */
};

/* The first or the last offsets of logs. librdkafka's own function for that waits for longer than
 * it is told to. */
static bool ask_ends(const struct kafka_group *group, rd_kafka_topic_partition_list_t *list,
                     int64_t which) {
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = which;
    return rd_kafka_offsets_for_times(group->client, list, KAFKA_LOOK_TIMEOUT_MS) ==
           RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* The offset after the last marker or record that was read; negative: none yet. */
static int64_t position(const struct kafka_group *group, int32_t number) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *one =
        rd_kafka_topic_partition_list_add(list, group->url->topic.ptr, number);
    bool known = rd_kafka_position(group->client, list) == RD_KAFKA_RESP_ERR_NO_ERROR;
    int64_t offset = known ? one->offset : -1;
    rd_kafka_topic_partition_list_destroy(list);
    return offset;
}

/* All that was read is in flight, where this thread put it, unless it waits behind a pointer. */
static void note_end(struct kafka_group *group, int32_t number, int64_t high) {
    if (high >= 0 && group->feeds[number].pointers.count == 0 && position(group, number) >= high)
        kafka_inflight_at_end(group->inflight, number);
    else
        kafka_inflight_seen(group->inflight, number, -1, high);
}

static void note_from(struct kafka_group *group, int32_t number, int64_t committed, int64_t high) {
    if (!group->subscribed) {
        kafka_inflight_watch(group->inflight, number, committed, high);
        return;
    }
    group->feeds[number].looked |= committed >= 0;
    kafka_inflight_seen(group->inflight, number, committed, high);
}

/* The group's committed offset, or where it will begin if that is no longer in the log. */
static void ask_all(struct kafka_group *group, const rd_kafka_topic_partition_list_t *ends) {
    rd_kafka_topic_partition_list_t *starts = rd_kafka_topic_partition_list_copy(ends);
    rd_kafka_topic_partition_list_t *committed = rd_kafka_topic_partition_list_copy(ends);
    if (ask_ends(group, starts, RD_KAFKA_OFFSET_BEGINNING) &&
        rd_kafka_committed(group->client, committed, KAFKA_LOOK_TIMEOUT_MS) ==
            RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; i < ends->cnt; i++) {
            int64_t low = starts->elems[i].offset, at = committed->elems[i].offset;
            note_from(group, ends->elems[i].partition, at > low ? at : low, ends->elems[i].offset);
        }
    }
    rd_kafka_topic_partition_list_destroy(committed);
    rd_kafka_topic_partition_list_destroy(starts);
}

static void ask(struct kafka_group *group, rd_kafka_topic_partition_list_t *list, bool all) {
    if (list->cnt > 0 && ask_ends(group, list, RD_KAFKA_OFFSET_END)) {
        if (all)
            ask_all(group, list);
        for (int i = 0; i < list->cnt && !all; i++)
            note_end(group, list->elems[i].partition, list->elems[i].offset);
    }
    rd_kafka_topic_partition_list_destroy(list);
}

/* A log that is being read reports its end with every answer; the others are asked. */
static void sort_out(struct kafka_group *group, int32_t number,
                     rd_kafka_topic_partition_list_t *unknown,
                     rd_kafka_topic_partition_list_t *idle) {
    const char *topic = group->url->topic.ptr;
    bool member = group->subscribed;
    int64_t low = 0, high = -1;
    if (member && !group->feeds[number].queue)
        return;
    if (!member || !group->feeds[number].looked) {
        rd_kafka_topic_partition_list_add(unknown, topic, number);
    } else if (group->paused || kafka_inflight_is_full(group->inflight, number) ||
               group->feeds[number].pointers.count > 0) {
        rd_kafka_topic_partition_list_add(idle, topic, number);
    } else {
        rd_kafka_get_watermark_offsets(group->client, topic, number, &low, &high);
        note_end(group, number, high);
    }
}

void kafka_lag_look(struct kafka_group *group, struct mono now) {
    if (now.ms < group->next_look.ms || !group->state->health.connected)
        return;
    group->next_look = mono_after(now, KAFKA_LOOK_EVERY_MS);
    rd_kafka_topic_partition_list_t *unknown = rd_kafka_topic_partition_list_new(0);
    rd_kafka_topic_partition_list_t *idle = rd_kafka_topic_partition_list_new(0);
    size_t count = group->subscribed ? group->feed_count : group->partition_count;
    for (size_t i = 0; i < count && unknown->cnt + idle->cnt < KAFKA_LOOK_MAX; i++)
        sort_out(group, (int32_t)(group->look++ % count), unknown, idle);
    ask(group, unknown, true);
    ask(group, idle, false);
}
