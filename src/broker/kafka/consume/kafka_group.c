#include "broker/kafka/consume/kafka_group.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/kafka/consume/kafka_commit.h"
#include "broker/kafka/consume/kafka_feed.h"
#include "broker/kafka/consume/kafka_lag.h"

enum {
    KAFKA_HEARTBEATS = 10,         /* in a session's time */
    KAFKA_CLOSE_MS = 5000,         /* leaving the group, at most */
    KAFKA_CLOSE_LOST_MS = 200,     /* … when the cluster cannot be reached */
    KAFKA_PROBE_EVERY_MS = 5000,   /* while no records come */
    KAFKA_PROBE_SOON_MS = 500,     /* while there is trouble */
    KAFKA_PROBE_TIMEOUT_MS = 3000, /* after which a broker does not answer */
    KAFKA_PROBE_LOST_MS = 1000,    /* … while it is known to be unreachable */
    KAFKA_SLEEP_MS = 1000,         /* librdkafka must be polled regularly */
    KAFKA_TRIM_MS = 10000,         /* without records for so long, unused memory is released */
    KAFKA_AHEAD_KIB = 65536, /* what librdkafka reads ahead of us, all partitions together … */
    KAFKA_AHEAD_LEAST_KIB = 1024, /* … but each so much */
};

static void on_event(rd_kafka_t *client, void *arg) {
    (void)client;
    mailbox_ring(arg);
}

static void lose(struct kafka_group *group, struct mono now, const struct err *trouble) {
    connection_state_lost(group->state, now, trouble);
    group->next_probe = mono_after(now, KAFKA_PROBE_SOON_MS);
}

/* ---- partitions ---- */

static void open_feed(struct kafka_group *group, int32_t number) {
    if ((size_t)number >= group->feed_count) {
        size_t count = (size_t)number + 1;
        group->feeds = memory_grow(group->feeds, count * sizeof *group->feeds);
        for (size_t i = group->feed_count; i < count; i++)
            group->feeds[i] = (struct kafka_feed){0};
        group->feed_count = count;
    }
    rd_kafka_queue_t *queue =
        rd_kafka_queue_get_partition(group->client, group->url->topic.ptr, number);
    rd_kafka_queue_forward(queue, NULL);
    rd_kafka_queue_cb_event_enable(queue, on_event, group->wakeup);
    group->feeds[number] = (struct kafka_feed){.queue = queue};
    kafka_message_head(group->url->topic, number, &group->feeds[number].head);
    kafka_inflight_assign(group->inflight, number);
}

static void close_feed(struct kafka_group *group, int32_t number) {
    struct kafka_feed *feed = &group->feeds[number];
    if (!feed->queue)
        return;
    rd_kafka_queue_cb_event_enable(feed->queue, NULL, NULL);
    rd_kafka_queue_destroy(feed->queue);
    feed->queue = NULL;
    pointer_queue_free(&feed->pointers); /* the next owner of the partition reads it again */
    kafka_inflight_revoke(group->inflight, number);
}

static rd_kafka_topic_partition_list_t *our_partitions(const struct kafka_group *group) {
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)group->feed_count);
    for (size_t i = 0; i < group->feed_count; i++)
        if (group->feeds[i].queue)
            rd_kafka_topic_partition_list_add(list, group->url->topic.ptr, (int32_t)i);
    return list;
}

static void pause_or_resume(struct kafka_group *group) {
    bool pause = !kafka_inflight_wanted(group->inflight);
    if (pause == group->paused)
        return;
    rd_kafka_topic_partition_list_t *list = our_partitions(group);
    if (pause)
        rd_kafka_pause_partitions(group->client, list);
    else
        rd_kafka_resume_partitions(group->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    group->paused = pause;
}

/* ---- the group ---- */

static void assign(struct kafka_group *group, const rd_kafka_topic_partition_list_t *list) {
    /* The feeds are set up first, so that no record goes to another queue. */
    kafka_inflight_join(group->inflight);
    for (int i = 0; i < list->cnt; i++)
        open_feed(group, list->elems[i].partition);
    rd_kafka_assign(group->client, list);
    group->joined = true;
    group->paused = false;
    pause_or_resume(group);
    group->next_look = group->next_probe = (struct mono){0};
}

static void revoke(struct kafka_group *group) {
    if (!rd_kafka_assignment_lost(group->client))
        kafka_commit_last(group);
    for (size_t i = 0; i < group->feed_count; i++)
        close_feed(group, (int32_t)i);
    rd_kafka_assign(group->client, NULL);
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t code,
                         rd_kafka_topic_partition_list_t *list, void *arg) {
    (void)client;
    struct kafka_group *group = arg;
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        assign(group, list);
    else
        revoke(group);
}

/* The end of one connection is no trouble yet, as there may be other brokers: a probe decides. */
static void on_error(rd_kafka_t *client, int code, const char *detail, void *arg) {
    struct kafka_group *group = arg;
    char why[256];
    group->next_probe = (struct mono){0};
    group->alive = false;
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        group->broken = true;
        code = rd_kafka_fatal_error(client, why, sizeof why);
        detail = why;
    }
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        kafka_client_trouble(group->url, code, detail, &group->last);
}

