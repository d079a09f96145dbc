/**
 * Reports: figures of a workspace in a window. Each is a query of `analytics/query.ts`, which decides how the window is
 * counted (`window-plan.ts`) and reads what is cached (`cached-parts.ts`).
 */

export type { Condition } from '../queries/click-conditions.ts';
export type { Key } from './analytics/keys.ts';
export {
  analyticsRows,
  type Counted,
  countedIn,
  figuresOfRows,
  NOTHING,
  type Order,
  type RatedFigures,
  rowsAhead,
} from './analytics/query.ts';
export { channelsReport, channelsWithValues } from './channels.ts';
export { byRevenueThenClicks, type Figures } from './figures.ts';
export { lifetimeValues } from './lifetime-values.ts';
export {
  type ChooseShown,
  type LinkChoice,
  type LinkFigures,
  linksByFigure,
  linksReport,
  visitorsOfLinks,
} from './links.ts';
export { EXACT_CLICKS, type ReportWindow } from './request.ts';
