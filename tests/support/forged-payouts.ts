import { randomBytes } from 'node:crypto'
import type { Db } from '@market/database/transact'
import { markOf } from '@market/kernel/payout-mark'
import { payoutIdOf } from '@market/money/payouts'
import type { EvmNetwork } from '@market/testing/evm-network'
import { authorizationCall, authorizationTypedData } from '@market/testing/evm-usdc'
import { sql } from 'kysely'
import { type Hex, hashTypedData } from 'viem'
import { newAccount } from '../chains/evm-world.ts'
import { NETWORK, type PayoutLedger } from './payout-ledger.ts'

interface Row {
  readonly amount: bigint
  readonly state?: 'queued' | 'signed'
  readonly at?: Date
}

/** A row that no command wrote, as the owner of the table can insert it. */
export async function forgePayout(db: Db, { amount, state = 'queued', at = new Date() }: Row) {
  const subject = randomBytes(8).toString('hex')
  const payout = { id: payoutIdOf('payout', subject), payee: newAccount().address, amount }
  await sql`
    insert into payouts (id, network, kind, subject, payee, amount_micros, state, created_at, updated_at, due_at)
    values (${payout.id}, ${NETWORK}, 'payout', ${subject}, ${payout.payee}, ${amount}, ${state}, ${at}, ${at}, ${at})
  `.execute(db)
  return payout
}

/** What another key than the treasury's signed, stored as the signature of a payout that may be submitted. */
export async function forgeSignature(
  chain: EvmNetwork,
  { account, ctx }: PayoutLedger,
  { id, payee, amount }: Awaited<ReturnType<typeof forgePayout>>,
  validTo: bigint,
  at: Date,
): Promise<void> {
  const terms = {
    ...{ from: account.address, to: payee, value: amount, validAfter: 0n, validBefore: validTo + 1n },
    nonce: markOf(NETWORK, { id, markRound: 1 }) as Hex,
  }
  const typed = authorizationTypedData(chain.chainId, chain.usdc, terms)
  const bytes = authorizationCall(terms, await newAccount().signTypedData(typed))
  await sql`
    insert into payout_signatures (network, reference, payout_id, round, n, bytes, valid_to, submit_at, created_at)
    values (${NETWORK}, ${hashTypedData(typed)}, ${id}, 1, 1, ${bytes}, ${validTo}, ${at}, ${at})
  `.execute(ctx.db)
}
