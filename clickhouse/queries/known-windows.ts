import { formatDay, NANOS_PER_DAY, nowNanos } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { createClientCaches } from '../client-caches.ts';
import { type Cover, coverOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import type { ReportedClicks, Span } from './visible-clicks.ts';
import { hasDeletedLinks, type WindowSize } from './window-size.ts';

/** How a window was counted a while ago: one by one, or from its cover; and whether its workspace had deleted links. */
export type KnownWindow = { cover: Cover | null; hasDeleted: boolean };

type NotedWindow = KnownWindow & { span: Span; exactUpTo: number; atNanos: bigint };

const WORKSPACES = 10_000;
/** Windows of a workspace: those of a dashboard, and each one's before it. */
const WINDOWS = 8;
/** For so long a small window is taken for small. Should it grow beyond, its visitors are still counted exactly, only slower. */
const KEPT_NANOS = 600_000_000_000n;

const knownOf = createClientCaches<string, NotedWindow[]>(WORKSPACES);

/** How a window was counted that had few clicks and was around this one, or many in the same whole periods; null: that is not known. */
export function knownWindow(client: ClickHouseClient, asked: ReportedClicks): KnownWindow | null {
  return largeAlike(client, asked) ?? smallAround(client, asked);
}

function largeAlike(client: ClickHouseClient, asked: ReportedClicks): KnownWindow | null {
  if (asked.condition !== '') return null;
  for (const { cover, exactUpTo, hasDeleted, span } of notedOf(client, asked)) {
    if (cover === null || asked.exactUpTo > exactUpTo || !isWithinDay(span, asked.span)) continue;
    const same = coverOf(asked.span, cover.periods);
    if (same.periods.length === cover.periods.length) return { cover: same, hasDeleted };
  }
  return null;
}

/** Whether two windows begin less than a day apart, and end so. */
const isWithinDay = (one: Span, other: Span) =>
  apart(one.from, other.from) < NANOS_PER_DAY && apart(one.to, other.to) < NANOS_PER_DAY;
const apart = (one: bigint, other: bigint) => (one > other ? one - other : other - one);

const notedOf = (client: ClickHouseClient, { workspaceId }: ReportedClicks) =>
  knownOf(client).get(workspaceId) ?? [];

/** The window of some links has no more clicks than that of all. */
function smallAround(client: ClickHouseClient, asked: ReportedClicks): KnownWindow | null {
  const now = nowNanos();
  const isAround = ({ cover, span, exactUpTo, atNanos }: NotedWindow) => {
    // A window up to now ends later when it is asked for again.
    const isInside = asked.span.from >= span.from && asked.span.to <= span.to + KEPT_NANOS;
    return cover === null && isInside && asked.exactUpTo >= exactUpTo && now - atNanos < KEPT_NANOS;
  };
  return notedOf(client, asked).find(isAround) ?? null;
}

/** Keeps how a window of all the workspace's links is counted. */
export function noteWindow(client: ClickHouseClient, asked: ReportedClicks, size: WindowSize): void {
  const { workspaceId, span, exactUpTo, condition } = asked;
  const { largeCover: cover, isCoverLarge, hasDeleted } = size;
  // Beside its whole periods, a large window may have had clicks that it will not have when it has moved on; and links may
  // be deleted.
  if (condition !== '' || (cover !== null && (!isCoverLarge || hasDeleted))) return;
  const noted = { span, exactUpTo, atNanos: nowNanos(), hasDeleted, cover };
  const others = notedOf(client, asked).filter((window) => !makesNeedless(noted, window));
  knownOf(client).set(workspaceId, [noted, ...others].slice(0, WINDOWS));
}

/** Whether a window says what another one does. */
function makesNeedless({ cover, span }: NotedWindow, other: NotedWindow): boolean {
  if (cover === null || other.cover === null) {
    return cover === other.cover && other.span.from >= span.from && other.span.to <= span.to;
  }
  return isSameCover(cover, other.cover);
}

/** Whether a window would be counted today as it was known. */
export async function isStillKnown(
  client: ClickHouseClient,
  asked: ReportedClicks,
  { cover, hasDeleted }: KnownWindow,
): Promise<boolean> {
  const { span } = asked;
  const touching = { from: formatDay(span.from), to: formatDay(span.to) };
  const [now, periods] = await Promise.all([
    hasDeletedLinks(client, asked),
    cover === null ? [] : rolledUpPeriods(client, touching),
  ]);
  if (now !== hasDeleted) return false;
  return cover === null || isSameCover(cover, coverOf(span, periods));
}

function isSameCover({ periods }: Cover, other: Cover): boolean {
  return (
    periods.length === other.periods.length &&
    periods.every(({ generation }, n) => generation === other.periods[n]?.generation)
  );
}
