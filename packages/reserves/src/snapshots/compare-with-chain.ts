import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { readAtOnce, type Tx } from '@market/database/transact'
import { unavailable } from '@market/kernel/api-error'
import { later, MINUTE } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { totals } from '@market/money/ledger'
import { sumArrived, sumPaidBy, sumUnfinal } from '@market/money/payments'
import {
  findInFlight,
  inFlight,
  sumMovingToCold,
  sumMovingToVenues,
  sumPaidTo,
  sumUnfinalOutgoing,
} from '@market/money/payouts'
import { findLiabilities, type Liability, type Parts } from './leaves/store.ts'
import { sumReturned } from './return-from-cold.ts'
import type { InFlightList, LedgerBalances, Snapshot } from './snapshot.ts'
import { findHeld } from './store.ts'

/** How long the last reading of the final blocks says what is there. */
const KNOWN_FOR_MS = 5 * MINUTE
/** More are only counted, so that a snapshot stays small. */
const LISTED_IN_FLIGHT = 100

/** Whom the withdrawals from Earn belong to; the layer above knows it. */
export interface EarnHolders {
  readonly earnHolders?: (tx: Tx, network: Network) => Promise<Parts>
}

export interface Comparison {
  readonly cold: Snapshot['cold']
  readonly final: Usdc
  readonly latest: Usdc
  readonly balances: LedgerBalances
  /** According to the final blocks, and to the newest ones too, which one node has shown. */
  readonly missing: { readonly final: bigint; readonly latest: bigint }
  readonly liabilities: readonly Liability[] | undefined
  readonly inFlight: InFlightList
}

/** Compares the ledger with what was read of the chain. Both are in the database, so they are of one moment. */
export const compareWithChain = (
  { db, clock, earnHolders }: Needs<'db' | 'clock'> & EarnHolders,
  chain: Chain,
  withProof: boolean,
): Promise<Comparison> =>
  readAtOnce(db, async (tx) => {
    const { network, cold: address } = chain
    const held = await findHeld(tx, network, address ?? null)
    if (held === undefined) throw unavailable(`What the treasury on ${network} has was not read yet`)
    if (held.confirmedAt === null || later(held.confirmedAt, KNOWN_FOR_MS) < clock.now())
      throw unavailable(`No worker has read the final blocks of ${network} for five minutes`)
    const coldSince = { network, address: address ?? '', after: held.height }
    const cold = held.cold + (await sumPaidTo(tx, coldSince)) - (await sumPaidBy(tx, coldSince))
    const final = usdc(held.treasury + cold)
    // What moves between the treasury and its cold address changes nothing.
    const arrived = await sumArrived(tx, network, { after: held.finalHeight, except: address ?? '' })
    const left = await sumUnfinalOutgoing(tx, network, address ?? '')
    const balances = await ledgerBalances(tx, network)
    // In the treasury, and at the cold address until it is posted.
    const returned = address === undefined ? 0n : await sumReturned(tx, network, address)
    // Payments that are not final are not expected on the chain, and what is signed may have left.
    // fix: unfinal-is-not-missing
    const missing = balances.ledger - returned - balances.unfinal - balances.inFlight - final
    return {
      cold: address === undefined ? null : { address, held: usdc(cold) },
      ...{ final, latest: usdc(final + arrived - left), balances },
      missing: { final: missing, latest: missing + left },
      liabilities: withProof
        ? await findLiabilities(tx, network, await earnHolders?.(tx, network))
        : undefined,
      inFlight: await findInFlight(tx, network, LISTED_IN_FLIGHT),
    }
  })

async function ledgerBalances(tx: Tx, network: Network): Promise<LedgerBalances> {
  const { treasuryView, coldView, venuesView, liabilities, suspense, fees } = await totals(tx, network)
  const [toCold, toVenues] = [await sumMovingToCold(tx, network), await sumMovingToVenues(tx, network)]
  return {
    // What moves to the cold address counts there already, and is owed to nobody.
    ledger: treasuryView + coldView - toCold,
    // Until it has left, it is in the treasury.
    venues: usdc(venuesView - toVenues),
    inFlight: await inFlight(tx, network),
    unfinal: await sumUnfinal(tx, network),
    escrow: usdc(liabilities.escrow),
    payable: usdc(liabilities.payable - toCold - toVenues),
    surplus: usdc(liabilities.surplus),
    suspense: usdc(suspense),
    earn: usdc(liabilities.withdrawal),
    fees: usdc(fees),
  }
}
