import { createHash } from 'node:crypto'
import type { Network } from '@market/kernel/network'

interface AccountRules {
  readonly mayBeNegative: boolean
  /** A busy account is split into stripes, so that concurrent transactions do not wait for one row. */
  readonly striped: boolean
}

/** All kinds of account. The migration repeats these rules as CHECK constraints. */
export const KINDS = {
  /** The chain: its balance is minus the USDC that the treasury holds there. */
  world: { mayBeNegative: true, striped: true },
  /** A cold address: its balance is minus the USDC that was moved there from the treasury. One account per address. */
  cold: { mayBeNegative: true, striped: false },
  /** On its way to a venue of Earn: its balance is minus what has left the treasury. One per venue transfer. */
  venue: { mayBeNegative: true, striped: false },
  /** What a venue paid for shares of a pool: one account per withdrawal. */
  withdrawal: { mayBeNegative: false, striped: false },
  /** Paid, and not yet earned or refunded: one account per purpose. */
  escrow: { mayBeNegative: false, striped: false },
  /** To be paid out to an agent or a payer: one account per payout. */
  payable: { mayBeNegative: false, striped: false },
  /** The platform's revenue. */
  fees: { mayBeNegative: false, striped: true },
  /** Received and not claimed: one account per transfer. */
  suspense: { mayBeNegative: false, striped: false },
  /** Paid above the amount due, and owed to the payer: one account per transfer. */
  surplus: { mayBeNegative: false, striped: false },
} as const satisfies Record<string, AccountRules>

export type AccountKind = keyof typeof KINDS

/** The subject is a purpose, a payout id, a transfer reference, an address, a venue transfer or a withdrawal. Empty for a striped account: the journal selects a stripe. */
export interface Account {
  readonly kind: AccountKind
  readonly network: Network
  readonly subject: string
}

export const world = (network: Network): Account => ({ kind: 'world', network, subject: '' })
export const fees = (network: Network): Account => ({ kind: 'fees', network, subject: '' })

const accountOf =
  (kind: AccountKind) =>
  (network: Network, subject: string): Account => ({ kind, network, subject })

export const cold = accountOf('cold')
export const escrow = accountOf('escrow')
export const payable = accountOf('payable')
export const suspense = accountOf('suspense')
export const surplus = accountOf('surplus')
export const venue = accountOf('venue')
export const withdrawal = accountOf('withdrawal')

/** Balances are stored by this number. To change it, post journals that move them to the new stripes first. */
const STRIPES = 8

/** The stripes of a striped account, otherwise the account itself. */
export const stripesOf = (account: Account): Account[] =>
  needsStripe(account)
    ? Array.from({ length: STRIPES }, (_, stripe) => ({ ...account, subject: String(stripe) }))
    : [account]

/** A subject always has the same stripe, so that what was posted for it can be reversed. */
export const stripeFor = (account: Account, subject: string): Account =>
  needsStripe(account) ? { ...account, subject: String(stripeNumber(subject)) } : account

const needsStripe = ({ kind, subject }: Account): boolean => KINDS[kind].striped && subject === ''

const stripeNumber = (subject: string): number =>
  createHash('sha256').update(subject).digest().readUInt32BE() % STRIPES

export const idOf = ({ kind, network, subject }: Account): string => `${kind}:${network}:${subject}`
