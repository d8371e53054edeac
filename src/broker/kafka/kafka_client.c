#include "broker/kafka/kafka_client.h"

#include "base/log.h"

enum { KAFKA_CLIENT_TRY_MS = 200 }; /* for one broker, while none is connected */

/* librdkafka reconnects by itself, with jitter. */
static const struct kafka_client_setting common[] = {
    {"client.software.name", "impound"},
    {"client.software.version", IMPOUND_VERSION},
    {"reconnect.backoff.ms", "100"},
    {"reconnect.backoff.max.ms", "2000"},
    {"socket.timeout.ms", "10000"},
    {"socket.keepalive.enable", "true"},
    {"topic.metadata.refresh.interval.ms", "5000"}, /* to notice new partitions and topics */
};

/* librdkafka's log, which is for debugging only. */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text) {
    (void)level;
    log_debug("%s: %s: %s", rd_kafka_name(client), facility, text);
}

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value, struct err *err) {
    char why[256];
    if (!value || rd_kafka_conf_set(conf, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return true;
    err_set(err, STATUS_INVALID, "kafka: librdkafka refuses %s: %s", name, why);
    return false;
}

static bool set_all(rd_kafka_conf_t *conf, const struct kafka_client_setting *settings,
                    size_t count, struct err *err) {
    for (size_t i = 0; i < count; i++)
        if (!set(conf, settings[i].name, settings[i].value, err))
            return false;
    return true;
}

static bool set_access(rd_kafka_conf_t *conf, const struct kafka_url *url, struct err *err) {
    bool sasl = url->user.ptr != NULL;
    const char *protocol = url->tls ? sasl ? "sasl_ssl" : "ssl"
                           : sasl   ? "sasl_plaintext"
                                    : "plaintext";
    const struct kafka_client_setting access[] = {
        {"bootstrap.servers", url->servers.ptr},
        {"security.protocol", protocol},
        {"ssl.ca.location", url->ca_file.ptr},
        {"sasl.mechanism", sasl ? url->mechanism.ptr : NULL},
        {"sasl.username", sasl ? url->user.ptr : NULL},
    };
    if (!set_all(conf, access, sizeof access / sizeof *access, err))
        return false;
    /* The reason is not logged: its text might quote the password. */
    if (sasl &&
        rd_kafka_conf_set(conf, "sasl.password", url->password.ptr, NULL, 0) != RD_KAFKA_CONF_OK) {
        err_set(err, STATUS_INVALID, "kafka: librdkafka refuses the password");
        return false;
    }
    return true;
}

rd_kafka_t *kafka_client_new(rd_kafka_type_t type, const struct kafka_url *url,
                             const struct kafka_client_setting *settings, size_t setting_count,
                             rd_kafka_conf_t *conf_take, void *opaque, struct err *err) {
    char why[256];
    rd_kafka_t *client = NULL;
    rd_kafka_conf_set_opaque(conf_take, opaque);
    rd_kafka_conf_set_log_cb(conf_take, on_log);
    if (set_all(conf_take, common, sizeof common / sizeof *common, err) &&
        set_access(conf_take, url, err) && set_all(conf_take, settings, setting_count, err)) {
        client = rd_kafka_new(type, conf_take, why, sizeof why);
        if (!client)
            err_set(err, STATUS_INVALID, "kafka: %s", why);
    }
    if (!client)
        rd_kafka_conf_destroy(conf_take);
    return client;
}

/* ---- trouble ---- */

static const struct {
    rd_kafka_resp_err_t code;
    enum status status;
    const char *words;
} troubles[] = {
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, STATUS_UNREACHABLE, "no broker can be reached"},
    {RD_KAFKA_RESP_ERR__TRANSPORT, STATUS_UNREACHABLE, "no broker can be reached"},
    {RD_KAFKA_RESP_ERR__RESOLVE, STATUS_UNREACHABLE, "unknown host"},
    {RD_KAFKA_RESP_ERR__SSL, STATUS_UNREACHABLE, "the TLS connection failed"},
    {RD_KAFKA_RESP_ERR__TIMED_OUT, STATUS_UNREACHABLE, "the broker does not answer"},
    {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, STATUS_UNREACHABLE, "the broker does not answer"},
    {RD_KAFKA_RESP_ERR__AUTHENTICATION, STATUS_FORBIDDEN, "the credentials are refused"},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, STATUS_FORBIDDEN, "the credentials are refused"},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, STATUS_FORBIDDEN,
     "not authorized to use the topic"},
    {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, STATUS_FORBIDDEN,
     "not authorized to use the consumer group"},
    {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, STATUS_NOT_FOUND, "there is no such topic"},
    {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, STATUS_NOT_FOUND, "there is no such topic"},
    {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, STATUS_NOT_FOUND, "there is no such partition"},
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, STATUS_TOO_LARGE,
     "the message is too large for the topic"},
    {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, STATUS_CONFLICT,
     "another member has our name: a copy of this store runs elsewhere"},
    {RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL, STATUS_CONFLICT,
     "the group's other members share partitions out in another way "
     "(partition.assignment.strategy)"},
    {RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, STATUS_INVALID,
     "the broker does not allow this session= time"},
};

