import { turnSwitch } from '@market/core/switches'
import { usdc } from '@market/kernel/money'
import { startPayoutWorld } from '../support/payout-world.ts'
import { until } from '../support/until.ts'
import type { BenchRow } from './bench-report.ts'
import { cpuMsOf, withPostgresCpu } from './postgres-cpu.ts'

const NETWORK = 'base-mainnet'
const PAYEES = 100
const ABREAST = 8
/** Longer than a held payout waits until it is tried again. */
const RETRY_MS = 31_000
const LONG = { withinMs: 600_000, everyMs: 50 }

const profiling = () => {
  const folder = process.env['PROFILE']
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` }
}

interface Block {
  readonly gasUsed: string
  readonly transactions: readonly { readonly input: string }[]
}

/** Payouts that wait behind a freeze are released at once to one worker, and followed until the chain's final blocks show all. */
export async function sendPayouts(count: number): Promise<BenchRow> {
  const world = await startPayoutWorld(1)
  const { ctx, db } = world
  const { chain, newPayee } = world.chains[NETWORK]
  const countIn = async (state: string) => {
    const query = db.selectFrom('payouts').select((row) => row.fn.countAll<string>().as('n'))
    return Number((await query.where('state', '=', state).executeTakeFirstOrThrow()).n)
  }
  const freeze = (on: boolean) => turnSwitch(ctx, { name: 'freeze_payouts', on, reason: 'a bench' })
  const worker = await world.worker({ RPC_TIMEOUT_MS: '10000', DATABASE_POOL: '10', ...profiling() })
  try {
    await freeze(true)
    const payees = await Promise.all(Array.from({ length: PAYEES }, newPayee))
    let n = 0
    const request = async () => {
      for (let one = n++; one < count; one = n++) {
        const owed = { network: NETWORK, kind: 'payout', name: `sent-${one}` } as const
        await world.request({ ...owed, payee: payees[one % PAYEES] ?? null, amount: usdc(1_000_000n) })
      }
    }
    await Promise.all(Array.from({ length: ABREAST }, request))
    await until('all are held', async () => (await countIn('held')) === count, LONG)
    const first = BigInt(String(await chain.rpc('eth_blockNumber', [])))
    const callsBefore = world.relaysOf(NETWORK).map(({ counts }) => counts.passed)
    const workerBefore = cpuMsOf(worker.pid) ?? 0
    const { tookMs, cpuMs } = await withPostgresCpu(world.url, async () => {
      await freeze(false)
      world.advanceClock(RETRY_MS)
      await until('all are final', async () => (await countIn('final')) === count, LONG)
    })
    const workerMs = (cpuMsOf(worker.pid) ?? 0) - workerBefore
    const calls = world.relaysOf(NETWORK).map(({ counts }, at) => counts.passed - (callsBefore[at] ?? 0))
    const last = BigInt(String(await chain.rpc('eth_blockNumber', [])))
    let [gas, bytes, transactions] = [0n, 0, 0]
    for (let height = first + 1n; height <= last; height++) {
      const block = (await chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, true])) as Block
      gas += BigInt(block.gasUsed)
      transactions += block.transactions.length
      for (const { input } of block.transactions) bytes += (input.length - 2) / 2
    }
    const each = (sum: number, digits = 2) => (sum / count).toFixed(digits)
    return {
      what: `${count} payouts signed, stored, submitted and read in final blocks by one worker`,
      measured:
        `${((1_000 * count) / tookMs).toFixed(0)} a second; ${transactions} transactions, ` +
        `${each(Number(gas), 0)} gas, ${each(bytes, 0)} bytes and ${each(calls.reduce((a, b) => a + b, 0))} calls each`,
      aim: '200 a second',
      cpu: `Postgres ${each(cpuMs)} ms, worker ${each(workerMs)} ms each`,
    }
  } finally {
    // A profile is written at an ordered end.
    worker.kill('SIGTERM')
    await worker.exited
    await world.stop()
  }
}
