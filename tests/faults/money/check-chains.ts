import type { Checks, Facts } from './facts.ts'
import { INITIAL_BALANCE } from './test-chain.ts'

const isSame = (a: string | null, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

const paidTo = ({ payouts }: Facts, network: string, owner: string): bigint =>
  payouts
    .filter((one) => one.network === network && one.state === 'final' && isSame(one.payee, owner))
    .reduce((sum, { amount_micros }) => sum + amount_micros, 0n)

const wrong = (who: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${who} holds ${found} instead of ${wanted}`]

export const CHAIN_CHECKS: Checks = {
  'the treasuries hold exactly the ledger balance': ({ networks, holds, balanceOnChain, treasuries }) =>
    networks.flatMap((network) =>
      wrong(network, balanceOnChain(network, treasuries[network]), -holds('world', network)),
    ),

  'every agent holds exactly its payouts': (facts) =>
    [...new Set(facts.testOrders.map(({ seller }) => seller))].flatMap(({ evmPayee, solanaPayee }) =>
      facts.networks.flatMap((network) => {
        const owner = network === 'solana-mainnet' ? solanaPayee : evmPayee
        return wrong(
          `${owner} on ${network}`,
          facts.balanceOnChain(network, owner),
          paidTo(facts, network, owner),
        )
      }),
    ),

  'every buyer holds its initial balance less payments plus refunds': (facts) =>
    [...Map.groupBy(facts.testOrders, ({ buyer }) => buyer)].flatMap(([buyer, testOrders]) =>
      buyer.networks.flatMap((network) => {
        // After a reorganization a buyer may prepare the very transaction that it has sent before.
        const sent = new Map(
          testOrders.flatMap((testOrder) => testOrder.sent.map((one) => [one.reference, one] as const)),
        )
        const left = [...sent.values()]
          .filter((one) => one.network === network && facts.isMined(one.reference))
          .reduce((sum, { amount }) => sum + amount, 0n)
        return wrong(
          `${buyer.key} on ${network}`,
          facts.balanceOnChain(network, buyer.key),
          INITIAL_BALANCE - left + paidTo(facts, network, buyer.key),
        )
      }),
    ),

  'the ledger has exactly the transfers on the chain': ({ testOrders, transfers, isMined }) =>
    testOrders
      .flatMap(({ sent }) => sent)
      .flatMap(({ network, reference, amount }) => {
        const known = transfers.find((one) => one.network === network && one.reference === reference)
        const isLive = known !== undefined && known.state !== 'gone'
        if (isMined(reference) !== isLive)
          return [`${reference} is ${known?.state ?? 'unknown'} in the ledger`]
        if (isLive && known.amount_micros !== amount) return [`${reference} brought ${known.amount_micros}`]
        return isLive && known.state !== 'final' ? [`${reference} never became final`] : []
      }),

  'every payout is sent once, by the recorded transaction': ({ payouts, outgoing, networks }) =>
    networks.flatMap((network) => {
      const left = Map.groupBy(outgoing[network], ({ payoutId }) => payoutId ?? 'none of ours')
      const twice = [...left].filter(([id, some]) => some.length > 1 || id === 'none of ours')
      const final = payouts.filter((one) => one.network === network && one.state === 'final')
      return [
        ...twice.map(([id, some]) => `${id} left ${some.length} times: ${some.map((one) => one.reference)}`),
        ...final
          .filter(({ id, final_reference }) => left.get(id)?.[0]?.reference !== final_reference)
          .map(({ id, final_reference }) => `${id} is not ${final_reference} on the chain`),
        ...[...left.keys()]
          .filter((id) => !payouts.some((one) => one.id === id && one.state === 'final'))
          .map((id) => `${id} was sent but is not final in the ledger`),
      ]
    }),

  'the treasuries on EVM send no transaction': ({ treasuryNonces }) =>
    treasuryNonces
      .filter(({ nonce }) => nonce !== 0n)
      .map(({ network, nonce }) => `the treasury on ${network} has sent ${nonce}`),

  'every payout has ended': ({ payouts }) =>
    payouts
      .filter(({ state }) => state !== 'final' && state !== 'withdrawn')
      .map(({ id, state, reason }) => `${id} is ${state}: ${reason}`),
}
