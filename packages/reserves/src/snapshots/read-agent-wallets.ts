import type { Needs } from '@market/core/context'
import { findWalletsAfter } from '@market/core/custody'
import type { Chain } from '@market/core/ports/chain'
import { assert } from '@market/kernel/assert'
import type { Liability } from './leaves/store.ts'

const PAGE = 1_000
/** 1,000 requests to a node. With more wallets they are to be read in a job of their own. */
const MAX_WALLETS = 100_000

/** Server wallets exist only on Solana. */
const CHAIN = 'solana'

/**
 * The server wallets that hold USDC, as leaves that belong to their agents. Undefined on a network without such wallets.
 * The application keeps their keys, so agents must be able to check that their balances are counted.
 */
export async function readAgentWallets(
  { db }: Needs<'db'>,
  { network, finalBalancesOf }: Chain,
): Promise<Liability[] | undefined> {
  if (finalBalancesOf === undefined) return undefined
  const leaves: Liability[] = []
  for (let [read, after] = [0, '']; ; ) {
    const wallets = await findWalletsAfter(db, CHAIN, after, PAGE)
    read += wallets.length
    assert(read <= MAX_WALLETS, `at most ${MAX_WALLETS} server wallets are read for a snapshot`)
    const balances = await finalBalancesOf(wallets.map(({ address }) => address))
    for (const [n, { agentId, address }] of wallets.entries()) {
      const micros = balances[n] ?? 0n
      if (micros > 0n) leaves.push({ account: `wallet:${network}:${address}`, holder: agentId, micros })
    }
    const last = wallets.at(-1)
    if (last === undefined || wallets.length < PAGE) return leaves
    after = last.agentId
  }
}
