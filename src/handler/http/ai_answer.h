/* ai_answer: whether the 200 of an AI provider is really a success (SEMANTICS §15). Pure. Knows the
 * formats of OpenAI (chat, completions, responses, images, embeddings) and compatible APIs,
 * Anthropic, Gemini and Vertex, Bedrock, Cohere and Ollama, whole or as a stream of events or
 * lines. An unknown format is a success. */
#ifndef HANDLER_HTTP_AI_ANSWER_H
#define HANDLER_HTTP_AI_ANSWER_H

#include "handler/http/problem_body.h"

struct ai_answer {
    struct problem problem; /* error_type: the provider's own, or one of core/outcome.h */
    int status;             /* the status that providers use for this error; 0: none */
};

/* True: not a success; only then *out is set. `cut`: `body` is truncated. Texts are slices of
 * `body` and of the arena (heap). */
bool ai_answer_faulty(struct bytes body, bool cut, struct bytes content_type, struct arena *arena,
                      struct ai_answer *out);

#endif
