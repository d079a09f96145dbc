/**
 * Reports: figures of a workspace in a window. Each runs through `report()`, which decides how the window is counted and reads
 * what is cached (`report.ts`).
 */

export type { Condition } from '../queries/click-conditions.ts';
export type { Key } from './analytics/keys.ts';
export {
  type AnalyticsFigures,
  type AnalyticsRow,
  analyticsRows,
  type Counted,
  figuresOfRows,
  NOTHING,
  type Order,
  type RatedFigures,
} from './analytics/query.ts';
export { type ChannelFigures, channelsReport, channelsWithValues } from './channels.ts';
export { byRevenueThenClicks, type Figures } from './figures.ts';
export { lifetimeValues } from './lifetime-values.ts';
export { type ChooseShown, type LinkChoice, type LinkFigures, linksReport } from './links.ts';
export { LINK_FIGURES, type LinkFigure, linksByFigure } from './links-by-figure.ts';
export { EXACT_CLICKS, type ReportWindow } from './request.ts';
export { visitorsOfLinks } from './visitors-of-links.ts';
