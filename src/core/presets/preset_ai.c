/* preset_ai: providers put the cause into the type, the code, or only the text. A row that matches
 * the text also has a status, and matches only the start of the text, which is the provider's own
 * sentence: the rest may quote the request, and a prompt that mentions a quota must not halt a
 * queue. */
#include "core/presets/preset_ai.h"

#include "core/outcome.h"
#include "core/presets/preset_row.h"

/* What the rows of one cause have in common. */
#define AI(number, verdict, category, reason, ...)                                                 \
    ROW("ai-api", number, verdict, category, reason, __VA_ARGS__)
#define GONE(number, ...)     AI(number, DLQ, "model_gone", "model_gone", __VA_ARGS__)
#define BUSY(number, ...)     AI(number, RETRY, "transient", "upstream_busy", __VA_ARGS__)
#define QUOTA(number, ...)    AI(number, HALT, "quota", "quota", __VA_ARGS__)
#define LIMITED(number, ...)  AI(number, RETRY, "rate_limit", "rate_limit", __VA_ARGS__)
#define REFUSED(number, ...)  AI(number, HALT, "auth", "auth", __VA_ARGS__)
#define BLOCKED(number, ...)  AI(number, DLQ, "content_policy", "content_policy", __VA_ARGS__)
#define TOO_LONG(number, ...) AI(number, DLQ, "validation", "too_long", __VA_ARGS__)