/* librdkafka reports some failed TLS handshakes as a closed connection. */
static rd_kafka_resp_err_t of_tls(const struct kafka_url *url, rd_kafka_resp_err_t code,
                                  struct bytes why) {
    bool tls = url->tls && code == RD_KAFKA_RESP_ERR__TRANSPORT &&
               bytes_find(why, BYTES("SSL routines")) < why.len;
    return tls ? RD_KAFKA_RESP_ERR__SSL : code;
}

enum status kafka_client_trouble(const struct kafka_url *url, rd_kafka_resp_err_t code,
                                 const char *detail, struct err *err) {
    enum status status = STATUS_BUSY;
    struct bytes why = bytes_of(detail);
    why = bytes_cut(why, 0,
                    bytes_find(why, BYTES(" (after "))); /* its timing is of no use to people */
    code = of_tls(url, code, why);
    const char *words = rd_kafka_err2str(code);
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (troubles[i].code != code)
            continue;
        status = troubles[i].status;
        words = troubles[i].words;
    }
    return err_set(err, status, "kafka %.*s, topic %.*s: %s%s%.*s",
                   BYTES_ARG(bytes_clip(url->servers, 128)), BYTES_ARG(url->topic), words,
                   why.len ? ": " : "", BYTES_ARG(why));
}

/* librdkafka tries one of the brokers and then waits, leaving the others untried for up to a
 * second. Asked again, it goes on to the next. A broker that answers slowly has all the time that
 * is left. */
rd_kafka_resp_err_t kafka_client_ask(rd_kafka_t *client, rd_kafka_topic_t *topic, int timeout_ms,
                                     const struct rd_kafka_metadata **metadata) {
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TRANSPORT;
    for (int left_ms = timeout_ms, ms; left_ms > 0; left_ms -= ms) {
        bool slow = code == RD_KAFKA_RESP_ERR__TIMED_OUT;
        ms = slow || left_ms < KAFKA_CLIENT_TRY_MS ? left_ms : KAFKA_CLIENT_TRY_MS;
        code = rd_kafka_metadata(client, 0, topic, metadata, ms);
        if (code != RD_KAFKA_RESP_ERR__TRANSPORT && code != RD_KAFKA_RESP_ERR__TIMED_OUT)
            break;
    }
    if (code == RD_KAFKA_RESP_ERR__TRANSPORT) /* no broker has answered in all the time */
        code = RD_KAFKA_RESP_ERR__TIMED_OUT;
    return code;
}

enum status kafka_client_probe(rd_kafka_t *client, const struct kafka_url *url, int timeout_ms,
                               size_t *partitions, struct err *err) {
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, url->topic.ptr, NULL);
    if (!topic)
        return kafka_client_trouble(url, rd_kafka_last_error(), NULL, err);
    rd_kafka_resp_err_t code = kafka_client_ask(client, topic, timeout_ms, &metadata);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        code = metadata->topics[0].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        *partitions = (size_t)metadata->topics[0].partition_cnt;
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? STATUS_OK
                                              : kafka_client_trouble(url, code, NULL, err);
}
