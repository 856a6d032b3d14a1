import fc from 'fast-check'

/** Texts that every field rejects, alone and inside valid text. */
export const FORBIDDEN_TEXTS: Readonly<Record<string, string>> = {
  NUL: '\u0000',
  bell: '\u0007',
  'carriage return and line feed': '\r\n',
  escape: '\u001b',
  delete: '\u007f',
  'a C1 control': '\u0085',
  'soft hyphen': '\u00ad',
  'Hangul filler': '\u3164',
  'zero-width space': '\u200b',
  'right-to-left mark': '\u200f',
  'right-to-left override': '\u202e',
  'a directional isolate': '\u2066',
  'line separator': '\u2028',
  'byte order mark': '\ufeff',
  'a tag letter': '\u{e0041}',
  'a lone high surrogate': '\ud800',
  'a lone low surrogate': '\udfff',
  '100 KB of text': 'a'.repeat(100_000),
}

/** A placeholder for a number larger than any double, which only JSON text can contain. */
export const HUGE_NUMBER = '@1e309@'

/** JSON text of a value, with the placeholder replaced by the number. */
export const jsonText = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replaceAll(`"${HUGE_NUMBER}"`, '1e309')

const NASTY_TEXTS = [
  ...Object.values(FORBIDDEN_TEXTS).map((text) => (text.length > 100 ? text : `ab${text}cd`)),
  '',
  ' ',
  "' OR 1=1 --",
  '"; DROP TABLE agents; --',
  '%_\\',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '$' + '{7*7}',
  '{{7*7}}',
  '../../etc/passwd',
  '%00',
  '%ff',
  'NaN',
  'Infinity',
  '-0',
  '1e309',
  '__proto__',
  'constructor',
  'toString',
  'x\r\nX-Injected: 1',
  'http://169.254.169.254/latest/meta-data/',
  'https://169.254.169.254/',
  'https://[::1]/',
  'https://localhost/',
  'https://hooks.example@127.0.0.1/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  '٣٤٥',
  'ﷺ'.repeat(500),
  `market_${'a'.repeat(49)}`,
  'whsec_'.padEnd(49, 'x'),
  '0x0000000000000000000000000000000000000000',
  '11111111111111111111111111111111',
  'agt_0_00000000000000000',
]

export const nastyText = fc.constantFrom(...NASTY_TEXTS)

/** `__proto__` and the like as a field of the object itself, which is how JSON text can hold them. */
export const poisoned = (name: string): object => JSON.parse(`{"${name}":{"polluted":true}}`) as object

export const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Any character except halves of a pair: the `binary` unit of fast-check, which lists a million of them first. */
const anyCharacter = fc.nat(0x10f7ff).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: nastyText },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, false, {}, [], [[]], HUGE_NUMBER) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 0.5, 1e308, -1e308, 1e21, 2 ** 53, 8.64e15 + 1) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(poisoned('__proto__'), poisoned('constructor'), deep(20), deep(40)),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 50 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Bodies that are wrong as a whole. */
export const HOSTILE_BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  'null',
  '[]',
  '"text"',
  '1e309',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '{"name":"a","name":"b"}',
  '{"__proto__":{"polluted":true}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '['.repeat(40),
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  '{"a":'.repeat(5_000),
  '\ufeff{}',
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  JSON.stringify({ name: 'x'.repeat(257 * 1024) }),
]
