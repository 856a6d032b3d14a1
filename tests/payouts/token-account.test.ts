import { randomBytes, randomUUID } from 'node:crypto'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { Db } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { escrow, maintainLedgerPartitions, post, world } from '@market/money/ledger'
import {
  advanceDue,
  advancePayout,
  duePayouts,
  type Payout,
  requestPayout,
  type Unmatched,
} from '@market/money/payouts'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getCloseAccountInstruction } from '@solana-program/token'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { follow } from '../support/follow.ts'
import { ACCEPTING_KINDS } from '../support/payout-kinds.ts'
import { NO_FEE_ADDRESSES } from '../support/payout-ledger.ts'
import { until } from '../support/until.ts'

const NETWORK = 'solana-mainnet'
const FLOAT = usdc(1_000_000_000n)
const MINIMUM = usdc(5_000_000n)
const CAPS = {
  perPayout: FLOAT,
  perPayee: FLOAT,
  perDay: FLOAT,
  accountMinimum: MINIMUM,
  gasBudget: {},
  cost: {},
}
const RENT = 2_039_280n
const WITHIN = { withinMs: 60_000, everyMs: 100 }

let solana: SolanaWorld
let ledger: Awaited<ReturnType<typeof startLedger>>
beforeAll(async () => {
  solana = await startSolanaWorld()
  await solana.usdc.fund(solana.treasury.address, FLOAT)
})
afterAll(() => solana.stop())
beforeEach(async () => {
  ledger = await startLedger()
})
afterEach(() => ledger.stop())

async function startLedger() {
  const database = await testDatabase()
  const clock = { ...systemClock, advance: () => {}, set: () => {} }
  const ctx = {
    ...marketContext({ db: database.db, clock }),
    chains: { [NETWORK]: solanaChain(solana.settings) },
  }
  await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
  const isCompared = async () => {
    await follow(ctx, NETWORK)
    const guards = await ctx.db.selectFrom('payout_guards').select('compared_at').execute()
    return guards.some(({ compared_at }) => compared_at !== null)
  }
  await until('the treasury is compared', isCompared, WITHIN)
  const sender = solanaPayoutSender(solana.settings, solana.signer)
  const app = {
    ...ctx,
    payoutSenders: { [NETWORK]: sender },
    payoutKinds: ACCEPTING_KINDS,
    caps: CAPS,
    feeAddresses: NO_FEE_ADDRESSES,
    screenings: [],
  }
  const rowOf = ({ id }: Payout) =>
    ctx.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const advance = async (payout: Payout) => {
    await advanceDue(app, payout.id)
    const { state, hold_code, reason } = await rowOf(payout)
    if (state === 'failed') throw new Error(`the payout failed: ${reason}`)
    return hold_code === null ? state : `${state}: ${hold_code}`
  }
  return {
    ctx,
    app,
    /** Signs, but what it sends is lost. */
    unsent: { ...app, payoutSenders: { [NETWORK]: { ...sender, send: async () => {} } } },
    advance,
    lamports: () => sender.nativeBalance(),
    request: (payee: string, amount: Usdc, kind: Payout['kind'] = 'payout', unmatched?: Unmatched) =>
      ctx.transact((tx) =>
        requestPayout(ctx, tx, {
          network: NETWORK,
          kind,
          // The id on the chain follows from it, and the tests share one treasury.
          subject: `order-${randomUUID()}`,
          ...(unmatched && { unmatched }),
          payee,
          amount,
          agentId: 'agt_1_00000000000000001',
          from: escrow(NETWORK, 'float'),
        }),
      ),
    finish: (payout: Payout) =>
      until('the payout is final', async () => (await advance(payout)) === 'final', WITHIN),
    stop: database.stop,
  }
}

const newWallet = async () => (await generateKeyPairSigner()).address

/** Moves the USDC away and closes the account: its rent goes to the owner. */
async function closeAccount(owner: KeyPairSigner): Promise<void> {
  const to = await solana.wallet(1n)
  const held = await solana.usdc.balanceOf(owner.address)
  const account = address(await solana.usdc.accountOf(owner.address))
  await solana.run(owner, [
    await solana.transfer(owner, to.address, held),
    getCloseAccountInstruction({ account, destination: owner.address, owner }),
  ])
}

test('below_account_minimum: two payouts of 0.000001 to new wallets cost the treasury no rent', async () => {
  const before = await ledger.lamports()
  for (let n = 0; n < 2; n++) {
    const payout = await ledger.request(await newWallet(), usdc(1n))
    expect(await ledger.advance(payout)).toBe('held: below_account_minimum')
  }
  expect(await ledger.lamports()).toBe(before)
})

