import type { Chain } from '@market/core/ports/chain'
import type { Facilitator } from '@market/core/ports/facilitator'
import type { Usdc } from '@market/kernel/money'

/** How long after signing a payment may be executed on the chain. */
export const TIMEOUT_SECONDS = 300

/** What a wallet signs, in the form of x402 version 2. */
export interface Requirement {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

type Network = Pick<Chain, 'usdc' | 'treasury'>

export const requirementOn = (
  { usdc, treasury }: Network,
  { caip2, extra }: Pick<Facilitator, 'caip2' | 'extra'>,
  due: Usdc,
): Requirement => ({
  scheme: 'exact',
  network: caip2,
  amount: due.toString(),
  asset: usdc,
  payTo: treasury,
  maxTimeoutSeconds: TIMEOUT_SECONDS,
  extra,
})

const MATCHED = ['scheme', 'network', 'amount', 'asset', 'payTo'] as const satisfies (keyof Requirement)[]

/** The first field in which a payment was signed for something else. */
export const mismatchIn = (
  accepted: Readonly<Record<string, unknown>>,
  wanted: Requirement,
): (typeof MATCHED)[number] | undefined =>
  MATCHED.find((field) => !isSameText(accepted[field], wanted[field]))

const isSameText = (said: unknown, wanted: string): boolean =>
  typeof said === 'string' &&
  (said === wanted || (wanted.startsWith('0x') && said.toLowerCase() === wanted.toLowerCase()))
