import { describe, expect, test } from 'vitest'
import { readSettings } from './settings.ts'

const MARKET_API_URL = 'https://api.example'

describe('readSettings', () => {
  test.each(['https://api.example', 'https://api.example/', 'http://localhost:4000', 'http://[::1]:4000'])(
    'accepts the URL %s and needs no key',
    (url) => {
      expect(readSettings({ MARKET_API_URL: url, MARKET_API_KEY: '' })).toEqual({
        apiUrl: url.replace(/\/$/, ''),
        apiKey: undefined,
      })
    },
  )

  test.each([
    [{}, /^MARKET_API_URL is missing/],
    [{ MARKET_API_URL: '' }, /^MARKET_API_URL is missing/],
    [{ MARKET_API_URL: 'api.example' }, /^MARKET_API_URL must be a URL/],
    [{ MARKET_API_URL: 'https://api.example/api' }, /without a path/],
    [{ MARKET_API_URL: 'https://user:secret@api.example' }, /without a path/],
    [{ MARKET_API_URL: 'http://api.example' }, /must begin with https/],
    [{ MARKET_API_URL: 'ftp://api.example' }, /must begin with https/],
    [{ MARKET_API_URL, MARKET_API_KEY: 'adm_secret' }, /^MARKET_API_KEY must be .* begins with market_\.$/],
    [{ MARKET_API_URL, MARKET_API_KEY: 'market_sec ret' }, /^MARKET_API_KEY must be/],
  ])('rejects %j with one sentence or two, and without the key', (environment, sentence) => {
    const problem = readSettings(environment)
    expect(problem).toMatch(sentence)
    expect(problem).not.toContain('sec')
    expect(problem).not.toContain('\n')
  })
})
