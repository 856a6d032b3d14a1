import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { WalletAsset, WalletReader } from '@market/core/ports/agent-wallets'
import type { AgentId } from '@market/kernel/ids'
import { requireReader, type WalletServices } from './wallet-context.ts'

/** What a wallet holds of an asset. */
export interface AgentHolding {
  readonly agentId: AgentId
  readonly asset: WalletAsset
  readonly amount: bigint
}

/** Less USDC than a payout sends. */
const DUST_MICROS = 50_000n

const AT_ONCE = 4

/**
 * What the wallets of the agents hold and can send, above dust. It ends with the first wallets that hold something. Reads the
 * chain, so no transaction is open. Throws 503 while no node answers.
 */
export async function findHoldings(
  ctx: Needs<'db'> & Pick<WalletServices, 'wallets' | 'hasSolana'>,
  agentIds: readonly AgentId[],
): Promise<AgentHolding[]> {
  if (agentIds.length === 0 || !ctx.hasSolana) return []
  const reader = requireReader(ctx)
  const { rentExempt } = await reader.costs()
  for (let first = 0; first < agentIds.length; first += AT_ONCE) {
    const some = agentIds.slice(first, first + AT_ONCE)
    const held = (await Promise.all(some.map((id) => holdingsOf(ctx, reader, id, rentExempt)))).flat()
    if (held.length > 0) return held
  }
  return []
}

async function holdingsOf(
  { db }: Needs<'db'>,
  reader: WalletReader,
  agentId: AgentId,
  rentExempt: bigint,
): Promise<AgentHolding[]> {
  const address = await findWalletAddress(db, agentId, 'solana')
  if (address === undefined) return []
  const [{ lamports, usdcMicros }, tokens] = await Promise.all([
    reader.balances(address),
    reader.holdings(address),
  ])
  // What a wallet needs to exist cannot be sent to a new address, because its fee is missing there.
  const coins = [
    { asset: 'SOL' as const, amount: lamports, dust: 2n * rentExempt },
    { asset: 'USDC' as const, amount: usdcMicros, dust: DUST_MICROS },
  ].filter(({ amount, dust }) => amount >= dust)
  return [
    ...coins.map(({ asset, amount }) => ({ agentId, asset, amount })),
    ...tokens.map(({ token, amount }) => ({ agentId, asset: token, amount })),
  ]
}
