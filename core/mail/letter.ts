import { directionOf, type Language, languageAttributes } from '../languages/languages.ts';
import { mailWords } from '../languages/mails/words.ts';
import { escapeHtml } from '../text/html.ts';

/** A mail before it is text and HTML. Every part is plain text. */
export type Letter = {
  subject: string;
  /** The first line, above everything else. */
  title: string;
  paragraphs: readonly string[];
  /** Names with their values, as a table. */
  facts?: readonly (readonly [name: string, value: string])[];
  /** Figures with their change, the first ones largest. */
  figures?: readonly LetterFigure[];
  /** A picture of the mail's part {@link PICTURE_CID}, below the figures. */
  picture?: { alt: string; caption: string; width: number; height: number };
  tables?: readonly LetterTable[];
  button?: { label: string; url: string };
  /** Small print below the rest. */
  notes?: readonly string[];
};

export type LetterFigure = {
  name: string;
  value: string;
  /** Such as `+12%`; null: nothing to compare with. */
  change: string | null;
  isUp: boolean | null;
};

/** The first column is of names, the others are of figures. */
export type LetterTable = { title: string; columns: readonly string[]; rows: readonly (readonly string[])[] };

/** Who the mail is from, at its head and its foot. */
export type Sender = {
  /** Name of the workspace; null: of the service itself. */
  workspaceName: string | null;
  /** Whether the workspace has a logo, as the mail's part {@link LOGO_CID}. */
  hasLogo: boolean;
  /** Origin of the console. */
  appUrl: string;
  /** Page where the recipient ends further mail; null: it cannot be ended. */
  unsubscribeUrl: string | null;
  /** Language of the letter's own words. */
  language: Language;
};

/** `Content-ID` of the logo. */
export const LOGO_CID = 'logo@hoplog';

/** `Content-ID` of a letter's picture. */
export const PICTURE_CID = 'picture@hoplog';

const SERVICE = 'Hoplog';

