import { useEffect, useRef } from 'preact/hooks';
import { explain, type Failure } from './failures.ts';
import type { Problem } from './settings.ts';
import { words } from './words.ts';

/** Placeholder of the page while the first response loads. */
export function Skeleton() {
  return (
    <main class="page" aria-busy="true" aria-label={words('referrals')}>
      <p class="unseen">{words('loading')}</p>
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

/** Shown when the statistics failed to load. */
export function Failed(props: { failure: Failure; isPreview: boolean; busy: boolean; onRetry: () => void }) {
  const { title, text, hint, retry } = explain(props.failure, props.isPreview);
  const heading = useRef<HTMLHeadingElement>(null);
  // Move the focus only from an element inside the page; screen readers announce the alert in any case.
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
        {hint && (
          <p class="hint" lang="en" dir="ltr">
            {hint}
          </p>
        )}
        {retry && (
          <p>
            <button
              type="button"
              class="button"
              aria-disabled={props.busy}
              onClick={() => !props.busy && props.onRetry()}
            >
              {words(props.busy ? 'trying' : 'try_again')}
            </button>
          </p>
        )}
      </section>
    </main>
  );
}

/** Lists invalid parameters for the site's developer. */
export function BadSettings({ problems }: { problems: readonly Problem[] }) {
  return (
    <main class="page">
      <section class="card notice" role="alert">
        <h1>{words('bad_settings')}</h1>
        <p>{words('for_team')}</p>
        <ul class="problems" lang="en" dir="ltr">
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
