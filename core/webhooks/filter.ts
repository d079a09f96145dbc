import type { Channel } from '../enrich/channels.ts';
import { CLICK_EVENT } from './event-types.ts';

/**
 * Which events a webhook gets, beside their types. Each list that is given must have one of the event's subjects; an
 * event without such a subject does not pass.
 */
export type WebhookFilter = {
  link_ids?: string[];
  folder_ids?: string[];
  program_ids?: string[];
  channels?: Channel[];
};

/** What an event is about, in the names of {@link WebhookFilter}. */
export type Subjects = Record<keyof WebhookFilter, readonly string[]>;

export const FILTER_NAMES = [
  'link_ids',
  'folder_ids',
  'program_ids',
  'channels',
] as const satisfies readonly (keyof WebhookFilter)[];

/** Returns whether an event with these subjects passes. Null: every event does. */
export function passesFilter(filter: WebhookFilter | null, subjects: Subjects): boolean {
  return FILTER_NAMES.every((name) => {
    const wanted: readonly string[] | undefined = filter?.[name];
    return wanted === undefined || subjects[name].some((id) => wanted.includes(id));
  });
}

/**
 * Returns the subjects of an event. A change of a link is about its subjects before and after it.
 *
 * @param folders of the link of a click, which does not name them
 */
export function subjectsOf(type: string, data: unknown, folders: readonly string[] = []): Subjects {
  const of = isObject(data) ? data : {};
  const program_ids = texts(of.program_id);
  if (type === CLICK_EVENT) {
    return { link_ids: texts(of.link_id), folder_ids: folders, program_ids, channels: texts(of.channel) };
  }
  if (!type.startsWith('link.')) return { link_ids: [], folder_ids: [], program_ids, channels: [] };
  const before = isObject(of.previous) ? of.previous : {};
  return {
    link_ids: texts(of.id),
    folder_ids: texts(of.folder_id, before.folder_id),
    program_ids,
    channels: texts(of.channel, before.channel),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const texts = (...values: unknown[]): string[] =>
  values.filter((value): value is string => typeof value === 'string' && value !== '');
