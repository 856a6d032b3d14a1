import type { Db, Tx } from '@market/database/transact'
import { earlier, HOUR } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'

/** A wallet whose signed payments we submit. */
export interface PayingWallet {
  readonly network: Network
  readonly payer: string | null
}

/** Every payment that fails on the chain costs gas, so a wallet with many failures is rejected for a while. */
const MAX_FAILED = 5
const FAILED_WITHIN_MS = 1 * HOUR

export async function hasTooManyFailed(
  db: Db,
  { network, payer }: PayingWallet,
  now: Date,
): Promise<boolean> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from payment_intents where network = ${network} and payers[1] = ${payer}
      and bytes is not null and status = 'failed' and created_at >= ${earlier(now, FAILED_WITHIN_MS)}`.execute(
    db,
  )
  return Number(rows[0]?.count ?? 0n) >= MAX_FAILED
}

/** The sum of a wallet's submitted payments on a network, locked until the transaction ends. */
export async function lockUnderWay(tx: Tx, wallet: PayingWallet): Promise<Usdc> {
  const { network, payer } = wallet
  await sql`select pg_advisory_xact_lock(hashtextextended(${`purchases:${network}:${payer}`}, 0))`.execute(tx)
  return sumUnderWay(tx, wallet)
}

export async function sumUnderWay(db: Db | Tx, { network, payer }: PayingWallet): Promise<Usdc> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(due_micros), 0)::bigint as sum from payment_intents
    where network = ${network} and payers[1] = ${payer} and bytes is not null and status = 'waiting'`.execute(
    db,
  )
  return usdc(rows[0]?.sum ?? 0n)
}
