import { type BoundedCache, createBoundedCache } from '../../core/bounded-cache.ts';
import { nowNanos } from '../../core/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import type { ReportedClicks, Span } from './visible-clicks.ts';
import type { WorkspaceTraits } from './window-size.ts';

/** A window that had few clicks, and what else was known of its workspace. */
type SmallWindow = { span: Span; exactUpTo: number; atNanos: bigint; traits: WorkspaceTraits };

const WORKSPACES = 10_000;
/** Windows of a workspace: those of a dashboard, and each one's before it. */
const WINDOWS = 4;
/** For so long a small window is taken for small. Should it grow beyond, its visitors are still counted exactly, only slower. */
const KEPT_NANOS = 600_000_000_000n;

const known = new WeakMap<ClickHouseClient, BoundedCache<string, SmallWindow[]>>();

/** What a workspace was known by when a window around this one was small; null: that is not known. */
export function knownSmall(client: ClickHouseClient, asked: ReportedClicks): WorkspaceTraits | null {
  const now = nowNanos();
  const windows = known.get(client)?.get(asked.workspaceId) ?? [];
  return windows.find((window) => isAround(window, asked, now))?.traits ?? null;
}

function isAround({ span, exactUpTo, atNanos }: SmallWindow, asked: ReportedClicks, now: bigint): boolean {
  // A window up to now ends later when it is asked for again.
  const isInside = asked.span.from >= span.from && asked.span.to <= span.to + KEPT_NANOS;
  return isInside && asked.exactUpTo >= exactUpTo && now - atNanos < KEPT_NANOS;
}

/** Keeps that a window of all the workspace's links is small. */
export function noteSmall(client: ClickHouseClient, asked: ReportedClicks, traits: WorkspaceTraits): void {
  if (asked.condition !== '') return;
  const ofClient = known.get(client) ?? createBoundedCache<string, SmallWindow[]>(WORKSPACES);
  known.set(client, ofClient);
  const { workspaceId, span, exactUpTo } = asked;
  const others = (ofClient.get(workspaceId) ?? []).filter(
    (window) => window.span.from < span.from || window.span.to > span.to,
  );
  const noted = { span, exactUpTo, atNanos: nowNanos(), traits };
  ofClient.set(workspaceId, [noted, ...others].slice(0, WINDOWS));
}
