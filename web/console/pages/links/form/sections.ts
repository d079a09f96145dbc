import { PREVIEW } from '../preview/preview-fields.tsx';
import { RULES } from '../rules/rule-fields.tsx';
import { SPLIT } from '../split/split-fields.tsx';
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
  RULES,
  DEVICE_TARGETS,
  SPLIT,
  REDIRECT,
  PREVIEW,
  PIXELS,
  API_FIELDS,
];
