const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Indents JSON without changing its numbers and escapes, so nothing is rounded. Other text is returned unchanged.
 */
export function prettyJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let out = '';
  tokens.forEach((token, index) => {
    const line = `\n${'  '.repeat(depth)}`;
    const before = tokens[index - 1] ?? '';
    const isEmpty = (token === '}' && before === '{') || (token === ']' && before === '[');
    if (token === '}' || token === ']') {
      depth -= 1;
      out += isEmpty ? token : `\n${'  '.repeat(depth)}${token}`;
      return;
    }
    if (before === '{' || before === '[' || before === ',') out += line;
    out += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth += 1;
  });
  return out;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
