import { IS_COUNTED } from '../queries/click-conditions.ts';
import type { Span } from '../queries/visible-clicks.ts';

/** Up to this many clicks in the window, visitors are counted exactly; above, within 1 %. */
export const EXACT_CLICKS = 1_000_000;

/** The workspace and window of a report. */
export type ReportWindow = {
  workspaceId: string;
  span: Span;
  /**
   * Whether the workspace has deleted links with their history (`sql/event-log/reading-points.ts`). A report leaves
   * them out where this is true; it then reads `link_id`, 16 bytes a click, and no cached part.
   */
  hasDeleted: boolean;
  /** {@link EXACT_CLICKS} unless given. */
  exactUpTo?: number;
};

/** A window with a condition on its links. Bots and visits of no link are never counted. */
export type ReportedClicks = Required<ReportWindow> & {
  /** SQL on `link_id` that begins with `AND`; empty: all links. */
  condition: string;
  /** Parameters of the condition. */
  params: Record<string, unknown>;
};

/** The parameters of a report: `workspace`, `from`, `to`, and its condition's own. */
export const reportParams = ({ workspaceId, span, params }: ReportedClicks) => ({
  workspace: workspaceId,
  ...span,
  ...params,
});

/** The condition that selects a report's clicks, at any time. */
export const reportCondition = ({ condition }: ReportedClicks) =>
  `workspace_id = {workspace:UUID} AND ${IS_COUNTED} ${condition}`;
