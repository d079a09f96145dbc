import type { Role } from '../../api/session.ts';

/** Role names, lowest first. */
export const ROLE_NAMES: Record<Role, string> = {
  analyst: 'Analyst',
  operator: 'Operator',
  owner: 'Owner',
};

/** Permissions of each role. */
export const ROLE_MEANINGS: Record<Role, string> = {
  analyst: 'sees everything and changes nothing',
  operator: 'sees everything and changes links, bio pages, programs and webhooks',
  owner: 'sees and changes everything, keys and members too',
};
