import {
  type AgreedBalance,
  type FinalReading,
  type Observation,
  TooFewProviders,
  type TransferCheck,
} from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import { largest } from '../bigints.ts'

/** How the nodes of a network belong to providers. */
export interface ProviderSettings {
  /** The provider of each URL, in the order of the URLs. Default: the host of the URL. */
  readonly providers?: readonly string[]
  /** How many providers must agree on finality, on a reversal and on a balance. One is for development only. */
  readonly minProviders: number
}

export interface ProviderResponses<T> {
  readonly responses: readonly { readonly provider: string; readonly response: T }[]
  readonly failures: readonly unknown[]
}

/** One response per provider: that of its first node that responds. */
export const askProviders = async <Node extends { readonly provider: string }, T>(
  nodes: readonly Node[],
  ask: (node: Node) => Promise<T>,
): Promise<ProviderResponses<T>> => {
  const failures: unknown[] = []
  const responses = await Promise.all(
    [...Map.groupBy(nodes, ({ provider }) => provider)].map(async ([provider, own]) => {
      for (const node of own) {
        try {
          return { provider, response: await ask(node) }
        } catch (failure) {
          failures.push(failure)
        }
      }
      return undefined
    }),
  )
  return { responses: responses.filter((one) => one !== undefined), failures }
}

export const providerOf = (providers: readonly string[] | undefined, index: number, host: string): string =>
  providers?.[index] ?? host

const unreachable = (network: string, failures: readonly unknown[]) =>
  unavailable(`The ${network} network cannot be reached. Try again later.`, new AggregateError(failures))

/** How one provider reports a recorded transfer. */
export interface TransferReport {
  readonly observation: Observation
  /** The final chain of this provider is past the transfer's block, and does not contain the transfer as recorded. */
  readonly isAbsent: boolean
}

type NamedReport = TransferReport & { readonly provider: string }

const finalTransfer = ({ observation, isAbsent }: TransferReport) =>
  observation.kind === 'ok' && observation.transfer.final && !isAbsent ? observation.transfer : undefined

/** Two providers agree when block, amount and payer are the same. */
const keyOf = (report: TransferReport): string | undefined => {
  const transfer = finalTransfer(report)
  return transfer && [transfer.block.hash, transfer.amount, transfer.payer].join(' ')
}

const namesOf = (reports: readonly NamedReport[]): string[] => reports.map(({ provider }) => provider).sort()

/** A lone provider decides nothing, and one that is behind has no final block that contradicts. */
export const agreeOnTransfer = (
  network: string,
  { responses, failures }: ProviderResponses<TransferReport>,
  minProviders: number,
): TransferCheck => {
  const reports = responses.map(({ provider, response }) => ({ ...response, provider }))
  const shown = reports.find(({ observation }) => observation.kind === 'ok') ?? reports[0]
  if (shown === undefined) throw unreachable(network, failures)
  const final = reports.filter((one) => finalTransfer(one) !== undefined)
  const absent = reports.filter(({ isAbsent }) => isAbsent)
  const groups = [...Map.groupBy(final, keyOf).values()].toSorted((a, b) => b.length - a.length)
  const isSplit = groups.length > 1 || (final.length > 0 && absent.length > 0)
  const disagreeing = isSplit ? namesOf([...final, ...absent]) : []
  const agreed = groups[0] ?? []
  // fix: reversal-by-two-providers
  // fix: finality-by-two-providers
  const [isFinal, isReversed] = [agreed.length >= minProviders, absent.length >= minProviders]
  const decided = isFinal === isReversed ? undefined : isFinal ? agreed[0] : absent[0]
  const { observation } = decided ?? shown
  return {
    verdict: decided === undefined ? 'open' : isFinal ? 'final' : 'reversed',
    observation,
    disagreeing,
  }
}

/** How one provider shows the final blocks after one. Undefined when its chain does not continue the block. */
export type RangeReport = FinalReading['agreed']

