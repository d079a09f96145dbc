import type { ResponseOf } from '../../../api/responses.ts';
import type { LinkDraft, UTM_FIELDS } from './link-draft.ts';

/** Where UTM templates are read, made and deleted. */
export const TEMPLATES_PATH = '/utm-templates';
/** All that a workspace may have. */
export const MOST_TEMPLATES = 200;

export type UtmTemplates = ResponseOf<'/utm-templates'>;

/** The UTM parameters of a form. */
export type UtmParameters = Pick<LinkDraft, (typeof UTM_FIELDS)[number]>;

export type TemplatesDialogProps = { parameters: UtmParameters; close: () => void };
