import { API_FIELDS } from './api-fields.tsx';
import { CAMPAIGN } from './campaign.tsx';
import { DEVICE_TARGETS } from './devices.tsx';
import type { LinkFormSection } from './fields.ts';
import { LIMITS, SCHEDULE } from './limits.tsx';
import { PIXELS } from './pixels.tsx';
import { REDIRECT } from './redirect.tsx';

/** The closed sections of the link form, in their order. */
export const SECTIONS: readonly LinkFormSection[] = [
  CAMPAIGN,
  SCHEDULE,
  LIMITS,
  DEVICE_TARGETS,
  REDIRECT,
  PIXELS,
  API_FIELDS,
];
