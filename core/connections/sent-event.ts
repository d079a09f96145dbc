/** For tests: a call of a provider, the body and the headers that belong to its event. */
export type SentEvent = { body: string; headers: Record<string, string> };
