import type { Logger } from './log.ts';

export type SpanKind = 'server' | 'client' | 'consumer';
export type SpanAttributes = Record<string, string | number | boolean>;

/** One traced operation. */
export type Span = {
  /** Value of the header `traceparent` (W3C Trace Context) that continues the trace; null when nothing is traced. */
  readonly traceparent: string | null;
  set(attributes: SpanAttributes): void;
  /** Marks the operation as failed. */
  fail(reason: string): void;
  /** Ends the span; it is then exported. */
  end(): void;
};

export type Tracing = {
  /** False: spans do nothing, and a caller may leave them out. */
  readonly isOn: boolean;
  /**
   * Starts a span.
   *
   * @param parent the `traceparent` of a caller; left out or malformed: a trace of its own
   */
  start(name: string, options: { kind: SpanKind; attributes?: SpanAttributes; parent?: string }): Span;
  /** Exports the ended spans, within a second. Never rejects. */
  close(): Promise<void>;
};

const NO_SPAN: Span = { traceparent: null, set() {}, fail() {}, end() {} };

/** Traces nothing. */
export const NO_TRACING: Tracing = { isOn: false, start: () => NO_SPAN, async close() {} };

/**
 * Opens tracing to an OpenTelemetry collector. The SDK is large and loaded only here, so that a process without tracing
 * pays nothing for it.
 *
 * @param endpoint of OTLP over HTTP, such as `http://collector:4318`; empty: nothing is traced
 * @param tier name of the process, such as `api`
 */
export async function openTracing(endpoint: string, tier: string, log: Logger): Promise<Tracing> {
  if (endpoint === '') return NO_TRACING;
  const { openOtlp } = (await import(
    new URL('./otlp.ts', import.meta.url).href
  )) as typeof import('./otlp.ts');
  return openOtlp(endpoint, tier, log);
}

/** Runs an operation within a span, which fails and ends with it. */
export async function inSpan<Result>(span: Span, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    span.fail(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    span.end();
  }
}
