import { randomBytes } from 'node:crypto'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { markOf } from '@market/kernel/payout-mark'
import { type Account, escrow, fees, post, surplus, suspense, world } from '@market/money/ledger'
import { claimTransfer, parsePurpose } from '@market/money/payments'
import type { Payout } from '@market/money/payouts'
import { testClock } from '@market/testing/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { marketContext } from '@market/testing/market-context'
import type { Envelope } from './client.ts'
import { requestOwed } from './owed-order.ts'

export const NETWORK = 'base-mainnet'
export const AMOUNT = 5_000_000n

/** A random transaction hash. */
export const someHash = (): string => `0x${randomBytes(32).toString('hex')}`

/** An EVM address with its checksum, and the same with one letter in the wrong case. */
export const CHECKSUMMED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
export const MISTYPED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'

/** A wallet address as the ledger stores it. */
export const someKey = (): string => evmSigner().address.toLowerCase()

const contextOf = (db: Db) => marketContext({ db, clock: testClock(new Date()) })

/** Posts money to an account without a transfer. */
async function bring(db: Db, to: Account, amount: bigint): Promise<void> {
  const ctx = contextOf(db)
  const subject = `brought:${randomBytes(8).toString('hex')}`
  const moves = [{ from: world(to.network), to, amount: usdc(amount) }]
  const journal = { key: subject, reason: 'test.brought', subject, network: to.network, moves }
  await ctx.transact((tx) => post(ctx, tx, journal))
}

/** The platform's own money on a network, in the stripe that this amount falls into. */
export const bringFees = (db: Db, amount: bigint, network: Network = NETWORK) =>
  bring(db, fees(network), amount)

/** Posts the surplus of a transfer. */
export const bringSurplus = (db: Db, reference: string, amount: bigint) =>
  bring(db, surplus(NETWORK, reference), amount)

/** Makes every recorded transfer final, so that its fee can leave. */
export async function finalizeTransfers(db: Db): Promise<void> {
  await db.updateTable('transfers').set({ state: 'final' }).where('state', '=', 'seen').execute()
}

interface Arrival {
  readonly amount?: bigint
  readonly network?: Network
  readonly reference?: string
  readonly payer?: string | null
  readonly state?: 'seen' | 'final'
  readonly at?: Date
}

/** An unmatched transfer as the watcher saves it. */
export async function makeUnmatched(db: Db, arrival: Arrival = {}) {
  const { amount = AMOUNT, network = NETWORK, state = 'final', at = new Date() } = arrival
  const { reference = someHash(), payer = someKey() } = arrival
  await db
    .insertInto('transfers')
    .values({
      network,
      reference,
      purpose: '',
      payer,
      amount_micros: amount,
      due_micros: 0n,
      block_height: 1n,
      block_hash: someHash(),
      happened_at: at,
      state,
      checked_at: at,
      created_at: at,
    })
    .execute()
  await bring(db, suspense(network, reference), amount)
  return { network, reference, payer }
}

/** A claimed transfer with a surplus; `beside` adds unmatched money as it was recorded before transfers had indexes. */
export async function makeClaimed(
  db: Db,
  { due, paid, beside = 0n }: { due: bigint; paid: bigint; beside?: bigint },
) {
  const ctx = contextOf(db)
  const [reference, payer, purpose] = [someHash(), someKey(), `order:${randomBytes(8).toString('hex')}`]
  const block = { height: 1n, hash: someHash() }
  const at = new Date()
  const seen = { reference, index: 0, amount: usdc(paid), payer, at, block, final: false, attachedData: null }
  await ctx.transact((tx) =>
    claimTransfer(ctx, tx, { network: NETWORK, seen, purpose: parsePurpose(purpose), due: usdc(due) }),
  )
  await db.updateTable('transfers').set({ state: 'final' }).where('reference', '=', reference).execute()
  if (beside > 0n) await bring(db, suspense(NETWORK, reference), beside)
  return { network: NETWORK, reference, payer, purpose, at }
}

