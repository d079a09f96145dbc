import type { Role } from '../../api/session.ts';

/** The roles as people read them, least first. */
export const ROLE_NAMES: Record<Role, string> = {
  analyst: 'Analyst',
  operator: 'Operator',
  owner: 'Owner',
};

/** What each role may do. */
export const ROLE_MEANINGS: Record<Role, string> = {
  analyst: 'sees everything and changes nothing',
  operator: 'sees everything and changes links, bio pages, programs and webhooks',
  owner: 'sees and changes everything, keys and members too',
};
