import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { methodName } from '../../core/referrals/payout-method-names.ts';
import { useAnnounce } from './announcer.tsx';
import { explainRefusal } from './failures.ts';
import { formatDate } from './formats.ts';
import type { ReferralsApi } from './referrals-api.ts';
import type { SavedMethod, SavedPayout } from './stats.ts';
import { words } from './words.ts';

type Props = {
  api: ReferralsApi;
  methods: string[];
  saved: SavedMethod | null;
  /** End of the hold on payouts after a page changed the address; null: no hold. */
  heldUntil: string | null;
  onSaved: (saved: SavedPayout) => void;
};

/** The saved payout method, or the form to save one. */
export function PayoutSetUp({ api, methods, saved, heldUntil, onSaved }: Props) {
  const [changing, setChanging] = useState(false);
  const change = useRef<HTMLButtonElement>(null);
  const returns = useRef(false);
  const announce = useAnnounce();

  // Closing the form returns the focus to the button that opened it.
  useLayoutEffect(() => {
    if (changing || !returns.current) return;
    returns.current = false;
    change.current?.focus();
  }, [changing, saved]);

  function close() {
    returns.current = true;
    setChanging(false);
  }

  return (
    <section class="card" aria-labelledby="payout-heading">
      <h2 id="payout-heading">{words('payout_method')}</h2>
      {methods.length === 0 && <p class="empty">{words('no_methods')}</p>}
      {saved && !changing && (
        <div class="saved">
          <p>
            <strong>{methodName(saved.method)}</strong>
            <bdi class="address">{saved.email}</bdi>
          </p>
          {methods.length > 0 && (
            <button
              ref={change}
              type="button"
              class="button button-plain"
              aria-label={words('change_method')}
              onClick={() => setChanging(true)}
            >
              {words('change')}
            </button>
          )}
        </div>
      )}
      {saved && !changing && heldUntil !== null && (
        <p class="hint">{words('payable_from', { date: formatDate(heldUntil) })}</p>
      )}
      {methods.length > 0 && (changing || !saved) && (
        <PayoutForm
          api={api}
          methods={methods}
          initial={saved?.method ?? null}
          takesFocus={changing}
          onCancel={saved ? close : null}
          onSaved={(next) => {
            close();
            onSaved(next);
            const method = methodName(next.payout_method.method);
            const until = next.payout_held_until;
            announce(
              until === null
                ? words('saved_said', { method })
                : words('saved_from_said', { method, date: formatDate(until) }),
            );
          }}
        />
      )}
    </section>
  );
}

type FormProps = {
  api: ReferralsApi;
  methods: string[];
  initial: string | null;
  takesFocus: boolean;
  onCancel: (() => void) | null;
  onSaved: (saved: SavedPayout) => void;
};

function PayoutForm({ api, methods, initial, takesFocus, onCancel, onSaved }: FormProps) {
  const [method, setMethod] = useState(methods.find((offered) => offered === initial) ?? methods[0] ?? '');
  const [address, setAddress] = useState('');
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);

  useLayoutEffect(() => {
    if (takesFocus) field.current?.focus();
  }, [takesFocus]);

  async function submit(event: Event) {
    event.preventDefault();
    if (busy) return;
    const input = field.current;
    if (input && !input.checkValidity()) {
      setRefusal(words('bad_email'));
      input.focus();
      return;
    }
    setBusy(true);
    setRefusal(null);
    const answer = await api.savePayoutMethod(method, address.trim());
    setBusy(false);
    if (answer.ok) onSaved(answer.value);
    else {
      setRefusal(explainRefusal(answer.failure));
      field.current?.focus();
    }
  }

  return (
    <form class="payout-form" noValidate onSubmit={(event) => void submit(event)}>
      <fieldset class="methods">
        <legend>{words('pay_with')}</legend>
        {methods.map((offered) => (
          <label key={offered} class="method">
            <input
              type="radio"
              name="method"
              value={offered}
              checked={offered === method}
              onChange={() => setMethod(offered)}
            />
            {methodName(offered)}
          </label>
        ))}
      </fieldset>
      <label class="labeled" for="payout-email">
        {words('account_email', { method: methodName(method) })}
      </label>
      <input
        ref={field}
        id="payout-email"
        class="field"
        type="email"
        dir="ltr"
        required
        maxLength={254}
        autocomplete="email"
        value={address}
        aria-invalid={refusal !== null}
        aria-describedby={refusal === null ? undefined : 'payout-refusal'}
        onInput={(event) => setAddress(event.currentTarget.value)}
      />
      {refusal && (
        <p class="refusal" id="payout-refusal" role="alert">
          {refusal}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button" aria-disabled={busy}>
          {words(busy ? 'saving' : 'save_method')}
        </button>
        {onCancel && (
          <button type="button" class="button button-plain" onClick={onCancel}>
            {words('cancel')}
          </button>
        )}
      </div>
    </form>
  );
}
