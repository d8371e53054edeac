/* call: the calls that routes.c names. Each ends its request exactly once (request.h). */
#ifndef SERVER_CALL_H
#define SERVER_CALL_H

struct request;

void call_push(struct request *request);
void call_report(struct request *request);

void call_lease(struct request *request);
void call_lease_ack(struct request *request);
void call_lease_fail(struct request *request);
void call_lease_extend(struct request *request);
void call_lease_bulk(struct request *request);

void call_queues_list(struct request *request);
void call_queues_show(struct request *request);
void call_queues_pause(struct request *request);
void call_queues_resume(struct request *request);
void call_queue_rename(struct request *request);
void call_queue_remove(struct request *request);

void call_dlqs_list(struct request *request);
void call_dlqs_show(struct request *request);
void call_dlqs_states(struct request *request);
void call_dlqs_resume(struct request *request);

void call_messages_list(struct request *request);
void call_message_bury(struct request *request);
void call_message_discard(struct request *request);
void call_messages_bury(struct request *request);
void call_message_retry(struct request *request);
void call_messages_retry(struct request *request);
void call_messages_discard(struct request *request);
void call_messages_show(struct request *request);
void call_results(struct request *request);

void call_letters_list(struct request *request);
void call_letters_of_dlq(struct request *request);
void call_letters_show(struct request *request);
void call_letters_explain(struct request *request);

void call_letter_resolve(struct request *request);
void call_letter_discard(struct request *request);
void call_letter_escalate(struct request *request);
void call_letter_compensate(struct request *request);
void call_letters_resolve(struct request *request);
void call_letters_discard(struct request *request);
void call_letters_escalate(struct request *request);
void call_letters_compensate(struct request *request);
void call_replays_create(struct request *request);
void call_replays_list(struct request *request);
void call_replays_show(struct request *request);
void call_replays_pause(struct request *request);
void call_replays_resume(struct request *request);
void call_replays_abort(struct request *request);
void call_audit(struct request *request);
void call_groups_list(struct request *request);
void call_groups_show(struct request *request);
void call_groups_patch(struct request *request);
void call_groups_rule(struct request *request);
void call_exports(struct request *request);
void call_imports(struct request *request);
void call_archives(struct request *request);
void call_adoptions(struct request *request);
void call_alerts_list(struct request *request);
void call_alerts_test(struct request *request);

void call_stats(struct request *request);
void call_arrivals(struct request *request);
void call_events(struct request *request);
void call_metrics(struct request *request);
void call_health(struct request *request);
void call_ready(struct request *request);
void call_openapi(struct request *request);
void call_home(struct request *request);
void call_asset(struct request *request);

#endif
