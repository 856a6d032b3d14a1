import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEvmNetwork } from '@market/testing/evm-network'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { startApi } from '../support/api-process.ts'
import { client } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { startParts } from '../support/parts.ts'
import { makeService } from '../support/services.ts'
import { percentile } from '../support/until.ts'

/** How many prices a second a program can be told, beside a bare server that answers the same bytes. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 7)
const SECONDS = Number(process.env['SECONDS'] ?? 3)
const WARM_UP_SECONDS = 5
const CONNECTIONS = 16

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

async function measure(url: string, path: string, seconds: number): Promise<Measured> {
  const before = await cpuSeconds(url)
  const args = [new URL(url).port, '', String(seconds), String(CONNECTIONS), path, '402']
  const { stdout } = await run(process.execPath, [script('./bench-client.ts'), ...args])
  const after = await cpuSeconds(url)
  const told = JSON.parse(stdout) as Record<'answered' | 'refused' | 'seconds', number>
  if (told.refused > 0) throw new Error(`${told.refused} requests were not answered with 402`)
  return { perSecond: told.answered / told.seconds, cpuMicros: ((after - before) / told.answered) * 1e6 }
}

const chain = await startEvmNetwork({ chainId: 8453 })
const [treasury, gasKey] = [privateKeyToAddress(generatePrivateKey()), generatePrivateKey()]
const parts = await startParts({
  BASE_RPC_URLS: chain.url,
  BASE_TREASURY: treasury,
  BASE_GAS_KEY: gasKey.slice(2),
  BASE_GAS_ACCOUNT: privateKeyToAddress(gasKey),
})
const profile = process.env['PROFILE']
const api = await startApi(
  { ...parts.environment, DATABASE_URL: parts.database.url },
  { nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`] },
)
const market = { client: () => client(api.url), now: () => Date.now() } as unknown as Market
const service = await makeService(market, await makeOwnedAgent(market))
const path = `/api/x402/discover/${service.id}`
const quote = await client(api.url).get(path)
const headers = Object.fromEntries(
  [...quote.headers].filter(
    ([name]) => !['content-length', 'connection', 'date', 'keep-alive'].includes(name),
  ),
)
const bare = spawn(
  process.execPath,
  [script('./bench-bare-quote.ts'), JSON.stringify({ body: quote.body, headers })],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const bareUrl = String(((await once(bare.stdout, 'data')) as [Buffer])[0]).trim()

try {
  await measure(bareUrl, path, WARM_UP_SECONDS)
  await measure(api.url, path, WARM_UP_SECONDS)
  const rounds: { ours: Measured; theirs: Measured }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const theirs = await measure(bareUrl, path, SECONDS)
    const ours = await measure(api.url, path, SECONDS)
    rounds.push({ ours, theirs })
    console.log(
      `round ${round + 1}: api ${ours.perSecond.toFixed(0)}/s ${ours.cpuMicros.toFixed(0)} µs, ` +
        `bare ${theirs.perSecond.toFixed(0)}/s ${theirs.cpuMicros.toFixed(0)} µs`,
    )
  }
  const ratios = rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)
  const [least, median, most] = [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2))
  console.log(`402 quotes: ${median} of bare (rounds from ${least} to ${most})`)
} finally {
  bare.kill()
  api.kill('SIGTERM')
  await api.exited
  await parts.stop()
  await chain.stop()
}
