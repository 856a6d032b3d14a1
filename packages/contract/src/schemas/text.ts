import { z } from 'zod'

/** Control characters except tab and newline, direction marks, tag characters, blank letters and other invisible ones. */
const FORBIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u

/** Well-formed Unicode without invisible characters. */
export const isCleanText = (value: string): boolean => value.isWellFormed() && !FORBIDDEN.test(value)

const lengthOf = (text: string): number => [...text].length

interface Bounds {
  readonly min?: number
  readonly max: number
}

/**
 * Well-formed Unicode in NFC without invisible characters. Bounds count characters. The bound in UTF-16 units is checked
 * first, so that a huge string is rejected cheaply.
 */
export function text({ min = 0, max }: Bounds) {
  const range = min === 0 ? `at most ${max} characters` : `${min}-${max} characters`
  return z
    .string()
    .max(max * 2, `must be ${range}`)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    .overwrite((value) => (value.isWellFormed() ? value.normalize('NFC') : value))
    .refine((value) => !FORBIDDEN.test(value), 'must not contain control or invisible characters')
    .refine((value) => lengthOf(value) >= min && lengthOf(value) <= max, `must be ${range}`)
    .meta({ minLength: min, maxLength: max })
}

/** One line of text without spaces around it. */
export const line = (bounds: Bounds) =>
  text(bounds)
    .refine((value) => !/[\n\t]/.test(value), 'must be one line')
    .refine((value) => value === value.trim(), 'must not begin or end with a space')

/** `https://known.example@evil.example/` looks like a page of the first host and opens the second. */
const hasUserInfo = (url: string): boolean => /^https:\/{2,}[^/?#]*@/i.test(url)

const MAX_URL_BYTES = 2048

/** A URL is sent percent-encoded, so its limit counts bytes. */
export const isShortUrl = (value: string): boolean => new TextEncoder().encode(value).length <= MAX_URL_BYTES

const hasHttps = (value: string): boolean => /^https:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value)

export const isHttpsUrl = (value: string): boolean => hasHttps(value) && !hasUserInfo(value)

export const HttpsUrl = text({ min: 1, max: MAX_URL_BYTES })
  .refine(isShortUrl, `must be at most ${MAX_URL_BYTES} bytes`)
  .refine(hasHttps, 'must be an https:// URL')
  .refine((value) => !hasUserInfo(value), 'must not contain a user name or password')
  .meta({ format: 'uri', pattern: '^[hH][tT][tT][pP][sS]://' })
