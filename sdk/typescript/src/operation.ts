/** How an operation of the API is requested. The generated table has one for each. */
export type Operation = {
  method: string;
  /** Below `/api/v1`, with its parameters in braces. */
  path: string;
  body?: 'json' | 'text' | 'bytes';
  query?: true;
  /** Takes an `Idempotency-Key`, so that a repeated request creates nothing. */
  idempotent?: true;
  /** A repeated request has the effect of one. */
  repeatable?: true;
  /** The response is not JSON: the caller gets it as it is. */
  result?: 'response';
  /** A list: the field of a page that has its rows. */
  rows?: string;
  /** The query parameter that takes the `next_cursor` of a page. */
  cursor?: 'cursor' | 'before';
  /** Query parameters that are always sent. */
  fixed?: Readonly<Record<string, string>>;
};

/** Options of one call. */
export type RequestOptions = {
  /** Cancels the call, also while it waits for a retry. */
  signal?: AbortSignal;
  /** Longest time of one attempt in milliseconds. Default: that of the client. */
  timeoutMs?: number;
  /** How often a failed attempt is repeated. Default: that of the client. */
  retries?: number;
  /** Key of a call that creates, for callers who repeat it themselves. Default: a random one for each call. */
  idempotencyKey?: string;
};

/** The query of an operation. A list of texts is sent with commas. */
export type QueryOf<Query, Without extends string = never> = {
  [Name in keyof NonNullable<Query> as Exclude<Name, Without>]: string extends NonNullable<
    NonNullable<Query>[Name]
  >
    ? NonNullable<Query>[Name] | readonly string[]
    : NonNullable<Query>[Name];
};
