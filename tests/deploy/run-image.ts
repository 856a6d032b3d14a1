import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startPostgresServer } from '@market/testing/postgres-server'
import pg from 'pg'
import { parse } from 'yaml'
import { until } from '../support/until.ts'
import { copyCheckout, ROOT } from './clean-checkout.ts'
import { environmentOf, isInContext, parseDockerfile, textsOf, wordsOf } from './dockerfile.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

/** What a program inherits on a machine: nothing of this one but the place of Node. */
const PATH = process.env['PATH'] ?? ''

/** Runs the build stage of the Dockerfile in a folder, and copies what its final stage takes. Returns the final /app. */
export function buildImage(folder: string): string {
  const [build, final] = parseDockerfile(read('deploy/Dockerfile'))
  const ignore = read('.dockerignore')
  const workdir = join(folder, textsOf(build, 'WORKDIR')[0] ?? '')
  copyCheckout(workdir, (file) => isInContext(ignore, file))
  for (const command of textsOf(build, 'RUN'))
    execFileSync('sh', ['-c', command], {
      cwd: workdir,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const app = join(folder, textsOf(final, 'WORKDIR')[0] ?? '')
  for (const copy of textsOf(final, 'COPY')) {
    const [, from = '', to = ''] = /^--from=build (\S+) (\S+)$/.exec(copy) ?? []
    cpSync(join(folder, from), join(app, to), { recursive: true })
  }
  rmSync(workdir, { recursive: true })
  execFileSync('chmod', ['-R', 'a=rX', app])
  // Another user may not reach the Node of this checkout.
  copyFileSync(process.execPath, nodeOf(app))
  return app
}

const nodeOf = (app: string): string => join(app, '../node')

/** Postgres and Redis with the certificates and the command of compose.yaml, and with ports of this machine. */
export async function startServers() {
  const folder = mkdtempSync(join(tmpdir(), 'market-servers-'))
  chmodSync(folder, 0o755)
  for (const name of ['ca', 'postgres', 'pgbouncer', 'redis', 's3']) mkdirSync(join(folder, name))
  execFileSync('sh', [join(ROOT, 'deploy/make-certificates.sh'), folder])
  const ca = join(folder, 'ca/ca.crt')
  const key = join(folder, 'postgres/server.key')
  if (isRoot) chownSync(key, Number(execFileSync('id', ['-u', 'postgres'])), -1)
  const certificate = join(folder, 'postgres/server.crt')
  const postgres = await startPostgresServer([
    'ssl=on',
    `ssl_cert_file=${certificate}`,
    `ssl_key_file=${key}`,
  ])
  const redisPort = await freePort()
  const { services } = parse(read('deploy/compose.yaml'), { merge: true })
  const command = (services.redis.command as string[]).map((word) =>
    word
      .replace('/tls/', `${folder}/redis/`)
      .replace('/run/certificates/ca.crt', ca)
      .replace('tls-port 6379', `tls-port ${redisPort}`),
  )
  const [program = '', ...args] = command
  const redis = spawn(program, args, { cwd: folder, stdio: 'ignore' })
  const ended = once(redis, 'exit')
  const { port } = new URL(postgres.url)
  return {
    ca,
    /** Of a role of this server, encrypted and checked as in production. */
    databaseUrl: (role: string, name: string) =>
      `postgres://${role}@localhost:${port}/${name}?sslmode=verify-full&sslrootcert=${ca}`,
    redisUrl: `rediss://localhost:${redisPort}`,
    createDatabase: async (name: string) => {
      const client = new pg.Client({ connectionString: postgres.url })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
    },
    stop: async () => {
      redis.kill('SIGKILL')
      await ended
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Environment = Readonly<Record<string, string>>

/** Starts a program of the image as its final stage says: with its ENTRYPOINT and ENV, as a user that owns nothing. */
export function imageOf(app: string) {
  const final = parseDockerfile(read('deploy/Dockerfile')).at(-1)
  const [entry, ...words] = wordsOf(textsOf(final, 'ENTRYPOINT')[0] ?? '[]')
  if (entry !== 'node') throw new Error(`The test starts node, and the ENTRYPOINT is ${entry}`)
  const run = (args: readonly string[], environment: Environment) => {
    const child = spawn(nodeOf(app), [...words, ...args], {
      cwd: app,
      env: { PATH, ...environmentOf(final), ...environment },
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const exited = once(child, 'exit').then(([code]) => ({ code: code as number | null, output }))
    return { child, exited, output: () => output }
  }
  return {
    run: (args: readonly string[], environment: Environment) => run(args, environment).exited,
    checkHealth: (environment: Environment) =>
      run(wordsOf(textsOf(final, 'HEALTHCHECK')[0] ?? '').slice(1), environment).exited,
    start: async (program: string, environment: Environment, isUp: string) => {
      const { child, exited, output } = run([program], environment)
      const stop = async () => {
        child.kill('SIGTERM')
        return await exited
      }
      await until(`${program} is up: ${isUp}`, async () => {
        if (child.exitCode !== null) throw new Error(`${program} ended:\n${output()}`)
        return output().includes(isUp)
      })
      return { stop, output }
    },
  }
}
