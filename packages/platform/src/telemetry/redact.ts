const REDACTED = '[redacted]'

/** Field names, compared in lower case without `-` and `_`, whose value never reaches a log. */
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

/** What gives a secret away wherever it stands. The first group, where there is one, stays. */
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
/** Bounds the work of the patterns on text that a stranger chose. */
const LONGEST_TEXT = 10_000

/** One line of log, which is one JSON object, with every secret taken out. */
export function redactLine(line: string): string {
  if (!MAY_HOLD_SECRETS.test(line)) return line
  try {
    return `${JSON.stringify(parseJson(line, redactValue))}\n`
  } catch {
    // What cannot be read cannot be cleaned, and a log line is no reason to fail a request.
    return '{"level":"error","msg":"a log line was dropped because it is not JSON"}\n'
  }
}

/**
 * Most lines hold nothing of the kind; looking is several times cheaper than reading them. It has to find
 * at least what the rules above find.
 */
const MAY_HOLD_SECRETS = new RegExp(
  [
    '(?:authorization|cookies?|payment|key|seed|phrase|mnemonic|pepper|kek|dek|otp|email|body|token|secret|password|passwd|sig|signature)[-_]*["\\\\\'=:\\s]',
    '-----BEGIN',
    '(?:bearer|basic|dpop) ',
    'market_|whsec_|adm_|eyJ',
    '[?@]',
    '[0-9a-z+/_-]{64}',
    '\\[(?:\\d{1,3},){15}',
    '"15":\\d',
  ].join('|'),
  'i',
)

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

/** Names of fields can come from outside too, as in a map of headers. */
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
