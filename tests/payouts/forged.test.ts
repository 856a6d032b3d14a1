import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { later, MINUTE, SECOND, systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { payable, post, world } from '@market/money/ledger'
import {
  claimTransfer,
  findPayment,
  type Purpose,
  parsePurpose,
  recheckTransfers,
} from '@market/money/payments'
import { advancePayout, type Payout, payoutMetrics, refundTransfer } from '@market/money/payouts'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { getSolvency, takeReserveSnapshot } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { PURPOSES } from '@market/worker/payment-handlers'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount, question } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { forgePayout, forgeSignature } from '../support/forged-payouts.ts'
import { KINDS } from '../support/payout-kinds.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'
import { startWorker } from '../support/processes.ts'
import { until } from '../support/until.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

const AMOUNT = 1_000_000n

describe('a row that the ledger does not fund', () => {
  let ledger: PayoutLedger
  beforeEach(async () => {
    ledger = await startPayoutLedger(chain)
    return () => ledger.stop()
  })

  const rowOf = ({ id }: { id: string }) => ledger.rowOf({ id } as Payout)
  const signaturesOf = ({ id }: { id: string }) => ledger.signaturesOf({ id } as Payout)
  const advance = ({ id }: { id: string }) => advancePayout(ledger.app, id as Payout['id'])

  test('queued: is held with not_funded and counted as unjustified', async () => {
    const forged = await forgePayout(ledger.ctx.db, { amount: AMOUNT })
    await advance(forged)
    expect(await rowOf(forged)).toMatchObject({ state: 'held', hold_code: 'not_funded' })
    expect(await signaturesOf(forged)).toEqual([])
    const base = (await payoutMetrics(ledger.ctx)).find(({ network }) => network === NETWORK)
    expect(base).toMatchObject({ unjustified: 1, held: 1 })
  })

  test('signed: as if it was recovered, is not signed, and is signed when the ledger funds it', async () => {
    const forged = await forgePayout(ledger.ctx.db, { amount: AMOUNT, state: 'signed' })
    let signed = 0
    const sender = {
      ...ledger.sender,
      sign: (...request: Parameters<typeof ledger.sender.sign>) => {
        signed++
        return ledger.sender.sign(...request)
      },
    }
    const app = { ...ledger.app, payoutSenders: { [NETWORK]: sender } }
    await advancePayout(app, forged.id)
    expect(await rowOf(forged)).toMatchObject({ state: 'signed', hold_code: 'not_funded' })
    expect([signed, await signaturesOf(forged)]).toEqual([0, []])
    const moves = [{ from: world(NETWORK), to: payable(NETWORK, forged.id), amount: usdc(AMOUNT) }]
    await ledger.ctx.transact((tx) =>
      post(ledger.ctx, tx, { key: 'fund', reason: 'test.fund', subject: 'fund', network: NETWORK, moves }),
    )
    await advancePayout(app, forged.id)
    expect(await rowOf(forged)).toMatchObject({ state: 'signed', hold_code: null })
    expect([signed, (await signaturesOf(forged)).length]).toEqual([1, 1])
  })

  const secondsAfterNow = async (seconds: number): Promise<bigint> => {
    const { timestamp } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as {
      timestamp: string
    }
    return BigInt(timestamp) + BigInt(seconds)
  }

  test.each([
    ['expires soon', 5 * 60],
    ['has expired', -5 * 60],
  ])(
    'signed: a signature that %s is not replaced by a real one, and nothing is submitted',
    async (_, seconds) => {
      const at = new Date(ledger.ctx.clock.now().getTime() - 2 * MINUTE)
      const forged = await forgePayout(ledger.ctx.db, { amount: AMOUNT, state: 'signed', at })
      await forgeSignature(chain, ledger, forged, await secondsAfterNow(seconds), at)
      await ledger.submit()
      await chain.mine(FINALITY)
      await advance(forged)
      await advance(forged)
      expect(await rowOf(forged)).toMatchObject({ state: 'signed', hold_code: 'not_funded' })
      ledger.ctx.clock.advance(2 * MINUTE)
      await ledger.submit()
      expect(await rowOf(forged)).toMatchObject({ state: 'signed', hold_code: 'not_funded' })
      expect(await signaturesOf(forged)).toHaveLength(1)
      expect(await ledger.ctx.db.selectFrom('payout_batches').selectAll().execute()).toEqual([])
    },
  )

  test('signed: does not hide that the treasury is short', async () => {
    const forged = await forgePayout(ledger.ctx.db, { amount: AMOUNT, state: 'signed' })
    await forgeSignature(chain, ledger, forged, await secondsAfterNow(20 * 60), new Date())
    // The money of the ledger is in a final block.
    await chain.mine(20)
    await chain.fund(ledger.account.address)
    await chain.transfer(ledger.account, newAccount().address, AMOUNT)
    await chain.mine(FINALITY)
    await follow(ledger.app, NETWORK)
    const snapshot = await takeReserveSnapshot(ledger.app, NETWORK, { withProof: false })
    expect(snapshot).toMatchObject({ balances: { inFlight: 0n }, short: AMOUNT })
  })
})

