import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, surplus, suspense } from '../ledger/index.ts'
import { finalArrival } from './final-arrival.ts'
import { type Payout, payoutIdOf } from './payout.ts'
import { requestPayout } from './request-payout.ts'
import { findPayout } from './store.ts'

/** What nobody claimed, or what was paid beyond what was due. */
const ACCOUNTS = { suspense, surplus } as const

/** One hash can exist on both EVM networks; a Solana signature is long and exists once. */
const PLACES: Readonly<Record<Network, string>> = {
  'solana-mainnet': '',
  'base-mainnet': 'base:',
  'alt-mainnet': 'alt:',
}

/** Sends what a transfer left in suspense or as surplus back to whoever paid it. Asked again it is the same payout. */
export async function giveBack(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  wanted: { network: Network; reference: string; from: keyof typeof ACCOUNTS; payee?: string },
): Promise<Payout> {
  const { network, reference, from } = wanted
  const arrival = await finalArrival(tx, network, reference)
  // Who claimed the transfer paid their own part of it; what is in suspense beside that is of others.
  const payer = from === 'suspense' && arrival.purpose !== '' ? null : arrival.payer
  const account = ACCOUNTS[from](network, reference)
  const subject = `${from}:${PLACES[network]}${reference}`
  const known = await findPayout(tx, payoutIdOf('surplus', subject))
  const amount = usdc(await balanceOf(tx, account))
  if (amount === 0n && known !== undefined) return known
  if (amount === 0n) throw new ApiError('conflict', `Nothing of this transfer is in ${from}`)
  if (known !== undefined)
    throw new ApiError('conflict', `A part of it was given back before, by ${known.id}`)
  return requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    payee: payeeOf(payer, wanted.payee),
    amount,
    from: account,
  })
}

function payeeOf(payer: string | null, wanted: string | undefined): string {
  if (payer === null && wanted === undefined)
    throw new ApiError('invalid', 'The books do not know whose this is: say to which address it goes back', {
      details: [{ path: 'payee', message: 'must be the wallet that paid it, as the transaction shows' }],
    })
  if (payer !== null && wanted !== undefined && payer !== wanted)
    throw new ApiError('conflict', `This was paid by ${payer} and goes back there: leave the payee out`)
  return payer ?? wanted ?? ''
}
