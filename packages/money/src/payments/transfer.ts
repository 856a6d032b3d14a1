import type { IncomingTransfer } from '@market/core/ports/chain'
import { SECOND } from '@market/kernel/clock'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Journal, type Move, surplus, suspense, world } from '../ledger/index.ts'
import { escrowAccount, type Purpose, type PurposeKind } from './purpose.ts'

/** How often a worker checks a transfer that is not final. */
export const CHECK_EVERY_MS = 5 * SECOND

/** A network whose newest blocks were read within this time is read at the moment: three times the interval of the reading. */
export const READ_WITHIN_MS = 15 * SECOND

/** `seen`: on the chain, and can still be reversed. `final`: cannot be reversed. `gone`: was reversed. */
export type TransferState = 'seen' | 'final' | 'gone'

/** A transfer into a treasury: the transaction, and which of its transfers. */
export interface TransferKey {
  readonly network: Network
  readonly reference: string
  /** Several transfers in one transaction count from 0. */
  readonly index: number
}

export interface Transfer extends TransferKey {
  /** What it pays for; null while unclaimed. */
  readonly purpose: Purpose | null
  readonly payer: string | null
  readonly amount: Usdc
  readonly due: Usdc
  readonly block: { readonly height: bigint; readonly hash: string }
  readonly happenedAt: Date
  readonly state: TransferState
  /** Since when the chain no longer shows it as recorded; null while it does. */
  readonly missingSince: Date | null
  /** When it was recorded. A transfer that was reversed and included again is recorded with a new time. */
  readonly arrivedAt: Date
  /** When it was claimed for its purpose, by the database's time. Only of one that was read. */
  readonly claimedAt?: Date | null
}

export type ClaimedTransfer<Kind extends PurposeKind = PurposeKind> = Transfer & {
  readonly purpose: Extract<Purpose, { kind: Kind }>
}

/** The name of a transfer in ledger accounts, payouts and ids: its transaction, and its index unless that is 0. */
export const transferName = ({ reference, index }: Pick<TransferKey, 'reference' | 'index'>): string =>
  index === 0 ? reference : `${reference}.${index}`

export function parseTransferName(name: string): Pick<TransferKey, 'reference' | 'index'> {
  const [reference = '', index = '0'] = name.split('.')
  return { reference, index: Number(index) }
}

/** The row for an observed transfer; unclaimed when no claim is given. */
export const transferOf = (
  network: Network,
  seen: IncomingTransfer,
  arrivedAt: Date,
  claim: { readonly purpose: Purpose | null; readonly due: Usdc } = { purpose: null, due: usdc(0n) },
): Transfer => ({
  network,
  reference: seen.reference,
  index: seen.index,
  purpose: claim.purpose,
  payer: seen.payer,
  amount: seen.amount,
  due: claim.due,
  block: seen.block,
  happenedAt: seen.at,
  state: seen.final ? 'final' : 'seen',
  missingSince: null,
  arrivedAt,
})

export const isSamePurpose = (a: Purpose | null, b: Purpose | null): boolean =>
  a === b || (a !== null && b !== null && a.kind === b.kind && a.id === b.id)

/** Claimed: what is due is in escrow and the rest is surplus. Unclaimed: all of it is in suspense. */
function balancesOf(transfer: Transfer): { account: Move['to']; amount: Usdc }[] {
  const { network, purpose, amount, due } = transfer
  if (purpose === null) return [{ account: suspense(network, transferName(transfer)), amount }]
  return [
    { account: escrowAccount(network, purpose), amount: due },
    { account: surplus(network, transferName(transfer)), amount: minus(amount, due) },
  ]
}

/** Contains the time, because the chain can reverse a transfer and include it again, even in the same block. */
const keySuffix = (transfer: Transfer): string =>
  `:${transfer.network}:${transferName(transfer)}:${transfer.arrivedAt.getTime()}`

/** The journals of a claimed transfer have the id of its purpose as subject, like all others of the same order. */
const journalOf = (what: string, transfer: Transfer, moves: readonly Move[]): Journal => ({
  key: `transfer.${what}${keySuffix(transfer)}`,
  reason: `transfer.${what}`,
  subject: transfer.purpose === null ? transferName(transfer) : transfer.purpose.id,
  network: transfer.network,
  moves,
})

/** From the chain to escrow and surplus, or to suspense. */
export const arrivalJournal = (transfer: Transfer): Journal =>
  journalOf(
    transfer.purpose === null ? 'unmatched' : 'claimed',
    transfer,
    balancesOf(transfer).map(({ account, amount }) => ({
      from: world(transfer.network),
      to: account,
      amount,
    })),
  )

/** From suspense to escrow and surplus. */
export const matchJournal = (transfer: Transfer): Journal =>
  journalOf(
    'matched',
    transfer,
    balancesOf(transfer).map(({ account, amount }) => ({
      from: suspense(transfer.network, transferName(transfer)),
      to: account,
      amount,
    })),
  )

/** Back to the chain. */
export const reversalJournal = (transfer: Transfer): Journal =>
  journalOf(
    'gone',
    transfer,
    balancesOf(transfer).map(({ account, amount }) => ({
      from: account,
      to: world(transfer.network),
      amount,
    })),
  )