/** Everything that is saved, so that no part of it comes from one provider alone. */
const contentOf = (report: RangeReport): string => {
  const { treasuryHeld: _, coldHeld: __, ...movements } = report ?? {}
  return JSON.stringify(movements, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

type Balance = 'treasuryHeld' | 'coldHeld'

/** What providers show as a balance: not all can show it. `agreed` is what enough of them show. */
const balanceOf = (reports: readonly RangeReport[], name: Balance, minProviders: number) => {
  const shown = reports.flatMap((report) => report?.[name] ?? [])
  const different = [...new Set(shown)]
  const agreed = different.find((amount) => shown.filter((one) => one === amount).length >= minProviders)
  return { agreed, isSplit: different.length > 1 }
}

/** Blocks are final when enough providers show the same. Of two groups that are both large enough, neither decides. */
export const agreeOnRange = (
  network: string,
  { responses, failures }: ProviderResponses<RangeReport>,
  minProviders: number,
): Pick<FinalReading, 'agreed' | 'disagreeing'> => {
  const groups = [...Map.groupBy(responses, ({ response }) => contentOf(response)).values()]
  const namesIn = (group: typeof responses): string[] => group.map(({ provider }) => provider).toSorted()
  const disagreeing = groups.length > 1 ? namesIn(responses) : []
  // fix: finality-of-ranges-by-two-providers
  const [decided, ...others] = groups.filter(({ length }) => length >= minProviders)
  if (decided === undefined && disagreeing.length === 0)
    throw tooFew({
      ...{ network, minProviders, failures, what: 'final blocks' },
      shownBy: responses.length,
      faults: failures.map(messageOf),
    })
  if (decided === undefined || others.length > 0) return { agreed: undefined, disagreeing }
  const agreed = decided[0]?.response
  if (agreed === undefined)
    throw new Error(
      `${network}: ${namesIn(decided).join(', ')} do not continue the final block that was read last`,
    )
  const reports = decided.map(({ response }) => response)
  const treasury = balanceOf(reports, 'treasuryHeld', minProviders)
  const cold = balanceOf(reports, 'coldHeld', minProviders)
  const split = [treasury, cold].filter(({ isSplit }) => isSplit)
  const named = split.length > 0 ? namesIn(responses) : disagreeing
  if (split.some((one) => one.agreed === undefined)) return { agreed: undefined, disagreeing: named }
  return { agreed: { ...agreed, treasuryHeld: treasury.agreed, coldHeld: cold.agreed }, disagreeing: named }
}

interface TooFew {
  readonly network: string
  readonly what: string
  readonly shownBy: number
  readonly minProviders: number
  readonly faults: readonly string[]
  readonly failures: readonly unknown[]
}

const LONGEST_MESSAGE = 200

const tooFew = ({ network, what, shownBy, minProviders, faults, failures }: TooFew): TooFewProviders => {
  const message = `${shownBy} of ${minProviders} required providers of ${network} show the ${what}: ${faults.join('; ')}`
  return new TooFewProviders(message.slice(0, LONGEST_MESSAGE), { cause: new AggregateError(failures) })
}

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure))

/** A balance at a height of one provider. */
export interface BalanceReading {
  readonly head: bigint
  readonly final: bigint
  readonly latest: bigint
}

/** The number that at least so many providers show. */
// fix: balance-by-two-providers
export const supported = <T extends bigint>(amounts: readonly T[], providers: number): T | undefined =>
  amounts.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0))[providers - 1]

/** A provider that is behind the others would report a balance of the past, so it does not count. */
export const agreeOnBalance = (
  network: string,
  { responses, failures }: ProviderResponses<BalanceReading>,
  { minProviders, maxLag }: { readonly minProviders: number; readonly maxLag: bigint },
): AgreedBalance => {
  if (responses.length === 0) throw unreachable(network, failures)
  const highest = largest(responses.map(({ response }) => response.head))
  const lagOf = ({ head }: BalanceReading): string | undefined =>
    highest - head > maxLag ? `is ${highest - head} blocks behind` : undefined
  const fresh = responses.filter(({ response }) => lagOf(response) === undefined)
  const of = (block: 'final' | 'latest') =>
    supported(
      fresh.map(({ response }) => response[block]),
      minProviders,
    )
  const [final, latest] = [of('final'), of('latest')]
  if (final !== undefined && latest !== undefined) return { final: usdc(final), latest: usdc(latest) }
  const faults = [
    ...responses.flatMap(({ provider, response }) => {
      const lag = lagOf(response)
      return lag === undefined ? [] : [`${provider} ${lag}`]
    }),
    ...failures.map(messageOf),
  ]
  throw tooFew({ network, minProviders, failures, faults, what: 'balance', shownBy: fresh.length })
}
