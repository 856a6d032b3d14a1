import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startApi } from '../support/api-process.ts'
import { client } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { startParts } from '../support/parts.ts'
import { percentile } from '../support/until.ts'

/** How much of a bare server's speed is left once the api does all it must for each answer. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const WARM_UP_SECONDS = 6
const CONNECTIONS = 16
const POOL = '10'

const run = promisify(execFile)
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
}

async function measure(url: string, bearer: string, seconds: number): Promise<Measured> {
  const before = await cpuSeconds(url)
  const args = [script('./bench-client.ts'), new URL(url).port, bearer, String(seconds), String(CONNECTIONS)]
  const { stdout } = await run(process.execPath, args)
  const after = await cpuSeconds(url)
  const {
    answered,
    refused,
    seconds: took,
  } = JSON.parse(stdout) as Record<'answered' | 'refused' | 'seconds', number>
  if (refused > 0) throw new Error(`${refused} requests were not answered with 200`)
  return { perSecond: answered / took, cpuMicros: ((after - before) / answered) * 1e6 }
}

async function startBare(
  databaseUrl: string,
  fingerprint: string,
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [script('./bench-bare-server.ts'), databaseUrl, fingerprint, POOL], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: line.toString().trim(), child }
}

const parts = await startParts({ DATABASE_POOL: POOL })
const profile = process.env['PROFILE']
const api = await startApi(
  { ...parts.environment, DATABASE_URL: parts.database.url },
  { nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`] },
)
const registered = await client(api.url).post('/api/agents/register', {
  name: someName(),
  description: DESCRIPTION,
  endpoint_url: 'https://93.184.216.34/in',
})
const bearer: string = registered.body.data.api_key
const { api_key_fingerprint } = await parts.db
  .selectFrom('agents')
  .select('api_key_fingerprint')
  .executeTakeFirstOrThrow()
const bare = await startBare(parts.database.url, api_key_fingerprint.toString('hex'))

try {
  // Until the compiler has seen enough of both.
  await measure(bare.url, bearer, WARM_UP_SECONDS)
  await measure(api.url, bearer, WARM_UP_SECONDS)
  const rounds: { ours: Measured; theirs: Measured }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const theirs = await measure(bare.url, bearer, SECONDS)
    const ours = await measure(api.url, bearer, SECONDS)
    rounds.push({ ours, theirs })
    console.log(
      `round ${round + 1}: api ${ours.perSecond.toFixed(0)}/s ${ours.cpuMicros.toFixed(0)} µs, ` +
        `bare ${theirs.perSecond.toFixed(0)}/s ${theirs.cpuMicros.toFixed(0)} µs`,
    )
  }
  const median = (of: (round: (typeof rounds)[number]) => number) =>
    percentile(rounds.map(of), 0.5).toFixed(2)
  console.log(`throughput: ${median(({ ours, theirs }) => ours.perSecond / theirs.perSecond)} of bare`)
  console.log(`CPU per answer: ${median(({ ours, theirs }) => ours.cpuMicros / theirs.cpuMicros)} times bare`)
} finally {
  bare.child.kill()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
}
