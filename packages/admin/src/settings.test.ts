import { describe, expect, test } from 'vitest'
import { readLoginSettings, readSettings, SettingsError } from './settings.ts'

const MARKET_API_URL = 'https://api.example'
const HOME = '/home/operator'

describe('readSettings', () => {
  test('stores the login under XDG_CONFIG_HOME, else under .config of the home folder', () => {
    const inConfig = readSettings({ MARKET_API_URL, HOME, XDG_CONFIG_HOME: '/configuration' })
    expect(inConfig.tokenFile).toBe('/configuration/agent-market/admin.json')
    const inHome = readSettings({ MARKET_API_URL, HOME, XDG_CONFIG_HOME: 'relative' })
    expect(inHome.tokenFile).toBe('/home/operator/.config/agent-market/admin.json')
  })

  test.each([
    [{ HOME }, /^MARKET_API_URL is missing/],
    [{ HOME, MARKET_API_URL: 'http://api.example' }, /must begin with https/],
    [{ HOME, MARKET_API_URL, ADMIN_KEY: 'market_secret' }, /^ADMIN_KEY must be .* begins with adm_\.$/],
    [{ MARKET_API_URL }, /^XDG_CONFIG_HOME is missing/],
  ])('rejects %j without repeating the key', (environment, message) => {
    expect(() => readSettings(environment)).toThrow(SettingsError)
    expect(() => readSettings(environment)).toThrow(message)
    expect(() => readSettings(environment)).not.toThrow(/secret/)
  })
})

describe('readLoginSettings', () => {
  const COMPLETE = { IDP_ISSUER: 'https://login.example', ADMIN_CLIENT_ID: 'admin' }

  test('asks for the scope openid by default', () => {
    expect(readLoginSettings(COMPLETE)).toMatchObject({
      clientId: 'admin',
      audience: undefined,
      scopes: 'openid',
    })
  })

  test.each([
    [{ ADMIN_CLIENT_ID: 'admin' }, /^IDP_ISSUER is missing/],
    [{ ...COMPLETE, IDP_ISSUER: 'http://login.example' }, /must begin with https/],
    [{ ...COMPLETE, ADMIN_CLIENT_ID: '' }, /^ADMIN_CLIENT_ID is missing/],
  ])('rejects %j', (environment, message) => {
    expect(() => readLoginSettings(environment)).toThrow(message)
  })
})
