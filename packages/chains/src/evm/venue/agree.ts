import { unavailable } from '@market/kernel/api-error'
import { largest, smaller } from '../../bigints.ts'
import type { ProviderResponses } from '../../nodes/providers.ts'
import { maxLagOf } from '../evm-nodes.ts'
import type { EvmSettings } from '../settings.ts'

/** Providers are at different blocks, in which interest accrues. */
const TOLERANCE_DIVISOR = 1_000n
const ROUNDING = 2n

/** What one provider shows at its newest block. */
interface Shown {
  readonly height: bigint
  /** The amounts that the providers must agree on. */
  readonly values: readonly bigint[]
}

const differ = (amounts: readonly bigint[]): boolean => {
  const [highest, lowest] = [largest(amounts), amounts.reduce(smaller)]
  return highest - lowest > highest / TOLERANCE_DIVISOR + ROUNDING
}

/** What the providers show that are up to date, lowest value first. Throws `unavailable` for too few, or a contradiction. */
export const agreeOnVault = <T extends Shown>(
  settings: EvmSettings,
  { responses, failures }: ProviderResponses<T>,
): readonly [T, ...T[]] => {
  const { network, minProviders } = settings
  const highest = largest(responses.map(({ response }) => response.height))
  const fresh = responses.filter(({ response }) => highest - response.height <= maxLagOf(settings))
  const names = fresh.map(({ provider }) => provider).toSorted()
  const [lowest, ...others] = fresh
    .map(({ response }) => response)
    .toSorted((a, b) => ((a.values[0] ?? 0n) < (b.values[0] ?? 0n) ? -1 : 1))
  if (lowest === undefined || fresh.length < minProviders)
    throw unavailable(
      `${fresh.length} of ${minProviders} required providers of ${network} show the vault (${names.join(', ') || 'none'}). Try again later.`,
      new AggregateError(failures, failures.map((failure) => (failure as Error).message).join('; ')),
    )
  const isSplit = lowest.values.some((value, index) =>
    differ([value, ...others.map(({ values }) => values[index] ?? 0n)]),
  )
  if (isSplit)
    throw unavailable(
      `The providers ${names.join(', ')} of ${network} contradict each other about the vault. Try again later.`,
    )
  return [lowest, ...others]
}
