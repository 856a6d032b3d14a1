const REDACTED = '[redacted]'

/** Field names whose values are never logged, compared in lower case without `-` and `_`. */
const SECRET_FIELDS = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'cookies',
  'setcookie',
  'xpayment',
  'privatekey',
  'seed',
  'seedphrase',
  'mnemonic',
  'pepper',
  'kek',
  'dek',
  'otp',
  'email',
  'body',
  'rawbody',
])
const SECRET_ENDINGS = [
  'token',
  'secret',
  'password',
  'passwd',
  'apikey',
  'adminkey',
  'secretkey',
  'sig',
  'signature',
]

/** Hashes of transactions and contents look like keys and signatures, but are public and needed. */
const PUBLIC_FIELDS = new Set(['tx', 'txhash', 'txsignature', 'transaction', 'hash', 'blockhash', 'sha256'])

/** Patterns of secrets. The first group of a pattern is kept. */
const SECRET_TEXTS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b((?:Bearer|Basic|DPoP) +)[^\s"',;]+/gi,
  // Long enough to leave words such as market_fee alone.
  /(market_)[A-Za-z0-9]{12,}/g,
  /((?:whsec|adm)_)[A-Za-z0-9+/=_-]{6,}/g,
  /\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,3}/g,
  // User and password of an address.
  /(\/\/)[^\s/@"'?#]+(?=@)/g,
  // name=value and "name":"value" inside a text.
  /((?:api[-_]?key|token|secret|password|passwd|sig|signature|mnemonic|private[-_]?key|cookie)\\?["']?\s{0,4}[=:]\s{0,4}\\?["']?)[^\s"'\\&,;})\]]+/gi,
]
const QUERY = /\?[^\s"'<>?]+/g

/** Keys and signatures without a prefix: 64 or more hex digits, 64 bytes in base58, in base64 or in base64url. */
const BARE_SECRETS: readonly RegExp[] = [
  /\b(?:0x)?[0-9a-f]{64,}\b/gi,
  /\b[1-9A-HJ-NP-Za-km-z]{86,90}\b/g,
  /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{86}(?:==)?(?![A-Za-z0-9+/=_-])/g,
]

const LEAST_SECRET_BYTES = 16
/** Limits the work of the patterns on text from callers. */
const LONGEST_TEXT = 10_000

/** Removes every secret from one log line, which is a JSON object. */
export function redactLine(line: string): string {
  if (!mayContainSecret(line)) return line
  try {
    return `${JSON.stringify(parseJson(line, redactValue))}\n`
  } catch {
    // A line that cannot be parsed cannot be redacted. It is dropped, and the request continues.
    return '{"level":"error","msg":"a log line was dropped because it is not JSON"}\n'
  }
}

/**
 * Most lines contain no secret, and this check is several times cheaper than parsing them. It must find at least what
 * the rules above find. The patterns are tested one after another because a single alternation is ten times slower.
 */
const mayContainSecret = (line: string): boolean =>
  SECRET_HINTS.some((pattern) => pattern.test(line)) || hasLongRun(line)

const SECRET_HINTS: readonly RegExp[] = [
  // A name at the end of a value is followed by nothing, as in `"credential":"api_key"`, which most requests have.
  /(?:authorization|cookies?|payment|key|seed|phrase|mnemonic|pepper|kek|dek|otp|email|body|token|secret|password|passwd|sig|signature)[-_]*(?:[\\'=:\s]|"(?![,}\]]))/i,
  /-----BEGIN/i,
  /(?:bearer|basic|dpop) /i,
  /market_|whsec_|adm_|eyJ/i,
  /[?@]/,
  /\[(?:\d{1,3},){15}/,
  /"15":\d/,
]

/** The shortest key or signature that has no prefix. */
const RUN_LENGTH = 64
const RUN_CHARACTER = /[0-9a-z+/_-]/i
const IS_RUN_CHARACTER = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(RUN_CHARACTER.test(String.fromCharCode(code))),
)

/** Finds what `/[0-9a-z+/_-]{64}/i` finds. It compares from the end of each window, so it skips most of the line. */
function hasLongRun(line: string): boolean {
  for (let end = RUN_LENGTH - 1; end < line.length; ) {
    let at = end
    while (at > end - RUN_LENGTH && IS_RUN_CHARACTER[line.charCodeAt(at)] === 1) at--
    if (at === end - RUN_LENGTH) return true
    end = at + RUN_LENGTH
  }
  return false
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
// The third argument of the reviver is newer than the type of JSON.parse.
const parseJson = JSON.parse as (text: string, reviver: Reviver) => unknown

const redactValue: Reviver = (key, value, context) => {
  if (value === null || typeof value === 'boolean') return value
  const field = key.toLowerCase().replace(/[-_]/g, '')
  if (isSecretField(field)) return REDACTED
  if (typeof value === 'string') return redactText(value, PUBLIC_FIELDS.has(field))
  // An amount with more digits than a number can hold stays exact as text.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : context.source
  return isBytes(value) ? REDACTED : withCleanNames(value)
}

const isSecretField = (field: string): boolean =>
  !PUBLIC_FIELDS.has(field) &&
  (SECRET_FIELDS.has(field) || SECRET_ENDINGS.some((ending) => field.endsWith(ending)))

function redactText(text: string, isPublic: boolean): string {
  const cut = text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}[cut]`
  let clean = cut.replace(QUERY, '')
  for (const pattern of SECRET_TEXTS) clean = clean.replace(pattern, withFirstGroup)
  if (!isPublic) for (const pattern of BARE_SECRETS) clean = clean.replace(pattern, REDACTED)
  return clean
}

const withFirstGroup = (_match: string, kept: unknown): string =>
  typeof kept === 'string' ? `${kept}${REDACTED}` : REDACTED

/** Field names can also come from callers, as in a map of headers. */
function withCleanNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [redactText(name, false), entry]))
}

/** A list of bytes, or an array of them, which JSON writes as an object with numbers for names. */
function isBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const entries: readonly unknown[] = Array.isArray(value) ? value : '0' in value ? Object.values(value) : []
  return entries.length >= LEAST_SECRET_BYTES && entries.every(isByte)
}

const isByte = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
