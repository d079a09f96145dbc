/**
 * The part of a click that comes from its link and from the opened address. Clicks of a link share one object, so it is
 * encoded and decoded once. Missing texts are empty.
 */
export type ClickLabels = {
  /** Host that the visitor requested; empty for the deployment's own. */
  readonly domain: string;
  /** Slug in the spelling that the visitor opened. */
  readonly slug: string;
  /** Parameter of the destination's query, like the next four. */
  readonly utmSource: string;
  readonly utmMedium: string;
  readonly utmCampaign: string;
  readonly utmTerm: string;
  readonly utmContent: string;
  /** Rule that decided the destination. */
  readonly ruleId: string;
  /** Variant of the link's split. */
  readonly variantId: string;
};

/** Bytes of each id in a click's body. */
export const ID_BYTES = 16;

/** Fields in the order of the schema (`schemas/click.v1.avsc`). */
export const LABEL_NAMES = [
  'domain',
  'slug',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'ruleId',
  'variantId',
] as const satisfies readonly (keyof ClickLabels)[];

/** Labels of a click whose link is unknown. */
export const NO_LABELS: ClickLabels = Object.freeze({
  domain: '',
  slug: '',
  utmSource: '',
  utmMedium: '',
  utmCampaign: '',
  utmTerm: '',
  utmContent: '',
  ruleId: '',
  variantId: '',
});

/** The ids and the channel that a click has from its link. */
type OfLink = { readonly workspaceId: Uint8Array; readonly linkId: Uint8Array; readonly channel: string };

/** Labels of the clicks of one link, which cache the result of {@link linkBytes}. */
export class SharedLabels implements ClickLabels {
  // Fields that every click reads come first: they are in the object's first cache line.
  #linkId: Uint8Array | null = null;
  #workspaceId: Uint8Array | null = null;
  #channel = '';
  #bytes = '';
  readonly domain: string;
  readonly slug: string;
  readonly utmSource: string;
  readonly utmMedium: string;
  readonly utmCampaign: string;
  readonly utmTerm: string;
  readonly utmContent: string;
  readonly ruleId: string;
  readonly variantId: string;

  constructor(labels: ClickLabels) {
    this.domain = labels.domain;
    this.slug = labels.slug;
    this.utmSource = labels.utmSource;
    this.utmMedium = labels.utmMedium;
    this.utmCampaign = labels.utmCampaign;
    this.utmTerm = labels.utmTerm;
    this.utmContent = labels.utmContent;
    this.ruleId = labels.ruleId;
    this.variantId = labels.variantId;
  }

  /** As {@link linkBytes}. Ids are compared by identity: nothing may write into one. */
  bytesWith({ workspaceId, linkId, channel }: OfLink): string {
    if (linkId !== this.#linkId || workspaceId !== this.#workspaceId || channel !== this.#channel) {
      this.#bytes = encode(workspaceId, linkId, this, channel);
      this.#linkId = linkId;
      this.#workspaceId = workspaceId;
      this.#channel = channel;
    }
    return this.#bytes;
  }
}

/**
 * Returns the part of a click's Avro body that its link decides, from the workspace's id to the channel: a character a
 * byte. Clicks of a link copy it in one piece. A string has its bytes beside its length. A typed array has them
 * elsewhere, which costs another cache miss with many links in use.
 *
 * @throws TypeError when a value does not match its field's type
 */
export function linkBytes(click: OfLink & { readonly labels: ClickLabels }): string {
  const { labels } = click;
  if (labels instanceof SharedLabels) return labels.bytesWith(click);
  return encode(click.workspaceId, click.linkId, labels, click.channel);
}

function encode(workspaceId: Uint8Array, linkId: Uint8Array, labels: ClickLabels, channel: string): string {
  const texts = LABEL_NAMES.flatMap((name) => encodeText(name, labels[name]));
  const pieces = [requireId(workspaceId), requireId(linkId), ...texts, ...encodeText('channel', channel)];
  return Buffer.concat(pieces).toString('latin1');
}

/** @throws TypeError when it has another length than an id */
export function requireId(id: Uint8Array): Uint8Array {
  if (id.length !== ID_BYTES) throw new TypeError(`an id must have ${ID_BYTES} bytes, not ${id.length}`);
  return id;
}

function encodeText(name: string, text: string): Uint8Array[] {
  if (typeof text !== 'string') throw new TypeError(`${name} must be a string, not ${typeof text}`);
  const bytes = Buffer.from(text);
  return [length(bytes.length), bytes];
}

/** Returns a length as Avro's `long`: zigzag, seven bits a byte, the lowest first. */
function length(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
