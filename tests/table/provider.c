/* What the preset ai-api makes of the answers that providers give: the response is read as the http
 * handler reads it, and judged. */
#include "table.h"

#include <stdio.h>

#include "core/classify.h"
#include "handler/http/response.h"

/* Shapes of each provider that the table must have at least; 120 of them in all. */
static struct {
    const char *name;
    size_t least, count;
} providers[] = {
    {"openai", 20, 0}, {"azure", 8, 0},       {"anthropic", 15, 0}, {"gemini", 14, 0},
    {"vertex", 6, 0},  {"bedrock", 12, 0},    {"mistral", 8, 0},    {"cohere", 8, 0},
    {"groq", 8, 0},    {"openrouter", 10, 0}, {"together", 6, 0},   {"ollama", 6, 0},
    {"vllm", 6, 0},
};
enum { CASES_AT_LEAST = 140, PROVIDERS = sizeof providers / sizeof *providers };

/* Dates in the table are some seconds after this. */
#define NOW "2026-11-16T12:00:00Z"

static void count_provider(struct bytes title) {
    struct bytes name, rest;
    if (!table_split(title, ':', &name, &rest))
        return;
    for (size_t i = 0; i < PROVIDERS; i++)
        providers[i].count += bytes_is(name, providers[i].name);
}

static struct classification judge(const struct outcome *outcome) {
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    policy.presets[0] = PRESET_AI_API;
    policy.preset_count = 1;
    struct rule_subject subject = {.outcome = outcome, .attempt = 1};
    return classify(&policy, &subject, NULL);
}

/* "[name: value | name: value] " before the body. */
static size_t read_headers(struct bytes *rest, struct rule_header *headers) {
    size_t count = 0;
    struct bytes list, body, one;
    if (rest->len == 0 || rest->ptr[0] != '[' || bytes_starts(*rest, BYTES("[{")))
        return 0;
    if (!table_split(*rest, ']', &list, &body))
        table_bad("headers without an end", *rest);
    list = bytes_cut(list, 1, list.len);
    while (list.len > 0) {
        size_t bar = bytes_find(list, BYTES("|"));
        one = bytes_cut(list, 0, bar);
        list = bytes_cut(list, bar + 1, list.len);
        struct rule_header *header = &headers[count++];
        if (count > RESPONSE_HEADERS_MAX || !table_split(one, ':', &header->name, &header->value))
            table_bad("not a header", one);
        header->name = bytes_trim(header->name);
    }
    *rest = bytes_trim(body);
    return count;
}

/* In a stream, \n in the table is a line break. */
static struct bytes unfold(struct bytes body, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    while (body.len > 0) {
        size_t at = bytes_find(body, BYTES("\\n"));
        buf_bytes(&text, bytes_cut(body, 0, at));
        if (at < body.len)
            buf_char(&text, '\n');
        body = bytes_cut(body, at + 2, body.len);
    }
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static void say(const struct outcome *outcome, struct buf *actual) {
    if (outcome->ending == ENDING_OK) {
        buf_str(actual, "ok");
        return;
    }
    struct classification class = judge(outcome);
    buf_bytes(actual, outcome->error_type.len ? outcome->error_type : BYTES("-"));
    buf_printf(actual, " %s %.*s/%.*s", verdict_text(class.verdict), BYTES_ARG(class.category),
               BYTES_ARG(class.reason));
    if (outcome->retry_after_ms >= 0)
        buf_printf(actual, " after=%lldms", (long long)outcome->retry_after_ms);
}

/* given: STATUS [HEADERS] BODY. A status 200 has a content type: JSON unless the headers say
 * otherwise. wanted: ok, or ERROR_TYPE VERDICT CATEGORY/REASON [after=…ms]; "-": no type. */
static void answer(const struct table_case *c, struct buf *actual) {
    struct bytes status, body = BYTES_NONE;
    struct rule_header headers[RESPONSE_HEADERS_MAX + 1];
    struct outcome outcome;
    struct arena arena;
    struct wall now;
    if (!table_split(c->given, ' ', &status, &body))
        status = c->given;
    arena_init_heap(&arena, 1024);
    if (!wall_parse(BYTES(NOW), &now))
        table_bad("not a time", BYTES(NOW));
    struct response response = {
        .status = (int)table_number(status), .headers = headers, .reads_ai = true};
    response.header_count = read_headers(&body, headers);
    bool stream = bytes_starts(response_header(&response, "Content-Type"), BYTES("text/event"));
    if (response_header(&response, "Content-Type").len == 0)
        headers[response.header_count++] =
            (struct rule_header){BYTES("Content-Type"), BYTES("application/json")};
    else if (!stream)
        stream = bytes_is(response_header(&response, "Content-Type"), "application/x-ndjson");
    response.body = stream ? unfold(body, &arena) : body;
    response_outcome(&response, now, &arena, &outcome);
    say(&outcome, actual);
    count_provider(c->title);
    arena_free(&arena);
}

static int check_counts(void) {
    size_t total = 0;
    int code = 0;
    for (size_t i = 0; i < PROVIDERS; i++) {
        total += providers[i].count;
        printf("%-10s %zu shapes\n", providers[i].name, providers[i].count);
        if (providers[i].count < providers[i].least) {
            printf("%s: at least %zu are wanted\n", providers[i].name, providers[i].least);
            code = 1;
        }
    }
    printf("%zu shapes of %d providers\n", total, (int)PROVIDERS);
    return total < CASES_AT_LEAST ? 1 : code;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    int code = table_run(argv[1], CASES_AT_LEAST, answer);
    return code ? code : check_counts();
}
