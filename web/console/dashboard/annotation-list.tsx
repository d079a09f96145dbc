import { useState } from 'react';
import { formatDayIn } from '../formats.ts';
import { TextPress } from '../parts/text-press.tsx';
import type { Placed } from './annotation-marks.ts';
import { useSource } from './source.ts';

/** Annotations that are listed before a press shows all. */
const FIRST = 6;

/** What the marks of the chart mean, newest first. */
export function AnnotationList({ placed }: { placed: readonly Placed[] }) {
  const { zone } = useSource();
  const [isWhole, setWhole] = useState(false);
  if (placed.length === 0) return null;
  const newest = placed.toReversed();
  return (
    <>
      <ul className="plain-list annotations" aria-label="Annotations">
        {(isWhole ? newest : newest.slice(0, FIRST)).map(({ at, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: those of a shared dashboard have no id
          <li key={`${at} ${index}`}>
            <time dateTime={at}>{formatDayIn(at, zone)}</time>
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {!isWhole && newest.length > FIRST && (
        <TextPress onClick={() => setWhole(true)}>Show all {newest.length} annotations</TextPress>
      )}
    </>
  );
}
