#include "broker/kafka_lag.h"

enum {
    KAFKA_LOOK_EVERY_MS = 1000,
    KAFKA_LOOK_TIMEOUT_MS = 1000,
    KAFKA_LOOK_MAX = 64, /* partitions that the server is asked about in one look */
};

/* Where the group stands in a partition, or will begin; -1: not known. */
static int64_t committed_offset(const struct kafka_group *group, int32_t number, int64_t low) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, group->url->topic.ptr, number);
    int64_t offset = -1;
    if (rd_kafka_committed(group->client, list, KAFKA_LOOK_TIMEOUT_MS) ==
        RD_KAFKA_RESP_ERR_NO_ERROR)
        offset = list->elems[0].offset >= low ? list->elems[0].offset : low;
    rd_kafka_topic_partition_list_destroy(list);
    return offset;
}

static bool ask_ends(const struct kafka_group *group, int32_t number, int64_t *low, int64_t *high) {
    return rd_kafka_query_watermark_offsets(group->client, group->url->topic.ptr, number, low, high,
                                            KAFKA_LOOK_TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* A log that is being read tells its end with every answer; of others it is asked. */
static bool look_at_ours(struct kafka_group *group, int32_t number) {
    struct kafka_feed *feed = &group->feeds[number];
    bool ask = !feed->looked || group->paused || kafka_hand_is_full(group->hand, number);
    int64_t low = 0, high = -1, committed = -1;
    if (!ask) {
        rd_kafka_get_watermark_offsets(group->client, group->url->topic.ptr, number, &low, &high);
    } else if (ask_ends(group, number, &low, &high) && !feed->looked) {
        committed = committed_offset(group, number, low);
        feed->looked = committed >= 0;
    }
    kafka_hand_seen(group->hand, number, committed, high);
    return ask;
}

static void look_from_outside(struct kafka_group *group, int32_t number) {
    int64_t low = 0, high = -1;
    if (ask_ends(group, number, &low, &high))
        kafka_hand_watch(group->hand, number, committed_offset(group, number, low), high);
}

void kafka_lag_look(struct kafka_group *group, struct mono now) {
    if (now.ms < group->next_look.ms || !group->contact->health.connected)
        return;
    group->next_look = mono_after(now, KAFKA_LOOK_EVERY_MS);
    size_t count = group->subscribed ? group->feed_count : group->partition_count, asked = 0;
    for (size_t i = 0; i < count && asked < KAFKA_LOOK_MAX; i++) {
        size_t number = group->look++ % count;
        if (!group->subscribed) {
            look_from_outside(group, (int32_t)number);
            asked++;
        } else if (group->feeds[number].queue) {
            asked += look_at_ours(group, (int32_t)number);
        }
    }
}
