import { useApi } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import type { Annotation } from './annotation-marks.ts';
import { useSource } from './source.ts';

/** Where annotations of the workspace are read, made and deleted. */
export const ANNOTATIONS_PATH = '/annotations';
/** All that a workspace may have. */
export const MOST_ANNOTATIONS = 500;

export type Annotations = ResponseOf<'/annotations'>;

const NONE: readonly Annotation[] = [];

/** The annotations of the dashboard: those of a shared one come with it, a member's are read. */
export function useAnnotations(): readonly Annotation[] {
  const { annotations } = useSource();
  const own = useApi<Annotations>(annotations === null ? ANNOTATIONS_PATH : null, {
    limit: MOST_ANNOTATIONS,
  });
  return annotations ?? own.data?.annotations ?? NONE;
}
