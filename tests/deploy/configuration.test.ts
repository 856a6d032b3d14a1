import { readFileSync } from 'node:fs'
import { readConfig as readApiConfig } from '@market/api/config'
import { apiSettings } from '@market/platform/settings/api'
import { workerSettings } from '@market/platform/settings/worker'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { readConfig as readWorkerConfig } from '@market/worker/config'
import { expect, test } from 'vitest'
import { deploymentFiles } from '../../scripts/prepare-deployment.ts'
import { configurationFiles } from '../../scripts/write-configuration.ts'
import { parseEnvironment } from './env-file.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('configuration page and example files: they are what `npm run docs:configuration` writes', () => {
  for (const [path, text] of Object.entries(configurationFiles())) expect(read(path), path).toBe(text)
})

test('configuration page: it names every setting of both programs', () => {
  const page = read('docs/operations/configuration.md')
  const names = [...Object.keys(apiSettings), ...Object.keys(workerSettings)]
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

const files = deploymentFiles()
const api = parseEnvironment(files['api.env'] ?? '')
const worker = parseEnvironment(files['worker.env'] ?? '')

test('example files: with new keys and passwords both programs accept them in production', () => {
  expect(readApiConfig(api)).toMatchObject({ MARKET_ENV: 'production', S3_BUCKET: 'market' })
  expect(readWorkerConfig(worker)).toMatchObject({ MARKET_ENV: 'production', S3_BUCKET: 'market' })
  for (const text of Object.values(files)) expect(text).not.toMatch(/<password>|^[A-Z_0-9]+=$/m)
})

test('example files: each setting is one of its program, and the api has no key of the worker', () => {
  const settingsOf = { api: apiSettings, worker: workerSettings } as const
  for (const program of ['api', 'worker'] as const) {
    const lines = read(`deploy/${program}.env.example`).matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)
    const names = [...lines].map(([, name = '']) => name)
    expect(names.filter((name) => !(name in settingsOf[program]))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  }
  expect(Object.keys(api).filter((name) => /TREASURY_|VENUE_|PRIVATE/.test(name))).toEqual([])
  expect(api['VAULT_KEYS']).toBe(worker['VAULT_KEYS'])
})

const BASICS = {
  api: { ...api, ...newKeySettings().both },
  worker: { ...worker, ...newKeySettings().both },
}
const readers = { api: readApiConfig, worker: readWorkerConfig } as const

const complaint = (program: 'api' | 'worker', more: Readonly<Record<string, string>>): string => {
  try {
    readers[program]({ ...BASICS[program], ...more })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test.each(['api', 'worker'] as const)(
  '%s: a misspelled setting stops the start with the nearest name (asvs V13.1)',
  (program) => {
    const typos = {
      TRUSTED_PROXY: 'TRUSTED_PROXIES',
      PAYOUT_CAP_USD: 'PAYOUT_CAP_USDC',
      BASE_CONFIRMATION: 'BASE_CONFIRMATIONS',
      LOGLEVEL: 'LOG_LEVEL',
      METRIC_READERS: 'METRICS_READERS',
      ADMIN_USERS_IDS: 'ADMIN_USER_IDS',
    }
    for (const [name, meant] of Object.entries(typos))
      expect(complaint(program, { [name]: 'x' })).toBe(`Unknown setting ${name}. Did you mean ${meant}?`)
    expect(complaint(program, { VAULT_PEPPER: 'x' })).toMatch(/^Unknown setting VAULT_PEPPER\. /)
    expect(complaint(program, { IDP_DISCOVERY_DOCUMENT_URL: 'x' })).toBe(
      'Unknown setting IDP_DISCOVERY_DOCUMENT_URL. Remove it.',
    )
  },
)

test.each(['api', 'worker'] as const)(
  '%s: variables of the system and of the other program do not stop the start',
  (program) => {
    const system = [
      ...[
        'PATH',
        'HOME',
        'HOSTNAME',
        'SHELL',
        'TERM',
        'LANG',
        'LC_ALL',
        'USER',
        'LOGNAME',
        'PWD',
        'OLDPWD',
        'TZ',
      ],
      ...[
        'NODE_ENV',
        'NODE_OPTIONS',
        'NODE_COMPILE_CACHE',
        'NODE_EXTRA_CA_CERTS',
        'AWS_REGION',
        'PGHOST',
        'PGDATA',
      ],
      ...[
        'npm_config_cache',
        'npm_lifecycle_event',
        'CI',
        'DEBUG',
        'TMPDIR',
        'EDITOR',
        'MAIL',
        'DISPLAY',
        'SHLVL',
      ],
      ...['KUBERNETES_SERVICE_HOST', 'REDIS_SERVICE_HOST', 'REDIS_SERVICE_PORT', 'REDIS_PORT_6379_TCP_ADDR'],
      ...[
        'HTTP_PROXY',
        'HTTPS_PROXY',
        'NO_PROXY',
        'http_proxy',
        'INVOCATION_ID',
        'JOURNAL_STREAM',
        'SSL_CERT_FILE',
      ],
      ...[
        'APP_ENV',
        'APP_NAME',
        'GITHUB_TOKEN',
        'DOCKER_HOST',
        'YARN_VERSION',
        'container',
        'POSTGRES_PASSWORD',
        '_',
      ],
    ]
    expect(complaint(program, Object.fromEntries(system.map((name) => [name, 'x'])))).toBe('')
    expect(complaint(program, { REDIS_PORT: 'tcp://10.0.0.1:6379', TRUSTED_PROXY: '' })).toBe('')
    const others = { api: { JOB_CONCURRENCY: '5' }, worker: { DRAIN_MS: '5' } }[program]
    expect(complaint(program, others)).toBe('')
  },
)

test('api: it does not start when the pages have another origin than APP_URL, and says what to set', () => {
  const pages = (PAGES_URL: string) => complaint('api', { APP_URL: 'https://app.example', PAGES_URL })
  expect(pages('https://app.example/')).toBe('')
  expect(pages('https://pages.example')).toContain(
    'PAGES_URL: is another origin than APP_URL, https://app.example. Set APP_URL to the origin of the pages too',
  )
})

test('api: a treasury key is still rejected as a key, not as an unknown name', () => {
  expect(complaint('api', { BASE_TREASURY_KEY: 'x' })).toMatch(/^Treasury keys must not be set for the api/)
})
