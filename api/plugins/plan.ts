import type { FastifyRequest } from 'fastify';
import { isPaid } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';

/** Throws a 402 when the route requires an active paid plan and the workspace has none. */
export function refuseUncovered(request: FastifyRequest): void {
  const { plan = 'paid' } = request.routeOptions.config;
  const need = typeof plan === 'function' ? plan(request) : plan;
  const { workspace } = request.auth;
  if (need === 'any' || isPaid(workspace)) return;
  throw new AppError(
    'payment_required',
    `this endpoint requires an active paid plan; the workspace is on ${workspace.plan} (${workspace.plan_status})`,
  );
}
