import { SWEEPS } from '@market/jobs/sweeps'
import { SECOND } from '@market/kernel/clock'
import { recheckTransfers } from '@market/money/payments'
import { compareOutgoingTransfers, type Payout } from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury, type Treasury } from '../reserves/treasury.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { onAnyReversal } from '../support/reversals.ts'
import { until } from '../support/until.ts'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'

/** What `docs/operations/money.md` tells operators to do, done on a real chain. */
const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
afterAll(() => network.stop())

let market: Market
let bearer: string
let treasury: Treasury
beforeEach(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
  treasury = await openTreasury(market.db, network)
  return () => market.stop()
})

const get = async (path: string) => (await market.client().get(`/api/admin/${path}`, { bearer })).body.data
const post = (path: string, body: object) =>
  market.client().post(`/api/admin/${path}`, { reason: 'The runbook says so', ...body }, { bearer })
const base = async () => (await get('treasury'))[1]

/** As the workers do all the time: what was seen becomes final, and what left is read. */
async function settle(): Promise<void> {
  await network.mine(FINALITY)
  treasury.clock.advance(10 * SECOND)
  await treasury.watch()
  await recheckTransfers(treasury.ctx, onAnyReversal())
  await compareOutgoingTransfers(treasury.ctx, NETWORK)
}

async function pay(payout: Payout): Promise<void> {
  await treasury.advance(payout)
  await settle()
  await treasury.advance(payout)
}

const stateOf = ({ id }: Payout) =>
  market.db.selectFrom('payouts').select(['state', 'reason']).where('id', '=', id).executeTakeFirstOrThrow()

test('money that nobody claimed is found, given back, and arrives where it came from', async () => {
  const reference = await treasury.payIn(payer, 3_000_000n)
  expect(await get('transfers/unmatched')).toMatchObject([{ reference, state: 'seen', amount_usd: '3.00' }])
  await settle()
  const [found] = await get('transfers/unmatched')
  expect(found).toMatchObject({ kind: 'suspense', payer: payer.address.toLowerCase(), state: 'final' })
  const before = await network.balanceOf(payer.address)
  const { status, body } = await post('transfers/refund', {
    network: NETWORK,
    reference,
    from: 'suspense',
  })
  expect(status).toBe(200)
  expect(await get('transfers/unmatched')).toEqual([])
  await pay(body.data)
  expect(await stateOf(body.data)).toEqual({ state: 'final', reason: null })
  expect(await network.balanceOf(payer.address)).toBe(before + 3_000_000n)
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})

test('a treasury somebody took from shuts, and opens when the platform has made the loss good', async () => {
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  expect(await base()).toMatchObject({ open: true, short_usd: '0.00' })
  const thief = newAccount()
  const stolen = await network.transfer(treasury.account, thief.address, 2_000_000n)
  await settle()
  await treasury.takeSnapshot()
  expect(await base()).toMatchObject({ open: false, short_usd: '2.00' })
  const owed = await treasury.requestPayout('order:a', 4_000_000n, newAccount().address)
  await treasury.advance(owed)
  expect(await get('payouts')).toMatchObject([{ id: owed.id, hold_code: 'treasury_short' }])
  expect(await get('outgoing-transfers/unexplained')).toEqual([
    expect.objectContaining({
      reference: stolen,
      payout_id: null,
      payee: thief.address.toLowerCase(),
      amount_usd: '2.00',
    }),
  ])

  const loss = { network: NETWORK, reference: stolen }
  expect((await post('outgoing-transfers/write-off', loss)).status).toBe(409)
  const deposit = await treasury.payIn(payer, 2_000_000n)
  await settle()
  expect((await post('transfers/recognize', { network: NETWORK, reference: deposit })).status).toBe(200)
  expect((await post('outgoing-transfers/write-off', loss)).status).toBe(200)
  await treasury.takeSnapshot()
  expect(await base()).toMatchObject({ open: true, short_usd: '0.00', short_since: null })
  expect(await get('outgoing-transfers/unexplained')).toEqual([])
  await pay(owed)
  expect((await stateOf(owed)).state).toBe('final')
  expect((await treasury.takeSnapshot()).short).toBe(0n)
})

