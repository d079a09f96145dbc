import type { LinksView, Shown } from './links-view.ts';

const NAMES: Record<Shown, string> = {
  own: 'Your links',
  referral: 'Referral',
  bio: 'Bio pages',
  program: 'Programs',
  archived: 'Archived',
  all: 'All',
};

type Props = { view: LinksView; change: (changes: Record<string, string | null>) => void };

/** Chooses which links the table has. Those that the system made would fill the first page. */
export function ShownChips({ view, change }: Props) {
  return (
    <fieldset className="choices choices-chips" aria-label="Links shown">
      {(Object.keys(NAMES) as Shown[]).map((shown) => (
        <button
          key={shown}
          type="button"
          className="choice"
          aria-pressed={view.shown === shown}
          onClick={() => change({ shown: shown === 'own' ? null : shown })}
        >
          {NAMES[shown]}
        </button>
      ))}
    </fieldset>
  );
}
