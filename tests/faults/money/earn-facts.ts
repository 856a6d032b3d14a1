import type { AppServices } from './application.ts'
import type { Environment } from './environment.ts'

const NETWORK = 'base-mainnet'
/** Vault and pool round against the depositor, by at most a micro-dollar each time. */
const MOST_ROUNDED = 100n

export const isRounding = (micros: bigint): boolean => micros >= 0n && micros <= MOST_ROUNDED

/** What the vault and its wallet have on the chain. Nobody else deposits into the vault. */
export async function readVenue({ vault, testChains }: Environment, { venueWallet }: AppServices) {
  const { balanceOf } = testChains[NETWORK]
  const [inVault, inWallet, debt, shares] = await Promise.all([
    balanceOf(vault.address),
    balanceOf(venueWallet),
    vault.debt(),
    vault.sharesOf(venueWallet),
  ])
  // Nobody else has a share, so all of it is the wallet's.
  return { shares, chain: inVault + inWallet + debt, worth: shares === 0n ? 0n : inVault + debt }
}

/** All that the ledger and the chain know of Earn at the end of a run. */
export async function gatherEarnFacts(environment: Environment, app: AppServices) {
  const { db, venueWallet } = app
  const [pools, positions, deposits, withdrawals, fills, moves] = await Promise.all([
    db.selectFrom('earn_pools').selectAll().execute(),
    db.selectFrom('earn_positions').selectAll().execute(),
    db
      .selectFrom('earn_deposits')
      .innerJoin('payment_intents', 'purpose_id', 'earn_deposits.id')
      .selectAll('earn_deposits')
      .select('reference')
      .where('scope', 'is not', null)
      .execute(),
    db.selectFrom('earn_withdrawals').selectAll().execute(),
    db.selectFrom('earn_fills').selectAll().execute(),
    db.selectFrom('venue_transfers').selectAll().execute(),
  ])
  return {
    ...{ pools, positions, deposits, withdrawals, fills, moves },
    venue: await readVenue(environment, app),
    ownPayers: [venueWallet, environment.vault.address].map((address) => address.toLowerCase()),
  }
}
