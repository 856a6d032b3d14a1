import { createHash } from 'node:crypto'
import type { Network } from '@market/kernel/network'

interface Law {
  readonly mayBeNegative: boolean
  /** Busy accounts are spread over stripes, so that money commands do not queue behind one row. */
  readonly striped: boolean
}

/** The kinds of account there are; the migration repeats this law as checks. */
export const KINDS = {
  /** The chain itself: below zero by exactly what our treasury holds there. */
  world: { mayBeNegative: true, striped: true },
  /** Paid, and not yet earned or given back: one per order, bounty or other purpose. */
  escrow: { mayBeNegative: false, striped: false },
  /** On its way out to an agent or back to a payer: one per payout. */
  payable: { mayBeNegative: false, striped: false },
  /** The platform's own. */
  fees: { mayBeNegative: false, striped: true },
  /** Arrived, and nobody knows yet what for: one per transfer. */
  suspense: { mayBeNegative: false, striped: false },
  /** Paid beyond what was due, owed back to the payer. */
  surplus: { mayBeNegative: false, striped: false },
} as const satisfies Record<string, Law>

export type AccountKind = keyof typeof KINDS

/** Money rests in exactly one account. The subject says what it waits for; empty, it lets the journal choose a stripe. */
export interface Account {
  readonly kind: AccountKind
  readonly network: Network
  readonly subject: string
}

export const world = (network: Network): Account => ({ kind: 'world', network, subject: '' })
export const fees = (network: Network): Account => ({ kind: 'fees', network, subject: '' })

const waitingFor =
  (kind: AccountKind) =>
  (network: Network, subject: string): Account => ({ kind, network, subject })

export const escrow = waitingFor('escrow')
export const payable = waitingFor('payable')
export const suspense = waitingFor('suspense')
export const surplus = waitingFor('surplus')

/** Money lies in stripes by this number: to change it, first post journals that move it over. */
const STRIPES = 8

/** The accounts whose sum is this one: its stripes, or itself. What leaves the fees leaves them stripe by stripe. */
export const stripesOf = (account: Account): Account[] =>
  isWhole(account)
    ? Array.from({ length: STRIPES }, (_, stripe) => ({ ...account, subject: String(stripe) }))
    : [account]

/** Of a striped account the one stripe that belongs to a subject: what came in for it can go out for it. */
export const stripeFor = (account: Account, subject: string): Account =>
  isWhole(account) ? { ...account, subject: String(stripeNumber(subject)) } : account

const isWhole = ({ kind, subject }: Account): boolean => KINDS[kind].striped && subject === ''

const stripeNumber = (subject: string): number =>
  createHash('sha256').update(subject).digest().readUInt32BE() % STRIPES

export const idOf = ({ kind, network, subject }: Account): string => `${kind}:${network}:${subject}`
