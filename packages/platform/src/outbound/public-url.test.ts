import { ApiError } from '@market/kernel/api-error'
import { describe, expect, test } from 'vitest'
import { readPublicUrl } from './public-url.ts'

const apiErrorOf = (text: string): ApiError => {
  try {
    readPublicUrl(text)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

const SENTENCES: readonly (readonly [text: string, sentence: RegExp])[] = [
  ['http://example.com/', /start with https/],
  ['https:example.com', /start with https/],
  ['https:///example.com', /start with https/],
  ['', /start with https/],
  [`https://example.com/${'a'.repeat(2048)}`, /at most 2048/],
  ['https://user:word@example.com/', /user name or password/],
  ['https://@example.com/', /user name or password/],
  ['https://example.com\\@127.0.0.1/', /backslashes/],
  [' https://example.com/', /spaces/],
  ['https://exa\tmple.com/', /control characters/],
  ['https://example.com:25/', /port must be 443, or 1024 or higher/],
  ['https://example.com:1023/', /port must be 443/],
  ['https://example.com:99999/', /cannot be read/],
  ['https://[example.com]/', /cannot be read/],
  ['https://example.com./', /end with a dot/],
  ['https://example..com/', /valid domain name/],
  ['https://ex$ample.com/', /valid domain name/],
  [`https://${'a'.repeat(64)}.com/`, /valid domain name/],
  ['https://intranet/', /local network/],
  ['https://printer.local/', /local network/],
  ['https://10.0.0.1/', /public internet address/],
]

describe('parsePublicUrl', () => {
  test.each(SENTENCES)('rejects %j with the reason', (text, sentence) => {
    const apiError = apiErrorOf(text)
    expect(apiError.kind).toBe('invalid')
    expect(apiError.extra.code).toBe('endpoint_not_public')
    expect(apiError.message).toMatch(sentence)
  })

  test('public names and addresses are accepted and keep path and query', () => {
    expect(readPublicUrl('https://hooks.example.com/a?b=c').href).toBe('https://hooks.example.com/a?b=c')
    expect(readPublicUrl('HTTPS://Example.COM:443').href).toBe('https://example.com/')
    expect(readPublicUrl('https://bücher.example/').hostname).toBe('xn--bcher-kva.example')
    expect(readPublicUrl('https://93.184.216.34/').hostname).toBe('93.184.216.34')
    expect(readPublicUrl('https://[2606:4700::1]/').hostname).toBe('[2606:4700::1]')
  })

  test('accepts an @ in the path', () => {
    expect(readPublicUrl('https://example.com/@team').pathname).toBe('/@team')
  })

  test('accepts ports from 1024 on', () => {
    expect(readPublicUrl('https://example.com:8443/').port).toBe('8443')
    expect(readPublicUrl('https://example.com:1024/').port).toBe('1024')
  })
})