/* A small share makes a slow partition. */
static size_t share_kib(size_t partitions) {
    size_t share = KAFKA_AHEAD_KIB / (partitions ? partitions : 1);
    return share > KAFKA_AHEAD_LEAST_KIB ? share : KAFKA_AHEAD_LEAST_KIB;
}

static bool open_client(struct kafka_group *group, struct err *err) {
    char session_ms[24], heartbeat_ms[24], ahead_kib[24];
    long long ms = (long long)group->url->session_ms;
    snprintf(session_ms, sizeof session_ms, "%lld", ms);
    snprintf(heartbeat_ms, sizeof heartbeat_ms, "%lld", ms / KAFKA_HEARTBEATS);
    group->ahead_kib = share_kib(group->partition_count);
    snprintf(ahead_kib, sizeof ahead_kib, "%zu", group->ahead_kib);
    const struct kafka_client_setting settings[] = {
        {"client.id", group->member},
        {"group.id", group->url->group.ptr},
        {"group.instance.id", group->member},
        {"session.timeout.ms", session_ms},
        {"heartbeat.interval.ms", heartbeat_ms},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "earliest"},
        {"allow.auto.create.topics", "false"},
        {"queued.min.messages", "100000"},
        {"queued.max.messages.kbytes", ahead_kib},
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    rd_kafka_conf_set_offset_commit_cb(conf, kafka_commit_answered);
    rd_kafka_conf_set_error_cb(conf, on_error);
    group->client = kafka_client_new(RD_KAFKA_CONSUMER, group->url, settings,
                                     sizeof settings / sizeof *settings, conf, group, err);
    return group->client != NULL;
}

/* Looking at a group that we have not joined does not disturb it. */
static bool may_join(const struct kafka_group *group) {
    return !group->subscribed && group->partition_count > 0 &&
           kafka_inflight_wanted(group->inflight);
}

static void subscribe(struct kafka_group *group) {
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, group->url->topic.ptr, RD_KAFKA_PARTITION_UA);
    group->subscribed = rd_kafka_subscribe(group->client, topics) == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_destroy(topics);
}

static void listen_to(struct kafka_group *group) {
    rd_kafka_poll_set_consumer(group->client);
    rd_kafka_queue_t *events = rd_kafka_queue_get_consumer(group->client);
    rd_kafka_queue_cb_event_enable(events, on_event, group->wakeup);
    rd_kafka_queue_destroy(events);
}

static bool open_group(struct kafka_group *group, struct mono now) {
    struct err err;
    if (now.ms < group->state->next_try.ms)
        return false;
    if (!open_client(group, &err)) {
        connection_state_lost(group->state, now, &err);
        return false;
    }
    group->subscribed = group->joined = group->committing = group->paused = false;
    group->last = (struct err){STATUS_OK, ""};
    group->next_commit = group->next_probe = (struct mono){0};
    listen_to(group);
    return true;
}

/* ---- what librdkafka says ---- */

/* Rebalances, answers to commits, and errors of the group; records come through their feeds. */
static void serve(struct kafka_group *group, struct mono now) {
    rd_kafka_message_t *said;
    while ((said = rd_kafka_consumer_poll(group->client, 0))) {
        struct err err;
        assert(said->err != RD_KAFKA_RESP_ERR_NO_ERROR);
        group->broken |= said->err == RD_KAFKA_RESP_ERR__FATAL; /* reported here, or to on_error */
        kafka_client_trouble(group->url, said->err, rd_kafka_message_errstr(said), &err);
        lose(group, now, &err);
        rd_kafka_message_destroy(said);
    }
}

