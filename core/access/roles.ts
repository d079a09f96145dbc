/** What a member of a workspace may do, least first: read; also change; also have keys and members. */
export const ROLES = ['analyst', 'operator', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** Whether a member with `role` may do what `needed` may. */
export function mayDo(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
