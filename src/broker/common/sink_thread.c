#include "broker/common/sink_thread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "broker/common/url.h"

/* A posted item. */
struct sink_post {
    struct mail mail;
    struct sink_item *item;
};

static struct sink_thread *thread_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct sink_thread, sink);
}

static void publish_posted(struct sink_thread *self) {
    struct sink_item *items[SINK_THREAD_BATCH_MAX];
    size_t count = 0;
    struct mail *mail = mailbox_take(&self->mailbox);
    while (mail || count > 0) {
        while (mail && count < SINK_THREAD_BATCH_MAX) {
            struct sink_post *post = CONTAINER_OF(mail, struct sink_post, mail);
            mail = mail->next;
            items[count++] = post->item;
            free(post);
        }
        size_t published = self->work->publish(&self->sink, items, count);
        assert(published > 0 && published <= count);
        count -= published;
        memmove(items, items + published, count * sizeof *items);
    }
}

static void *run(void *arg) {
    struct sink_thread *self = arg;
    while (!atomic_load(&self->closing)) {
        if (self->work->begin)
            self->work->begin(&self->sink);
        publish_posted(self);
        mailbox_wait(&self->mailbox, self->work->rest ? self->work->rest(&self->sink) : MONO_NEVER);
    }
    self->work->end(&self->sink);
    return NULL;
}

void sink_thread_init(struct sink_thread *self, const struct sink_vtable *vtable,
                      const struct sink_thread_work *work, const struct sink_options *options) {
    self->sink.vtable = vtable;
    self->work = work;
    self->clock = options->clock;
    arena_init_heap(&self->arena, URL_TEXT_MAX);
    mailbox_init(&self->mailbox);
    atomic_init(&self->closing, false);
}

void sink_thread_start(struct sink_thread *self) {
    thread_start(&self->thread, self->work->name, run, self);
}

void sink_thread_free(struct sink_thread *self) {
    atomic_store(&self->closing, true);
    mailbox_ring(&self->mailbox);
    pthread_join(self->thread, NULL);
    mailbox_free(&self->mailbox);
    arena_free(&self->arena);
}

void sink_thread_wake(struct sink_thread *self) {
    mailbox_ring(&self->mailbox);
}

void sink_thread_publish(struct sink *sink, struct sink_item *item) {
    struct sink_post *post = memory_new(sizeof *post);
    post->item = item;
    mailbox_post(&thread_of(sink)->mailbox, &post->mail);
}
