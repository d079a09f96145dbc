import type { TimeUnit } from '../../../core/analytics/dimensions.ts';
import { bucketAt } from './buckets.ts';

/** What happened at an instant. */
export type Annotation = { at: string; text: string };

/** An annotation in a bucket of the chart. */
export type Placed = Annotation & { bucket: number };

/** Returns the annotations that are in buckets of a chart, in order of time. */
export function placedIn(
  annotations: readonly Annotation[],
  labels: readonly string[],
  unit: TimeUnit,
  zone: string,
): Placed[] {
  return annotations
    .flatMap((annotation) => {
      const bucket = bucketAt(labels, Date.parse(annotation.at), unit, zone);
      return bucket === -1 ? [] : [{ ...annotation, bucket }];
    })
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/** Returns one mark for each bucket with annotations. */
export function marksOf(placed: readonly Placed[]): { index: number; texts: string[] }[] {
  const texts = new Map<number, string[]>();
  for (const { bucket, text } of placed) texts.set(bucket, [...(texts.get(bucket) ?? []), text]);
  return [...texts].map(([index, ofBucket]) => ({ index, texts: ofBucket }));
}