/** Returns the text of a letter, with lines as long as they are: mail programs wrap them. */
export function textOf(letter: Letter, sender: Sender): string {
  const facts = (letter.facts ?? []).map(([name, value]) => `${name}: ${value}`);
  const parts = [
    letter.title,
    ...letter.paragraphs,
    ...(facts.length > 0 ? [facts.join('\n')] : []),
    ...partsOf(letter),
    ...(letter.button ? [`${letter.button.label}:\n${letter.button.url}`] : []),
    ...(letter.notes ?? []),
    `-- \n${footLines(sender).join('\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Returns figures and tables as texts. */
function partsOf({ figures = [], tables = [] }: Letter): string[] {
  const lines = figures.map(
    ({ name, value, change }) => `${name}: ${value}${change === null ? '' : ` (${change})`}`,
  );
  return [
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    ...tables.map(({ title, rows }) =>
      [title, ...rows.map(([name = '', ...values]) => `${name}: ${values.join(', ')}`)].join('\n'),
    ),
  ];
}

function footLines(sender: Sender): string[] {
  const { appUrl, unsubscribeUrl, language } = sender;
  return [
    `${fromOf(sender)}, ${appUrl}`,
    ...(unsubscribeUrl === null ? [] : [`${mailWords(language)('unsubscribe')}: ${unsubscribeUrl}`]),
  ];
}

const fromOf = ({ workspaceName: name, language }: Sender) =>
  name === null ? SERVICE : mailWords(language)('from', { name, service: SERVICE });

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const COLOR = {
  page: '#f4f5f7',
  card: '#ffffff',
  text: '#1b1f24',
  dim: '#5b636e',
  line: '#dfe3e8',
  act: '#177245',
  down: '#b3261e',
};
const DARK = {
  page: '#14161a',
  card: '#1e2127',
  text: '#eceef1',
  dim: '#a9b1bb',
  line: '#363b43',
  act: '#5cc08b',
  down: '#f2958f',
};

/**
 * Colors of dark mode, for the mail programs that read styles of the head. The others show the colors of the elements,
 * or turn these themselves.
 */
const DARK_STYLE = `@media (prefers-color-scheme:dark){
.page{background:${DARK.page}!important}.card{background:${DARK.card}!important;border-color:${DARK.line}!important}
.text{color:${DARK.text}!important}.dim{color:${DARK.dim}!important}.line{border-color:${DARK.line}!important}
.link,.up{color:${DARK.act}!important}.down{color:${DARK.down}!important}}`;

const paragraph = (text: string, style = '') =>
  `<p class="text" style="margin:0 0 16px;${FONT};font-size:16px;line-height:24px;color:${COLOR.text};${style}">${lines(text)}</p>`;
const small = (text: string) =>
  `<p class="dim" style="margin:0 0 8px;${FONT};font-size:13px;line-height:20px;color:${COLOR.dim}">${text}</p>`;

const lines = (text: string) => escapeHtml(text).replaceAll('\n', '<br>');
const link = (url: string, label = url) =>
  `<a class="link" href="${escapeHtml(url)}" style="color:${COLOR.act};text-decoration:underline;word-break:break-all">${escapeHtml(label)}</a>`;

/**
 * Returns the HTML of a letter in the subset that Gmail and Outlook show: tables, inline styles, and no image from
 * elsewhere.
 */
export function htmlOf(letter: Letter, sender: Sender): string {
  const { title, paragraphs, facts = [], figures = [], picture, tables = [], button, notes = [] } = letter;
  const words = mailWords(sender.language);
  // Gmail drops the attributes of the document.
  const attributes = languageAttributes(sender.language);
  const rows = [
    `<h1 class="text" style="margin:0 0 16px;${FONT};font-size:22px;line-height:30px;font-weight:600;color:${COLOR.text}">${lines(title)}</h1>`,
    ...paragraphs.map((text) => paragraph(text)),
    ...(facts.length > 0 ? [factTable(facts, sender)] : []),
    ...(figures.length > 0 ? [figureTable(figures, sender)] : []),
    ...(picture ? [pictureOf(picture)] : []),
    ...tables.map((table) => rowTable(table, sender)),
    ...(button ? [buttonTable(button)] : []),
    ...(button ? [small(`${escapeHtml(words('button_fails'))}<br>${link(button.url)}`)] : []),
    ...notes.map((text) => small(lines(text))),
  ];
  return `<!doctype html>
<html${attributes}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(letter.subject)}</title><style>:root{color-scheme:light dark}
${DARK_STYLE}</style></head>
<body class="page" style="margin:0;padding:0;background:${COLOR.page}"><div role="main"${attributes}>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:${COLOR.page}"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:560px">
<tr><td style="padding:0 4px 16px">${head(sender)}</td></tr>
<tr><td class="card" style="padding:28px 24px 20px;background:${COLOR.card};border:1px solid ${COLOR.line};border-radius:8px;word-break:break-word;overflow-wrap:anywhere">
${rows.join('\n')}
</td></tr>
<tr><td style="padding:16px 4px 0">${foot(sender)}</td></tr>
</table></td></tr></table></div></body></html>
`;
}

function head({ workspaceName, hasLogo }: Sender): string {
  const name = escapeHtml(workspaceName ?? SERVICE);
  // A logo may be dark on a transparent ground, which a dark page would swallow.
  const logo = hasLogo
    ? `<td style="padding:4px;background:#ffffff;border-radius:6px"><img src="cid:${LOGO_CID}" alt="" height="32" style="display:block;height:32px;width:auto;max-width:160px;border:0"></td><td width="12" style="font-size:0">&nbsp;</td>`
    : '';
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>${logo}<td class="text" dir="auto" style="${FONT};font-size:16px;line-height:24px;font-weight:600;color:${COLOR.text};word-break:break-word">${name}</td></tr></table>`;
}

/** Where lines start and end: Outlook knows no logical sides. */
function sidesOf({ language }: Pick<Sender, 'language'>) {
  return directionOf(language) === 'rtl'
    ? ({ start: 'right', end: 'left' } as const)
    : ({ start: 'left', end: 'right' } as const);
}

