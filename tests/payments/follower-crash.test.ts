import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { evmChain } from '@market/chains/evm/evm-chain'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, settingsFor } from '../chains/evm-world.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { until } from '../support/until.ts'
import { type FollowerSettings, STEPS, type Step } from './follower-steps.ts'
import { openPaymentFixture, type PaymentFixture } from './payment-fixture.ts'

const MAIN = fileURLToPath(new URL('follower-process.ts', import.meta.url))

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
afterAll(() => network.stop())

let treasury: ReturnType<typeof newAccount>
let fixture: PaymentFixture
beforeEach(async () => {
  treasury = newAccount()
  await network.fund(treasury.address)
  fixture = await openPaymentFixture(evmChain(settingsFor(network, treasury.address)))
})
afterEach(() => fixture.stop())

const start = (at?: FollowerSettings['at']): ChildProcess => {
  const { url, chainId, usdc } = network
  const settings: FollowerSettings = {
    ...{ databaseUrl: fixture.url, chain: { url, chainId, usdc }, treasury: treasury.address, at },
  }
  const env = { ...CHILD_ENVIRONMENT, FOLLOWER: JSON.stringify(settings) }
  return spawn(process.execPath, [MAIN], { env, stdio: 'inherit' })
}

const ended = async (child: ChildProcess): Promise<number | string | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? child.signalCode
}

const isStopped = ({ pid }: ChildProcess): boolean =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('T') === true

/** A payment that is final, one that a reorganization drops after it was read, one that comes instead, and one out. */
async function play() {
  const paid = await network.transfer(payer, treasury.address, 1_000n)
  await network.mine(FINALITY)
  await fixture.watch()
  const dropped = await network.transfer(payer, treasury.address, 50n)
  await fixture.watch()
  await network.reorg(1)
  const instead = await network.transfer(payer, treasury.address, 7n)
  await network.transfer(treasury, payer.address, 100n)
  await network.mine(FINALITY)
  return { paid, dropped, instead }
}

/** Everything is as the chain has it, once. */
async function expectExact({ paid, dropped, instead }: Awaited<ReturnType<typeof play>>): Promise<void> {
  await fixture.recheckAlone()
  expect(await fixture.states()).toEqual(
    new Map([
      [paid, 'final'],
      [dropped, 'gone'],
      [instead, 'final'],
    ]),
  )
  const { db } = fixture.ctx
  expect(await db.selectFrom('followed_networks').select('treasury_micros').execute()).toEqual([
    { treasury_micros: 907n },
  ])
  expect(await db.selectFrom('outgoing_transfers').select(['amount_micros', 'is_final']).execute()).toEqual([
    { amount_micros: 100n, is_final: true },
  ])
  // No payout explains the payment out, so the ledger does not have it.
  await fixture.expectExact(1_007n)
}

test.each(Object.keys(STEPS) as Step[])(
  'a follower that is killed when %s loses nothing, and makes nothing final that is not',
  async (step) => {
    const payments = await play()
    expect(await ended(start({ step, signal: 'SIGKILL' }))).toBe('SIGKILL')
    expect((await fixture.states()).get(payments.dropped)).toBe('seen')
    expect(await ended(start())).toBe(0)
    await expectExact(payments)
  },
)

/** In the middle of a transaction a process that stands still has its locks; the worker ends that transaction. */
test.each(['the newest blocks are read', 'the final blocks are read'] as const)(
  'a follower that stood still when %s changes nothing that another has decided since',
  async (step) => {
    const payments = await play()
    const paused = start({ step, signal: 'SIGSTOP' })
    await until('the follower stands still', async () => isStopped(paused), { withinMs: 60_000 })
    expect(await ended(start())).toBe(0)
    await expectExact(payments)
    const before = await fixture.ctx.db.selectFrom('followed_networks').selectAll().execute()
    paused.kill('SIGCONT')
    expect(await ended(paused)).toBe(0)
    expect(await fixture.ctx.db.selectFrom('followed_networks').selectAll().execute()).toEqual(before)
    await expectExact(payments)
  },
)
