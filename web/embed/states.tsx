import { useEffect, useRef } from 'preact/hooks';
import { explain, type Failure } from './failures.ts';
import type { Problem } from './settings.ts';

/** What is seen while the first answer is under way: the page's shape. */
export function Skeleton() {
  return (
    <main class="page" aria-busy="true" aria-label="Referrals">
      <p class="unseen">Loading your referrals…</p>
      <div class="skeleton" aria-hidden="true">
        <div class="bone bone-title" />
        <div class="bone bone-link" />
        <div class="figures">
          <div class="bone bone-figure" />
          <div class="bone bone-figure" />
          <div class="bone bone-figure" />
          <div class="bone bone-figure" />
        </div>
        <div class="bone bone-chart" />
      </div>
    </main>
  );
}

/** The figures could not be loaded. */
export function Failed(props: { failure: Failure; busy: boolean; onRetry: () => void }) {
  const { title, text, hint, retry } = explain(props.failure);
  const heading = useRef<HTMLHeadingElement>(null);
  // Keyboard users who pressed "Try again" stay where they are; the alert is read to everyone.
  useEffect(() => {
    if (document.activeElement === document.body) return;
    heading.current?.focus();
  }, []);
  return (
    <main class="page">
      <section class="card notice" role="alert">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <p>{text}</p>
        {hint && <p class="hint">{hint}</p>}
        {retry && (
          <p>
            <button
              type="button"
              class="button"
              aria-disabled={props.busy}
              onClick={() => !props.busy && props.onRetry()}
            >
              {props.busy ? 'Trying…' : 'Try again'}
            </button>
          </p>
        )}
      </section>
    </main>
  );
}

/** The page was embedded with parameters that can't be used: each is named, for whoever embedded it. */
export function BadSettings({ problems }: { problems: readonly Problem[] }) {
  return (
    <main class="page">
      <section class="card notice" role="alert">
        <h1>This dashboard is not set up correctly</h1>
        <p>For the team of this site:</p>
        <ul class="problems">
          {problems.map(({ parameter, attribute, message }) => (
            <li key={parameter}>
              <code>{attribute}</code> (<code>{parameter}</code>) {message}.
            </li>
          ))}
        </ul>
      </section>
    </main>
  );
}
