import { ApiFailure } from '../../api/failures.ts';
import { isColor } from '../../parts/css-colors.ts';
import type { Field } from './changes.ts';
import { type Draft, isMetadata, isWebUrl } from './draft.ts';
import type { Theme } from './responses.ts';
import { GRADIENTS, PLATFORMS } from './theme-choices.ts';

/** Tabs of the editor, as in its URL. */
export type Part = 'content' | 'look' | 'publish';

/** A problem that prevents saving: its field and tab. */
export type Problem = {
  /** See {@link fieldKey}. */
  field: string;
  /** The field's name for the person, such as `Button 2, Destination URL`. */
  name: string;
  message: string;
  part: Part;
};

/** The error of a field, or null. */
export type Wrong = (field: string) => string | null;

/** Names a field of a list's entry by the entry's ID, so that it survives reordering. */
export const fieldKey = (list: 'links' | 'social_links', id: string, field: string) =>
  `${list}.${id}.${field}`;

/** Problems that the API would silently correct, or that cannot be sent. */
export function problemsOf({ theme, metadata }: Draft): Problem[] {
  const problems = themeProblems(theme);
  if (!isMetadata(metadata)) {
    const message = 'must be a JSON object, such as {"team": "ads"}';
    problems.push({ field: 'metadata', name: 'Metadata', message, part: 'publish' });
  }
  return problems;
}

/** Only fields that the chosen theme shows. */
function themeProblems(theme: Theme): Problem[] {
  const isPicture = theme.canvasMode === 'image';
  const isGradient = theme.canvasMode === 'gradient';
  const colors: [keyof Theme, string, boolean][] = [
    ['canvasValue', 'Background color', theme.canvasMode === 'color'],
    ['cardBg', 'Card color', theme.cardMode !== 'none'],
    ['textColor', 'Text color', true],
    ['buttonColor', 'Button color', true],
    ['buttonTextColor', 'Label color', theme.buttonStyle === 'fill'],
    ['buttonShadowColor', 'Shadow color', theme.buttonShadow !== 'none'],
  ];
  const address = 'must be a web address that begins with https:// or http://';
  const found: [keyof Theme, string, string][] = colors
    .filter(([key, , isShown]) => isShown && !isColor(theme[key] ?? ''))
    .map(([key, name]) => [key, name, 'is not a color']);
  if (isGradient && !GRADIENTS.some(({ name }) => name === theme.canvasValue)) {
    found.unshift(['canvasValue', 'Gradient', 'must be chosen']);
  }
  if (isPicture && !isWebUrl(theme.canvasValue)) {
    found.unshift(['canvasValue', 'Background image', address]);
  }
  if (theme.footerImage !== null && !isWebUrl(theme.footerImage)) {
    found.push(['footerImage', 'Footer image', address]);
  }
  return found.map(([key, name, message]) => ({ field: `theme.${key}`, name, message, part: 'look' }));
}

const FIELDS: Record<Field, [name: string, part: Part]> = {
  title: ['Title', 'content'],
  bio: ['About', 'content'],
  avatar_url: ['Picture', 'content'],
  avatar_width: ['Width of the picture', 'content'],
  avatar_height: ['Height of the picture', 'content'],
  links: ['Buttons', 'content'],
  social_links: ['Profiles', 'content'],
  theme: ['Look', 'look'],
  is_published: ['Published', 'publish'],
  show_branding: ['“Made with Hoplog”', 'publish'],
  language: ['Language', 'publish'],
  metadata: ['Metadata', 'publish'],
};

/** A field's name for the person. */
export const nameOf = (field: Field): string => FIELDS[field][0];

const BUTTON_FIELDS: Record<string, string> = {
  label: 'Label',
  url: 'Destination URL',
  emoji: 'Emoji',
  image_url: 'Image',
};

const THEME_IMAGES: Record<string, string> = {
  canvasValue: 'Background image',
  footerImage: 'Footer image',
};

/** The API's errors about `sent`, by field. */
export function refusedFields(error: unknown, sent: Draft): Problem[] {
  if (!(error instanceof ApiFailure)) return [];
  return error.details.map(({ path, message }) => ({ ...fieldOf(path, sent), message }));
}

function fieldOf(path: string, sent: Draft): Omit<Problem, 'message'> {
  const [list, at = '', field = ''] = path.split('.');
  const index = Number(at);
  const button = list === 'links' ? sent.links[index] : undefined;
  if (button) {
    const kind = button.type === 'link' ? 'Button' : 'Heading';
    const name = [`${kind} ${index + 1}`, BUTTON_FIELDS[field]].filter(Boolean).join(', ');
    return { field: fieldKey('links', button.id, field), name, part: 'content' };
  }
  const social = list === 'social_links' ? sent.social_links[index] : undefined;
  if (social) {
    const platform = PLATFORMS.find(({ value }) => value === social.platform)?.label ?? social.platform;
    const name = `Profile ${index + 1}, ${platform}`;
    return { field: fieldKey('social_links', social.key, field), name, part: 'content' };
  }
  if (list === 'theme') return { field: path, name: THEME_IMAGES[at] ?? 'Look', part: 'look' };
  const [name, part] = isField(path) ? FIELDS[path] : ([path, 'content'] as const);
  return { field: path, name, part };
}

const isField = (path: string): path is Field => Object.hasOwn(FIELDS, path);
