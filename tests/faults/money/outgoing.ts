import { evmChain } from '@market/chains/evm/evm-chain'
import { solanaChain } from '@market/chains/solana/solana-chain'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { marksOf } from '@market/kernel/payout-mark'
import { SOLANA_USDC } from '@market/testing/solana-usdc'
import type { AppServices } from './application.ts'
import type { Environment } from './environment.ts'

const PAGE = 500

/** The chains as they are, asked at their nodes and not through the relays. */
function chainsOf(environment: Environment, { treasuries }: AppServices): Chain[] {
  const evm = environment.evm.map(({ network, url, chain }) =>
    evmChain({
      network: network as 'base-mainnet' | 'alt-mainnet',
      chainId: chain.chainId,
      rpcUrls: [url],
      minProviders: 1,
      usdc: chain.usdc,
      treasury: treasuries[network],
      minPayout: usdc(0n),
      confirmations: [{ from: usdc(0n), blocks: 1 }],
      finalityTag: 'finalized',
      ownAddresses: [],
      watchFrom: 0n,
      timeoutMs: 60_000,
    }),
  )
  const solana = solanaChain({
    rpcUrls: [environment.solana.url],
    genesisHash: environment.solana.genesisHash,
    minProviders: 1,
    usdc: SOLANA_USDC,
    treasury: treasuries['solana-mainnet'],
    minPayout: usdc(0n),
    commitment: () => 'confirmed',
    ownAddresses: [],
    timeoutMs: 60_000,
  })
  return [...evm, solana]
}

interface Outgoing extends ObservedOutgoingTransfer {
  /** The payout that the transfer names; null when no payout has its mark. */
  readonly payoutId: string | null
}

async function readAll(chain: Chain): Promise<ObservedOutgoingTransfer[]> {
  const all: ObservedOutgoingTransfer[] = []
  let from = await chain.startingBlock()
  for (let isLast = false; !isLast; ) {
    const { agreed, isEnd } = await chain.finalMovementsAfter(from)
    all.push(...(agreed?.outgoing ?? []))
    from = agreed?.to ?? from
    isLast = isEnd
  }
  let position: string | null = null
  for (let isLast = chain.movementsAfter === undefined; !isLast; ) {
    const page: Awaited<ReturnType<NonNullable<Chain['movementsAfter']>>> = await chain.movementsAfter?.(
      from,
      position,
      PAGE,
    )
    if (page === undefined) continue
    all.push(...page.outgoing)
    position = page.position
    isLast = page.isEnd
  }
  return all
}

/** The payouts by the marks that they ever had. */
async function payoutsByMark({ db }: AppServices): Promise<ReadonlyMap<string, string>> {
  const payouts = await db.selectFrom('payouts').select(['id', 'mark_round']).execute()
  return new Map(
    payouts.flatMap(({ id, mark_round: markRound }) =>
      marksOf({ id, markRound }).map((mark) => [mark, id] as const),
    ),
  )
}

/** Every payment that ever left the treasuries. */
export async function readOutgoing(
  environment: Environment,
  app: AppServices,
): Promise<Readonly<Record<Network, readonly Outgoing[]>>> {
  const chains = chainsOf(environment, app)
  const ids = await payoutsByMark(app)
  const read = await Promise.all(
    NETWORKS.map(async (network) => {
      const chain = chains.find((one) => one.network === network)
      const all = chain === undefined ? [] : await readAll(chain)
      const outgoing = all.map((one) => ({
        ...one,
        payoutId: one.mark === null ? null : (ids.get(one.mark) ?? null),
      }))
      return [network, outgoing] as const
    }),
  )
  return Object.fromEntries(read) as Record<Network, Outgoing[]>
}
