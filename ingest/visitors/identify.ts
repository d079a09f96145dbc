import { bytesToUuid } from '../../core/ids.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import {
  clearedVisitorCookie,
  hasVisitorCookie,
  parseVisitorCookie,
  visitorCookie,
  type WorkspaceVisitors,
} from '../../core/tracking/visitors.ts';
import type { WorkspacePolicies } from '../link-table/workspace-policies.ts';
import type { Visit } from '../redirect/visit.ts';
import type { DailyVisitors } from './daily-salts.ts';

/** The visitor behind a visit. */
export type Identified = {
  id: Uint8Array;
  /** The `_vid` of the destination; null: none. */
  idText: string | null;
  /** Came with a cookie of an earlier visit, in a workspace that tracks. */
  isReturning: boolean;
  /** The `Set-Cookie` of the response; null: none. */
  setCookie: string | null;
  /** The workspace tracks its visitors, and this one has not opted out (Global Privacy Control). */
  isTracked: boolean;
};

/** Identifies visitors as their workspace's `tracking` allows. */
export type IdentifyVisitor = (
  visitors: WorkspaceVisitors,
  visit: IdentifiableVisit,
  isBot: boolean,
) => Identified;

/** The parts of a visit that identify its visitor. */
export type IdentifiableVisit = Pick<Visit, 'cookie' | 'gpc' | 'isHttps' | 'address' | 'userAgent'>;

/** @param given.secure whether the short-link origin is https; a request may say otherwise */
export function createIdentifyVisitor(given: {
  policies: WorkspacePolicies;
  dailyVisitors: DailyVisitors;
  secure: boolean;
}): IdentifyVisitor {
  const { policies, dailyVisitors, secure } = given;

  /** @param fresh a new visitor's cookie; null when the visitor has one */
  function cookieHeader(visit: IdentifiableVisit, fresh: string | null): string | null {
    const isSecure = visit.isHttps ?? secure;
    if (visit.gpc) return hasVisitorCookie(visit.cookie) ? clearedVisitorCookie(isSecure) : null;
    return fresh === null ? null : visitorCookie(fresh, isSecure);
  }

  function identifiedBy(
    visitors: WorkspaceVisitors,
    visit: IdentifiableVisit,
    tracking: Tracking,
    isBot: boolean,
  ) {
    const cookie = visit.gpc || tracking === 'none' ? null : parseVisitorCookie(visit.cookie);
    let idText: string | null;
    let id: Uint8Array;
    let cookieText: string | null = null;
    if (cookie === null) ({ id, idText, cookieText } = visitors.newVisitor());
    else {
      id = visitors.idOf(cookie);
      idText = bytesToUuid(id);
    }
    const isFull = tracking === 'full';
    return {
      id,
      idText: tracking === 'none' ? null : idText,
      isReturning: cookieText === null && isFull,
      isTracked: isFull && !visit.gpc,
      setCookie: isBot || !isFull ? null : cookieHeader(visit, cookieText),
    };
  }

  return (visitors, visit, isBot) => {
    const tracking = policies.trackingOf(visitors.workspaceId);
    if (tracking !== 'cookieless') return identifiedBy(visitors, visit, tracking, isBot);
    const id = dailyVisitors.visitorOf(visitors.workspaceId, visit.address, visit.userAgent);
    return { id, idText: null, isReturning: false, isTracked: false, setCookie: null };
  };
}