function factTable(facts: NonNullable<Letter['facts']>, { language }: Sender): string {
  const { end } = sidesOf({ language });
  const cell = `padding:8px 0;border-top:1px solid ${COLOR.line};${FONT};font-size:14px;line-height:20px;vertical-align:top`;
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td class="dim line" width="110" style="${cell};padding-${end}:12px;color:${COLOR.dim}">${escapeHtml(name)}</td><td class="text line" style="${cell};color:${COLOR.text}"><bdi>${lines(value)}</bdi></td></tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px">${rows.join('')}</table>`;
}

/** Figures in two columns, which a phone has room for too. */
function figureTable(figures: NonNullable<Letter['figures']>, sender: Sender): string {
  const { start, end } = sidesOf(sender);
  const cell = ({ name, value, change, isUp }: LetterFigure) => {
    const kind = isUp === null ? 'dim' : isUp ? 'up' : 'down';
    const color = isUp === null ? COLOR.dim : isUp ? COLOR.act : COLOR.down;
    return `<td class="line" width="50%" style="padding:12px 0;padding-${end}:12px;border-top:1px solid ${COLOR.line};vertical-align:top;text-align:${start}"><div class="dim" style="${FONT};font-size:13px;line-height:20px;color:${COLOR.dim}">${escapeHtml(name)}</div><div class="text" style="${FONT};font-size:20px;line-height:28px;font-weight:600;color:${COLOR.text}">${escapeHtml(value)}</div><div class="${kind}" style="${FONT};font-size:13px;line-height:20px;color:${color}">${escapeHtml(change ?? '–')}</div></td>`;
  };
  const rows = figures.flatMap((figure, n) => {
    if (n % 2 === 1) return [];
    const second = figures[n + 1];
    return `<tr>${cell(figure)}${second ? cell(second) : `<td class="line" style="border-top:1px solid ${COLOR.line}">&nbsp;</td>`}</tr>`;
  });
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px;table-layout:fixed">${rows.join('')}</table>`;
}

const pictureOf = ({ alt, caption, width, height }: NonNullable<Letter['picture']>) =>
  `<img src="cid:${PICTURE_CID}" alt="${escapeHtml(alt)}" width="${width}" height="${height}" style="display:block;width:100%;max-width:${width}px;height:auto;border:0;margin:8px 0 4px">${small(escapeHtml(caption))}`;

function rowTable({ title, columns, rows }: LetterTable, sender: Sender): string {
  const { start, end } = sidesOf(sender);
  const cell = `padding:7px 0;padding-${start}:10px;border-top:1px solid ${COLOR.line};${FONT};font-size:14px;line-height:20px;vertical-align:top`;
  const head = columns
    .map(
      (name) =>
        `<th class="dim" align="${end}" style="padding:0 0 6px;padding-${start}:10px;${FONT};font-size:13px;line-height:20px;font-weight:400;color:${COLOR.dim}">${escapeHtml(name)}</th>`,
    )
    .join('');
  const body = rows.map(
    ([name = '', ...values]) =>
      `<tr><td class="text line" align="${start}" style="${cell};padding-${start}:0;color:${COLOR.text};word-break:break-word"><bdi>${escapeHtml(name)}</bdi></td>${values.map((value) => `<td class="text line" align="${end}" width="90" style="${cell};color:${COLOR.text}">${escapeHtml(value)}</td>`).join('')}</tr>`,
  );
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0 20px"><tr><th class="text" align="${start}" style="padding:0 0 6px;${FONT};font-size:15px;line-height:20px;font-weight:600;color:${COLOR.text}">${escapeHtml(title)}</th>${head}</tr>${body.join('')}</table>`;
}

/** Outlook draws no padding of a link, so the cell has it. */
function buttonTable({ label, url }: NonNullable<Letter['button']>): string {
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 20px"><tr><td bgcolor="#177245" style="padding:12px 22px;background:#177245;border-radius:6px"><a href="${escapeHtml(url)}" style="${FONT};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></td></tr></table>`;
}

function foot(sender: Sender): string {
  const parts = [small(`${escapeHtml(fromOf(sender))}<br>${link(sender.appUrl)}`)];
  if (sender.unsubscribeUrl !== null)
    parts.push(small(link(sender.unsubscribeUrl, mailWords(sender.language)('unsubscribe'))));
  return parts.join('');
}
