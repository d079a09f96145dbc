import { DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from './log.ts';
import type { Span, Tracing } from './tracing.ts';

/** Limits of the export: a collector that is down costs no more memory than this many spans. */
const MAX_SPANS = 2_048;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 1_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

/** Opens tracing with the OpenTelemetry SDK. Call it through `openTracing`, which loads this file only when needed. */
export function openOtlp(endpoint: string, tier: string, log: Logger): Tracing {
  warnOnce(log);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `hoplog-${tier}`, 'service.namespace': 'hoplog' }),
    spanProcessors: [
      new BatchSpanProcessor({
        // The exporter reads headers and certificates from the other OTEL_EXPORTER_OTLP_* variables.
        exporter: new OTLPTraceExporter({
          url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
          timeoutMillis: EXPORT_LIMIT_MS,
        }),
        maxQueueSize: MAX_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_LIMIT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('hoplog');
  return {
    isOn: true,
    start(name, { kind, attributes = {}, parent }) {
      const remote = parent === undefined ? null : parseTraceParent(parent);
      const context = remote
        ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
        : ROOT_CONTEXT;
      return wrap(tracer.startSpan(name, { kind: KINDS[kind], attributes }, context));
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_LIMIT_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

function wrap(span: ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set: (attributes) => void span.setAttributes(attributes),
    fail: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
    end: () => span.end(),
  };
}

/** Logs the SDK's first error: while a collector is down it repeats one for each export. */
function warnOnce(log: Logger): void {
  let hasWarned = false;
  const ignore = () => undefined;
  const warn = (message: string) => {
    if (!hasWarned) log.warn({ reason: message }, 'failed to export traces; spans are dropped meanwhile');
    hasWarned = true;
  };
  diag.setLogger(
    { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  );
}
