import { workspaceList } from '../database/workspace-list.ts';

/**
 * UTM parameters under a name; null: not of the template. `created_at`: ISO 8601 with microseconds, unique in the
 * workspace.
 */
export type UtmTemplate = {
  id: string;
  name: string;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
  created_at: string;
};

export const utmTemplates = workspaceList<UtmTemplate>('utm_templates', {
  name: 'name',
  utm_source: 'utm_source',
  utm_medium: 'utm_medium',
  utm_campaign: 'utm_campaign',
  utm_term: 'utm_term',
  utm_content: 'utm_content',
});
