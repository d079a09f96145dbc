import { KEY_WORDS, type KeyKind } from './code.ts';
import type { Endpoint, Operation, Parameter } from './document.ts';

/** A request as code. */
export type Sample = { label: 'curl' | 'Node.js' | 'Python'; language: string; code: string };

/** Placeholder of the deployment's origin in every file of the site. The API replaces it. */
export const BASE_URL = 'https://base-url.invalid';

type Call = {
  method: string;
  url: string;
  query: Record<string, string>;
  key: KeyKind | null;
  isRetried: boolean;
  body: unknown;
  result: 'json' | 'text' | 'bytes' | 'stream';
};

/** Returns an operation's request with its example values, in each language. */
export function samplesOf(endpoint: Endpoint): Sample[] {
  const call = callOf(endpoint);
  return [
    { label: 'curl', language: 'bash', code: curlOf(call) },
    { label: 'Node.js', language: 'javascript', code: nodeOf(call) },
    { label: 'Python', language: 'python', code: pythonOf(call) },
  ];
}

/** Returns the kind of key with which samples call an operation; null: none is needed. */
export function keyKindOf({ security = [] }: Operation): KeyKind | null {
  const [first] = security.flatMap((scheme) => Object.keys(scheme));
  return first !== undefined && first in KEY_WORDS ? (first as KeyKind) : null;
}

function callOf({ operation, method, path }: Endpoint): Call {
  const { parameters = [], requestBody } = operation;
  const of = (place: Parameter['in']) =>
    parameters.filter((one) => one.in === place && one.required && one.example !== undefined);
  const filled = of('path').reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  return {
    method,
    url: `${BASE_URL}${filled}`,
    query: Object.fromEntries(of('query').map(({ name, example }) => [name, String(example)])),
    key: keyKindOf(operation),
    isRetried: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body: requestBody?.content['application/json']?.example,
    result: resultOf(operation),
  };
}

function resultOf({ responses }: Operation): Call['result'] {
  const [success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const types = Object.keys(responses[success ?? '']?.content ?? {});
  if (types.length === 0 || types.includes('application/json')) return 'json';
  if (types.includes('text/event-stream')) return 'stream';
  return types.every((type) => type.startsWith('text/') || type.includes('svg') || type.includes('ndjson'))
    ? 'text'
    : 'bytes';
}

const withQuery = ({ url, query }: Call): string => {
  const search = new URLSearchParams(query).toString();
  return search === '' ? url : `${url}?${search}`;
};

function curlOf(call: Call): string {
  const { method, key, isRetried, body, result } = call;
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${result === 'stream' ? '-N ' : ''}"${withQuery(call)}"`,
    ...(key === null ? [] : [`-H "Authorization: Bearer ${KEY_WORDS[key]}"`]),
    ...(isRetried ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
    ...(result === 'bytes' ? ['-o result'] : []),
  ].join(' \\\n  ');
}

function nodeOf(call: Call): string {
  const { method, key, isRetried, body, result } = call;
  const headers = [
    ...(key === null ? [] : [`Authorization: 'Bearer ${KEY_WORDS[key]}',`]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
    ...(isRetried ? ["'Idempotency-Key': crypto.randomUUID(),"] : []),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['headers: {', ...headers.map((line) => `  ${line}`), '},']),
    ...(body === undefined ? [] : `body: JSON.stringify(${javascriptOf(body)}),`.split('\n')),
  ];
  const read = {
    json: ['console.log(await response.json());'],
    text: ['console.log(await response.text());'],
    bytes: ['const bytes = await response.bytes();'],
    stream: [
      'for await (const part of response.body.pipeThrough(new TextDecoderStream())) {',
      '  console.log(part);',
      '}',
    ],
  }[result];
  return [
    `const response = await fetch('${withQuery(call)}', {`,
    ...options.map((line) => `  ${line}`),
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    ...read,
  ].join('\n');
}

/** Returns a value as JavaScript, which needs no quotes around most names of fields. */
const javascriptOf = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/^( *)"([a-zA-Z_]\w*)":/gm, '$1$2:');

function pythonOf(call: Call): string {
  const { method, url, query, key, isRetried, body, result } = call;
  const headers = [
    ...(key === null ? [] : [`"Authorization": "Bearer ${KEY_WORDS[key]}",`]),
    ...(isRetried ? ['"Idempotency-Key": str(uuid.uuid4()),'] : []),
  ];
  const given = [
    `"${method}",`,
    `"${url}",`,
    ...(headers.length === 0 ? [] : ['headers={', ...headers.map((line) => `    ${line}`), '},']),
    ...(Object.keys(query).length === 0 ? [] : `params=${pythonValue(query)},`.split('\n')),
    ...(body === undefined ? [] : `json=${pythonValue(body)},`.split('\n')),
  ].map((line) => `    ${line}`);
  const imports = [...(isRetried ? ['import uuid', ''] : []), 'import httpx', ''];
  if (result === 'stream') {
    const read = [
      '    response.raise_for_status()',
      '    for line in response.iter_lines():',
      '        print(line)',
    ];
    return [...imports, 'with httpx.stream(', ...given, ') as response:', ...read].join('\n');
  }
  const shown = {
    json: 'print(response.json())',
    text: 'print(response.text)',
    bytes: 'data = response.content',
  };
  return [
    ...imports,
    'response = httpx.request(',
    ...given,
    ')',
    'response.raise_for_status()',
    shown[result],
  ].join('\n');
}

const PYTHON_WORDS = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

function pythonValue(value: unknown, indent = ''): string {
  const word = PYTHON_WORDS.get(value);
  if (word !== undefined) return word;
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const isList = Array.isArray(value);
  const lines = isList
    ? value.map((element) => `${inner}${pythonValue(element, inner)},`)
    : Object.entries(value as object).map(
        ([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonValue(one, inner)},`,
      );
  const [open, close] = isList ? '[]' : '{}';
  return lines.length === 0 ? `${open}${close}` : [open, ...lines, `${indent}${close}`].join('\n');
}
