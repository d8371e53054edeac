/* waiting: messages that are not dead: they wait for their turn or their retry, are leased, or run at their handler. */

export const WAITING_STATES = ["queued", "pending_retry", "running", "retrying"] as const;

export const isWaiting = (state: string) => (WAITING_STATES as readonly string[]).includes(state);
