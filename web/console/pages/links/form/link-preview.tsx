import { Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { qrAddress } from '../../../../../core/qr/layout.ts';
import { formatInstantIn, formatPercent, viewerTimeZone } from '../../../formats.ts';
import { shownAddress } from '../../../parts/clean-address.ts';
import { Note } from '../../../parts/note.tsx';
import { qrModules, qrSvg, svgUrl } from '../qr-code.ts';
import { ruleWords } from '../rules/condition-words.ts';
import { sharesOf, variantsOf } from '../rules/decide-draft.ts';
import { DEVICES } from './devices.tsx';
import { type LinkDraft, UTM_FIELDS } from './link-draft.ts';
import { useLinkDomains } from './use-link-domains.ts';

/** Side of the code. CSS pixels. */
const WIDTH = 148;

/** The short link, its QR code, and where it leads, as they are typed. */
export function LinkPreview({ draft }: { draft: LinkDraft }) {
  const { shortUrl } = useLinkDomains();
  const slug = draft.slug.trim();
  const [channel = ''] = draft.channels;
  const whole = draft.channels.length > 1 && slug !== '' ? `${slug}-${channel}` : slug;
  return (
    <Paper component="aside" withBorder p="md" aria-label="Preview">
      <Stack gap="sm">
        <Text className="preview-address">
          {shortUrl(draft.domain, '').replace(/^https?:\/\//, '')}
          {whole === '' ? <span aria-hidden="true">…</span> : whole}
        </Text>
        {draft.channels.length > 1 && <Note>and {draft.channels.length - 1} more, one for each channel</Note>}
        {whole === '' ? (
          <div className="preview-empty">The QR code follows once the link has a slug.</div>
        ) : (
          <PreviewCode address={shortUrl(draft.domain, whole)} />
        )}
        <Ways draft={draft} />
      </Stack>
    </Paper>
  );
}

function PreviewCode({ address }: { address: string }) {
  const code = useQuery({
    queryKey: ['qr', address],
    queryFn: () => qrModules(qrAddress(address)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!code.data) return <Skeleton width={WIDTH} height={WIDTH} />;
  const alt = `QR code that leads to ${address}`;
  return <img src={svgUrl(qrSvg(code.data, alt))} alt={alt} width={WIDTH} height={WIDTH} />;
}

const localInstant = (local: string) => {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? null : formatInstantIn(date.toISOString(), viewerTimeZone());
};

/** Where visitors go, in the order of decisions. */
function Ways({ draft }: { draft: LinkDraft }) {
  const targets = DEVICES.flatMap(([field, label]) =>
    draft[field].trim() === '' ? [] : [[label, shownAddress(draft[field])] as const],
  );
  const shares = sharesOf(variantsOf(draft));
  const isDecided = targets.length > 0 || draft.rules.length > 0;
  const starts = localInstant(draft.starts_at);
  const expires = localInstant(draft.expires_at);
  const added = [
    ...(draft.append_utm ? UTM_FIELDS.filter((field) => isAdded(field, draft)) : []),
    ...(draft.append_visitor ? ['_vid'] : []),
  ];
  return (
    <dl className="preview-ways">
      {starts !== null && <Way to="Not found">Before {starts}</Way>}
      {draft.rules.map((rule) => (
        <Way key={rule.key} to={shownAddress(rule.destination_url)}>
          {rule.name || ruleWords(rule)}
        </Way>
      ))}
      {targets.map(([label, to]) => (
        <Way key={label} to={to}>
          {label}
        </Way>
      ))}
      {shares.map(({ id, url, share }) => (
        <Way key={id} to={shownAddress(url)}>
          {formatPercent(share)} of {isDecided ? 'everyone else' : 'all'}
        </Way>
      ))}
      {shares.length === 0 && (
        <Way to={shownAddress(draft.destination_url)}>{isDecided ? 'Everyone else' : 'Leads to'}</Way>
      )}
      {(expires !== null || draft.max_clicks.trim() !== '') && (
        <Way
          to={
            draft.expired_redirect_url.trim() === '' ? 'A notice' : shownAddress(draft.expired_redirect_url)
          }
        >
          {expires === null ? 'Once its clicks are used up' : `After ${expires}`}
        </Way>
      )}
      <Way to={added.length === 0 ? 'Nothing' : added.join(', ')}>Added to the address</Way>
    </dl>
  );
}

/** Source, medium and campaign always have a value. */
const isAdded = (field: (typeof UTM_FIELDS)[number], draft: LinkDraft) =>
  draft[field].trim() !== '' || (field !== 'utm_term' && field !== 'utm_content');

const Way = ({ children, to }: { children: React.ReactNode; to: string }) => (
  <>
    <dt>{children}</dt>
    <dd>{to}</dd>
  </>
);