describe('a row that the ledger funds', () => {
  let ledger: PayoutLedger
  beforeEach(async () => {
    ledger = await startPayoutLedger(chain)
    return () => ledger.stop()
  })

  /** A payment that is final on the chain, claimed for a purpose. */
  async function pay(purpose: Purpose) {
    const payer = await fundedPayer(chain, AMOUNT)
    const reference = await chain.transfer(payer, ledger.account.address, AMOUNT)
    await chain.mine(FINALITY)
    const seen = await findPayment(ledger.app, NETWORK, question(reference))
    if (seen === undefined) throw new Error('the transfer was not found')
    await ledger.ctx.transact((tx) =>
      claimTransfer(ledger.ctx, tx, { network: NETWORK, seen, purpose, due: usdc(AMOUNT) }),
    )
    return reference
  }
  const stateOf = async (payout: Payout) => {
    const { state, hold_code, hold_detail } = await ledger.rowOf(payout)
    return { state, hold_code, hold_detail }
  }

  test('is held when no order, payment or approval requires it', async () => {
    const payout = await ledger.request({ amount: usdc(AMOUNT) })
    await advancePayout({ ...ledger.app, payoutKinds: KINDS }, payout.id)
    expect(await stateOf(payout)).toMatchObject({
      state: 'held',
      hold_code: 'order_mismatch',
      hold_detail: 'no order, payment or approval requires it',
    })
  })

  test('is held when other payouts have used the payment, also when it was claimed for something else meanwhile', async () => {
    const [first, second] = ['order:a', 'order:b'].map(parsePurpose) as [Purpose, Purpose]
    const reference = await pay(first)
    await follow(ledger.app, NETWORK)
    const paid = await ledger.request({ purpose: first, subject: 'a', amount: usdc(AMOUNT) })
    await ledger.advance(paid)
    expect(await stateOf(paid)).toMatchObject({ state: 'signed' })
    await sql`update transfers set purpose = 'order:b' where reference = ${reference}`.execute(ledger.ctx.db)
    const again = await ledger.request({ purpose: second, subject: 'b', amount: usdc(AMOUNT) })
    await ledger.advance(again)
    expect(await stateOf(again)).toEqual({
      state: 'held',
      hold_code: 'order_mismatch',
      hold_detail: 'other payouts have used the payment that funds it',
    })
  })

  test('a transfer whose payer was changed while the chain was asked does not become final', async () => {
    const reference = await pay(parsePurpose('order:a'))
    const base = ledger.app.chains[NETWORK]
    const thief = newAccount().address.toLowerCase()
    const checkTransfer: typeof base.checkTransfer = async (recorded) => {
      const check = await base.checkTransfer(recorded)
      await sql`update transfers set payer = ${thief} where reference = ${reference}`.execute(ledger.ctx.db)
      return check
    }
    const rowOf = async () =>
      (
        await sql<{ state: string }>`select state from transfers where reference = ${reference}`.execute(
          ledger.ctx.db,
        )
      ).rows[0]
    await recheckTransfers({ ...ledger.app, chains: { [NETWORK]: { ...base, checkTransfer } } }, PURPOSES)
    expect(await rowOf()).toEqual({ state: 'seen' })
  })
})