/** How old the newest look at a treasury is when the next one is due. */
const LOOK_AFTER_MS = 25 * SECOND
const TICK_MS = SWEEPS.find(({ name }) => name === 'check-reserves')?.everyMs ?? 0
/** A shortage is read three times, a second apart, before it is believed. */
const BELIEVED_AFTER_MS = 2 * SECOND
/** For what each step takes on a machine that is busy with other tests. */
const BUSY_MS = 10 * SECOND

const startTreasuryWorker = (): Promise<WorkerProcess> => {
  const {
    DATABASE_URL = '',
    VAULT_KEYS = '',
    VAULT_PEPPER = '',
  } = market.environment as Record<string, string>
  return startWorker({
    ...{ DATABASE_URL, VAULT_KEYS, VAULT_PEPPER },
    BASE_RPC_URLS: network.url,
    BASE_TREASURY_KEY: treasury.account.key,
  })
}

const alertsIn = (worker: WorkerProcess) =>
  worker
    .output()
    .split('\n')
    // What comes after the last line break is not yet whole.
    .slice(0, -1)
    .filter((line) => line.includes('the treasury does not hold what it must'))
    .map((line) => JSON.parse(line))

test('a worker shuts a treasury that is short by its next look, and writes the line that alerts are set on', async () => {
  await treasury.payIn(payer, 10_000_000n, { purpose: 'order:a', due: 10_000_000n })
  await settle()
  const worker = await startTreasuryWorker()
  try {
    const looks = () => market.db.selectFrom('reserve_snapshots').select('id').execute()
    await until('the worker has looked', async () => (await looks()).length > 0, { withinMs: 20 * SECOND })
    expect(await base()).toMatchObject({ open: true, short_usd: '0.00' })

    await network.transfer(treasury.account, newAccount().address, 2_000_000n)
    const withinMs = TICK_MS + LOOK_AFTER_MS + BELIEVED_AFTER_MS + BUSY_MS
    await until('the treasury is shut', async () => (await base()).open === false, { withinMs, everyMs: 100 })
    expect(await base()).toMatchObject({ open: false, short_usd: '2.00' })
    await until('somebody is woken', () => alertsIn(worker).length > 0)
    expect(alertsIn(worker)).toEqual([
      expect.objectContaining({
        level: 'error',
        network: NETWORK,
        short_micros: '2000000',
        imbalance_micros: '0',
        msg: 'the treasury does not hold what it must; payouts on this network are paused',
      }),
    ])
  } finally {
    await worker.stop()
  }
}, 120_000)

test('a payout to a payee the token blocks fails, and is paid to another one', async () => {
  await treasury.payIn(payer, 5_000_000n, { purpose: 'order:a', due: 5_000_000n })
  await settle()
  const [blocked, other] = [newAccount(), newAccount()]
  await network.deny(blocked.address, true)
  const payout = await treasury.requestPayout('order:a', 5_000_000n, blocked.address)
  await treasury.advance(payout)
  expect(await base()).toMatchObject({ waiting: 0, failed: 1 })
  expect(await get('payouts?state=failed')).toMatchObject([{ id: payout.id, payee: blocked.address }])
  const own = await post(`payouts/${payout.id}/retry`, { payee: other.address })
  expect(own.body.data).toMatchObject({ state: 'queued', round: 2 })
  await pay(payout)
  expect((await stateOf(payout)).state).toBe('final')
  expect(await network.balanceOf(other.address)).toBe(5_000_000n)
  expect(await base()).toMatchObject({ waiting: 0, failed: 0 })
})

test('a nonce that was used by no payment holds payouts until the ledger are told of it', async () => {
  for (const purpose of ['order:a', 'order:b'])
    await treasury.payIn(payer, 5_000_000n, { purpose, due: 5_000_000n })
  await settle()
  await pay(await treasury.requestPayout('order:a', 5_000_000n, newAccount().address))
  await network.call(treasury.account, newAccount().address, '0x')
  await settle()
  const next = await treasury.requestPayout('order:b', 5_000_000n, newAccount().address)
  await treasury.advance(next)
  expect(await get('payouts?state=held')).toMatchObject([{ id: next.id, hold_code: 'nonce_mismatch' }])
  expect(await get('outgoing-transfers/unexplained')).toEqual([])
  await market.db
    .updateTable('payout_nonces')
    .set({ next_nonce: 2n })
    .where('network', '=', NETWORK)
    .where('next_nonce', '=', 1n)
    .execute()
  await pay(next)
  expect((await stateOf(next)).state).toBe('final')
})
