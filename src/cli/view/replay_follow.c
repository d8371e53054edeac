/* replay_follow: polls the replay and draws its progress. */
#include "cli/view/replay_follow.h"

#include <stdio.h>
#include <time.h>

#include "cli/command.h"
#include "cli/view/field.h"
#include "cli/path.h"
#include "cli/view/progress.h"
#include "cli/view/replay_text.h"

enum { POLL_MS = 200, CHUNK = 4096, NOTE_SIZE = 160 };

struct follow {
    const struct cli_env *env;
    struct client *client;
    struct buf *answer;
    struct json replay; /* in *answer */
    struct arena arena;
    struct progress progress;
};

static bool is_over(struct follow *follow) {
    struct bytes state = field_text(follow->replay, "state", &follow->arena);
    return bytes_is(state, "done") || bytes_is(state, "aborted");
}

static uint64_t number_at(const struct follow *follow, const char *key) {
    int64_t number = 0;
    json_i64(field_at(follow->replay, key), &number);
    return number > 0 ? (uint64_t)number : 0;
}

static void show_progress(struct follow *follow) {
    char note[NOTE_SIZE];
    struct bytes state = field_text(follow->replay, "state", &follow->arena);
    struct bytes why = field_text(follow->replay, "why", &follow->arena);
    uint64_t ended =
        number_at(follow, "resolved") + number_at(follow, "failed") + number_at(follow, "skipped");
    snprintf(note, sizeof note, "%.*s%s%.*s", BYTES_ARG(state), why.len ? ": " : "",
             BYTES_ARG(bytes_clip(why, 100)));
    progress_show(&follow->progress, ended, note);
}

static enum status poll(struct follow *follow, struct err *err) {
    struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    struct path path;
    path_init(&path, "/v1/replays");
    path_segment(&path,
                 arena_cstr(&follow->arena, field_text(follow->replay, "id", &follow->arena)));
    path_argument(&path, "limit", "1");
    nanosleep(&pause, NULL);
    enum status status = client_send(
        follow->client, &(struct client_call){.path = path_text(&path)}, follow->answer, err);
    path_free(&path);
    return status;
}

/* State between two answers; the arena is of one answer. */
static enum status wait_for_end(struct follow *follow, struct err *err) {
    for (;;) {
        arena_init_heap(&follow->arena, CHUNK);
        json_parse(buf_view(follow->answer), &follow->replay,
                   NULL); /* client_send has checked it */
        if (is_over(follow))
            return STATUS_OK;
        show_progress(follow);
        enum status status = poll(follow, err);
        arena_free(&follow->arena);
        if (status != STATUS_OK) {
            arena_init_heap(&follow->arena, CHUNK);
            return status;
        }
    }
}

static int report(struct follow *follow) {
    struct buf out;
    buf_init_heap(&out, COMMAND_ANSWER_MAX);
    if (follow->env->json) {
        buf_bytes(&out, follow->replay.text);
        buf_char(&out, '\n');
    } else {
        replay_text_line(follow->replay, &follow->arena, &out);
    }
    int code = command_write(buf_view(&out));
    buf_free(&out);
    bool aborted = bytes_is(field_text(follow->replay, "state", &follow->arena), "aborted");
    return code == 0 && aborted ? status_exit(STATUS_INVALID) : code;
}

int replay_follow(const struct cli_env *env, struct client *client, struct buf *answer,
                  bool detach) {
    struct follow follow = {.env = env, .client = client, .answer = answer};
    struct err err;
    int code;
    json_parse(buf_view(answer), &follow.replay, NULL); /* client_send has checked it */
    progress_begin(&follow.progress, "letters", number_at(&follow, "selected"),
                   env->json || detach);
    enum status status = STATUS_OK;
    if (detach)
        arena_init_heap(&follow.arena, CHUNK);
    else
        status = wait_for_end(&follow, &err);
    progress_end(&follow.progress);
    code = status == STATUS_OK ? report(&follow) : command_fail(&err);
    arena_free(&follow.arena);
    return code;
}
