import type { ResponseOf } from '../api/responses.ts';

/** Where shared dashboards are read, made and changed. */
export const SHARED_PATH = '/shared-dashboards';

export type SharedDashboards = ResponseOf<'/shared-dashboards'>;
export type SharedDashboard = SharedDashboards['shared_dashboards'][number];