/** A requested payout; without a payee it fails at once. */
export async function makePayout(
  db: Db,
  wanted: { payee?: string | null; network?: Network; amount?: bigint } = {},
): Promise<Payout> {
  const { payee = someKey(), network = NETWORK, amount = AMOUNT } = wanted
  const ctx = contextOf(db)
  const owed = { network, kind: 'payout', name: `order-${randomBytes(8).toString('hex')}`, payee } as const
  return ctx.transact((tx) => requestOwed(ctx, tx, { ...owed, amount: usdc(amount) }, world(network)))
}

export const BLOCKED = 'The payee is blocked by the token'

/** A failed payout to a blocked payee. */
export async function makeFailed(db: Db, wanted: Parameters<typeof makePayout>[1] = {}): Promise<Payout> {
  const payout = await makePayout(db, wanted)
  if (payout.state !== 'failed')
    await db
      .updateTable('payouts')
      .set({ state: 'failed', reason: BLOCKED })
      .where('id', '=', payout.id)
      .execute()
  return payout
}

interface Sent {
  /** The payout whose mark it has; without one it has no mark. */
  readonly payoutId?: Payout['id'] | null
  readonly payee?: string | null
  readonly amount?: bigint
  readonly reference?: string
  readonly index?: number
  readonly isFinal?: boolean
  readonly at?: Date
}

/** An outgoing transfer as the chain reader saves it. */
export async function makeOutgoingTransfer(db: Db, sent: Sent = {}) {
  const { payoutId = null, amount = AMOUNT, reference = someHash(), isFinal = true, at = new Date() } = sent
  const { payee = someKey(), index = 0 } = sent
  await db
    .insertInto('outgoing_transfers')
    .values({
      network: NETWORK,
      reference,
      transfer_index: index,
      mark: payoutId && markOf(NETWORK, { id: payoutId, markRound: 1 }),
      payee,
      amount_micros: amount,
      block_height: 1n,
      block_hash: someHash(),
      happened_at: at,
      is_final: isFinal,
      created_at: at,
    })
    .execute()
  return { network: NETWORK, reference, payee }
}

/** The audit entries of a subject, oldest first. */
export const auditOf = (db: Db, subject: string) =>
  db
    .selectFrom('audit_log')
    .select(['act', 'actor', 'details'])
    .where('subject', '=', subject)
    .orderBy('seq')
    .execute()

/** The balance of an account. */
export async function balanceIn(db: Db, { kind, network, subject }: Account): Promise<bigint> {
  const row = await db
    .selectFrom('ledger_accounts')
    .select('balance_micros')
    .where('id', '=', `${kind}:${network}:${subject}`)
    .executeTakeFirst()
  return row?.balance_micros ?? 0n
}

type Read = (query: string) => Promise<Envelope>

/** One field of every row, read page by page with one row each. */
export async function walkPages(read: Read, field: string): Promise<string[]> {
  const seen: string[] = []
  let query = '?limit=1'
  for (;;) {
    const { data, next_cursor } = await read(query)
    seen.push(...data.map((row: Record<string, string>) => row[field]))
    if (typeof next_cursor !== 'string') return seen
    query = `?limit=1&cursor=${encodeURIComponent(next_cursor)}`
  }
}

/** Raises the price of a disputed order, what was paid for it, and what is in its escrow account. */
export async function raisePrice(db: Db, orderId: string, price: bigint): Promise<void> {
  const row = await db
    .updateTable('orders')
    .set({ price_micros: price })
    .where('id', '=', orderId)
    .returning('payment_network')
    .executeTakeFirstOrThrow()
  await db
    .updateTable('transfers')
    .set({ amount_micros: price, due_micros: price })
    .where('purpose', '=', `order:${orderId}`)
    .execute()
  const account = escrow(row.payment_network as Network, `order:${orderId}`)
  await bring(db, account, price - (await balanceIn(db, account)))
}
