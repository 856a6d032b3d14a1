import type { AgentId } from '@market/kernel/ids'
import type { TokenMode } from '../tokens/index.ts'
import type { FeeShares } from './split.ts'

export type CreatorFeeId = `cfe_${string}`

/** `accrued`: received by the platform. `settled`: the agent's share was paid. */
export type CreatorFeeStatus = 'accrued' | 'settled'

/** What an agent's token earned in one transaction, in lamports. */
export interface CreatorFee {
  readonly id: CreatorFeeId
  readonly agentId: AgentId
  readonly mint: string
  readonly mode: TokenMode
  readonly amount: bigint
  readonly shares: FeeShares
  /** The transaction that paid it to the platform. */
  readonly sourceTx: string
  readonly recordedBy: string
  readonly createdAt: Date
  /** Null while the fee is accrued. */
  readonly settlement: Settlement | null
}

export interface Settlement {
  /** The transaction that paid the agent's share. */
  readonly tx: string
  readonly by: string
  readonly at: Date
}

/** The fees of one status. */
export interface FeeTotal {
  readonly count: number
  readonly amount: bigint
  readonly shares: FeeShares
}

export type FeeTotals = Readonly<Record<CreatorFeeStatus, FeeTotal>>

const LAMPORTS_DIGITS = 9

/** Lamports as SOL for messages, without rounding: 1500000000 is 1.5. */
export function formatSol(lamports: bigint): string {
  const sign = lamports < 0n ? '-' : ''
  const digits = (lamports < 0n ? -lamports : lamports).toString().padStart(LAMPORTS_DIGITS + 1, '0')
  const decimals = digits.slice(-LAMPORTS_DIGITS).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -LAMPORTS_DIGITS)}${decimals === '' ? '' : `.${decimals}`}`
}
