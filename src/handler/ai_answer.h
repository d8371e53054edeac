/* ai_answer: whether the 200 of an AI provider is the success that it looks like (SEMANTICS §15).
 * Pure. Knows the shapes of OpenAI (chat, completions, responses, images, embeddings) and of those
 * who speak like it, Anthropic, Gemini and Vertex, Bedrock, Cohere and Ollama, whole or as a stream
 * of events or lines. A shape that it does not know is a success. */
#ifndef HANDLER_AI_ANSWER_H
#define HANDLER_AI_ANSWER_H

#include "handler/problem.h"

struct ai_answer {
    struct problem problem; /* error_type: the provider's own, or one of core/outcome.h */
    int status;             /* that such an error has where it is answered as one; 0: it has none */
};

/* True when it is no success; only then *out is set. `cut`: `body` is the beginning of a longer
 * one. Texts are slices of `body` and of the arena (heap). */
bool ai_answer_faulty(struct bytes body, bool cut, struct bytes content_type, struct arena *arena,
                      struct ai_answer *out);

#endif
