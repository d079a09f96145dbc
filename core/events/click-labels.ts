/**
 * What a click has from its link and from the address that was opened. Clicks of a link share one object, so it is
 * encoded and decoded once. Texts are empty when there is none.
 */
export type ClickLabels = {
  /** Host that the visitor asked for; empty for the deployment's own. */
  readonly domain: string;
  /** As the visitor asked for it. */
  readonly slug: string;
  /** As the destination got it, and so are the next four. */
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

/** Fields in the order of the schema (`schemas/click.v2.avsc`). */
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

/** Labels of a click of which nothing is known, such as one of version 1. */
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

/** Labels of many clicks, which keep their Avro body. */
export class SharedLabels implements ClickLabels {
  readonly domain: string;
  readonly slug: string;
  readonly utmSource: string;
  readonly utmMedium: string;
  readonly utmCampaign: string;
  readonly utmTerm: string;
  readonly utmContent: string;
  readonly ruleId: string;
  readonly variantId: string;
  #bytes: Uint8Array | null = null;

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

  get bytes(): Uint8Array {
    this.#bytes ??= encode(this);
    return this.#bytes;
  }
}

/**
 * Returns the Avro body of labels.
 *
 * @throws TypeError when a value is not a string
 */
export function labelBytes(labels: ClickLabels): Uint8Array {
  return labels instanceof SharedLabels ? labels.bytes : encode(labels);
}

function encode(labels: ClickLabels): Uint8Array {
  const pieces = LABEL_NAMES.flatMap((name) => {
    const text = labels[name];
    if (typeof text !== 'string') throw new TypeError(`${name} must be a string, not ${typeof text}`);
    const bytes = Buffer.from(text);
    return [length(bytes.length), bytes];
  });
  return Buffer.concat(pieces);
}

/** Returns a length as Avro's `long`: zigzag, seven bits a byte, the lowest first. */
function length(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
