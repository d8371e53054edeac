/* note_space: the spaces in which notes are kept beside the messages (port/letters.h). The texts
 * are on disk: a space may be added, but none renamed. */
#ifndef CORE_NOTE_SPACE_H
#define CORE_NOTE_SPACE_H

#define SPACE_RESULT     "result"     /* by message id: the handler's answer, as result JSON */
#define SPACE_DONE       "done"       /* by idempotency key: what succeeded under it, {"id":…} */
#define SPACE_ORIGINAL   "original"   /* by letter id: the body as it was before an edit */
#define SPACE_REPLAY     "replay"     /* by replay id: its plan, progress and frozen selection */
#define SPACE_GROUP      "group"      /* by fingerprint: what people noted of a group */
#define SPACE_AUDIT      "audit"      /* by UUIDv7: who changed what, and why */
#define SPACE_ALERT      "alert"      /* by rule and subject: what fires, and who was told */
#define SPACE_TRIAGE     "triage"     /* by DLQ and rule: when a triage rule last ran, and how */
#define SPACE_ARRIVALS   "arrivals"   /* one text: how many letters came when */
#define SPACE_ADOPTED    "adopted"    /* by entry and identity: the letter of a foreign one */
#define SPACE_VERSION    "version"    /* one text: which version last started on the store */
#define SPACE_ESCALATION "escalation" /* by id and DLQ: escalated letters not yet announced */

#endif
