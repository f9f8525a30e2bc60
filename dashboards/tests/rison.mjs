// Parses Rison (github.com/Nanonid/rison), the format of filters in URLs, as strictly as Superset's page does. Superset's
// parser (npm: rison 0.1.1) is not maintained, and rison2 0.3.0 accepts trailing commas and unknown escapes.

const LITERALS = { '!t': true, '!f': false, '!n': null };
const TOKEN = /!\(|![tfn]|[(),:]|'((?:[^'!]|!['!])*)'|[^-0-9 '!:(),*@$][^ '!:(),*@$]*|-?\d+(?:\.\d+)?/y;

/** Returns the value of a Rison text. Throws if the text is not Rison. */
export function parseRison(text) {
  const tokens = tokensOf(text);
  const value = readValue(tokens);
  if (tokens.length > 0) {
    throw new Error(`text after the end of Rison: ${text}`);
  }
  return value;
}

function tokensOf(text) {
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) {
      throw new Error(`no Rison at ${at}: ${text}`);
    }
    tokens.push(found[0]);
    at = TOKEN.lastIndex;
  }
  return tokens;
}

function readValue(tokens) {
  const token = tokens.shift();
  if (token === '(') {
    return Object.fromEntries(readItems(tokens, () => {
      const key = readValue(tokens);
      expect(tokens, ':');
      return [key, readValue(tokens)];
    }));
  }
  if (token === '!(') {
    return readItems(tokens, () => readValue(tokens));
  }
  if (token in LITERALS) {
    return LITERALS[token];
  }
  if (token === undefined || /^[),:]$/.test(token)) {
    throw new Error(`Rison: a value expected, found ${token}`);
  }
  if (token.startsWith("'")) {
    return token.slice(1, -1).replace(/!(['!])/g, '$1');
  }
  return /^-?\d/.test(token) ? Number(token) : token;
}

/** Items up to the closing parenthesis, with commas between them. */
function readItems(tokens, readItem) {
  const items = [];
  while (tokens[0] !== ')') {
    if (items.length > 0) {
      expect(tokens, ',');
    }
    items.push(readItem());
  }
  tokens.shift();
  return items;
}

function expect(tokens, wanted) {
  const found = tokens.shift();
  if (found !== wanted) {
    throw new Error(`Rison: ${wanted} expected, found ${found}`);
  }
}
