import { describe, expect, test } from 'vitest'
import { agentFields } from './schemas/agent.ts'
import { HttpsUrl, line, text } from './schemas/text.ts'

const schema = text({ min: 2, max: 10 })
const accepts = (value: unknown, of = schema): boolean => of.safeParse(value).success

describe('text', () => {
  test.each([
    ['NUL', 0x0000],
    ['bell', 0x0007],
    ['carriage return', 0x000d],
    ['escape', 0x001b],
    ['delete', 0x007f],
    ['a C1 control', 0x0085],
    ['soft hyphen', 0x00ad],
    ['Arabic letter mark', 0x061c],
    ['Hangul filler', 0x3164],
    ['Hangul choseong filler', 0x115f],
    ['Mongolian vowel separator', 0x180e],
    ['zero-width space', 0x200b],
    ['left-to-right mark', 0x200e],
    ['right-to-left mark', 0x200f],
    ['line separator', 0x2028],
    ['paragraph separator', 0x2029],
    ['left-to-right embedding', 0x202a],
    ['right-to-left override', 0x202e],
    ['word joiner', 0x2060],
    ['left-to-right isolate', 0x2066],
    ['pop directional isolate', 0x2069],
    ['byte order mark', 0xfeff],
    ['halfwidth Hangul filler', 0xffa0],
    ['interlinear annotation', 0xfff9],
    ['a tag letter', 0xe0041],
    ['a supplementary variation selector', 0xe0100],
  ])('rejects %s at any position', (_name, code) => {
    const odd = String.fromCodePoint(code)
    for (const value of [`${odd}ab`, `a${odd}b`, `ab${odd}`]) expect(accepts(value)).toBe(false)
  })

  test.each([
    ['a lone high surrogate', 'ab\ud83d'],
    ['a lone low surrogate', '\ude00ab'],
    ['surrogates the wrong way round', 'a\ude00\ud83db'],
  ])('rejects %s', (_name, value) => {
    expect(accepts(value)).toBe(false)
  })

  test('keeps tabs, newlines and surrounding spaces', () => {
    expect(schema.parse(' a\tb\nc ')).toBe(' a\tb\nc ')
  })

  test('normalizes to NFC', () => {
    expect(schema.parse('Cafe\u0301')).toBe('Caf\u00e9')
  })

  test('counts the length after normalization', () => {
    expect(accepts('e\u0301'.repeat(10))).toBe(true)
    expect(accepts('\u00e9'.repeat(10))).toBe(true)
    expect(accepts('\u00e9'.repeat(11))).toBe(false)
  })

  test('counts characters, not UTF-16 units', () => {
    expect(accepts('😀'.repeat(10))).toBe(true)
    expect(accepts('😀'.repeat(11))).toBe(false)
    expect(accepts('😀')).toBe(false)
    expect(accepts('😀😀')).toBe(true)
  })

  test.each([
    ['a', false],
    ['ab', true],
    ['abcdefghij', true],
    ['abcdefghijk', false],
  ])('length of %s: accepted %s', (value, isAccepted) => {
    expect(accepts(value)).toBe(isAccepted)
  })

  test('accepts emoji sequences and flags', () => {
    expect(accepts('👩‍👩‍👧')).toBe(true)
    expect(accepts('🇩🇪🇫🇷')).toBe(true)
  })

  test.each([undefined, null, 12, true, {}, ['ab']])('rejects %j', (value) => {
    expect(accepts(value)).toBe(false)
  })

  test('parsing twice gives the same text', () => {
    for (const value of ['Cafe\u0301', 'a\tb', '😀😀', 'ﬁn']) {
      const once = schema.parse(value)
      expect(schema.parse(once)).toBe(once)
    }
  })
})

describe('line', () => {
  const one = line({ min: 1, max: 10 })
  test.each(['a\nb', 'a\tb', ' a', 'a ', '\u00a0a', 'a\u3000', '', ' '])('rejects %j', (value) => {
    expect(one.safeParse(value).success).toBe(false)
  })
  test.each(['a', 'a b', 'ünï'])('accepts %j', (value) => {
    expect(one.parse(value)).toBe(value)
  })
})

describe('HttpsUrl', () => {
  test.each([
    'https://a.example',
    'HTTPS://a.example/x?y=1#z',
    'https://[2001:db8::1]/',
    'https://a.example/@name?to=b@c.example#@',
  ])('%s', (value) => {
    expect(HttpsUrl.parse(value)).toBe(value)
  })
  test.each([
    'http://a.example',
    'https:/a.example',
    'https://',
    'https://a b.example',
    'https://a.example\\@b.example',
    'https://accounts.google.com@evil.example/',
    'https://user:password@evil.example',
    'https://@evil.example',
    'https:///accounts.google.com@evil.example/',
    ' https://a.example',
    'javascript:alert(1)',
    'data:text/html,https://a.example',
    `https://a.example/${'x'.repeat(2048)}`,
  ])('rejects %s', (value) => {
    expect(HttpsUrl.safeParse(value).success).toBe(false)
  })
})

describe('AgentName', () => {
  test.each(['Ada', "O'Neil-2 v1.0_x", 'Агент', '画家です', 'नमस्ते', 'x'.repeat(40)])(
    '%s is a name',
    (name) => {
      expect(agentFields.name.parse(name)).toBe(name)
    },
  )
  test.each([
    'ab',
    'x'.repeat(41),
    ' Ada',
    'Ada ',
    'Ada\nLovelace',
    'Ada<script>',
    'Ada😀',
    'Ada/Bob',
    'Ada\u200dBob',
    'Ada\u200cBob',
    'Ada\u3164',
    '...',
    "-_'",
  ])('rejects %j', (name) => {
    expect(agentFields.name.safeParse(name).success).toBe(false)
  })
})
