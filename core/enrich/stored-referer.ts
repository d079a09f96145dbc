import { cleanReferer, refererHost, refererOrigin } from './referer.ts';
import { DIRECT, type Source, sourceOf } from './sources.ts';

/** A referer as it is stored. */
export type StoredReferer = Source & {
  readonly text: string;
  /** Host name, or package of an app; empty when unknown. */
  readonly host: string;
};

/** Returns the stored fields of a referer as it was sent. */
export function storedReferer(sent: string): StoredReferer {
  const text = cleanReferer(sent);
  const host = refererHost(text);
  return Object.freeze({ text, host, ...(host === '' ? DIRECT : sourceOf(refererOrigin(text))) });
}
