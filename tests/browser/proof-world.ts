import type { Operations } from '@market/sdk'
import { anchorText, type LiabilityProof, type ReserveAnchor, rootBy } from '@market/solvency'

/** A marketplace whose proof of reserves a test changes, and a Solana node that reads its anchor. */

const DAY = '2026-11-18'
export const SIGNER = 'TreasuryOnSolana'

/** An honest marketplace that owes 10.00 on Base, and anchored it. */
export function honestWorld() {
  const leaf = {
    account: 'escrow:base-mainnet:order:a',
    holder: '0xabc',
    amount_usd: '10.00',
    micros: '10000000',
    salt: 'ab',
  }
  const path = [{ side: 'left', hash: 'c'.repeat(64), sum: '2500000' }] as const
  const { hash: root, sum } = rootBy({ leaf, path }) ?? { hash: '', sum: 0n }
  const tree = { snapshot_id: 'rsv_b', root, total_usd: '12.50', total_micros: String(sum) }
  const networks = [{ network: 'base-mainnet', ...tree, agent_wallets: null }] as const
  const anchor: ReserveAnchor = {
    day: DAY,
    networks,
    text: anchorText({ day: DAY, networks }),
    signatures: [],
    anchored: {
      network: 'solana-mainnet',
      account: SIGNER,
      signature: 'anchor',
      final_at: `${DAY}T01:00:00Z`,
    },
  }
  const proof: LiabilityProof = {
    ...{
      network: 'base-mainnet',
      snapshot_id: 'rsv_b',
      checked_at: `${DAY}T00:00:00Z`,
      root,
      total_usd: '12.50',
    },
    ...{ leaf, path },
  }
  return { anchor, proof, memo: anchor.text }
}
type ProofWorld = ReturnType<typeof honestWorld>

export const LIES: readonly (readonly [
  what: string,
  expected: string,
  tamper: (world: ProofWorld) => ProofWorld,
  knownTreasury: string,
])[] = [
  ['nothing', 'ok', (world) => world, SIGNER],
  ['nothing, but only the API names the signer', 'unknown', (world) => world, ''],
  ['the signer', 'failed', (world) => world, 'AnotherTreasury'],
  [
    'the leaf',
    'failed',
    (world) => ({ ...world, proof: { ...world.proof, leaf: { ...world.proof.leaf, micros: '9000000' } } }),
    SIGNER,
  ],
  [
    'a sum of the path',
    'failed',
    (world) => ({
      ...world,
      proof: { ...world.proof, path: world.proof.path.map((step) => ({ ...step, sum: '-2500000' })) },
    }),
    SIGNER,
  ],
  [
    'the root',
    'failed',
    (world) => ({
      ...world,
      anchor: {
        ...world.anchor,
        networks: world.anchor.networks.map((one) => ({ ...one, root: 'd'.repeat(64) })),
      },
    }),
    SIGNER,
  ],
  [
    'the memo',
    'failed',
    (world) => ({ ...world, memo: `market.reserves.v1 ${DAY} ${'1'.repeat(64)}` }),
    SIGNER,
  ],
]

/** What the node says about the anchor. */
export function nodeResult(method: string, memo: string): unknown {
  const blockTime = Math.floor(Date.now() / 1_000)
  if (method === 'getSignaturesForAddress')
    return [{ memo: `[${memo.length}] ${memo}`, err: null, blockTime, signature: 'anchor' }]
  const instructions = [{ programId: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', parsed: memo }]
  const accountKeys = [{ pubkey: SIGNER, signer: true }]
  return {
    ...{ blockTime, meta: { err: null, preTokenBalances: [], postTokenBalances: [] } },
    transaction: { message: { accountKeys, instructions } },
  }
}

export const SOLANA_RESERVES: Operations['getSolvency']['data'][number] = {
  ...{ network: 'solana-mainnet', treasury: SIGNER, cold: null, checked_at: `${DAY}T00:00:00Z` },
  ...{ assets_usd: '0.00', assets_final_usd: '0.00', venues_usd: '0.00', liabilities_usd: '0.00' },
  ...{ earn_usd: '0.00', earn: [], platform_usd: '0.00', in_flight_usd: '0.00', in_flight: [] },
  ...{ in_flight_count: 0, unfinal_usd: '0.00', shortfall_usd: '0.00', solvent: true },
  ...{ proof: null, agent_wallets: null },
}