test('below_account_minimum: payouts accumulate, one opens the account, and the rest follows without rent', async () => {
  const payee = await newWallet()
  const before = await ledger.lamports()
  const first = await ledger.request(payee, usdc(3_000_000n))
  expect(await ledger.advance(first)).toBe('held: below_account_minimum')
  const second = await ledger.request(payee, usdc(2_000_000n))
  // Until the account is there, the other one waits.
  await advanceDue(ledger.unsent, second.id)
  expect(await ledger.advance(first)).toBe('held: payee_account_closed')
  await ledger.finish(second)
  expect(await duePayouts(ledger.app, NETWORK, 10)).toEqual([first.id])
  await ledger.finish(first)
  expect(await solana.usdc.balanceOf(payee)).toBe(5_000_000n)

  const spent = before - (await ledger.lamports())
  expect(spent).toBe(RENT + 2n * 5_080n)
  const costs = await ledger.ctx.db.selectFrom('payout_costs').select('native').execute()
  expect(costs.reduce((sum, { native }) => sum + BigInt(native), 0n)).toBe(spent)
  // 56 orders of 0.10 USD are the cheapest way to 5 USD of earnings. SOL costs 200 USD here.
  const usdOf = (lamports: bigint) => (lamports * 200n * 1_000_000n) / 1_000_000_000n
  expect(usdOf(RENT + 56n * 5_080n)).toBeLessThan(56n * 10_000n)
  expect(usdOf(5_080n)).toBeLessThan(10_000n)
})

test('payee_account_closed: an account that the agent closed is not opened again, at any wallet of the agent', async () => {
  const payee = await solana.wallet(1n)
  await closeAccount(payee)
  const opened = await ledger.request(payee.address, MINIMUM)
  await ledger.finish(opened)
  await closeAccount(payee)
  const before = await ledger.lamports()
  for (const wallet of [payee.address, await newWallet()]) {
    const next = await ledger.request(wallet, MINIMUM)
    expect(await ledger.advance(next)).toBe('held: payee_account_closed')
  }
  expect(await ledger.lamports()).toBe(before)
})

/** A final transfer that nobody claimed. Returns its reference. */
async function unmatchedTransfer(db: Db, payer: string): Promise<string> {
  const [reference, now] = [randomBytes(40).toString('hex').replaceAll('0', '1'), new Date()]
  const block = { block_height: 1n, block_hash: 'block', happened_at: now }
  const amounts = { amount_micros: MINIMUM, due_micros: 0n }
  const row = { network: NETWORK, reference, payer, purpose: '', state: 'final' }
  const times = { checked_at: now, created_at: now }
  await db
    .insertInto('transfers')
    .values({ ...row, ...amounts, ...block, ...times })
    .execute()
  return reference
}

test('payee_account_closed: a refund waits until its payer has opened the account again', async () => {
  const payer = await solana.wallet(1n)
  await closeAccount(payer)
  const before = await ledger.lamports()
  const reference = await unmatchedTransfer(ledger.ctx.db, payer.address)
  const unmatched = { network: NETWORK, reference, index: 0, from: 'suspense' } as const
  for (const [kind, of] of [['refund'], ['surplus', unmatched]] as const) {
    const refund = await ledger.request(payer.address, MINIMUM, kind, of)
    expect(await ledger.advance(refund)).toBe('held: payee_account_closed')
  }
  expect(await ledger.lamports()).toBe(before)
  const refund = await ledger.request(payer.address, MINIMUM, 'refund')
  await solana.run(payer, [await solana.openAccount(payer, payer.address)])
  await ledger.finish(refund)
  expect(await solana.usdc.balanceOf(payer.address)).toBe(MINIMUM)
  expect(await ledger.ctx.db.selectFrom('opened_token_accounts').selectAll().execute()).toEqual([])
})

test('payee_account_closed: a payout signed for an open account does not pay rent when the payee closes it', async () => {
  const payee = await solana.wallet(1n)
  const payout = await ledger.request(payee.address, MINIMUM)
  await advancePayout(ledger.unsent, payout.id)
  await closeAccount(payee)
  const before = await ledger.lamports()
  await expect(ledger.finish(payout)).rejects.toThrow('the payout failed')
  expect(before - (await ledger.lamports())).toBe(5_080n)
})
