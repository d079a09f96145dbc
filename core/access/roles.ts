/** Roles of a workspace's members, least first: read; also change; also manage keys and members. */
export const ROLES = ['analyst', 'operator', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Returns whether a member with `role` may do what `needed` may. */
export function mayDo(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
