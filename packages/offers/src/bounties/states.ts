import { ApiError } from '@market/kernel/api-error'
import { type ActionOf, type StateOf, transitions } from '@market/kernel/states'

/**
 * What happens to a bounty: status → action → next status. A trigger of the table repeats it. After a claim was accepted
 * the bounty follows its order: it is `completed` while the order is, and ends when the order is cancelled.
 */
export const BOUNTY_TRANSITIONS = transitions({
  open: { accept: 'claimed', cancel: 'cancelled', expire: 'expired' },
  claimed: { complete: 'completed', end: 'cancelled' },
  completed: { reopen: 'claimed', end: 'cancelled' },
  cancelled: {},
  expired: {},
})

/** What happens to a claim. Only a pending one changes, so a claim has one outcome. */
export const CLAIM_TRANSITIONS = transitions({
  pending: { accept: 'accepted', reject: 'rejected', withdraw: 'withdrawn', expire: 'expired' },
  accepted: {},
  rejected: {},
  withdrawn: {},
  expired: {},
})

export type BountyStatus = StateOf<typeof BOUNTY_TRANSITIONS>
export type BountyAction = ActionOf<typeof BOUNTY_TRANSITIONS>
export type ClaimStatus = StateOf<typeof CLAIM_TRANSITIONS>
export type ClaimAction = ActionOf<typeof CLAIM_TRANSITIONS>

/** The caller's relation to a bounty. The clock stands for the application itself: time, and the order. */
export type BountyRole = 'poster' | 'claimant' | 'clock'

/** Which roles may take each action. A claim is rejected when the poster accepts another one or cancels the bounty. */
export const BOUNTY_ACTORS = {
  accept: ['poster'],
  cancel: ['poster'],
  expire: ['clock'],
  complete: ['clock'],
  reopen: ['clock'],
  end: ['clock'],
} as const satisfies Record<BountyAction, readonly BountyRole[]>

export const CLAIM_ACTORS = {
  accept: ['poster'],
  reject: ['poster'],
  withdraw: ['claimant'],
  expire: ['clock'],
} as const satisfies Record<ClaimAction, readonly BountyRole[]>

const NOT_OPEN: Readonly<Record<Exclude<BountyStatus, 'open'>, string>> = {
  claimed: 'A claim of this bounty was accepted.',
  completed: 'This bounty is completed.',
  cancelled: 'This bounty was cancelled.',
  expired: 'This bounty has expired.',
}

/** Claims, acceptances and cancellations need an open bounty. */
export function rejectUnlessOpen({ status }: { readonly status: BountyStatus }): void {
  if (status !== 'open') throw bountyNotOpen(status)
}

export const bountyNotOpen = (status: Exclude<BountyStatus, 'open'>, what = ''): ApiError =>
  new ApiError('conflict', `${NOT_OPEN[status]}${what === '' ? '' : ` ${what}`}`, { code: 'bounty_not_open' })
