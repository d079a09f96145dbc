import { IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

type Props = {
  title: string;
  /** What is set in it, in a few words; null: nothing. */
  set: string | null;
  /** What can be set in it, shown while nothing is. */
  hint: string;
  /** Whether a field in it has an error: it opens. */
  isWrong: boolean;
  children: ReactNode;
};

/**
 * A closed part of a long form, which says what is set in it. Its fields render only after it was first opened, because
 * a form renders on every keystroke.
 */
export function FormSection({ title, set, hint, isWrong, children }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  const [wasOpen, setWasOpen] = useState(false);
  useLayoutEffect(() => {
    if (isWrong && details.current) details.current.open = true;
  }, [isWrong]);
  return (
    <details className="form-section" ref={details} onToggle={() => setWasOpen(true)}>
      <summary>
        <IconChevronRight size={16} aria-hidden="true" />
        <span className="form-section-title">{title}</span>
        <span className="form-section-words" data-set={set !== null || undefined}>
          {set ?? hint}
        </span>
      </summary>
      <div className="form-section-fields">{(wasOpen || isWrong) && children}</div>
    </details>
  );
}