test('in flight: a payout counts while it is not posted, and no longer an hour after its final block was read', async () => {
  const ledger = await startPayoutLedger(chain)
  try {
    const payout = await ledger.request({ amount: usdc(AMOUNT) })
    await ledger.advance(payout)
    const inFlight = async () =>
      (await takeReserveSnapshot(ledger.app, NETWORK, { withProof: false }))?.balances.inFlight
    expect(await inFlight()).toBe(AMOUNT)
    await chain.mine(20)
    await ledger.compare()
    expect(await inFlight()).toBe(AMOUNT)
    await sql`update outgoing_transfers set read_at = now() - interval '61 minutes'`.execute(ledger.ctx.db)
    expect(await inFlight()).toBe(0n)
  } finally {
    await ledger.stop()
  }
})

/** The age of the newest snapshot at which the next one is due. */
const SNAPSHOT_EVERY_MS = 25 * SECOND

test('a running worker never signs a payout that was inserted by SQL, reports it, and solvency stays right', async () => {
  const database = await testDatabase()
  const [treasury, payoutGas] = [newAccount(), newAccount()]
  await chain.fund(payoutGas.address)
  await chain.mint(treasury.address, 3n * AMOUNT)
  const payer = await fundedPayer(chain, 2n * AMOUNT)
  const reference = await chain.transfer(payer, treasury.address, 2n * AMOUNT)
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  const clockFile = join(folder, 'clock')
  writeFileSync(clockFile, '0')
  const worker = await startWorker({
    DATABASE_URL: database.url,
    CLOCK_FILE: clockFile,
    SWEEP_INTERVAL_MS: '200',
    ...newKeySettings().both,
    ONE_PROVIDER: 'on',
    BASE_RPC_URLS: chain.url,
    BASE_TREASURY_KEY: treasury.key.slice(2),
    BASE_PAYOUT_GAS_KEYS: payoutGas.key.slice(2),
  })
  const { db } = database
  const ctx = marketContext({ db })
  try {
    const mined = async (isTrue: () => Promise<boolean>) => {
      await chain.mine(1)
      return isTrue()
    }
    const finalTransfers = () => db.selectFrom('transfers').selectAll().where('state', '=', 'final').execute()
    await until('both transfers are final', () => mined(async () => (await finalTransfers()).length === 2))
    const forged = await forgePayout(db, { amount: AMOUNT })
    const owed = await ctx.transact((tx) =>
      refundTransfer(ctx, tx, { network: NETWORK, reference, index: 0, from: 'suspense' }),
    )
    const stateOf = async ({ id }: { id: string }) =>
      db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    await until('the funded payout is final', () =>
      mined(async () => (await stateOf(owed)).state === 'final'),
    )
    await until('the forged one is held', async () => (await stateOf(forged)).hold_code === 'not_funded')
    const signatures = db.selectFrom('payout_signatures').selectAll().where('payout_id', '=', forged.id)
    expect(await signatures.execute()).toEqual([])
    expect(await chain.balanceOf(forged.payee)).toBe(0n)
    await until('the alert is logged', () => worker.output().includes('does not justify'))
    const metrics = await (await fetch(`${worker.url}/metrics`)).text()
    expect(metrics).toContain(`market_payouts_unjustified{network="${NETWORK}"} 1`)
    expect(metrics).toContain('market_payouts_failed{network="solana-mainnet"} 0')
    writeFileSync(clockFile, String(SNAPSHOT_EVERY_MS))
    const clock = { ...systemClock, now: () => later(new Date(), SNAPSHOT_EVERY_MS) }
    await until(
      'a snapshot after the payout',
      async () => {
        const newest = (await getSolvency({ ...ctx, clock }))[0]?.newest
        return newest?.balances.ledger === 3n * AMOUNT && newest.latest === 3n * AMOUNT
      },
      { withinMs: 60_000 },
    )
    const [solvency] = await getSolvency({ ...ctx, clock })
    expect(solvency?.newest).toMatchObject({
      short: 0n,
      latest: 3n * AMOUNT,
      balances: { inFlight: 0n, suspense: 3n * AMOUNT, payable: 0n },
    })
  } finally {
    await worker.stop()
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
