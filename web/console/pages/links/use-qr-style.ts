import { useLocalStorage } from '@mantine/hooks';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { useSession } from '../../api/session.ts';
import { hexOf } from '../../parts/css-colors.ts';
import { PLAIN_STYLE, type QrStyle } from './qr-code.ts';

/**
 * How the code of a link looks. Without a paid plan a link has no design of its own: this browser keeps one for all.
 */
export function useQrStyle(linkId: string) {
  const { workspace } = useSession();
  const path = `/links/${linkId}/qr/style`;
  const stored = useApi<ResponseOf<'/links/{id}/qr/style'>>(workspace.paid ? path : null);
  const [last, setLast] = useLocalStorage<Partial<QrStyle>>({
    key: `hoplog-qr-style-${workspace.id}`,
    defaultValue: PLAIN_STYLE,
    getInitialValueInEffect: false,
  });
  const send = useSend<QrStyle>(
    (style) => ({
      path,
      method: 'PATCH',
      body: { ...style, color: hexOf(style.color), background: hexOf(style.background) },
    }),
    { refresh: [path], done: 'QR code saved', tellFailure: false },
  );
  const lastStyle = { ...PLAIN_STYLE, ...last };
  const { data } = stored;
  const ofLink = data && { ...data, color: `#${data.color}`, background: `#${data.background}` };
  return {
    /** Null: it loads. */
    style: workspace.paid ? (ofLink ?? null) : lastStyle,
    failure: stored.error,
    /** The design that was saved last in this browser, of any link. */
    last: lastStyle,
    /** Keeps the design as the last one. A logo of a link's own belongs to that link. */
    keep: (style: QrStyle) => setLast({ ...style, logo: style.logo === 'workspace' ? 'workspace' : 'none' }),
    send,
  };
}