/* clang-format off */
static const struct rule ai_rules[] = {
    /* A missing model. Any 404: an AI provider has little else that could be missing. */
    GONE(0, STATUS1(404)),
    GONE(1, TYPE("*model_not_found*")),
    GONE(2, TYPE("*invalid_model*")),
    GONE(3, TYPE("*model_decommissioned*")),
    GONE(4, TYPE("*model_not_available*")),
    GONE(5, TYPE("*model_deprecated*")),
    GONE(6, TYPE("DeploymentNotFound")),
    GONE(7, TYPE("ModelDeprecated")),
    GONE(8, STATUS1(400), STARTS("The provided model identifier is invalid")),
    /* Answers with status 200 that carry no result (handler/http/ai_answer.c). */
    AI(9, RETRY, "transient", "empty_answer", KIND(ANSWER), TYPE(OUTCOME_EMPTY_ANSWER)),
    AI(10, RETRY, "transient", "cut_stream", KIND(ANSWER), TYPE(OUTCOME_CUT_STREAM)),
    BLOCKED(11, KIND(ANSWER), TYPE(OUTCOME_BLOCKED)),
    BLOCKED(12, KIND(ANSWER), TYPE(OUTCOME_REFUSAL)),
    /* Status 498 is a blocked text at Cohere and a full flex tier at Groq. */
    BLOCKED(13, STATUS1(498), STARTS("blocked input")),
    BLOCKED(14, STATUS1(498), STARTS("blocked output")),
    BLOCKED(15, STATUS1(498), STARTS("The request was blocked")),
    /* Busy. 409 is a lock that was not granted, 424 a model that failed behind its gateway, 499
     * a call that the provider cancelled. */
    BUSY(16, STATUS4(502, 503, 504, 529)),
    BUSY(17, STATUS4(409, 424, 498, 499)),
    BUSY(18, TYPE("*overloaded*")),
    BUSY(19, STATUS1(500), STARTS("Overloaded")),
    /* A single request above the limit per minute never fits. */
    TOO_LONG(20, STATUS2(413, 429), STARTS("Request too large")),
    /* Exhausted quota, by type. A 402 or 429 with a Retry-After is a rate limit, whatever its text;
     * then quota by the start of the text. Google words its limits per minute as a quota, too. */
    QUOTA(21, TYPE("*insufficient_quota*")),
    QUOTA(22, TYPE("*billing*")),
    QUOTA(23, TYPE("*ServiceQuotaExceeded*")),
    LIMITED(24, STATUS2(402, 429), SAYS_WHEN),
    QUOTA(25, STATUS1(402)),
    LIMITED(26, STATUS1(429), STARTS("Quota exceeded*per minute")),
    LIMITED(27, STATUS1(429), STARTS("Quota exceeded*per_minute")),
    LIMITED(28, STATUS1(429), STARTS("Quota exceeded*per-minute")),
    LIMITED(29, STATUS1(429), STARTS("Quota exceeded for quota metric")),
    LIMITED(30, STATUS1(429), STARTS("Quota exceeded for metric")),
    LIMITED(31, STATUS1(429), STARTS("Quota exceeded for aiplatform")),
    QUOTA(32, TYPE("*quota_exceeded*")),
    QUOTA(33, STATUS1(429), STARTS("Quota exceeded")),
    QUOTA(34, STATUS1(429), STARTS("You exceeded your current quota")),
    QUOTA(35, STATUS1(429), STARTS("insufficient_quota")),
    QUOTA(36, STATUS1(429),
        STARTS("You are using a Trial key, which is limited to * API calls / month")),
    QUOTA(37, STATUS2(403, 429), STARTS("Out of call volume quota")),
    QUOTA(38, STATUS2(400, 403), STARTS("Your credit balance is too low")),
    QUOTA(39, STATUS2(400, 429), STARTS("You have reached your specified API usage limits")),
    QUOTA(40, STATUS1(400), STARTS("Billing hard limit has been reached")),
    QUOTA(41, STATUS1(403), STARTS("Key limit exceeded")),
    QUOTA(42, STATUS1(403), STARTS("This API method requires billing to be enabled")),
    QUOTA(43, STATUS1(400), STARTS("Gemini API free tier is not available in your country")),
    /* Credentials and places that a provider refuses with a 400. */
    REFUSED(44, STATUS1(400), STARTS("API key not valid")),
    REFUSED(45, STATUS1(400), STARTS("API key expired")),
    REFUSED(46, STATUS1(400), STARTS("API key not found")),
    REFUSED(47, STATUS1(400), STARTS("User location is not supported")),
    REFUSED(48, STATUS1(400), STARTS("Incorrect API key provided")),
    REFUSED(49, TYPE("UnrecognizedClient*")),
    REFUSED(50, TYPE("*ExpiredToken*")),
    REFUSED(51, TYPE("IncompleteSignature*")),
    REFUSED(52, TYPE("InvalidSignature*")),
    /* Content policy. */
    BLOCKED(53, TYPE("*content*policy*")),
    BLOCKED(54, TYPE("*content*filter*")),
    BLOCKED(55, TYPE("*moderation*")),
    BLOCKED(56, TYPE("*responsible*ai*")),
    BLOCKED(57, STATUS1(400), STARTS("Output blocked by content filtering policy")),
    BLOCKED(58, STATUS1(400), STARTS("Your request was rejected as a result of our safety system")),
    BLOCKED(59, STATUS1(400), STARTS("Invalid prompt: your prompt was flagged")),
    BLOCKED(60, STATUS1(400), STARTS("The response was filtered due to the prompt")),
    BLOCKED(61, STATUS1(400), STARTS("The prompt could not be submitted")),
    BLOCKED(62, STATUS1(400), STARTS("Image generation failed with the following error")),
    BLOCKED(63, STATUS1(400), STARTS("This request has been blocked by our content filters")),
    BLOCKED(64, STATUS1(400), STARTS("The generated *blocked by our content filters")),
    BLOCKED(65, STATUS2(400, 403), STARTS("Your input was flagged")),
    BLOCKED(66, STATUS1(403), STARTS("Content violates usage guidelines")),
    /* Too long for the model. */
    TOO_LONG(67, TYPE("*context_length*")),
    TOO_LONG(68, TYPE("*context_window*")),
    TOO_LONG(69, TYPE("string_above_max_length")),
    TOO_LONG(70, STATUS2(400, 413), STARTS("This model's maximum context length")),
    TOO_LONG(71, STATUS2(400, 413), STARTS("This endpoint's maximum context length")),
    TOO_LONG(72, STATUS2(400, 413), STARTS("Invalid 'input': maximum context length")),
    TOO_LONG(73, STATUS2(400, 413), STARTS("max_tokens is too large")),
    TOO_LONG(74, STATUS2(400, 413), STARTS("max_tokens: * > ")),
    TOO_LONG(75, STATUS2(400, 413), STARTS("prompt is too long")),
    TOO_LONG(76, STATUS2(400, 413), STARTS("input length and `max_tokens` exceed context limit")),
    TOO_LONG(77, STATUS2(400, 413), STARTS("Input is too long")),
    TOO_LONG(78, STATUS2(400, 413), STARTS("The input token count")),
    TOO_LONG(79, STATUS2(400, 413), STARTS("The maximum tokens you requested")),
    TOO_LONG(80, STATUS2(400, 413), STARTS("too many tokens")),
    TOO_LONG(81, STATUS2(400, 413), STARTS("Prompt contains * too large for model")),
    TOO_LONG(82, STATUS2(400, 413), STARTS("You passed * input tokens")),
    TOO_LONG(83, STATUS2(400, 413), STARTS("The decoder prompt (length")),
    TOO_LONG(84, STATUS2(400, 413), STARTS("Input length * exceeds")),
    TOO_LONG(85, STATUS2(400, 413), STARTS("Please reduce the length of the messages")),
    TOO_LONG(86, STATUS2(400, 413), STARTS("input exceeds the context window")),
    TOO_LONG(87, STATUS2(400, 413), STARTS("Your input exceeds the context window")),
    TOO_LONG(88, STATUS2(400, 413), STARTS("the input length exceeds the context length")),
    TOO_LONG(89, STATUS3(400, 413, 422), STARTS("Input validation error: `inputs` tokens")),
    TOO_LONG(90, STATUS3(400, 413, 422),
        STARTS("Input validation error: `inputs` must have less than")),
    TOO_LONG(91, STATUS3(400, 413, 422), STARTS("`inputs` tokens + `max_new_tokens` must be")),
    /* Other failures of the provider. */
    AI(92, FALLBACK, "external", "upstream_5xx", STATUS_5XX),
    HTTP_ROWS,
};
/* clang-format on */

const struct rule *preset_ai(size_t *count) {
    *count = sizeof ai_rules / sizeof *ai_rules;
    return ai_rules;
}
