import type { Checks, Facts } from './facts.ts'
import { RICH } from './side.ts'

const isSame = (a: string | null, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

const paidTo = ({ payouts }: Facts, network: string, owner: string): bigint =>
  payouts
    .filter((one) => one.network === network && one.state === 'final' && isSame(one.payee, owner))
    .reduce((sum, { amount_micros }) => sum + amount_micros, 0n)

const wrong = (who: string, found: bigint, wanted: bigint): string[] =>
  found === wanted ? [] : [`${who} holds ${found} instead of ${wanted}`]

export const CHAIN_CHECKS: Checks = {
  'the treasuries hold exactly what the ledger say': ({ networks, holds, balanceOnChain, treasuries }) =>
    networks.flatMap((network) =>
      wrong(network, balanceOnChain(network, treasuries[network]), -holds('world', network)),
    ),

  'every agent holds exactly its payouts': (facts) =>
    [...new Set(facts.stories.map(({ seller }) => seller))].flatMap(({ evmPayee, solanaPayee }) =>
      facts.networks.flatMap((network) => {
        const owner = network === 'solana-mainnet' ? solanaPayee : evmPayee
        return wrong(
          `${owner} on ${network}`,
          facts.balanceOnChain(network, owner),
          paidTo(facts, network, owner),
        )
      }),
    ),

  'every buyer holds what it had, less what it paid, and what came back': (facts) =>
    [...Map.groupBy(facts.stories, ({ buyer }) => buyer)].flatMap(([buyer, stories]) =>
      buyer.networks.flatMap((network) => {
        const left = stories
          .flatMap(({ sent }) => sent)
          .filter((one) => one.network === network && facts.isThere(one.reference))
          .reduce((sum, { amount }) => sum + amount, 0n)
        return wrong(
          `${buyer.key} on ${network}`,
          facts.balanceOnChain(network, buyer.key),
          RICH - left + paidTo(facts, network, buyer.key),
        )
      }),
    ),

  'what is on the chain is in the ledger, and what is not is not': ({ stories, transfers, isThere }) =>
    stories
      .flatMap(({ sent }) => sent)
      .flatMap(({ network, reference, amount }) => {
        const known = transfers.find((one) => one.network === network && one.reference === reference)
        const isLive = known !== undefined && known.state !== 'gone'
        if (isThere(reference) !== isLive)
          return [`${reference} is ${known?.state ?? 'unknown'} in the ledger`]
        if (isLive && known.amount_micros !== amount) return [`${reference} brought ${known.amount_micros}`]
        return isLive && known.state !== 'final' ? [`${reference} never became final`] : []
      }),

  'a payout leaves once, and is the one the ledger name': ({ payouts, outgoing, networks }) =>
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
          .map((id) => `${id} left and the ledger do not say so`),
      ]
    }),

  'every payout has ended': ({ payouts }) =>
    payouts
      .filter(({ state }) => state !== 'final' && state !== 'withdrawn')
      .map(({ id, state, reason }) => `${id} is ${state}: ${reason}`),
}
