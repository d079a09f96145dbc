import type { CreateRow } from '../create-row.ts';
import { hostOfUrl } from '../meaning/address.ts';
import { nestedValues, objectIn } from '../nested-values.ts';
import { nameOf, RowProblem, type SourceRow, textOf } from '../source-row.ts';
import { linkName, listOf, slugOfUrl, tagsOf } from '../values.ts';
import type { Format } from './format.ts';

const DESTINATION = ['longurl', 'destinationurl', 'originalurl'];
const CUSTOM = ['custombitlinks', 'custombitlink', 'customlink', 'customlinks'];
const LINK = ['link', 'bitlink', 'shortlink', 'id'];

/**
 * Bitly. JSON: the pages of `GET /v4/groups/{group_guid}/bitlinks` (`links` with `id`, `link`, `custom_bitlinks`,
 * `long_url`, `title`, `tags`, `archived`; https://dev.bitly.com/api-reference/#getBitlinksByGroup, quoted in
 * https://github.com/thedevs-network/kutt/issues/382). CSV: the dashboard's export, whose columns are the same fields,
 * or Link, Custom Link and Destination URL (https://github.com/URLR/urlr-docs, migration/bitly.md), or Bitlink and Long
 * URL.
 *
 * Each custom back-half becomes a link, on each of its domains: those were published. Bitly serves the generated one
 * too, so it is a link where its domain is here; without a custom one it is the link. Archived links are imported,
 * because Bitly still redirects them.
 */
export const bitly: Format = {
  name: 'Bitly',
  matches: ({ columns }) =>
    (columns.has('longurl') || columns.has('originalurl') || CUSTOM.some((key) => columns.has(key))) &&
    DESTINATION.some((key) => columns.has(key)) &&
    LINK.some((key) => columns.has(key)),
  read(row) {
    const destination = textOf(row, ...DESTINATION);
    const custom = CUSTOM.flatMap((key) => linksIn(row.columns.get(key)?.value));
    const link = textOf(row, ...LINK);
    const printed = new Map(custom.map((text) => [placeOf(text), { text, isCustom: true }]));
    if (link !== null && !printed.has(placeOf(link)))
      printed.set(placeOf(link), { text: link, isCustom: false });
    if (printed.size === 0) throw new RowProblem(nameOf(row, ...LINK), 'has no short link');
    return [...printed.values()].map(({ text, isCustom }) => ({
      ...readLink(row, { destination, slug: slugOfUrl(text), isCustom }),
      printed: text,
      isSpare: !isCustom && custom.length > 0,
    }));
  },
};

/** Returns the short URLs of a list: texts, or objects that have them. */
function linksIn(value: unknown): string[] {
  const items = Array.isArray(value) ? value : [];
  const objects = items.filter((one) => typeof one === 'object' && one !== null);
  const inObjects = objects.flatMap((one: object) =>
    nestedValues(one).flatMap(({ value }) =>
      typeof value === 'string' && hostOfUrl(value) !== null && slugOfUrl(value) !== '' ? [value] : [],
    ),
  );
  return [...listOf(value), ...inObjects];
}

/** Returns a short URL for comparison. */
const placeOf = (text: string) => `${hostOfUrl(text)}/${slugOfUrl(text)}`;

function readLink(
  row: SourceRow,
  { destination, slug, isCustom }: { destination: string | null; slug: string; isCustom: boolean },
): CreateRow {
  return {
    body: {
      ...(destination !== null && { destination_url: destination }),
      name: linkName(textOf(row, 'title'), destination, slug),
      slug,
      tags: tagsOf(row.columns.get('tags')?.value),
      ...targetingOf(row),
    },
    columnOf: {
      destination_url: nameOf(row, ...DESTINATION) ?? 'long_url',
      name: nameOf(row, 'title') ?? 'title',
      slug: nameOf(row, ...(isCustom ? CUSTOM : LINK)) ?? 'link',
    },
  };
}

/**
 * Bitly's `deeplinks`: the address in an app where it is a whole one, else the app's page in its store. What else a
 * deeplink has is named as not taken over.
 */
function targetingOf(row: SourceRow): { targeting?: Record<string, string> } {
  const column = row.columns.peek('deeplinks');
  const given = objectIn(column?.value);
  if (column === undefined || given === null) return {};
  const read = (path: string) => row.columns.readInside(column.name, `${column.name}.${path}`);
  const links = Array.isArray(given) ? given.map((one, nth) => [`${nth}.`, one]) : [['', given]];
  const targets = links.flatMap(([place, one]) => {
    const fields = Object.entries(Object(one)).map(([name, value]) => ({
      name: name.toLowerCase(),
      path: `${place}${name}`,
      value,
    }));
    for (const { name, path } of fields) if (OF_BITLY.has(name)) read(path);
    const system = fields.find(({ name }) => name === 'os');
    const os = String(system?.value).toLowerCase();
    const url = ['app_uri_path', 'install_url']
      .flatMap((name) => fields.filter((field) => field.name === name))
      .find(({ value }) => typeof value === 'string' && /^[a-z][a-z0-9+.-]*:\/\//i.test(value));
    if (system === undefined || (os !== 'ios' && os !== 'android') || url === undefined) return [];
    read(system.path);
    read(url.path);
    return [[os, String(url.value)] as const];
  });
  return targets.length === 0 ? {} : { targeting: Object.fromEntries(targets) };
}

/** Fields of a deeplink that say nothing of where it leads. */
const OF_BITLY = new Set(['guid', 'bitlink', 'app_guid', 'brand_guid', 'created', 'modified']);