/* ---- looking around ---- */

static bool is_connected(const struct kafka_group *group) {
    return group->state->health.connected;
}

/* Whether the cluster answers, and has our topic. The last error of a connection says more about
 * the reason than a request without an answer. */
static void probe(struct kafka_group *group, struct mono now) {
    struct err err;
    if (now.ms < group->next_probe.ms)
        return;
    bool alive = group->alive && is_connected(group);
    int patience_ms = is_connected(group) ? KAFKA_PROBE_TIMEOUT_MS : KAFKA_PROBE_LOST_MS;
    group->alive = false;
    group->next_probe = mono_after(now, KAFKA_PROBE_EVERY_MS);
    enum status status = alive ? STATUS_OK
                               : kafka_client_probe(group->client, group->url, patience_ms,
                                                    &group->partition_count, &err);
    if (status != STATUS_OK) {
        serve(group, now); /* which broker could not be reached, and why */
        bool silent = status == STATUS_UNREACHABLE && group->last.status != STATUS_OK;
        lose(group, now, silent ? &group->last : &err);
        return;
    }
    group->last = (struct err){STATUS_OK, ""};
    kafka_inflight_topic(group->inflight, group->partition_count);
    if (!group->joined && kafka_inflight_wanted(group->inflight))
        group->next_probe = mono_after(now, KAFKA_PROBE_SOON_MS);
    else if (!is_connected(group))
        connection_state_made(group->state, now);
}

/* ---- the outside ---- */

static void trim(struct kafka_group *group, struct mono now) {
    if (!group->fed && now.ms < group->next_trim.ms)
        return;
    if (!group->fed)
        pool_trim(group->pool);
    if (!group->fed && !kafka_feed_has_pointer(group))
        kafka_follow_close(&group->follow);
    group->fed = false;
    group->next_trim = mono_after(now, KAFKA_TRIM_MS);
}

static void close_client(struct kafka_group *group, struct clock *clock) {
    struct mono until = mono_after(clock_now(clock).mono,
                                   is_connected(group) ? KAFKA_CLOSE_MS : KAFKA_CLOSE_LOST_MS);
    rd_kafka_queue_t *events = rd_kafka_queue_new(group->client);
    rd_kafka_error_destroy(rd_kafka_consumer_close_queue(group->client, events));
    while (!rd_kafka_consumer_closed(group->client) && clock_now(clock).mono.ms < until.ms)
        rd_kafka_queue_poll_callback(events, 50);
    for (size_t i = 0; i < group->feed_count; i++)
        close_feed(group, (int32_t)i);
    rd_kafka_queue_destroy(events);
    kafka_follow_close(&group->follow);
    rd_kafka_destroy_flags(group->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    group->client = NULL;
}

/* The client may have been made for another number of partitions than the topic has. */
static bool join(struct kafka_group *group, struct clock *clock) {
    struct mono now = clock_now(clock).mono;
    if (group->ahead_kib != share_kib(group->partition_count)) {
        close_client(group, clock);
        if (!open_group(group, now))
            return false;
        group->next_probe = mono_after(now, KAFKA_PROBE_SOON_MS);
    }
    subscribe(group);
    return true;
}

struct mono kafka_group_turn(struct kafka_group *group, struct clock *clock) {
    struct mono now = clock_now(clock).mono;
    if (group->broken) {
        group->broken = false;
        lose(group, now, &group->last);
        close_client(group, clock);
    }
    if (!group->client && !open_group(group, now))
        return group->state->next_try;
    serve(group, now);
    pause_or_resume(group);
    bool more = kafka_feed_read(group);
    more |= kafka_feed_follow(group, clock);
    kafka_commit_some(group, now);
    probe(group, now);
    if (may_join(group) && !join(group, clock))
        return group->state->next_try;
    kafka_lag_look(group, now);
    trim(group, now);
    bool to_commit = !group->committing && kafka_inflight_has_settled(group->inflight);
    struct mono sleep = mono_after(now, KAFKA_SLEEP_MS);
    return more ? now : to_commit ? mono_earlier(group->next_commit, sleep) : sleep;
}

void kafka_group_close(struct kafka_group *group, struct clock *clock) {
    if (group->client)
        close_client(group, clock);
    free(group->feeds);
}
